package sandbox_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/sandbox"
)

// An escape is a piece of hostile code with what must come of it: a fault's code,
// =TEXT for a job that ends well and hands back that text, or file:NAME for one
// that hands back a file of that name.
type escape struct {
	name, code, layer string
	expect            []string
}

func readEscapes(t *testing.T) (out []escape) {
	t.Helper()
	paths, err := filepath.Glob("testdata/escapes/*.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		e := escape{name: strings.TrimSuffix(filepath.Base(path), ".py"), code: string(raw)}
		arch := ""
		for line := range strings.Lines(e.code) {
			key, value, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "# ")), ": ")
			if !strings.HasPrefix(line, "# ") || !ok {
				break
			}
			switch key {
			case "stopped by":
				e.layer = value
			case "expect":
				e.expect = strings.Fields(value)
			case "only":
				arch = value
			}
		}
		if e.layer == "" || len(e.expect) == 0 {
			t.Fatalf("%s does not say what stops it and what to expect", path)
		}
		if arch == "" || arch == runtime.GOARCH {
			out = append(out, e)
		}
	}
	return out
}

// TestEscapes runs the corpus: nothing gets out, and the server goes on.
func TestEscapes(t *testing.T) {
	escapes := readEscapes(t)
	if len(escapes) < 60 {
		t.Fatalf("only %d escapes", len(escapes))
	}
	for _, w := range walls[:3] {
		t.Run(w.name, func(t *testing.T) {
			t.Run("corpus", func(t *testing.T) {
				e := w.open(t, func(c *sandbox.Config) { c.MemoryMB, c.Pool, c.Lean = 512, 3, true })
				abreast(escapes, func(x escape) {
					if w.name == "native" || x.dependsOnLauncher() {
						t.Run(x.name, func(t *testing.T) { x.try(t, e) })
					}
				})
				if o, err := e.Run(t.Context(), sandbox.Job{Code: "result_df = 1"}); err != nil || string(o.Rows) != "[[1]]" {
					t.Errorf("afterwards: %s %v", o.Rows, err)
				}
			})
			for _, p := range descendants(os.Getpid()) {
				t.Errorf("process %d (%s) is left", p.pid, p.name)
			}
		})
	}
}

// dependsOnLauncher: the filters, the limits and the runner are the same everywhere.
func (x escape) dependsOnLauncher() bool {
	return slices.Contains([]string{"own root", "read-only mounts", "close_range", "clean environment", "capabilities"}, x.layer) ||
		slices.Contains([]string{"kill_parent", "kill_all", "exec_shell", "socket_unix", "chmod_box"}, x.name)
}

func (x escape) try(t *testing.T, e sandbox.Executor) {
	job := sandbox.Job{Code: x.code}
	if slices.Contains(x.expect, string(fault.PyWallTime)) {
		job.Timeout = 3 * time.Second
	}
	o, err := e.Run(t.Context(), job)
	var got []string
	if err != nil {
		got = append(got, string(fault.From(err).Code))
	} else {
		var value string
		_ = json.Unmarshal(o.Value, &value)
		got = append(got, "="+value)
		for _, f := range o.Files {
			got = append(got, "file:"+f.Name)
		}
	}
	if !slices.ContainsFunc(got, func(g string) bool { return slices.Contains(x.expect, g) }) {
		t.Errorf("stopped by %s: got %v (%v), want one of %v", x.layer, got, err, x.expect)
	}
}
