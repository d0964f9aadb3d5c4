package queryplan

import (
	"slices"
	"strings"

	"interlock/internal/schema"
)

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

// Discover finds relations that nobody declared, by names: a column called like
// another table's only key column, like the table and its key (`customer_id` and
// `customers.id`), or like one row of the table (`customer`) and of its key's kind. Pairs of
// tables that are linked already are left alone, and so are keys that say nothing by their
// name alone (`id` = `id`).
func Discover(d schema.Dataset) []schema.Relation {
	var found []schema.Relation
	columns := make([][]string, len(d.Tables)) // flat; there may be hundreds of tables
	for i, t := range d.Tables {
		for _, c := range t.Columns {
			columns[i] = append(columns[i], flat(c.Name))
		}
	}
	for i, ref := range d.Tables {
		key, ok := keyColumn(ref)
		if !ok {
			continue
		}
		names, thing := keyNames(ref.Name, key.Name), singular(flat(ref.Name))
		for j, from := range d.Tables {
			if i == j {
				continue
			}
			for k, c := range from.Columns {
				called := slices.Contains(names, columns[j][k]) || columns[j][k] == thing && KindOf(c.Type) == KindOf(key.Type)
				if called && len(d.Between(from.Name, ref.Name)) == 0 && comparable(KindOf(c.Type), KindOf(key.Type)) && !isOwnKey(from, c.Name) {
					found = append(found, schema.Relation{Table: from.Name, Column: c.Name, RefTable: ref.Name, RefColumn: key.Name})
				}
			}
		}
	}
	return found
}

// keyColumn finds a table's only key column, declared or called `id` or like the table.
func keyColumn(t schema.Table) (*schema.Column, bool) {
	if len(t.Key) == 1 {
		return t.Column(t.Key[0])
	}
	if len(t.Key) > 1 {
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

// isOwnKey says whether the column is this table's own key, which refers to nothing.
func isOwnKey(t schema.Table, column string) bool {
	key, ok := keyColumn(t)
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

var joiner = strings.NewReplacer("_", "", " ", "", "-", "")

func flat(name string) string { return strings.ToLower(joiner.Replace(name)) }

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
