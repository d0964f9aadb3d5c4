package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/query"
	"interlock/internal/schema"
)

// A registration is a dataset as a registry file describes it.
type registration struct {
	ID          string           `yaml:"id"`
	Name        string           `yaml:"name"`
	Description string           `yaml:"description"`
	Prompts     []string         `yaml:"prompts"`
	Examples    []string         `yaml:"example_prompts"`
	Version     string           `yaml:"version_hash"`
	Files       []registeredFile `yaml:"files"`
}

type registeredFile struct {
	Path        string              `yaml:"path"`
	Name        string              `yaml:"name"`
	Table       string              `yaml:"table_name"`
	Description string              `yaml:"description"`
	Schema      any                 `yaml:"schema"` // {column: type}, or a list of {name, type}
	Options     query.ImportOptions `yaml:"options"`
}

// maxRegistry bounds files that are read whole.
const maxRegistry = 8 << 20

// registry reads a folder's registry file, which describes the folder itself or
// lists several datasets. It says whether there is one.
func (s *scanner) registry(root, dir string) bool {
	for _, name := range []string{"registry.json", "registry.yaml", "registry.yml"} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		list, err := s.readRegistry(root, path)
		if err != nil {
			s.add(&dataset{
				id: filepath.Base(dir), name: printable(filepath.Base(dir)), kind: "files", dir: dir,
				problems: []schema.Problem{{Path: name, Message: err.Error()}},
			})
			return true
		}
		for _, r := range list {
			s.register(root, dir, r, len(list) == 1)
		}
		return true
	}
	return false
}

// A readResult is what a registry file said when it was read.
type readResult struct {
	list []registration
	err  error
}

// readRegistry reads a registry once, as long as the file does not change.
func (s *scanner) readRegistry(root, path string) ([]registration, error) {
	real, err := s.private.resolveInside(root, path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, problem("The file cannot be read: " + errorReason(err) + ".")
	}
	key := file{path: real, size: info.Size(), time: info.ModTime()}
	known, ok := s.registries[key]
	if !ok {
		known.list, known.err = s.parseRegistry(root, path)
		if len(s.registries) > maxDatasets {
			clear(s.registries)
		}
		s.registries[key] = known
	}
	return known.list, known.err
}

func (s *scanner) parseRegistry(root, path string) ([]registration, error) {
	text, err := s.private.readInside(root, path)
	if err != nil {
		return nil, err
	}
	var several struct {
		Datasets []registration `yaml:"datasets"`
	}
	var one registration
	if err := readYAML(text, &several); err != nil {
		return nil, err
	}
	if several.Datasets == nil {
		if err := readYAML(text, &one); err != nil {
			return nil, err
		}
		several.Datasets = []registration{one}
	}
	return several.Datasets, nil
}

// readInside reads a small file that must not lead out of the root.
func (p private) readInside(root, path string) ([]byte, error) {
	real, err := p.resolveInside(root, path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(real); err != nil || !info.Mode().IsRegular() || info.Size() > maxRegistry {
		return nil, problem("The file is not a file of up to 8 MB.")
	}
	text, err := readRegular(real, maxRegistry)
	if err != nil {
		return nil, problem("The file cannot be read: " + errorReason(err) + ".")
	}
	return text, nil
}

// register makes a dataset of a registration. One that names no files has all of the
// folder, or of the folder of its own name if the registry lists several.
func (s *scanner) register(root, dir string, r registration, only bool) {
	d := &dataset{id: r.ID, name: r.Name, description: r.Description, prompts: append(r.Prompts, r.Examples...), kind: "files", dir: dir, claimed: r.Version}
	if d.id == "" {
		d.id = filepath.Base(dir)
	}
	if d.name == "" {
		d.name = printable(d.id)
	}
	f := &folder{scanner: s, root: root, dataset: d, names: namer{}}
	own := filepath.Join(dir, filepath.Base(d.id))
	if info, err := os.Stat(own); err == nil && info.IsDir() && !only {
		d.dir = own
	}
	if len(r.Files) == 0 {
		f.addFolder(d.dir)
	}
	for _, file := range r.Files {
		f.registered(dir, file)
	}
	s.add(d)
}

func (f *folder) registered(dir string, r registeredFile) {
	name := r.Path
	if name == "" {
		name = r.Name
	}
	if name == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		f.addProblem(name, "The registry names a file outside of the folder; it is not read.")
		return
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil && f.dataset.dir != "" {
		path = filepath.Join(f.dataset.dir, filepath.FromSlash(name))
	}
	if kindOf(name) == "" {
		f.addProblem(name, "The registry names a file of a kind that cannot be read.")
		return
	}
	before := len(f.dataset.tables)
	if strings.ContainsAny(name, "*?[") {
		f.pattern(dir, name)
	} else {
		f.addFile(path, name)
	}
	if len(f.dataset.tables) != before+1 {
		return
	}
	t := &f.dataset.tables[before]
	t.description, t.options = r.Description, r.Options
	if r.Table != "" && plainName(r.Table) == strings.ToLower(r.Table) {
		delete(f.names, t.name)
		t.name = f.names.name(strings.ToLower(r.Table), name)
	} else {
		delete(f.names, t.name)
		t.name = f.names.name(plainName(stem(filepath.Base(name))), name)
	}
	types, err := schemaTypes(r.Schema)
	if err != nil {
		f.addProblem(name, err.Error())
		return
	}
	for column, kind := range types {
		if t.options.Types == nil {
			t.options.Types = map[string]string{}
		}
		t.options.Types[column] = kind
	}
}

// schemaTypes reads the types of a schema; words of other systems are translated.
func schemaTypes(schema any) (map[string]string, error) {
	types := map[string]string{}
	put := func(name, kind any) error {
		n, ok := name.(string)
		if !ok || n == "" {
			return problem("The registry's schema has a column without a name.")
		}
		k, ok := engineType(fmt.Sprint(kind))
		if !ok {
			return problem(fmt.Sprintf("The registry gives column %q the unknown type %q.", truncate(n, 60), truncate(fmt.Sprint(kind), 60)))
		}
		if k != "" {
			types[n] = k
		}
		return nil
	}
	switch s := schema.(type) {
	case nil:
	case map[string]any:
		if list, ok := s["columns"].([]any); ok {
			return schemaTypes(list)
		}
		for name, kind := range s {
			if m, ok := kind.(map[string]any); ok {
				kind = m["type"]
			}
			if err := put(name, kind); err != nil {
				return nil, err
			}
		}
	case []any:
		for _, entry := range s {
			m, ok := entry.(map[string]any)
			if !ok {
				continue // a bare name says nothing about types
			}
			if err := put(m["name"], m["type"]); err != nil {
				return nil, err
			}
		}
	default:
		return nil, problem("The registry's schema is neither a list nor a map of columns.")
	}
	return types, nil
}

// engineType gives the engine's name of a type; "" means that it is found out.
func engineType(word string) (string, bool) {
	word = strings.ToLower(strings.TrimSpace(word))
	switch word {
	case "", "<nil>", "any", "auto":
		return "", true
	case "string", "text", "varchar", "str", "category":
		return "VARCHAR", true
	case "int", "integer", "bigint", "int64", "long", "int32", "smallint":
		return "BIGINT", true
	case "float", "double", "real", "number", "float64":
		return "DOUBLE", true
	case "bool", "boolean":
		return "BOOLEAN", true
	case "date":
		return "DATE", true
	case "time":
		return "TIME", true
	case "datetime", "timestamp":
		return "TIMESTAMP", true
	case "timestamptz", "timestamp with time zone":
		return "TIMESTAMP WITH TIME ZONE", true
	case "json", "uuid":
		return strings.ToUpper(word), true
	}
	if t := decimalType.FindString(word); t != "" {
		return strings.ToUpper(strings.Replace(t, "numeric", "decimal", 1)), true
	}
	return "", false
}
