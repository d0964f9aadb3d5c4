// Package meaning reads the semantic model of a dataset, a file in the format of Apache Ossie
// (core specification 0.2.0.dev0): labels and synonyms of columns, keys, relationships,
// metrics and instructions. It checks the file against the tables with every finding at once,
// writes drafts of it, and takes over what dbt knows. The package is pure.
//
// What Ossie has no place for stands in `custom_extensions` of the vendor INTERLOCK, whose
// `data` is JSON:
//
//	of the model    today, ambiguous, verified, chosen
//	of a dataset    main_date
//	of a field      unknown, ignore_case, same
//	of a metric     table
package meaning

import (
	_ "embed"
	"encoding/json"
)

// File is the name of a semantic model beside the files of a dataset.
const File = "meaning.yaml"

// Version is the version of the format that is read and written.
const Version = "0.2.0.dev0"

// vendor names the extensions that are ours.
const vendor = "INTERLOCK"

// MaxBytes bounds a file.
const MaxBytes = 1 << 20

// A Document is a file as it is written, before anybody looked at the tables.
type Document struct {
	Version string  `json:"version"`
	Models  []Model `json:"semantic_model"`

	places places
}

// A Model is one semantic model of a file.
type Model struct {
	Name          string         `json:"name"`
	Description   string         `json:"description"`
	Context       Context        `json:"ai_context"`
	Datasets      []Dataset      `json:"datasets"`
	Relationships []Relationship `json:"relationships"`
	Metrics       []Metric       `json:"metrics"`
	Extensions    []Extension    `json:"custom_extensions"`
}

// A Dataset of a model is a table.
type Dataset struct {
	Name        string      `json:"name"`
	Source      string      `json:"source"`
	PrimaryKey  []string    `json:"primary_key"`
	UniqueKeys  [][]string  `json:"unique_keys"`
	Description string      `json:"description"`
	Context     Context     `json:"ai_context"`
	Fields      []Field     `json:"fields"`
	Extensions  []Extension `json:"custom_extensions"`
}

// A Field is a column, or a value computed of columns.
type Field struct {
	Name        string      `json:"name"`
	Expression  Expression  `json:"expression"`
	Label       string      `json:"label"`
	Description string      `json:"description"`
	Context     Context     `json:"ai_context"`
	Extensions  []Extension `json:"custom_extensions"`
}

// A Relationship says that columns of one table refer to those of another.
type Relationship struct {
	Name        string   `json:"name"`
	From        string   `json:"from"`
	To          string   `json:"to"`
	FromColumns []string `json:"from_columns"`
	ToColumns   []string `json:"to_columns"`
}

// A Metric is a named number of many rows.
type Metric struct {
	Name        string      `json:"name"`
	Expression  Expression  `json:"expression"`
	Description string      `json:"description"`
	Context     Context     `json:"ai_context"`
	Extensions  []Extension `json:"custom_extensions"`
}

// An Expression is the same value in several dialects.
type Expression struct {
	Dialects []struct {
		Dialect    string `json:"dialect"`
		Expression string `json:"expression"`
	} `json:"dialects"`
}

// ansi is the expression in ANSI SQL, with its place in the list; -1 is none.
func (e Expression) ansi() (string, int) {
	for i, d := range e.Dialects {
		if d.Dialect == "ANSI_SQL" {
			return d.Expression, i
		}
	}
	return "", -1
}

// A Context is what models are told: a text, or instructions with synonyms.
type Context struct {
	Instructions string   `json:"instructions"`
	Synonyms     []string `json:"synonyms"`
}

// UnmarshalJSON reads a text or an object.
func (c *Context) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, &c.Instructions)
	}
	type plain Context
	return json.Unmarshal(raw, (*plain)(c))
}

// An Extension holds what a vendor adds, as JSON in a text.
type Extension struct {
	Vendor string `json:"vendor_name"`
	Data   string `json:"data"`
}

// The schemas of the format and of our extensions.
//
//go:embed osi-schema.json
var ossieSchema []byte

//go:embed interlock.schema.json
var extensionSchema []byte
