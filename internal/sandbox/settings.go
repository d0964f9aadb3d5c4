package sandbox

import (
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"interlock/internal/jail"
)

//go:embed runner/*.py
var runnerFiles embed.FS

// runnerCode is the runner as one program; the order is that of its imports.
var runnerCode = func() string {
	var b strings.Builder
	for _, name := range []string{"policy.py", "bundle.py", "result.py", "runner.py"} {
		raw, err := runnerFiles.ReadFile("runner/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		b.Write(raw)
	}
	return b.String()
}()

// How a job reaches the runner.
const (
	bySocket = "socket" // with descriptors beside it
	byPipe   = "pipe"
	byFolder = "folder"
)

// settings is what a runner is told at its start.
type settings struct {
	Transport   string               `json:"transport"`
	Work        string               `json:"work"`
	OutputBytes int                  `json:"output_bytes"`
	Limits      map[string][2]uint64 `json:"limits"`
	Filter      string               `json:"filter"`  // seccomp, hexadecimal
	Machine     string               `json:"machine"` // the processor that the filter is for, as uname says
	Fonts       bool                 `json:"fonts"`   // the font list is there already
	Lean        bool                 `json:"lean"`    // matplotlib is loaded only by code that plots
}

// Bounds inside a box.
const (
	boxBytes, boxFiles = 64 << 20, 4096
	tmpBytes           = 16 << 20
	maxThreads         = 64
	// interpreter is the address space of a warm interpreter, which a job does not pay for.
	interpreter = 256 << 20
	// reserve is what a job that ran out of memory may still use to say so.
	reserve = 64 << 20
)

var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// runnerSettings returns the settings of a runner; a box has its own process table.
func (c Config) runnerSettings(transport, work string, box bool) settings {
	memory := uint64(c.MemoryMB)<<20 + interpreter
	s := settings{
		Transport: transport, Work: work, OutputBytes: c.OutputBytes, Lean: c.Lean, Filter: hex.EncodeToString(jail.JobFilter()), Machine: machines[runtime.GOARCH],
		Limits: map[string][2]uint64{
			"AS": {memory, memory + reserve}, "FSIZE": {boxBytes, boxBytes}, "NOFILE": {128, 128}, "CORE": {}, "MEMLOCK": {}, "STACK": {8 << 20, 8 << 20},
		},
	}
	if box {
		s.Limits["NPROC"] = [2]uint64{maxThreads, maxThreads}
	}
	return s
}

// environment is all that a runner sees of one.
func (c Config) environment(s settings, home, tmp string) []string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // plain numbers and strings
	}
	threads := fmt.Sprint(c.CPUs)
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + tmp, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TZ=UTC",
		"PYTHONUTF8=1", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1",
		"OPENBLAS_NUM_THREADS=" + threads, "OMP_NUM_THREADS=" + threads, "MKL_NUM_THREADS=" + threads, "NUMEXPR_NUM_THREADS=" + threads, "MALLOC_ARENA_MAX=2",
		"MPLBACKEND=Agg", "MPLCONFIGDIR=" + tmp + "/mpl",
		"BOX_SETTINGS=" + string(raw),
	}
}
