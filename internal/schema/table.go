package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// A Dataset is a named group of tables that are queried together. The package that gives
// one says which fields it fills: a list of datasets needs no columns, a plan no notes.
type Dataset struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Prompts     []string   `json:"prompts,omitempty"` // questions to begin with
	Version     string     `json:"version_hash"`      // of the content
	Kind        string     `json:"kind"`              // files, postgres, mysql, sqlite …
	Dialect     string     `json:"dialect,omitempty"` // of its SQL, if the rows stay in their database: postgres …
	Tables      []Table    `json:"tables"`
	Relations   []Relation `json:"relations,omitempty"`
	Problems    []Problem  `json:"problems,omitempty"`
	// Meaning is the semantic model of the dataset; nil where it has none.
	Meaning *Meaning `json:"meaning,omitempty"`
	// Broken is the file of the semantic model where part of it or all of it is not used.
	Broken *BrokenMeaning `json:"-"`
	// CopiedAt is when the rows of a database were copied; they may have changed there since.
	CopiedAt time.Time `json:"copied_at,omitzero"`
}

// A Table of a dataset. Columns and Rows are known once it was imported.
type Table struct {
	Name        string   `json:"table_name"`
	File        string   `json:"file"` // its name in the folder; the table's name in a database
	Kind        string   `json:"kind"` // csv, json, parquet, xlsx, sqlite, postgres …
	Description string   `json:"description,omitempty"`
	Columns     []Column `json:"columns,omitempty"`
	Key         []string `json:"key,omitempty"`       // the columns of its primary key
	Rows        int64    `json:"row_count,omitempty"` // -1 if nobody counted them
	// Sample is a few rows as a JSON array of arrays, in the order of the columns.
	Sample json.RawMessage `json:"sample_rows,omitempty"`
	// Notes are the decisions of the import, such as a date order or lines left out.
	Notes []Note `json:"notes,omitempty"`
}

// A Problem is something that is not as it should be; the rest works.
type Problem struct {
	Path    string `json:"path"` // below the data folder
	Message string `json:"message"`
}

// A BrokenMeaning is a semantic model with errors: what they are about is not used.
type BrokenMeaning struct {
	File    string // its name
	Version string // of its text
	Text    string
}

// Mentions reports whether the file has one of the words, whatever their case.
func (b BrokenMeaning) Mentions(words []string) bool {
	text := strings.ToLower(b.Text)
	return slices.ContainsFunc(words, func(w string) bool { return len(w) > 2 && strings.Contains(text, strings.ToLower(w)) })
}

// Table finds a table by name, whatever its case.
func (d Dataset) Table(name string) (*Table, bool) {
	i := slices.IndexFunc(d.Tables, func(t Table) bool { return strings.EqualFold(t.Name, name) })
	if i < 0 {
		return nil, false
	}
	return &d.Tables[i], true
}

// Between lists the relations that link two tables, whichever refers to the other.
func (d Dataset) Between(a, b string) []Relation {
	var found []Relation
	for _, r := range d.Relations {
		if strings.EqualFold(r.Table, a) && strings.EqualFold(r.RefTable, b) ||
			strings.EqualFold(r.Table, b) && strings.EqualFold(r.RefTable, a) {
			found = append(found, r)
		}
	}
	return found
}

// Column finds a column by name, whatever its case.
func (t Table) Column(name string) (*Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
	if i < 0 {
		return nil, false
	}
	return &t.Columns[i], true
}

// IsKey says whether the column alone is the table's primary key.
func (t Table) IsKey(column string) bool {
	return len(t.Key) == 1 && strings.EqualFold(t.Key[0], column)
}
