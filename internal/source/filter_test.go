package source_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/source"
)

var update = flag.Bool("update", false, "write the golden files")

func column(name, engineType string) schema.Column {
	return schema.Column{Name: name, Type: schema.ParseType(engineType).Plain()}
}

// typed has a column of every type that can be filtered, with three rising values.
var typed = []struct {
	column schema.Column
	values [3]any
}{
	{column("paid", "BOOLEAN"), [3]any{false, true, true}},
	{column("qty", "BIGINT"), [3]any{json.Number("-1"), 2, "30"}},
	{column("serial", "UBIGINT"), [3]any{1, 7, json.Number("18446744073709551615")}},
	{column("score", "DOUBLE"), [3]any{-0.5, 1, json.Number("1e3")}},
	{column("amount", "DECIMAL(9,2)"), [3]any{json.Number("-12.5"), "0.10", json.Number("1234567.89")}},
	{column(`odd "name" of`+" `text`", "VARCHAR"), [3]any{`O'Brien`, `x\_%y`, `"; DROP TABLE t; --`}},
	{column("day", "DATE"), [3]any{"2023-12-31", "2024-01-01", "2024-02-29"}},
	{column("at", "TIME"), [3]any{"08:00", "09:30:00", "23:59:59.999999"}},
	{column("made", "TIMESTAMP"), [3]any{"2024-01-01", "2024-01-01 08:00:00.5", "2024-01-01T10:00:00+01:00"}},
	{column("seen", "TIMESTAMPTZ"), [3]any{"2024-01-01", "2024-01-01 08:00", "2024-01-01T10:00:00.000001-05:00"}},
	{column("key", "UUID"), [3]any{"6F9619FF-8B86-D011-B42D-00C04FC964FF", "6f9619ff8b86d011b42d00c04fc964ff", "{00000000-0000-0000-0000-000000000000}"}},
}

func columns() []schema.Column {
	all := []schema.Column{column("note", "JSON"), column("raw", "BLOB"), column("tags", "VARCHAR[]")}
	for _, t := range typed {
		all = append(all, t.column)
	}
	return all
}

func valueFor(op schema.Op, values [3]any) any {
	switch op {
	case schema.Between:
		return []any{values[0], values[2]}
	case schema.In:
		return values[:]
	case schema.Like:
		return `A\_%*?[`
	}
	return values[1]
}

func TestWhere(t *testing.T) {
	translate := map[string]func(schema.Filter) (string, error){
		"elasticsearch": func(f schema.Filter) (string, error) {
			doc, err := source.Elasticsearch(f, columns())
			return string(doc), err
		},
	}
	for _, d := range dialect.All() {
		translate[d.String()] = func(f schema.Filter) (string, error) {
			s, err := source.Where(d, columns(), f)
			return fmt.Sprintf("%s\n    %s", s.Text, args(s.Args)), err
		}
	}
	for name, f := range translate {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, c := range typed {
				for _, op := range schema.OpsFor(c.column.Type) {
					text, err := f(schema.Filter{Conditions: []schema.Condition{{Column: c.column.Name, Op: op, Value: valueFor(op, c.values)}}})
					if err != nil {
						t.Fatalf("%s %s: %v", c.column.Name, op, err)
					}
					fmt.Fprintf(&got, "-- %s %s\n%s\n", c.column.Type, op, text)
				}
			}
			golden(t, filepath.Join("testdata", "where", name+".golden"), got.String())
		})
	}
}

func TestSelect(t *testing.T) {
	var got strings.Builder
	for _, d := range dialect.All() {
		for _, s := range []source.Selection{
			{Table: []string{"sales", "orders"}, Columns: columns()[:4]},
			{Table: []string{"orders"}, Columns: columns()[3:5], All: columns(), Order: []string{"qty"}, Limit: 20, Offset: 40, Filter: schema.Filter{Conditions: []schema.Condition{
				{Column: "qty", Op: schema.Gt, Value: 3}, {Column: "amount", Op: schema.Lte, Value: "9.99"},
			}}},
			{Table: []string{"orders"}, All: columns(), Count: true, Filter: schema.Filter{Conditions: []schema.Condition{
				{Column: "day", Op: schema.Eq, Value: "2024-01-01"},
			}}},
		} {
			stmt, err := source.Select(d, s)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "-- %s\n%s\n    %s\n", d, stmt.Text, args(stmt.Args))
		}
	}
	golden(t, filepath.Join("testdata", "select.golden"), got.String())
}

// A value that the column cannot hold decides the comparison, it is never rounded.
func TestExactNumbers(t *testing.T) {
	for _, c := range []struct {
		column string
		op     schema.Op
		value  any
		want   string
		args   []any
	}{
		{"qty", schema.Gt, 2.5, `"qty" > $1::bigint`, []any{int64(2)}},
		{"qty", schema.Gte, 2.5, `"qty" >= $1::bigint`, []any{int64(3)}},
		{"qty", schema.Lt, 2.5, `"qty" < $1::bigint`, []any{int64(3)}},
		{"qty", schema.Lte, -2.5, `"qty" <= $1::bigint`, []any{int64(-3)}},
		{"qty", schema.Eq, 2.5, `1 = 0`, nil},
		{"qty", schema.Neq, 2.5, `"qty" IS NOT NULL`, nil},
		{"qty", schema.In, []any{1, 2.5, 3}, `"qty" IN ($1::bigint, $2::bigint)`, []any{int64(1), int64(3)}},
		{"qty", schema.Gt, "9223372036854775807", `1 = 0`, nil},
		{"qty", schema.Lt, json.Number("1e30"), `"qty" IS NOT NULL`, nil},
		{"serial", schema.Gte, -1, `"serial" IS NOT NULL`, nil},
		{"serial", schema.Gt, json.Number("18446744073709551614"), `"serial" > $1::numeric`, []any{"18446744073709551614"}},
		{"amount", schema.Eq, json.Number("12.30"), `"amount" = $1::numeric`, []any{"12.30"}},
		{"amount", schema.Eq, json.Number("12.305"), `1 = 0`, nil},
		{"amount", schema.Gt, json.Number("0.009"), `"amount" > $1::numeric`, []any{"0.00"}},
		{"amount", schema.Between, []any{"0.001", "0.009"}, `1 = 0`, nil},
		{"amount", schema.Lte, "9999999.99", `"amount" IS NOT NULL`, nil},
	} {
		got, err := source.Where(dialect.PostgreSQL, columns(), schema.Filter{Conditions: []schema.Condition{{Column: c.column, Op: c.op, Value: c.value}}})
		if err != nil {
			t.Errorf("%s %s %v: %v", c.column, c.op, c.value, err)
			continue
		}
		if diff := cmp.Diff(source.Statement{Text: c.want, Args: c.args}, got); diff != "" {
			t.Errorf("%s %s %v: %s", c.column, c.op, c.value, diff)
		}
	}
}

func TestWrongFilters(t *testing.T) {
	long := make([]any, 1001)
	for i := range long {
		long[i] = i
	}
	for _, c := range []struct {
		name string
		cond schema.Condition
		want string
	}{
		{"unknown column", schema.Condition{Column: "amout", Op: schema.Eq, Value: 1}, `there is no column "amout"; the columns are amount, `},
		{"unknown operator", schema.Condition{Column: "qty", Op: "ne", Value: 1}, `there is no operator "ne" (column "qty"); it takes eq, neq, gt`},
		{"order of booleans", schema.Condition{Column: "paid", Op: schema.Gt, Value: true}, `column "paid" is true or false (BOOLEAN), which "gt" does not fit; it takes eq, neq, in`},
		{"like on numbers", schema.Condition{Column: "qty", Op: schema.Like, Value: "1%"}, `which "like" does not fit`},
		{"filter on JSON", schema.Condition{Column: "note", Op: schema.Eq, Value: "{}"}, `it cannot be filtered`},
		{"list for one", schema.Condition{Column: "qty", Op: schema.Eq, Value: []any{1}}, `the value must be a single value`},
		{"one for list", schema.Condition{Column: "qty", Op: schema.In, Value: 1}, `must be a list`},
		{"empty list", schema.Condition{Column: "qty", Op: schema.In, Value: []any{}}, `at least one entry`},
		{"long list", schema.Condition{Column: "qty", Op: schema.In, Value: long}, `at most 1000`},
		{"three ends", schema.Condition{Column: "qty", Op: schema.Between, Value: []any{1, 2, 3}}, `a pair [from, to]`},
		{"text for number", schema.Condition{Column: "qty", Op: schema.Eq, Value: "many"}, `must be a number, not "many"`},
		{"not a number", schema.Condition{Column: "score", Op: schema.Eq, Value: "NaN"}, `must be a number`},
		{"huge exponent", schema.Condition{Column: "qty", Op: schema.Lt, Value: json.Number("1e999999999")}, `must be a number`},
		{"number for text", schema.Condition{Column: typed[5].column.Name, Op: schema.Eq, Value: 5}, `must be a string (text), not 5`},
		{"null", schema.Condition{Column: typed[5].column.Name, Op: schema.Eq, Value: nil}, `not null`},
		{"NUL", schema.Condition{Column: typed[5].column.Name, Op: schema.Eq, Value: "a\x00b"}, `without NUL`},
		{"bad date", schema.Condition{Column: "day", Op: schema.Gt, Value: "31.12.2024"}, `is not a date like 2024-12-31`},
		{"time of a day", schema.Condition{Column: "day", Op: schema.Gt, Value: "2024-12-31T10:00:00Z"}, `the column holds dates`},
		{"nanoseconds", schema.Condition{Column: "made", Op: schema.Gt, Value: "2024-12-31T10:00:00.000000001Z"}, `finer than a microsecond`},
		{"bad UUID", schema.Condition{Column: "key", Op: schema.Eq, Value: "123"}, `is not a UUID`},
		{"bad boolean", schema.Condition{Column: "paid", Op: schema.Eq, Value: "yes"}, `must be true or false`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := source.CheckFilter(schema.Filter{Conditions: []schema.Condition{{Column: "qty", Op: schema.Eq, Value: 1}, c.cond}}, columns())
			if !fault.Is(err, fault.BadFilter) {
				t.Fatalf("got %v, want bad_filter", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want it to contain %q", err, c.want)
			}
			problems := fault.From(err).Details.([]source.Problem)
			if len(problems) != 1 || problems[0].Condition != 1 || problems[0].Column != c.cond.Column {
				t.Errorf("details %+v do not name the condition", problems)
			}
		})
	}
}

func args(values []any) string {
	shown := make([]string, len(values))
	for i, v := range values {
		shown[i] = fmt.Sprintf("%T(%v)", v, v)
	}
	return strings.Join(shown, " ")
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); run with -update if it is right:\n%s", path, diff)
	}
}
