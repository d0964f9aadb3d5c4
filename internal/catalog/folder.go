package catalog

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// A folder turns files into the tables of a dataset.
type folder struct {
	scanner *scanner
	root    string
	dataset *dataset
	names   namer
	count   int
}

func (f *folder) addProblem(path, message string) {
	f.dataset.problems = append(f.dataset.problems, schema.Problem{Path: printable(path), Message: message})
}

// addFolder takes every file in dir; a folder in it, all of one kind, is one table.
func (f *folder) addFolder(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.addProblem(filepath.Base(dir), "The folder cannot be read: "+errorReason(err)+".")
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch info, err := os.Stat(path); {
		case hidden(e.Name()):
		case err == nil && info.IsDir():
			f.parts(path)
		default:
			f.addFile(path, e.Name())
		}
	}
}

// addRootFile takes one file of the root itself.
func (f *folder) addRootFile(name string) { f.addFile(filepath.Join(f.root, name), name) }

// addFile takes one file, if it is data.
func (f *folder) addFile(path, name string) {
	kind := kindOf(name)
	if kind == "" {
		return
	}
	found, err := f.check(path)
	if err != nil {
		f.addProblem(name, err.Error())
		return
	}
	if kind == "db" {
		kind = databaseKind(found.path)
	}
	if kind == "sqlite" {
		f.sqlite(found, name)
		return
	}
	f.add(table{name: f.names.name(plainName(stem(name)), name), file: printable(name), kind: kind, files: []file{found}})
}

func (f *folder) add(t table) { f.dataset.tables = append(f.dataset.tables, t) }

// parts takes a folder of files that together are one table.
func (f *folder) parts(dir string) {
	name := filepath.Base(dir)
	if _, err := f.scanner.private.resolveInside(f.root, dir); err != nil {
		f.addProblem(name, err.Error())
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.addProblem(name, "The folder cannot be read: "+errorReason(err)+".")
		return
	}
	var paths []string
	for _, e := range entries {
		if !hidden(e.Name()) && !e.IsDir() && kindOf(e.Name()) != "" {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	f.together(name, paths)
}

// pattern takes the files that a registry names by a pattern: together they are one table.
func (f *folder) pattern(dir, name string) {
	paths, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil || len(paths) == 0 {
		f.addProblem(name, "The registry names files by a pattern that none has.")
		return
	}
	f.together(name, paths)
}

// together makes one table of files.
func (f *folder) together(name string, paths []string) {
	t := table{file: printable(name)}
	for _, path := range paths {
		kind, part := kindOf(filepath.Base(path)), name+"/"+filepath.Base(path)
		found, err := f.check(path)
		switch {
		case err != nil:
			f.addProblem(part, err.Error())
		case t.kind != "" && t.kind != kind:
			f.addProblem(part, "The files of one table must be of one kind; this one is not read.")
		default:
			t.kind = kind
			t.files = append(t.files, found)
		}
	}
	if len(t.files) > 0 {
		t.name = f.names.name(plainName(name), name+"/")
		f.add(t)
	}
}

// check resolves a file and looks whether it can be imported.
func (f *folder) check(path string) (file, error) {
	real, err := f.scanner.private.resolveInside(f.root, path)
	if err != nil {
		return file{}, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return file{}, problem("The file cannot be read: " + errorReason(err) + ".")
	}
	switch f.count++; {
	case !info.Mode().IsRegular():
		return file{}, problem("It is not a file.")
	case !utf8.ValidString(real):
		return file{}, problem("The file's name is not valid UTF-8; rename it.")
	case info.Size() > f.scanner.maxFile:
		return file{}, problem("The file is larger than is imported.")
	case info.Size() == 0:
		return file{}, problem("The file is empty.")
	case f.count > maxFiles:
		return file{}, problem("The folder has too many files; this one is not read.")
	}
	if probe, err := openRegular(real); err != nil {
		return file{}, problem("The file cannot be read: " + errorReason(err) + ".")
	} else {
		probe.Close()
	}
	return file{path: real, size: info.Size(), time: info.ModTime()}, nil
}

// kindOf goes by the name; "" is no data.
func kindOf(name string) string {
	name = strings.ToLower(name)
	switch strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst") {
	case "registry.json", "registry.yaml", "registry.yml", "data_dictionary.json", "golden.json", "meaning.json":
		return ""
	}
	packed := false
	for _, ext := range []string{".gz", ".zst"} {
		if rest, ok := strings.CutSuffix(name, ext); ok {
			name, packed = rest, true
		}
	}
	switch ext := filepath.Ext(name); {
	case ext == ".csv", ext == ".tsv", ext == ".psv":
		return "csv"
	case ext == ".json":
		return "json"
	case ext == ".ndjson", ext == ".jsonl":
		return "ndjson"
	case packed:
		return ""
	case ext == ".parquet", ext == ".pq":
		return "parquet"
	case ext == ".xlsx", ext == ".xlsm":
		return "xlsx"
	case ext == ".sqlite", ext == ".sqlite3":
		return "sqlite"
	case ext == ".duckdb":
		return "duckdb"
	case ext == ".db":
		return "db"
	}
	return ""
}

// databaseKind looks at the first bytes of a file whose name says only that it is a database.
func databaseKind(path string) string {
	f, err := openRegular(path)
	if err != nil {
		return "duckdb"
	}
	defer f.Close()
	head := make([]byte, 16)
	if _, err := io.ReadFull(f, head); err == nil && string(head) == "SQLite format 3\x00" {
		return "sqlite"
	}
	return "duckdb"
}

// stem is a name without its endings.
func stem(name string) string {
	for _, ext := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, ext)
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// sqlite takes the tables of an SQLite file.
func (f *folder) sqlite(found file, name string) {
	conf := source.Config{URL: "sqlite:" + found.path, Name: printable(name), SQLite: f.scanner.sqlite}
	found.state = conf.DatabaseVersion()
	tables, ok := f.scanner.inner[found]
	if !ok {
		var err error
		if tables, err = source.Tables(f.scanner.ctx, conf); err != nil {
			f.addProblem(name, "The file cannot be read as SQLite: "+strings.ReplaceAll(fault.From(err).Message, conf.URL, printable(name))+".")
			return
		}
		f.scanner.inner[found] = tables
	}
	for _, t := range tables {
		f.add(table{name: f.names.name(plainName(t.Name), name+"/"+t.Name), file: printable(name), kind: "sqlite", files: []file{found}, inner: t.Name})
	}
}
