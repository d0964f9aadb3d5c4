package machine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/machines"
)

func write(t *testing.T, dir, source string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, machine.File), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLibrary(t *testing.T) {
	dir := t.TempDir()
	const good = "start: a\nstates: {a: {kind: agent, terminal: true}}\n"
	write(t, filepath.Join(dir, "mine"), "name: mine\n"+good)
	write(t, filepath.Join(dir, "bad"), "name: bad\nstart: nowhere\nstates: {a: {kind: agent, terminal: true}}\n")
	write(t, filepath.Join(dir, "analyst"), "name: analyst\n"+good)
	write(t, filepath.Join(dir, "folder"), "name: other\n"+good)
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	l := machine.Open(machine.LibraryConfig{Shipped: machines.All(), Folders: []string{dir, filepath.Join(dir, "none")}, Tools: nil})

	if got := len(l.List()); got != 6 {
		t.Errorf("%d machines, want the five shipped and mine", got)
	}
	reports := make(map[string]string)
	for _, r := range l.Broken() {
		reports[r.Name] = r.Findings.Error()
	}
	for name, want := range map[string]string{"bad": "unknown-state", "analyst": "ships with Interlock", "folder": "named other"} {
		if !strings.Contains(reports[name], want) {
			t.Errorf("report on %s: %q, want %q in it", name, reports[name], want)
		}
	}
	if m, err := l.Get("analyst"); err != nil || m.Title == "analyst" {
		t.Errorf("the shipped analyst was replaced (%v)", err)
	}
	if _, err := l.Get("bad"); !fault.Is(err, fault.MachineInvalid) {
		t.Errorf("a broken machine gives %v", err)
	}
	if _, err := l.Get("nothing"); !fault.Is(err, fault.MachineNotFound) {
		t.Errorf("a missing machine gives %v", err)
	}

	before, err := l.Get("mine")
	if err != nil {
		t.Fatal(err)
	}
	if l.Reload() {
		t.Error("reloaded although nothing changed")
	}
	write(t, filepath.Join(dir, "mine"), "name: mine\ntitle: Mine, changed\n"+good)
	if !l.Reload() {
		t.Fatal("a changed file was not seen")
	}
	after, err := l.Get("mine")
	if err != nil || after.Title != "Mine, changed" {
		t.Errorf("after the reload: %v, %v", after, err)
	}
	if l.ByHash(before.Hash) != before || l.ByHash(after.Hash) != after {
		t.Error("a version is not found by its hash")
	}
}
