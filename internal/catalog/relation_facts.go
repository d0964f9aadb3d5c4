package catalog

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"interlock/internal/schema"
)

// relationFacts are what was found out about the keys of tables and about pairs of columns,
// by the hash of what each table was read from. They lie beside a database, so that neither
// a restart nor a change of other tables has them worked out again.
type relationFacts struct {
	Rules string              `json:"rules"`
	Keys  map[string][]string `json:"keys"`  // of a table
	Pairs map[string]bool     `json:"pairs"` // whether a column points at a key

	sums map[string]string // of the tables of this version
	old  *relationFacts    // of this version or an earlier one; nil = none
}

// relationRules is part of the facts: raise it when relations come out differently.
const relationRules = "1"

const relationsSuffix = ".relations.json"

// loadFacts begins the facts of a version with those that lie beside it, else beside the
// newest other version of the dataset.
func (c *Catalog) loadFacts(id string, m manifest, path string) *relationFacts {
	f := &relationFacts{Rules: relationRules, Keys: map[string][]string{}, Pairs: map[string]bool{}, sums: map[string]string{}}
	for _, t := range m.Tables {
		f.sums[t.Name] = cmp.Or(m.Sums[t.Name], m.Version+" "+t.Name)
	}
	others, _ := filepath.Glob(filepath.Join(c.config.Dir, "*"+relationsSuffix))
	others = slices.DeleteFunc(others, func(other string) bool {
		of, ok := c.manifest(other[:len(other)-len(relationsSuffix)])
		return !ok || of.Dataset != id
	})
	slices.SortFunc(others, func(a, b string) int { return modTime(b).Compare(modTime(a)) })
	for _, file := range append([]string{path + relationsSuffix}, others...) {
		var old relationFacts
		if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &old) == nil && old.Rules == relationRules {
			f.old = &old
			break
		}
	}
	return f
}

// storeFacts writes the facts of a version unless they are the ones that lie there. A lost
// file costs time only.
func (c *Catalog) storeFacts(path string, f *relationFacts) {
	if _, err := os.Stat(path + relationsSuffix); err == nil && f.old != nil && maps.Equal(f.Pairs, f.old.Pairs) && maps.EqualFunc(f.Keys, f.old.Keys, slices.Equal) {
		return
	}
	text, err := json.Marshal(f)
	if err == nil {
		err = writeFile(path+relationsSuffix, text, 0o600)
	}
	if err != nil {
		c.config.Log.Warn("What was found out about keys cannot be kept.", "path", path+relationsSuffix, "err", err)
	}
}

// modTime is when a file was written; the zero time if that cannot be told.
func modTime(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (f *relationFacts) keysOf(table string) ([]string, bool) {
	if f == nil || f.old == nil {
		return nil, false
	}
	keys, known := f.old.Keys[f.sums[table]]
	if known {
		f.noteKeys(table, keys)
	}
	return keys, known
}

func (f *relationFacts) noteKeys(table string, keys []string) {
	if f != nil {
		f.Keys[f.sums[table]] = keys
	}
}

func (f *relationFacts) pair(l schema.Relation) string {
	return f.sums[l.Table] + " " + l.Column + " -> " + f.sums[l.RefTable] + " " + l.RefColumn
}

func (f *relationFacts) pairOf(l schema.Relation) (points, known bool) {
	if f == nil || f.old == nil {
		return false, false
	}
	if points, known = f.old.Pairs[f.pair(l)]; known {
		f.notePair(l, points)
	}
	return points, known
}

func (f *relationFacts) notePair(l schema.Relation, points bool) {
	if f != nil {
		f.Pairs[f.pair(l)] = points
	}
}
