package machines_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"interlock/internal/machine"
)

// workbenchMoves is the table of moves that workbench promises. Staying is no move, and
// a turn begins in planning wherever the last one ended.
var workbenchMoves = map[string][]string{
	"planning":      {"analyzing", "completed", "data_fetching", "presenting"},
	"data_fetching": {"analyzing", "error", "presenting"},
	"analyzing":     {"data_fetching", "error", "presenting"},
	"presenting":    {"analyzing", "completed", "error"},
	"error":         {"completed", "planning"},
	"completed":     nil,
}

var (
	moveLine   = regexp.MustCompile(`(?m)^ *\d+ state (\w+) -> (\w+) \((\w+)`)
	refuseLine = regexp.MustCompile(`(?m)refuse \w+ (\w+) invalid_state: \w+ means the state "(\w+)", and no way leads there from "(\w+)"`)
)

// TestWorkbenchTable holds the definition to the table, and the transcripts to both:
// each move of the table is made in one, none beside it, and each call that would leave
// the table is refused in one, with the turn going on to its end.
func TestWorkbenchTable(t *testing.T) {
	m, err := load("workbench")
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range m.States {
		targets := map[string]bool{}
		for _, tr := range st.Go {
			for _, to := range tr.To {
				targets[to] = true
			}
		}
		if got := slices.Sorted(maps.Keys(targets)); !slices.Equal(got, workbenchMoves[st.Name]) {
			t.Errorf("%s leads to %v, want %v", st.Name, got, workbenchMoves[st.Name])
		}
	}
	made, refused := map[[2]string]bool{}, map[[2]string]bool{}
	paths, err := filepath.Glob("testdata/workbench*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range moveLine.FindAllStringSubmatch(string(raw), -1) {
			if f[3] == "start" {
				continue // a new turn
			}
			made[[2]string{f[1], f[2]}] = true
			if !slices.Contains(workbenchMoves[f[1]], f[2]) {
				t.Errorf("%s moves from %s to %s, which the table does not have", path, f[1], f[2])
			}
		}
		for _, f := range refuseLine.FindAllStringSubmatch(string(raw), -1) {
			refused[[2]string{f[3], f[2]}] = true
		}
	}
	for from, all := range workbenchMoves {
		for _, to := range all {
			if !made[[2]string{from, to}] {
				t.Errorf("no transcript moves from %s to %s", from, to)
			}
		}
	}
	// Calls are the only moves that a model can ask for: from every state in which it is
	// asked, to every state that a call means.
	for _, from := range m.States {
		if from.Kind != machine.Agent {
			continue
		}
		for tool, to := range m.Calls {
			allowed := to == from.Name || slices.Contains(workbenchMoves[from.Name], to)
			scope := &machine.Scope{State: map[string]any{"name": from.Name}}
			if got := m.CallEdge(scope, tool); got != allowed {
				t.Errorf("%s in %s: allowed %t, want %t", tool, from.Name, got, allowed)
			}
			if !allowed && !refused[[2]string{from.Name, to}] {
				t.Errorf("no transcript shows that %s is refused in %s", tool, from.Name)
			}
		}
	}
}
