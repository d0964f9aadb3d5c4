package schema

// A Dictionary says in words what the tables, columns and terms of a dataset mean.
type Dictionary struct {
	Tables   map[string]TableText `json:"tables"`   // by table name
	Glossary map[string]string    `json:"glossary"` // what a business term stands for, in the words of the data
	Warnings []string             `json:"-"`        // what was written and cannot be used
}

// A TableText describes a table and its columns.
type TableText struct {
	Text    string            `json:"text,omitempty"`
	Columns map[string]string `json:"columns,omitempty"` // by column name
}
