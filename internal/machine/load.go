package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// File is the name of the definition inside a machine's folder; the prompts lie
// beside it as Markdown.
const File = "machine.yaml"

// Load reads the machine whose folder is the root of fsys. The error is Findings
// where the definition has faults: all of them at once.
func Load(fsys fs.FS) (*Machine, error) {
	files, err := readFiles(fsys)
	if err != nil {
		return nil, err
	}
	return Parse(files)
}

// readFiles reads the definition and the prompts of a folder.
func readFiles(fsys fs.FS) (map[string]string, error) {
	dir, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("reading the machine's folder: %w", err)
	}
	files := make(map[string]string)
	for _, e := range dir {
		name := e.Name()
		if e.IsDir() || name != File && path.Ext(name) != ".md" {
			continue
		}
		info, err := fs.Stat(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("reading the machine's folder: %w", err)
		}
		if !info.Mode().IsRegular() { // reading a pipe or a device need not end
			f := finding{code: "wrong-form", pos: Pos{File: name}, message: "it is not a file", repair: "put a plain file in its place"}.public()
			return nil, Findings{f}
		}
		if f := sizeFault(name, info.Size(), len(files)); f != nil {
			return nil, Findings{*f}
		}
		text, err := readText(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("reading the machine's folder: %w", err)
		}
		if f := sizeFault(name, int64(len(text)), len(files)); f != nil { // it has grown since
			return nil, Findings{*f}
		}
		files[name] = text
	}
	return files, nil
}

// readText reads a file up to the bound of the largest.
func readText(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxYAML+1))
	return string(raw), err
}

func sizeFault(name string, size int64, count int) *Finding {
	bound := int64(maxPrompt)
	if name == File {
		bound = maxYAML
	}
	var f Finding
	switch {
	case size > bound:
		f = finding{code: "too-large", pos: Pos{File: name}, message: fmt.Sprintf("the file has %d bytes, more than %d", size, bound)}.public()
	case count >= maxFiles:
		f = finding{code: "too-large", pos: Pos{File: name}, message: fmt.Sprintf("the folder has more than %d files", maxFiles)}.public()
	default:
		return nil
	}
	return &f
}

// Parse makes a machine of its files: machine.yaml and the prompts by name. It
// refuses a definition with errors; the error is then Findings, warnings included.
func Parse(files map[string]string) (*Machine, error) {
	m, found := decodeFiles(files)
	if m == nil {
		return nil, sortFindings(found)
	}
	if !hasErrors(found) {
		found = append(found, m.Check(nil)...)
	}
	if hasErrors(found) {
		return nil, sortFindings(found)
	}
	return m, nil
}

// Examine is Parse for people who check a definition: the machine where it loads,
// and every finding, warnings included, also those that need the tools.
func Examine(files map[string]string, tools ToolTypes) (*Machine, Findings) {
	m, found := decodeFiles(files)
	if m != nil && !hasErrors(found) {
		found = append(found, m.Check(tools)...)
	}
	if hasErrors(found) {
		m = nil
	}
	return m, sortFindings(found)
}

// ExamineFS is Examine for a folder.
func ExamineFS(fsys fs.FS, tools ToolTypes) (*Machine, Findings, error) {
	files, err := readFiles(fsys)
	if fs, ok := errors.AsType[Findings](err); ok {
		return nil, fs, nil
	}
	if err != nil {
		return nil, nil, err
	}
	m, found := Examine(files, tools)
	return m, found, nil
}

func hasErrors(fs []Finding) bool {
	return slices.ContainsFunc(fs, func(f Finding) bool { return f.Severity == Error })
}

// decodeFiles decodes the files of a machine. It returns nil if they cannot be decoded at all.
func decodeFiles(files map[string]string) (*Machine, []Finding) {
	for i, name := range slices.Sorted(maps.Keys(files)) {
		if f := sizeFault(name, int64(len(files[name])), i); f != nil {
			return nil, []Finding{*f}
		}
	}
	source, ok := files[File]
	if !ok {
		return nil, []Finding{finding{code: "missing-key", pos: Pos{File: File}, message: "there is no " + File, repair: "write the definition into " + File}.public()}
	}
	d := &decoder{
		parser: parserConfig(),
		m:      &Machine{Files: maps.Clone(files), Hash: hashFiles(files), facts: map[string]*Fact{}, states: map[string]*State{}},
		file:   File, lines: strings.Split(source, "\n"), anchors: map[string]ast.Node{}, named: map[string]bool{},
	}
	root := d.parseYAML(source)
	if root == nil {
		return nil, d.findings
	}
	d.decodeMachine(root)
	d.compilePending()
	d.fillTemplates()
	d.m.markSettingsOnly()
	return d.m, d.findings
}

// hashFiles returns the hash of the names and contents, in the order of the names.
func hashFiles(files map[string]string) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%d:%s%d:%s", len(name), name, len(files[name]), files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// markSettingsOnly notes the offers that settings alone switch off.
func (m *Machine) markSettingsOnly() {
	for _, s := range m.States {
		for _, o := range s.Offers {
			o.BySettings = o.When.onlySettings()
		}
	}
	for _, s := range m.Short {
		s.BySettings = s.When.onlySettings()
	}
}

// onlySettings reports whether a guard looks at settings and at nothing else.
func (x *Expr) onlySettings() bool {
	return x != nil && x.code != nil && len(x.code.refs) > 0 &&
		!slices.ContainsFunc(x.code.refs, func(r ref) bool { return !strings.HasPrefix(r.name, "settings.") })
}
