package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"interlock/internal/fault"
)

// LibraryConfig says where machines come from.
type LibraryConfig struct {
	Shipped map[string]fs.FS // by name
	Folders []string         // directories of the user: every sub-folder is a machine
	Tools   ToolTypes        // nil = what needs the tools is not checked
}

// A Library holds the machines that can be used. A broken definition is kept as a
// report, and the others go on. It is safe for concurrent use.
type Library struct {
	cfg LibraryConfig

	mu       sync.RWMutex
	machines map[string]*Machine
	byHash   map[string]*Machine // also versions that a reload replaced
	broken   []Report
	stamp    string
}

// A Report is a definition with findings: one that did not load, or one that did
// and has warnings.
type Report struct {
	Name     string   `json:"name"`
	Dir      string   `json:"dir,omitempty"`
	Findings Findings `json:"findings"`
}

// Open loads all machines.
func Open(cfg LibraryConfig) *Library {
	l := &Library{cfg: cfg, byHash: make(map[string]*Machine)}
	l.Reload()
	return l
}

// Reload reads the machines again where files changed, and says whether it did.
func (l *Library) Reload() bool {
	stamp := l.stampOf()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.machines != nil && stamp == l.stamp {
		return false
	}
	l.stamp = stamp
	l.machines = make(map[string]*Machine)
	l.broken = nil
	for _, name := range slices.Sorted(maps.Keys(l.cfg.Shipped)) {
		l.loadFolder(name, "", l.cfg.Shipped[name])
	}
	for _, folder := range l.cfg.Folders {
		for _, dir := range subFolders(folder) {
			l.loadFolder(filepath.Base(dir), dir, os.DirFS(dir))
		}
	}
	return true
}

// loadFolder adds one machine, or a report of its findings.
func (l *Library) loadFolder(name, dir string, fsys fs.FS) {
	m, found, err := ExamineFS(fsys, l.cfg.Tools)
	if err != nil {
		found = append(found, finding{code: "missing-key", pos: Pos{File: File}, message: err.Error()}.public())
		m = nil
	}
	if m != nil {
		if clash := l.checkName(m, name, dir); clash != nil {
			m, found = nil, append(found, *clash)
		}
	}
	if m == nil {
		l.broken = append(l.broken, Report{Name: name, Dir: dir, Findings: found})
		return
	}
	l.machines[m.Name] = m
	l.byHash[m.Hash] = m
}

// checkName reports a name that is taken or that is not the folder's.
func (l *Library) checkName(m *Machine, name, dir string) *Finding {
	pos := Pos{File: File, Line: 1}
	var f Finding
	switch {
	case m.Name != name:
		f = finding{code: "name-taken", pos: pos, message: fmt.Sprintf("the folder %s holds a machine named %s", name, m.Name), repair: "give both the same name"}.public()
	case l.machines[m.Name] == nil:
		return nil
	case l.cfg.Shipped[m.Name] != nil && dir != "":
		f = finding{code: "name-taken", pos: pos, message: fmt.Sprintf("%s is the name of a machine that ships with Interlock", m.Name), repair: "rename the folder and `name:`; a copy under another name may differ as it likes"}.public()
	default:
		f = finding{code: "name-taken", pos: pos, message: fmt.Sprintf("another folder holds a machine named %s too", m.Name), repair: "rename one of them"}.public()
	}
	return &f
}

// Get returns a machine by name.
func (l *Library) Get(name string) (*Machine, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if m := l.machines[name]; m != nil {
		return m, nil
	}
	for _, r := range l.broken {
		if r.Name == name {
			first := "it has errors"
			if errs := r.Findings.Errors(); len(errs) > 0 {
				first = fmt.Sprintf("%s: %s", errs[0].Pos, errs[0].Message)
			}
			return nil, fault.New(fault.MachineInvalid, "machine %s was not loaded: %s", name, first).With(r)
		}
	}
	return nil, fault.New(fault.MachineNotFound, "there is no machine %q; there are %s", name, quoteNames(slices.Sorted(maps.Keys(l.machines))))
}

// ByHash returns a machine by the hash of its files, nil if this process has not seen
// it: a version that was replaced is still found.
func (l *Library) ByHash(hash string) *Machine {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.byHash[hash]
}

// List returns the machines that can be used, by name.
func (l *Library) List() []*Machine {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.SortedFunc(maps.Values(l.machines), func(a, b *Machine) int { return strings.Compare(a.Name, b.Name) })
}

// Broken returns the definitions that were not loaded, and why.
func (l *Library) Broken() []Report {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.Clone(l.broken)
}

// subFolders lists the machine folders of a directory; one that does not exist has
// none.
func subFolders(dir string) []string {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range list {
		sub := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(sub, File)); err == nil || !errors.Is(err, fs.ErrNotExist) && e.IsDir() {
			out = append(out, sub)
		}
	}
	return out
}

// stampOf changes when a file of a user's machine does.
func (l *Library) stampOf() string {
	var b strings.Builder
	for _, folder := range l.cfg.Folders {
		for _, dir := range subFolders(folder) {
			list, err := os.ReadDir(dir)
			if err != nil {
				fmt.Fprintf(&b, "%s %v\n", dir, err)
				continue
			}
			for _, e := range list {
				if info, err := e.Info(); err == nil {
					fmt.Fprintf(&b, "%s/%s %d %d\n", dir, e.Name(), info.Size(), info.ModTime().UnixNano())
				}
			}
		}
	}
	return b.String()
}
