package source_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/dialect"
	"interlock/internal/source"
)

// TestNativeTypes holds the texts that depend on what a system itself calls a type.
func TestNativeTypes(t *testing.T) {
	named := func(name, engineType, native string) source.Column {
		c := column(name, engineType)
		c.Native = native
		return c
	}
	like := source.Condition{Column: "x", Op: source.Like, Value: "a%"}
	eq := source.Condition{Column: "x", Op: source.Eq, Value: "a"}
	var got strings.Builder
	for _, c := range []struct {
		dialect dialect.Dialect
		column  source.Column
		cond    source.Condition
	}{
		{dialect.ClickHouse, named("x", "VARCHAR", "String"), eq},
		{dialect.ClickHouse, named("x", "VARCHAR", "LowCardinality(Nullable(String))"), like},
		{dialect.ClickHouse, named("x", "VARCHAR", "Enum8('a' = 1)"), eq},
		{dialect.ClickHouse, named("x", "VARCHAR", "FixedString(3)"), like},
		{dialect.ClickHouse, named("x", "VARCHAR", "IPv6"), eq},
		{dialect.ClickHouse, named("x", "LIST", "Array(String)"), source.Condition{}},
		{dialect.Trino, named("x", "VARCHAR", "varchar(10)"), eq},
		{dialect.Trino, named("x", "VARCHAR", "char(5)"), like},
		{dialect.Trino, named("x", "DOUBLE", "real"), source.Condition{Column: "x", Op: source.Gt, Value: 0.1}},
		{dialect.Trino, named("x", "ROW", "array(bigint)"), source.Condition{}},
		{dialect.Trino, named("x", "ROW", "json"), source.Condition{}},
		{dialect.Snowflake, named("x", "VARCHAR", "TEXT"), eq},
		{dialect.Snowflake, named("x", "DECIMAL(38,0)", "DECIMAL(38,0)"), source.Condition{Column: "x", Op: source.Eq, Value: "12345678901234567890123456789012345678"}},
		{dialect.BigQuery, named("x", "VARCHAR", "STRING"), like},
	} {
		s := source.Selection{Table: []string{"t"}, Columns: []source.Column{c.column}}
		if c.cond.Op != "" {
			s.Filter.Conditions = []source.Condition{c.cond}
		}
		stmt, err := source.Select(c.dialect, s)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "-- %s %s\n%s\n    %s\n", c.dialect, c.column.Native, stmt.Text, args(stmt.Args))
	}
	for _, native := range []string{"keyword", "text"} {
		for _, cond := range []source.Condition{eq, like, {Column: "x", Op: source.Neq, Value: "a"}, {Column: "x", Op: source.Between, Value: []any{"a", "b"}}} {
			doc, err := source.Filter{Conditions: []source.Condition{cond}}.Elasticsearch([]source.Column{named("x", "VARCHAR", native)})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "-- elasticsearch %s %s\n%s\n", native, cond.Op, doc)
		}
	}
	golden(t, filepath.Join("testdata", "native.golden"), got.String())
}
