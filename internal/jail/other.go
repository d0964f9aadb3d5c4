//go:build !linux

package jail

import (
	"context"
	"errors"
	"os/exec"
)

// StageFailed is the exit code of a stage that could not confine itself.
const StageFailed = 111

var errUnsupported = errors.New("jail: confinement needs Linux; nothing is run without it")

// Command refuses: there is no confinement here.
func Command(context.Context, Spec) (*exec.Cmd, error) { return nil, errUnsupported }

// BoxCommand refuses: there is no confinement here.
func BoxCommand(context.Context, Box) (*exec.Cmd, error) { return nil, errUnsupported }

// PythonCommand refuses: there is no confinement here.
func PythonCommand(context.Context, Spec) (*exec.Cmd, error) { return nil, errUnsupported }

// Start starts cmd.
func Start(cmd *exec.Cmd) error { return cmd.Start() }

// Main does nothing: no stage is ever started.
func Main() {}

// LaunchFilter is empty: there is no seccomp.
func LaunchFilter() []byte { return nil }

// JobFilter is empty: there is no seccomp.
func JobFilter() []byte { return nil }

// Landlock is 0: there is none.
func Landlock() int { return 0 }

// Probe finds nothing.
func Probe() Report {
	return Report{Layers: []Layer{{Name: "linux", Detail: "this is another system", Fix: "run Interlock on Linux, or in a Linux virtual machine"}}}
}
