package source_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/dialect"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// TestNativeTypes holds the texts that depend on what a system itself calls a type.
func TestNativeTypes(t *testing.T) {
	named := func(name, engineType, native string) schema.Column {
		c := column(name, engineType)
		c.Native = native
		return c
	}
	like := schema.Condition{Column: "x", Op: schema.Like, Value: "a%"}
	eq := schema.Condition{Column: "x", Op: schema.Eq, Value: "a"}
	var got strings.Builder
	for _, c := range []struct {
		dialect dialect.Dialect
		column  schema.Column
		cond    schema.Condition
	}{
		{dialect.ClickHouse, named("x", "VARCHAR", "String"), eq},
		{dialect.ClickHouse, named("x", "VARCHAR", "LowCardinality(Nullable(String))"), like},
		{dialect.ClickHouse, named("x", "VARCHAR", "Enum8('a' = 1)"), eq},
		{dialect.ClickHouse, named("x", "VARCHAR", "FixedString(3)"), like},
		{dialect.ClickHouse, named("x", "VARCHAR", "IPv6"), eq},
		{dialect.ClickHouse, named("x", "LIST", "Array(String)"), schema.Condition{}},
		{dialect.Trino, named("x", "VARCHAR", "varchar(10)"), eq},
		{dialect.Trino, named("x", "VARCHAR", "char(5)"), like},
		{dialect.Trino, named("x", "DOUBLE", "real"), schema.Condition{Column: "x", Op: schema.Gt, Value: 0.1}},
		{dialect.Trino, named("x", "ROW", "array(bigint)"), schema.Condition{}},
		{dialect.Trino, named("x", "ROW", "json"), schema.Condition{}},
		{dialect.Snowflake, named("x", "VARCHAR", "TEXT"), eq},
		{dialect.Snowflake, named("x", "DECIMAL(38,0)", "DECIMAL(38,0)"), schema.Condition{Column: "x", Op: schema.Eq, Value: "12345678901234567890123456789012345678"}},
		{dialect.BigQuery, named("x", "VARCHAR", "STRING"), like},
	} {
		s := source.Selection{Table: []string{"t"}, Columns: []schema.Column{c.column}}
		if c.cond.Op != "" {
			s.Filter.Conditions = []schema.Condition{c.cond}
		}
		stmt, err := source.Select(c.dialect, s)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "-- %s %s\n%s\n    %s\n", c.dialect, c.column.Native, stmt.Text, args(stmt.Args))
	}
	for _, native := range []string{"keyword", "text"} {
		for _, cond := range []schema.Condition{eq, like, {Column: "x", Op: schema.Neq, Value: "a"}, {Column: "x", Op: schema.Between, Value: []any{"a", "b"}}} {
			doc, err := source.Elasticsearch(schema.Filter{Conditions: []schema.Condition{cond}}, []schema.Column{named("x", "VARCHAR", native)})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "-- elasticsearch %s %s\n%s\n", native, cond.Op, doc)
		}
	}
	golden(t, filepath.Join("testdata", "native.golden"), got.String())
}
