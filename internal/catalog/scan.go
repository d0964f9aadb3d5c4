package catalog

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// A dataset as it was found on disk. It is not changed after the scan.
type dataset struct {
	id, name, description string
	prompts               []string
	kind                  string
	dir                   string // where its dictionary is; "" if it has none
	tables                []table
	problems              []schema.Problem
	claimed               string      // the version that a registry says it has
	connection            *Connection // nil: made of files
}

// A table that is to be imported.
type table struct {
	name, file, kind, description string
	files                         []file
	options                       query.ImportOptions
	inner                         string // the table inside an SQLite file
	sum                           string // of its version: the hash of what it is read from, and how
}

// A file is one that was found readable.
type file struct {
	path string // without links
	size int64
	time time.Time
	// state is that of an SQLite file with its write-ahead log.
	state string
}

// Limits of a scan.
const (
	maxDatasets = 1000
	maxFiles    = 2000 // in one dataset
)

// scan looks at the folders, unless that was done a moment ago.
func (c *Catalog) scan(ctx context.Context) ([]*dataset, error) {
	c.scanning.Lock()
	defer c.scanning.Unlock()
	c.mu.Lock()
	fresh, last := time.Since(c.scanned) < c.config.Rescan, c.datasets
	c.mu.Unlock()
	if fresh {
		return last, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &scanner{ctx: ctx, maxFile: c.config.MaxFile, private: private{c.private.dirs, map[string]bool{}}, ids: namer{}, inner: c.inner, sqlite: c.sqlite, registries: c.registries}
	for _, root := range c.config.Roots {
		s.scanRoot(root)
	}
	connections, problems := c.connections()
	for _, conn := range connections {
		s.connection(conn)
	}
	if len(problems) > 0 {
		d := s.ensure("default")
		d.problems = append(d.problems, problems...)
	}
	found := s.datasets()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.datasets, c.scanned = found, time.Now()
	return found, nil
}

// A scanner collects datasets.
type scanner struct {
	ctx     context.Context // of the one scan that this value lives for
	maxFile int64
	private private
	ids     namer
	found   []*dataset
	inner   map[file][]source.TableName // of SQLite files, from earlier scans
	sqlite  *source.SQLitePool
	// registries were read in earlier scans.
	registries map[file]readResult
}

func (s *scanner) add(d *dataset) {
	if len(s.found) < maxDatasets {
		d.id = s.ids.name(datasetID(d.id), d.dir+d.id)
		s.found = append(s.found, d)
	}
}

// ensure gives the dataset with this id, made if need be.
func (s *scanner) ensure(id string) *dataset {
	for _, d := range s.found {
		if d.id == id {
			return d
		}
	}
	d := &dataset{id: id, name: id, kind: "files"}
	s.add(d)
	return d
}

// datasets returns the datasets that were found, sorted by id, without empty ones.
func (s *scanner) datasets() []*dataset {
	found := slices.DeleteFunc(s.found, func(d *dataset) bool { return len(d.tables) == 0 && len(d.problems) == 0 && d.connection == nil })
	slices.SortFunc(found, func(a, b *dataset) int { return strings.Compare(a.id, b.id) })
	return found
}

// scanRoot reads one data folder, or one file.
func (s *scanner) scanRoot(root string) {
	real, err := filepath.EvalSymlinks(root)
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(real)
	}
	if err != nil {
		d := s.ensure("default")
		d.problems = append(d.problems, schema.Problem{Path: printable(filepath.Base(root)), Message: "The data folder cannot be read: " + errorReason(err) + "."})
		return
	}
	if s.private.contains(real) {
		d := s.ensure("default")
		d.problems = append(d.problems, schema.Problem{Path: printable(filepath.Base(root)), Message: isPrivate})
		return
	}
	if !info.IsDir() {
		d := s.ensure("default")
		f := &folder{scanner: s, root: filepath.Dir(real), dataset: d, names: usedNames(d)}
		f.addRootFile(filepath.Base(real))
		if len(d.tables) == 0 && len(d.problems) == 0 {
			f.addProblem(filepath.Base(root), "This is neither a folder nor a file of data.")
		}
		return
	}
	if registered := s.registry(real, real); registered {
		return
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		d := s.ensure("default")
		d.problems = append(d.problems, schema.Problem{Path: printable(filepath.Base(root)), Message: "The data folder cannot be read: " + errorReason(err) + "."})
	}
	var loose []string
	for _, e := range entries {
		if hidden(e.Name()) {
			continue
		}
		path := filepath.Join(real, e.Name())
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if s.private.contains(path) {
				continue // a state folder may lie in the data folder; it is no dataset
			}
			s.folder(real, e.Name())
		} else {
			loose = append(loose, e.Name())
		}
	}
	if len(loose) > 0 {
		d := s.ensure("default")
		if d.dir == "" {
			d.dir = real
		}
		f := &folder{scanner: s, root: real, dataset: d, names: usedNames(d)}
		for _, name := range loose {
			f.addRootFile(name)
		}
	}
}

// folder reads the dataset in a folder below a root.
func (s *scanner) folder(root, name string) {
	d := &dataset{id: name, name: printable(name), kind: "files"}
	real, err := s.private.resolveInside(root, filepath.Join(root, name))
	if err != nil {
		d.problems = []schema.Problem{{Path: printable(name), Message: err.Error()}}
		s.add(d)
		return
	}
	d.dir = real
	if s.registry(root, real) {
		return
	}
	f := &folder{scanner: s, root: root, dataset: d, names: namer{}}
	f.addFolder(real)
	s.add(d)
}

func usedNames(d *dataset) namer {
	n := namer{}
	for _, t := range d.tables {
		n[t.name] = true
	}
	return n
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~$") }

// resolveInside resolves links and refuses what leads out of the root or into a private folder.
func (p private) resolveInside(root, path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", problem("It cannot be read: " + errorReason(err) + ".")
	}
	rel, err := filepath.Rel(root, real)
	if err != nil || !filepath.IsLocal(rel) {
		return "", problem("It leads out of the data folder and is not read.")
	}
	if p.contains(real) {
		return "", problem(isPrivate)
	}
	return real, nil
}

// A problem is an error that is shown as it is.
type problem string

func (p problem) Error() string { return string(p) }

// errorReason is a system's error without the path, which the problem names already.
func errorReason(err error) string {
	switch {
	case os.IsNotExist(err):
		return "it does not exist"
	case os.IsPermission(err):
		return "permission denied"
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
