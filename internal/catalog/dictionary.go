package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interlock/internal/schema"
)

const maxEntry = 4000 // bytes of one text

// usualDictionary is the file that is read where no other is named.
const usualDictionary = "data_dictionary.json"

// Dictionary reads the dictionary of a dataset: the file of this name beside its files, ""
// for the usual one. What it cannot use is warned about and left out; a dataset without the
// usual file has an empty one.
func (c *Catalog) Dictionary(ctx context.Context, id, name string) (schema.Dictionary, error) {
	dict := newDictionary()
	name = cmp.Or(name, usualDictionary)
	d, err := c.Get(ctx, id)
	if err != nil {
		return schema.Dictionary{}, err
	}
	found, err := c.find(ctx, id)
	if err != nil {
		return schema.Dictionary{}, err
	}
	if found.dir == "" {
		return schema.Dictionary(*dict), nil
	}
	path := filepath.Join(found.dir, filepath.FromSlash(name))
	if _, err := os.Lstat(path); err != nil || !filepath.IsLocal(filepath.FromSlash(name)) {
		if name != usualDictionary {
			dict.warn("there is no data dictionary %q beside the files of %s", name, id)
		}
		return schema.Dictionary(*dict), nil
	}
	text, err := c.private.readInside(found.dir, path)
	if err != nil {
		dict.warn("%s: %v", name, err)
		return schema.Dictionary(*dict), nil
	}
	dict.parse(text, d.Tables)
	return schema.Dictionary(*dict), nil
}

// A dictionary is a schema.Dictionary in the making.
type dictionary schema.Dictionary

func newDictionary() *dictionary {
	return &dictionary{Tables: map[string]schema.TableText{}, Glossary: map[string]string{}}
}

// parse takes what it understands of a document: tables and glossary as maps or lists,
// texts bare or as objects with a description.
func (d *dictionary) parse(text []byte, tables []schema.Table) {
	var doc map[string]any
	if err := json.Unmarshal([]byte(strings.TrimPrefix(string(text), "\uFEFF")), &doc); err != nil {
		d.warn("data_dictionary.json is not a JSON object: %v", err)
		return
	}
	for _, key := range sortedKeys(doc) {
		switch strings.ToLower(key) {
		case "tables":
			for _, e := range entries(doc[key]) {
				d.addTable(e, tables)
			}
		case "glossary", "terms":
			for _, e := range entries(doc[key]) {
				d.addTerm(e)
			}
		case "name", "title", "description", "version", "dataset", "dataset_id", "$schema":
		default:
			if e := (entry{key, doc[key]}); tableNamed(tables, key) != nil {
				d.addTable(e, tables)
			} else {
				d.warn("%q is neither tables nor glossary nor a table's name", truncate(key, 60))
			}
		}
	}
}

func (d *dictionary) warn(format string, args ...any) {
	if len(d.Warnings) < 100 {
		d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...))
	}
}

func (d *dictionary) addTable(e entry, tables []schema.Table) {
	t := tableNamed(tables, e.name)
	if t == nil {
		d.warn("there is no table %q", truncate(e.name, 60))
		return
	}
	described := schema.TableText{Columns: map[string]string{}}
	var ok bool
	if described.Text, ok = entryText(e.value); !ok {
		d.warn("the text of table %q is not text", t.Name)
	}
	if m, isMap := e.value.(map[string]any); isMap {
		for _, col := range entries(m["columns"]) {
			text, ok := entryText(col.value)
			switch name, known := columnNamed(*t, col.name); {
			case !ok:
				d.warn("the text of %s.%s is not text", t.Name, truncate(col.name, 60))
			case !known:
				d.warn("table %q has no column %q", t.Name, truncate(col.name, 60))
			case text != "":
				described.Columns[name] = text
			}
		}
	}
	d.Tables[t.Name] = described
}

func (d *dictionary) addTerm(e entry) {
	text, ok := entryText(e.value)
	if !ok || e.name == "" || text == "" {
		d.warn("the term %q has no definition", truncate(e.name, 60))
		return
	}
	d.Glossary[truncate(e.name, 200)] = text
}

// An entry of a map, or of a list whose objects name themselves.
type entry struct {
	name  string
	value any
}

func entries(v any) []entry {
	var list []entry
	switch x := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(x) {
			list = append(list, entry{k, x[k]})
		}
	case []any:
		for _, item := range x {
			m, _ := item.(map[string]any)
			name := ""
			for _, key := range []string{"name", "table", "table_name", "column", "term"} {
				if s, ok := m[key].(string); ok && name == "" {
					name = s
				}
			}
			list = append(list, entry{name, item})
		}
	}
	return list
}

// entryText finds the text of an entry; no text at all is fine, another kind is not.
func entryText(v any) (string, bool) {
	switch x := v.(type) {
	case string:
		return truncate(x, maxEntry), true
	case map[string]any:
		for _, key := range []string{"description", "text", "definition", "meaning", "comment"} {
			if s, ok := x[key].(string); ok {
				return truncate(s, maxEntry), true
			}
		}
		return "", true
	}
	return "", false
}

func tableNamed(tables []schema.Table, name string) *schema.Table {
	plain := plainName(stem(name))
	for i, t := range tables {
		if strings.EqualFold(t.Name, name) || strings.EqualFold(t.File, name) || t.Name == plain {
			return &tables[i]
		}
	}
	return nil
}

// columnNamed gives a column's own spelling; before the import every name counts as known.
func columnNamed(t schema.Table, name string) (string, bool) {
	for _, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return c.Name, true
		}
	}
	return name, len(t.Columns) == 0 && name != ""
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
