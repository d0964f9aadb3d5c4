package jail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// stageName is the name under which a stage is started; nothing else has it.
const stageName = "interlock-jail"

// order is what a stage is told, as its one argument.
type order struct {
	Worker *workerOrder `json:",omitempty"`
	Box    *boxOrder    `json:",omitempty"`
	Trial  bool         `json:",omitempty"` // give up rights, then leave
}

// Command prepares a confined process. Start it with [Start], or with its own
// Start where the caller's thread is known to live as long as the process.
// Cancelling ctx kills it.
func Command(ctx context.Context, spec Spec) (*exec.Cmd, error) { return command(ctx, spec, false) }

// PythonCommand is Command with the filter for interpreters, for hosts that
// forbid namespaces: what is not on its list is refused. It ignores Network.
func PythonCommand(ctx context.Context, spec Spec) (*exec.Cmd, error) {
	return command(ctx, spec, true)
}

func command(ctx context.Context, spec Spec, python bool) (*exec.Cmd, error) {
	if len(spec.Args) == 0 {
		return nil, errors.New("jail: no program to run")
	}
	program, memory := selfPath(), spec.MemoryBytes
	if spec.Args[0] != Self {
		path, err := exec.LookPath(spec.Args[0])
		if err != nil {
			return nil, fmt.Errorf("jail: %w", err)
		}
		if program, err = filepath.Abs(path); err != nil {
			return nil, fmt.Errorf("jail: %w", err)
		}
	}
	if spec.Args[0] == Self && raced() {
		memory = 0
	}
	w := &workerOrder{
		Program: program, Args: spec.Args, Env: spec.Env,
		Memory: memory, CPU: spec.CPUSeconds, Files: spec.OpenFiles, FileBytes: spec.FileBytes,
		Network: spec.Network && !python, Descriptors: 3 + len(spec.ExtraFiles), Python: python,
	}
	for _, set := range []struct {
		paths []string
		into  *[]string
	}{{spec.ReadOnly, &w.ReadOnly}, {spec.ReadWrite, &w.ReadWrite}, {spec.Executable, &w.Executable}} {
		for _, p := range set.paths {
			abs, err := filepath.Abs(p)
			if err != nil {
				return nil, fmt.Errorf("jail: %w", err)
			}
			if _, err := os.Stat(abs); err != nil {
				return nil, fmt.Errorf("jail: %w", err)
			}
			*set.into = append(*set.into, abs)
		}
	}
	cmd, err := stageCommand(ctx, order{Worker: w})
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.ExtraFiles = spec.Dir, spec.ExtraFiles
	return cmd, nil
}

// stageCommand is the re-exec of this binary with an order.
func stageCommand(ctx context.Context, o order) (*exec.Cmd, error) {
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("jail: encoding the order: %w", err)
	}
	if len(raw) >= maxArgument {
		return nil, fmt.Errorf("jail: the order has %d bytes, more than an argument may have", len(raw))
	}
	cmd := exec.CommandContext(ctx, selfPath(), string(raw))
	cmd.Args[0] = stageName
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=off"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	return cmd, nil
}

// maxArgument is the kernel's bound on one argument (MAX_ARG_STRLEN).
const maxArgument = 128 << 10

// launcher hands commands to the one thread that starts them.
var launcher = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// Start starts cmd from a thread that lives as long as this process, so that the
// child dies with the process and never before it.
func Start(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	launcher() <- func() { done <- cmd.Start() }
	return <-done
}

// Main turns this process into the stage that it was started as and never comes
// back then; in any other process it does nothing. Call it first in main and in
// TestMain.
func Main() {
	if len(os.Args) != 2 || os.Args[0] != stageName {
		return
	}
	runtime.LockOSThread()
	var o order
	err := json.Unmarshal([]byte(os.Args[1]), &o)
	switch {
	case err != nil:
	case o.Worker != nil:
		err = o.Worker.run()
	case o.Box != nil:
		err = o.Box.run()
	case o.Trial:
		if err = runProbeStage(); err == nil {
			os.Exit(0)
		}
	default:
		err = errors.New("an empty order")
	}
	fmt.Fprintln(os.Stderr, "jail:", err)
	os.Exit(StageFailed)
}

// StageFailed is the exit code of a stage that could not confine itself.
const StageFailed = 111
