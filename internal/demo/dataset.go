package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// moneyKind is the type of every amount.
const moneyKind = "DECIMAL(12,2)"

// A dataset is one folder.
type dataset struct {
	id, name, about string
	story           string // what the README says about the firm and the data
	prompts         []string
	tables          []*table
	relations       []relation
	glossary        map[string]string
	meaning         string // meaning.yaml; "" where there is none
	flaws           []flaw
	documents       map[string][]byte // file name to content
	truth           []*table          // kept apart from the dataset
}

// A relation says which column refers to which, as "table.column".
type relation struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// A flaw is a deliberate error in the data.
type flaw struct {
	count int
	text  string
}

// A registryFile is a file as registry.json has it. Its schema is a list of columns with
// types, or of bare names where the format has types itself.
type registryFile struct {
	Path        string         `json:"path"`
	Table       string         `json:"table_name"`
	Format      string         `json:"format"`
	Description string         `json:"description"`
	Options     map[string]any `json:"options,omitempty"`
	Rows        int            `json:"rows"`
	Schema      []any          `json:"schema"`
}

type typedColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type registry struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Prompts     []string       `json:"prompts"`
	Files       []registryFile `json:"files"`
	Relations   []relation     `json:"relations"`
	Documents   string         `json:"documents,omitempty"` // folder of texts
}

type dictionaryTable struct {
	Description string            `json:"description"`
	Columns     map[string]string `json:"columns"`
}

type dictionary struct {
	Tables   map[string]dictionaryTable `json:"tables"`
	Glossary map[string]string          `json:"glossary"`
}

// files is everything that is written for the dataset.
func (d dataset) files(o Options) ([]file, error) {
	var out []file
	put := func(name string, content []byte) {
		out = append(out, file{path: path.Join(d.id, name), content: content})
	}
	reg := registry{ID: d.id, Name: d.name, Description: d.about, Prompts: d.prompts, Relations: d.relations}
	dict := dictionary{Tables: map[string]dictionaryTable{}, Glossary: d.glossary}
	for _, t := range d.tables {
		content, err := t.encode()
		if err != nil {
			return nil, fmt.Errorf("making the table %s of %s: %w", t.name, d.id, err)
		}
		out = append(out, file{path: path.Join(d.id, t.file), content: content, table: t.name, rows: len(t.rows)})
		l := registryFile{Path: t.file, Table: t.name, Format: t.format, Description: t.about, Options: t.options, Rows: len(t.rows)}
		about := dictionaryTable{Description: t.about, Columns: map[string]string{}}
		for _, c := range t.columns {
			if t.format == "csv" {
				l.Schema = append(l.Schema, typedColumn{c.name, c.kind})
			} else {
				l.Schema = append(l.Schema, c.name)
			}
			about.Columns[c.name] = c.about
		}
		reg.Files = append(reg.Files, l)
		dict.Tables[t.name] = about
	}
	for _, name := range slices.Sorted(maps.Keys(d.documents)) {
		reg.Documents = "documents"
		put(path.Join("documents", name), d.documents[name])
	}
	golden, err := d.golden(o)
	if err != nil {
		return nil, err
	}
	for name, v := range map[string]any{"registry.json": reg, "data_dictionary.json": dict, "golden.json": golden} {
		content, err := encodeIndented(v)
		if err != nil {
			return nil, fmt.Errorf("writing %s of %s: %w", name, d.id, err)
		}
		put(name, content)
	}
	put("README.md", d.readme())
	if d.meaning != "" {
		put("meaning.yaml", []byte(d.meaning))
	}
	for _, t := range d.truth {
		content, err := t.encode()
		if err != nil {
			return nil, fmt.Errorf("making the truth of %s: %w", d.id, err)
		}
		out = append(out, file{path: path.Join(".truth", d.id, t.file), content: content})
	}
	slices.SortFunc(out, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

func (d dataset) readme() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s\n\nMade data: people, firms and figures are invented.\n\n## Tables\n\n", d.name, d.story)
	for _, t := range d.tables {
		fmt.Fprintf(&b, "- `%s` (%s, %d rows): %s\n", t.name, t.file, len(t.rows), t.about)
	}
	b.WriteString("\n## Flaws, all on purpose\n\n")
	for _, f := range d.flaws {
		fmt.Fprintf(&b, "- %s: %d\n", f.text, f.count)
	}
	b.WriteString("\n## Words\n\n")
	for _, term := range slices.Sorted(maps.Keys(d.glossary)) {
		fmt.Fprintf(&b, "- **%s**: %s\n", term, d.glossary[term])
	}
	return b.Bytes()
}

func encodeIndented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
