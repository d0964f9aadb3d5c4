package queryplan

import (
	"slices"
	"strings"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// A Schema is the tables that a plan may use and how they hang together.
type Schema struct {
	Dialect   dialect.Dialect   `json:"-"` // of the engine that has the tables
	Tables    []Table           `json:"tables"`
	Relations []schema.Relation `json:"relations,omitempty"`
}

// A Table has columns and perhaps a primary key.
type Table struct {
	Name    string          `json:"name"`
	Columns []schema.Column `json:"columns"`
	Keys    []string        `json:"keys,omitempty"` // the columns of the primary key
	Rows    int64           `json:"rows,omitempty"`
}

// A Kind is what can be done with the values of a column.
type Kind int

// The kinds.
const (
	Unknown Kind = iota
	Number
	Text
	Date // dates and timestamps
	Bool
)

func (k Kind) String() string {
	return [...]string{"unknown", "number", "text", "date", "bool"}[k]
}

// KindOf reads a type, as any of the dialects writes it.
func KindOf(typ schema.Type) Kind {
	t := strings.ToUpper(typ.String())
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(t, w) })
	}
	switch {
	case strings.HasSuffix(t, "[]"), has("STRUCT", "MAP(", "JSON", "BLOB", "BYTEA", "ARRAY", "TUPLE(", "ROW("):
		return Unknown
	case has("CHAR", "TEXT", "STRING", "CLOB", "ENUM", "UUID"):
		return Text
	case has("DATE", "TIMESTAMP"):
		return Date
	case has("BOOL"), t == "BIT":
		return Bool
	case has("INTERVAL"), strings.HasPrefix(t, "TIME"):
		return Unknown
	case has("INT", "DEC", "NUM", "REAL", "FLOAT", "DOUBLE", "SERIAL", "MONEY"):
		return Number
	}
	return Unknown
}

// Table finds a table by name, whatever its case.
func (s Schema) Table(name string) (*Table, bool) {
	i := slices.IndexFunc(s.Tables, func(t Table) bool { return strings.EqualFold(t.Name, name) })
	if i < 0 {
		return nil, false
	}
	return &s.Tables[i], true
}

// Column finds a column by name, whatever its case.
func (t *Table) Column(name string) (*schema.Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c schema.Column) bool { return strings.EqualFold(c.Name, name) })
	if i < 0 {
		return nil, false
	}
	return &t.Columns[i], true
}

// Between lists the relations that link two tables, whichever refers to the other.
func (s Schema) Between(a, b string) []schema.Relation {
	var found []schema.Relation
	for _, r := range s.Relations {
		if strings.EqualFold(r.Table, a) && strings.EqualFold(r.RefTable, b) ||
			strings.EqualFold(r.Table, b) && strings.EqualFold(r.RefTable, a) {
			found = append(found, r)
		}
	}
	return found
}

// Discover finds relations that nobody declared, by names: a column called like
// another table's only key column, like the table and its key (`customer_id` and
// `customers.id`), or like one row of the table (`customer`) and of its key's kind. Pairs of tables that are linked already are left alone, and
// so are keys that say nothing by their name alone (`id` = `id`).
func (s Schema) Discover() []schema.Relation {
	var found []schema.Relation
	for i := range s.Tables {
		ref := &s.Tables[i]
		key, ok := ref.key()
		if !ok {
			continue
		}
		names := keyNames(ref.Name, key.Name)
		for j := range s.Tables {
			from := &s.Tables[j]
			if i == j || len(s.Between(from.Name, ref.Name)) > 0 {
				continue
			}
			for _, c := range from.Columns {
				called := slices.Contains(names, flat(c.Name)) || flat(c.Name) == singular(flat(ref.Name)) && KindOf(c.Type) == KindOf(key.Type)
				if called && comparable(KindOf(c.Type), KindOf(key.Type)) && !from.owns(c.Name) {
					found = append(found, schema.Relation{Table: from.Name, Column: c.Name, RefTable: ref.Name, RefColumn: key.Name})
				}
			}
		}
	}
	return found
}

// key is the table's only key column, declared or called `id` or like the table.
func (t *Table) key() (*schema.Column, bool) {
	if len(t.Keys) == 1 {
		return t.Column(t.Keys[0])
	}
	if len(t.Keys) > 1 {
		return nil, false
	}
	for _, name := range append([]string{"id"}, keyNames(t.Name, "id")...) {
		i := slices.IndexFunc(t.Columns, func(c schema.Column) bool { return flat(c.Name) == name })
		if i >= 0 {
			return &t.Columns[i], true
		}
	}
	return nil, false
}

// owns says whether the column is this table's own key, which refers to nothing.
func (t *Table) owns(column string) bool {
	key, ok := t.key()
	return ok && strings.EqualFold(key.Name, column)
}

// keyNames are the flat names that a reference to this key may have.
func keyNames(table, key string) []string {
	var names []string
	if k := flat(key); k != "id" && k != "code" && k != "key" && k != "name" && k != "no" {
		names = append(names, k)
	}
	for _, base := range []string{flat(table), singular(flat(table))} {
		for _, suffix := range []string{flat(key), "id", "code", "key", "no"} {
			if !strings.HasPrefix(suffix, base) {
				names = append(names, base+suffix)
			}
		}
	}
	return names
}

func flat(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", " ", "", "-", "").Replace(name))
}

func singular(name string) string {
	switch {
	case strings.HasSuffix(name, "ies"):
		return strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "sses"), strings.HasSuffix(name, "xes"), strings.HasSuffix(name, "ches"):
		return strings.TrimSuffix(name, "es")
	case strings.HasSuffix(name, "ss"):
		return name
	}
	return strings.TrimSuffix(name, "s")
}

func comparable(a, b Kind) bool { return a == b || a == Unknown || b == Unknown }
