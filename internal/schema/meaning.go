package schema

import (
	"encoding/json"
	"strings"
)

// A Meaning is what people mean by the tables, columns and words of a dataset: its semantic
// model as far as it fits the tables. internal/meaning reads it.
type Meaning struct {
	Name         string `json:"name"`
	Description  string `json:"description,omitempty"`
	Instructions string `json:"instructions,omitempty"` // for models
	// Today is the day of the extract, as 2026-06-30; "" is the day of the question.
	Today     string             `json:"today,omitempty"`
	Tables    []TableMeaning     `json:"tables,omitempty"`
	Metrics   []Metric           `json:"metrics,omitempty"`
	Ambiguous []AmbiguousTerm    `json:"ambiguous,omitempty"`
	Verified  []VerifiedQuestion `json:"verified,omitempty"`
	Chosen    []Choice           `json:"chosen,omitempty"`
}

// A TableMeaning is what a table is called and counted by.
type TableMeaning struct {
	Table        string         `json:"table"`
	Description  string         `json:"description,omitempty"`
	Instructions string         `json:"instructions,omitempty"`
	Synonyms     []string       `json:"synonyms,omitempty"`
	MainDate     string         `json:"main_date,omitempty"` // the column by which its rows count in a period
	Fields       []FieldMeaning `json:"fields,omitempty"`
}

// A FieldMeaning is what a column is called, and what its values mean.
type FieldMeaning struct {
	Column       string   `json:"column"`
	Label        string   `json:"label,omitempty"`
	Description  string   `json:"description,omitempty"`
	Instructions string   `json:"instructions,omitempty"`
	Synonyms     []string `json:"synonyms,omitempty"`
	// Unknown are values that mean that nobody knows: texts and numbers.
	Unknown []any `json:"unknown,omitempty"`
	// IgnoreCase says that spellings that differ only in case are one value.
	IgnoreCase bool        `json:"ignore_case,omitempty"`
	Same       []SameValue `json:"same,omitempty"`
}

// A SameValue is several values of a column that stand for one thing.
type SameValue struct {
	Value     string   `json:"value"` // the spelling that is shown
	Spellings []string `json:"spellings"`
}

// A Metric is a named number of many rows.
type Metric struct {
	Name        string   `json:"name"`
	Expression  string   `json:"expression"` // ANSI SQL; queryplan.ParseMetric reads it
	Description string   `json:"description,omitempty"`
	Synonyms    []string `json:"synonyms,omitempty"`
	Table       string   `json:"table"` // whose rows it condenses
}

// Definition is what the metric is, in words if it has some, else as an expression.
func (m Metric) Definition() string {
	if m.Description != "" {
		return m.Description
	}
	return m.Expression
}

// An AmbiguousTerm is a word that has to be asked about.
type AmbiguousTerm struct {
	Term     string   `json:"term"`
	Readings []string `json:"readings"` // each a wording that says it without the term
}

// A Choice is the reading that a person chose for a term at a question back.
type Choice struct {
	Term    string `json:"term"`
	Reading string `json:"reading"`
}

// WhenTerm is the term of a choice between the dates of a table.
const WhenTerm = "when"

// Excludes reports whether two choices cannot both hold: they are about the same term. Each table
// has a main date of its own.
func (c Choice) Excludes(o Choice) bool {
	if !strings.EqualFold(c.Term, o.Term) {
		return false
	}
	_, table, _ := cutLast(c.Reading, " of ")
	_, other, _ := cutLast(o.Reading, " of ")
	return !strings.EqualFold(c.Term, WhenTerm) || strings.EqualFold(table, other)
}

// Sentence says what the choice does.
func (c Choice) Sentence() string {
	if strings.EqualFold(c.Term, WhenTerm) {
		return "Always take " + c.Reading + " for periods."
	}
	return "Always take " + c.Reading + " for \"" + c.Term + "\"."
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// A VerifiedQuestion is a question with the plan that a person approved for it.
type VerifiedQuestion struct {
	Question string          `json:"question"`
	Plan     json.RawMessage `json:"plan"`
}

// Metric finds a metric of a dataset by its name, whatever its case.
func (d Dataset) Metric(name string) (Metric, bool) {
	if d.Meaning == nil {
		return Metric{}, false
	}
	for _, m := range d.Meaning.Metrics {
		if strings.EqualFold(m.Name, name) {
			return m, true
		}
	}
	return Metric{}, false
}

// Table finds what is said of a table; nothing is an empty TableMeaning.
func (m *Meaning) Table(name string) TableMeaning {
	if m != nil {
		for _, t := range m.Tables {
			if strings.EqualFold(t.Table, name) {
				return t
			}
		}
	}
	return TableMeaning{}
}

// Field finds what is said of a column; nothing is an empty FieldMeaning.
func (t TableMeaning) Field(column string) FieldMeaning {
	for _, f := range t.Fields {
		if strings.EqualFold(f.Column, column) {
			return f
		}
	}
	return FieldMeaning{}
}
