package dialect_test

import (
	"strings"
	"testing"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

func TestFind(t *testing.T) {
	titles := map[string]bool{}
	for _, d := range dialect.All() {
		if got, ok := dialect.Find(d.String()); !ok || got != d {
			t.Errorf("%q is %v, %v", d.String(), got, ok)
		}
		titles[d.Title()] = true
	}
	if len(titles) != len(dialect.All()) || titles[""] {
		t.Errorf("titles are missing or shared: %v", titles)
	}
	if d, ok := dialect.Find("oracle"); ok || d != dialect.DuckDB {
		t.Errorf("oracle is %v, %v", d, ok)
	}
}

// Names and texts with every character that some engine reads as an escape or an end.
func TestQuoting(t *testing.T) {
	const odd = "a'b\"c`d\\e"
	for _, tt := range []struct {
		dialect    dialect.Dialect
		name, text string
	}{
		{dialect.DuckDB, "\"a'b\"\"c`d\\e\"", "'a''b\"c`d\\e'"},
		{dialect.SQLite, "\"a'b\"\"c`d\\e\"", "'a''b\"c`d\\e'"},
		{dialect.PostgreSQL, "\"a'b\"\"c`d\\e\"", "'a''b\"c`d\\e'"},
		{dialect.Trino, "\"a'b\"\"c`d\\e\"", "'a''b\"c`d\\e'"},
		{dialect.Snowflake, "\"a'b\"\"c`d\\e\"", "'a''b\"c`d\\\\e'"},
		{dialect.MySQL, "`a'b\"c``d\\e`", "'a''b\"c`d\\\\e'"},
		{dialect.ClickHouse, "`a'b\"c\\`d\\\\e`", "'a''b\"c`d\\\\e'"},
		{dialect.BigQuery, "`a\\'b\"c\\`d\\\\e`", "'a\\'b\"c\\`d\\\\e'"},
	} {
		if got := tt.dialect.Quote(odd); got != tt.name {
			t.Errorf("%s: the name is %s, want %s", tt.dialect, got, tt.name)
		}
		if got := tt.dialect.Text(odd); got != tt.text {
			t.Errorf("%s: the text is %s, want %s", tt.dialect, got, tt.text)
		}
	}
}

func TestIdent(t *testing.T) {
	for _, d := range dialect.All() {
		plain := "total"
		if d.Lexis().Names == dialect.FoldsToUpper {
			plain = "TOTAL"
		}
		if got := d.Ident(plain); got != plain {
			t.Errorf("%s writes %s as %s", d, plain, got)
		}
		folds := d.Lexis().Names == dialect.FoldsToLower || d.Lexis().Names == dialect.FoldsToUpper
		if got := d.Ident("Total"); (got != "Total") != folds {
			t.Errorf("%s writes Total as %s", d, got)
		}
		for _, name := range []string{"", "a b", "1a", "order", "SELECT", "naïve", strings.Repeat("a-", 3)} {
			if got := d.Ident(name); got != d.Quote(name) {
				t.Errorf("%s writes %q as %s", d, name, got)
			}
		}
	}
	if got := dialect.MySQL.Ident("rank"); got != "`rank`" {
		t.Errorf("a keyword of MySQL is written %s", got)
	}
}

// What a value of a kind is cast to is a type of that kind, by the engine's own names.
func TestTypes(t *testing.T) {
	for _, tt := range []struct {
		dialect dialect.Dialect
		native  string
		kind    schema.Kind
		cast    string
	}{
		{dialect.PostgreSQL, "int8", schema.Int, "bigint"},
		{dialect.PostgreSQL, "numeric", schema.Decimal, "numeric"},
		{dialect.MySQL, "decimal", schema.Decimal, "DECIMAL(12,2)"},
		{dialect.ClickHouse, "Decimal", schema.Decimal, "Decimal(12, 2)"},
		{dialect.ClickHouse, "Array", schema.Other, "String"},
		{dialect.Trino, "timestamp", schema.Timestamp, "TIMESTAMP(6)"},
		{dialect.Snowflake, "TIMESTAMP_LTZ", schema.TimestampTZ, "TIMESTAMP_TZ(6)"},
		{dialect.Snowflake, "TEXT", schema.Text, ""},
	} {
		kind, ok := tt.dialect.Kind(tt.native)
		if cast := tt.dialect.CastType(schema.Type{Kind: kind, Width: 12, Scale: 2}); !ok || kind != tt.kind || cast != tt.cast {
			t.Errorf("%s %s: %v, %v, cast to %q", tt.dialect, tt.native, kind, ok, cast)
		}
	}
	if _, ok := dialect.PostgreSQL.Kind("tsvector"); ok {
		t.Error("a type of PostgreSQL that has no kind has one")
	}
}
