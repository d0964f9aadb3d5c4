// Package jail confines child processes: the query workers, which are this very
// binary, and the interpreters that run Python. A child starts as a stage: this
// program again, which takes its own rights away on one locked thread and then
// execs what was asked for. What a stage cannot take away it does not start.
//
//	server --fork--> stage (rlimits, capabilities, no_new_privs, Landlock, seccomp) --exec--> worker
//
// One goroutine lives here: the launcher, a locked thread that starts children
// for as long as the process lives, because a child's death signal is bound to
// the thread that forked it.
package jail

import (
	"os"
)

// Self as the first argument of a Spec stands for this binary.
const Self = "self"

// A Spec says what a confined process may use. The zero value of a limit leaves
// it as it is; the environment is exactly Env, so that no key of the server leaks.
type Spec struct {
	Args       []string // Args[0] is a program or Self
	ReadOnly   []string // files and folders it may read; must exist
	ReadWrite  []string // files and folders it may change; must exist
	Executable []string // files and folders it may read and execute, beside its own program and the system's libraries

	MemoryBytes uint64 // address space (RLIMIT_AS)
	CPUSeconds  uint64
	OpenFiles   uint64
	FileBytes   uint64 // largest file it may write

	Network    bool // may open IP and Unix sockets
	Dir        string
	Env        []string
	ExtraFiles []*os.File // become descriptors 3, 4, ...
}

// activeVar is the environment variable in which a confined process finds the
// layers that confine it. An operator reads it in /proc/PID/environ.
const activeVar = "INTERLOCK_JAIL"
