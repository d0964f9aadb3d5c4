package source

import "fmt"

// duckdb is the embedded engine's SQL, in which all files are read. Its texts are
// compared by bytes as they are.
type duckdb struct{}

func (duckdb) quote(name string) string { return quoteWith(`"`, name) }

func (d duckdb) read(c Column) string { return d.quote(c.Name) }

func (d duckdb) left(c Column, _ Op) string {
	name := d.quote(c.Name)
	if c.Native == "TIMESTAMP_NS" || c.Type.Kind == Decimal && c.Native == "HUGEINT" {
		return "CAST(" + name + " AS " + c.Type.String() + ")"
	}
	return name
}

func (duckdb) param(n int, c Column, _ Op, value any) (string, any) {
	kind := c.Type.String()
	if c.Type.Kind == TimestampTZ {
		value = fmt.Sprint(value, "+00")
	}
	return fmt.Sprintf("CAST($%d AS %s)", n, kind), value
}

func (duckdb) like(left, param string) string { return left + " LIKE " + param }
