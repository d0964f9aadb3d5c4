// Package sandbox runs Python that a model wrote, in a box: local, docker and
// microsandbox behind one [Open]. One runner (runner/*.py) and one framed protocol
// serve all three; what differs is the wall around it, and the level that was
// reached is known and can be demanded. Nothing ever runs without a wall.
//
// An interpreter is warmed up before its job comes, runs that one job and dies, so
// that nothing of one job is seen by another.
//
// Goroutines: each executor has one keeper, which refills its pool of warm
// interpreters and ends with Close; each interpreter has a reaper, which waits for
// its process, and a note in the pool, which waits for the reaper.
package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"interlock/internal/fault"
)

// A Level says how far a job is kept from the host. Higher is further.
type Level int

// The levels.
const (
	LevelNone       Level = iota // nothing runs
	LevelSyscalls                // Landlock, seccomp and rlimits in the host's namespaces
	LevelNamespaces              // and a root, process table, network and user of its own
	LevelMachine                 // a virtual machine
)

var levelNames = [...]string{"none", "syscalls", "namespaces", "machine"}

func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return fmt.Sprintf("Level(%d)", int(l))
	}
	return levelNames[l]
}

// MarshalText writes the name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the name; empty is LevelNone.
func (l *Level) UnmarshalText(text []byte) error {
	for i, name := range levelNames {
		if name == string(text) || len(text) == 0 {
			*l = Level(i)
			return nil
		}
	}
	return fault.New(fault.BadSetting, "python-min-level is %q", text).Suggest("use syscalls, namespaces or machine")
}

// Config of an executor. The zero value of a field is its default.
type Config struct {
	Disabled      bool   // Python is off: every job is refused with FEATURE_DISABLED
	Executor      string // local (default), docker or microsandbox
	MinLevel      Level  // refuse to run below it
	AllowDegraded bool   // local may fall back to LevelSyscalls
	Launcher      string // local: native, bubblewrap or landlock instead of the best that works
	Python        string // the interpreter; default: the first with pandas of /usr/bin/python3 and PATH
	AllowImports  []string
	Lean          bool // interpreters wait without matplotlib: they start in half the time, and a job that plots waits for it

	Timeout     time.Duration // of a job; 10 s
	Rows        int           // of a result; 10,000
	OutputBytes int           // of stdout and of stderr that are kept; 64 KiB
	MemoryMB    int           // 1,024
	CPUs        int           // 1
	Pool        int           // warm interpreters; 2

	Image     string // docker and microsandbox: an image with python3, pandas and matplotlib
	Runtime   string // docker: e.g. runsc
	ServerURL string // docker: unix:///var/run/docker.sock; microsandbox: http://127.0.0.1:5555 for servers up to 0.2.6, empty for the msb command
	Key       string // microsandbox server
	Namespace string // microsandbox; default

	Dir string // for font cache, job folders; default: a folder of the system's temporary one
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Executor = cmp.Or(c.Executor, "local")
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.Rows = cmp.Or(c.Rows, 10_000)
	c.OutputBytes = cmp.Or(c.OutputBytes, 64<<10)
	c.MemoryMB = cmp.Or(c.MemoryMB, 1024)
	c.CPUs = cmp.Or(c.CPUs, 1)
	c.Pool = cmp.Or(c.Pool, 2)
	c.Namespace = cmp.Or(c.Namespace, "default")
	c.Dir = cmp.Or(c.Dir, filepath.Join(os.TempDir(), fmt.Sprintf("interlock-sandbox-%d", os.Getuid())))
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// An Executor runs jobs. It may be called from many goroutines at once.
type Executor interface {
	// Run runs one job to its end. Its errors are faults, or what the maker of a
	// table failed with; cancelling ctx ends the job at once. The Outcome is there with a fault too, for what was printed.
	Run(ctx context.Context, job Job) (*Outcome, error)
	// Warm starts an interpreter in the background, so that the first job need not wait for it.
	Warm()
	// Status waits until it is known whether jobs can run here, or for ctx. It is idle before
	// the first job or Warm.
	Status(ctx context.Context) Status
	// Close ends all interpreters and waits for them.
	Close() error
}

// A Status says what an executor can do here.
type Status struct {
	State    string            `json:"state"` // idle, starting, ready, unavailable, off
	Executor string            `json:"executor"`
	Launcher string            `json:"launcher,omitempty"`
	Level    Level             `json:"level"`
	Python   string            `json:"python,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
	Notes    []string          `json:"notes,omitempty"` // what was tried in vain, and what this level does not cover
	Why      string            `json:"why,omitempty"`   // why it is unavailable
}

// Open makes the executor that the settings name. It starts nothing: whether jobs can run
// is found out by the first job or by Warm.
func Open(c Config) (Executor, error) {
	if c.Disabled {
		return disabled{}, nil
	}
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(c.Dir) // engines see it by its whole path
	if err != nil {
		return nil, fmt.Errorf("opening the sandbox's folder: %w", err)
	}
	c.Dir = dir
	if err := makePrivateFolder(c.Dir); err != nil {
		return nil, fmt.Errorf("opening the sandbox's folder: %w", err)
	}
	switch c.Executor {
	case "local":
		return newExecutor(c, local{c}), nil
	case "docker":
		return newExecutor(c, newDocker(c)), nil
	case "microsandbox":
		if c.ServerURL != "" {
			return newExecutor(c, newMicroRPC(c)), nil
		}
		return newExecutor(c, microCLI{c}), nil
	}
	return nil, fault.New(fault.BadSetting, "python-executor is %q", c.Executor).Suggest("use local, docker or microsandbox")
}

func (c Config) check() error {
	var problems []string
	for _, n := range []struct {
		name  string
		value int
		low   int
		high  int
	}{
		{"timeout in seconds", int(c.Timeout / time.Second), 1, 3600},
		{"rows", c.Rows, 1, 10_000_000},
		{"output-bytes", c.OutputBytes, 1 << 10, 64 << 20},
		{"memory-mb", c.MemoryMB, 64, 1 << 20},
		{"cpus", c.CPUs, 1, 256},
		{"pool", c.Pool, 1, 64},
	} {
		if n.value < n.low || n.value > n.high {
			problems = append(problems, fmt.Sprintf("python-%s is %d, not within %d and %d", n.name, n.value, n.low, n.high))
		}
	}
	if c.Launcher != "" && !slices.ContainsFunc(launchers, func(l launcher) bool { return l.name == c.Launcher }) {
		problems = append(problems, fmt.Sprintf("the launcher is %q, not native, bubblewrap or landlock", c.Launcher))
	}
	if c.Executor != "local" && c.Image == "" {
		problems = append(problems, fmt.Sprintf("python-image is not set, but the executor %s needs one", c.Executor))
	}
	if len(problems) > 0 {
		return fault.New(fault.BadSetting, "%s", problems[0]).With(problems)
	}
	return nil
}

// disabled is the executor of an installation that has Python switched off.
type disabled struct{}

func (disabled) Run(context.Context, Job) (*Outcome, error) {
	return &Outcome{}, fault.New(fault.FeatureDisabled, "Python is switched off").Suggest("start with --python to use it")
}
func (disabled) Warm()                         {}
func (disabled) Status(context.Context) Status { return Status{State: "off"} }
func (disabled) Close() error                  { return nil }
