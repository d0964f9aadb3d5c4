package queryplan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
	"interlock/internal/queryplan"
	"interlock/internal/queryplan/queryplantest"
	"interlock/internal/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var shop = queryplantest.Shop

func plans(t testing.TB) map[string]json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile("testdata/plans.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]json.RawMessage
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestSchemaCovered holds the schema, the compiler and the goldens together: every
// word that the schema lists occurs in a plan that compiles.
func TestSchemaCovered(t *testing.T) {
	var doc struct {
		Defs map[string]struct {
			Properties map[string]struct{ Enum []string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(queryplan.JSONSchema(), &doc); err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadFile("testdata/plans.json")
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for def, d := range doc.Defs {
		for prop, p := range d.Properties {
			if !bytes.Contains(all, []byte(`"`+prop+`"`)) && prop != "dataset_id" {
				t.Errorf("%s.%s: no golden plan uses it", def, prop)
			}
			for _, w := range p.Enum {
				words++
				if prop == "direction" || prop == "unit" || prop == "kind" && w == "inner" {
					continue
				}
				if !bytes.Contains(all, fmt.Appendf(nil, `"%s": "%s"`, prop, w)) {
					t.Errorf("%s.%s: no golden plan uses %q", def, prop, w)
				}
			}
		}
	}
	if words < 60 {
		t.Errorf("the schema lists %d words; the reading of it must be wrong", words)
	}
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name, plan string
		want       []string // path: part of the message
	}{
		{
			"unknown names, all at once", `{"table":"orders","select":[{"column":"x"},{"function":"sum","column":"status"}],"filters":[{"column":"amount","operator":">","value":"much"}],"order_by":[{"column":"y"}]}`,
			[]string{`filters[0].value: "much" is not a number`, `select[0].column: there is no column "x"`, `select[1].function: sum needs numbers`, `order_by[0].column: there is no column "y"`, `select[0]: x is neither grouped`},
		},
		{"unknown table", `{"table":"nope","select":[{"function":"count"}]}`, []string{`table: there is no table "nope"; there are customers, orders`}},
		{"not grouped", `{"table":"orders","select":[{"column":"status"},{"function":"count"}]}`, []string{"select[0]: status is neither grouped by"}},
		{"aggregate in filter", `{"table":"orders","select":[{"column":"id"}],"filters":[{"function":"sum","column":"amount","operator":">","value":1}]}`, []string{"filters[0].function: sum is of a group"}},
		{"ambiguous column", `{"table":"orders","joins":[{"table":"customers"}],"select":[{"column":"id"}]}`, []string{`select[0].column: "id" is a column of several tables`}},
		{"no relation", `{"table":"order lines","joins":[{"table":"customers"}],"select":[{"column":"city"}]}`, []string{"joins[0].on: no relation links customers"}},
		{"same table twice", `{"table":"orders","joins":[{"table":"orders","on":[{"left":"id","right":"id"}]}],"select":[{"column":"orders.id"}]}`, []string{"joins[0].alias: orders is in the plan already"}},
		{"several rows", `{"table":"orders","select":[{"column":"id"}],"filters":[{"column":"amount","operator":">","plan":{"table":"orders","select":[{"column":"amount"}]}}]}`, []string{"filters[0].plan.limit: may give several rows"}},
		{"null value", `{"table":"orders","select":[{"column":"id"}],"filters":[{"column":"amount","operator":">","value":null}]}`, []string{"filters[0].value"}},
		{"bad period", `{"table":"orders","select":[{"column":"id"}],"filters":[{"column":"sold_at","operator":"in_period","value":"2024-13"}]}`, []string{`filters[0].value: "2024-13": a year has months 01 to 12`}},
		{"bad date", `{"table":"orders","select":[{"column":"id"}],"filters":[{"column":"sold_at","operator":">","value":"soon"}]}`, []string{"filters[0].value: is not a date"}},
		{"sum of an average", `{"table":"orders","select":[{"function":"sum","of":{"function":"avg","column":"amount"}}]}`, []string{"select[0]: sum of an aggregate"}},
		{"misspelt parts", `{"table":"orders","select":[{"function":"total","column":"amount"}],"filters":[{"column":"id","operator":"~","value":1}],"wher":1}`, []string{": additional properties 'wher'", "filters[0].operator: value must be one of", "select[0].function: value must be one of"}},
		{"columns of a set", `{"table":"orders","select":[{"column":"id"},{"column":"cost"}],"combine":[{"operation":"union","plan":{"table":"customers","select":[{"column":"id"}]}}]}`, []string{"combine[0].plan.select: has 1 values"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := queryplan.Parse(json.RawMessage(tt.plan))
			if err == nil {
				_, err = p.SQL(shop)
			}
			f, ok := errors.AsType[*fault.Fault](err)
			if !ok || f.Code != fault.PlanInvalid {
				t.Fatalf("got %v, want a %s", err, fault.PlanInvalid)
			}
			problems := f.Details.([]queryplan.Problem)
			for _, want := range tt.want {
				if !slices.ContainsFunc(problems, func(p queryplan.Problem) bool { return strings.Contains(p.Path+": "+p.Message, want) }) {
					t.Errorf("no problem %q in %q", want, problems)
				}
			}
			if p != nil && len(p.Validate(shop)) != len(problems) {
				t.Errorf("Validate and SQL disagree")
			}
		})
	}
}

func TestRoundTrip(t *testing.T) {
	for name, raw := range plans(t) {
		p, err := queryplan.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		again, err := queryplan.Parse(queryplan.Literal(p))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a, _ := p.SQL(shop)
		b, err := again.SQL(shop)
		if a != b || err != nil {
			t.Errorf("%s: %q became %q (%v)", name, a, b, err)
		}
	}
}

func TestDiscover(t *testing.T) {
	col := func(names ...string) (cs []schema.Column) {
		for _, n := range names {
			cs = append(cs, schema.Column{Name: n, Type: schema.ParseType("INTEGER")})
		}
		return cs
	}
	s := schema.Dataset{Tables: []schema.Table{
		{Name: "Customers", Columns: col("id", "age")},
		{Name: "invoices", Columns: col("invoice_id", "CustomerId", "shop_code"), Key: []string{"invoice_id"}},
		{Name: "lines", Columns: col("id", "invoice_id", "qty")},
		{Name: "shops", Columns: col("code"), Key: []string{"code"}},
	}}
	want := []schema.Relation{
		{Table: "invoices", Column: "CustomerId", RefTable: "Customers", RefColumn: "id"},
		{Table: "lines", Column: "invoice_id", RefTable: "invoices", RefColumn: "invoice_id"},
		{Table: "invoices", Column: "shop_code", RefTable: "shops", RefColumn: "code"},
	}
	if diff := cmp.Diff(want, queryplan.Discover(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDiscoveredJoin joins along a key that nobody declared.
func TestDiscoveredJoin(t *testing.T) {
	s := schema.Dataset{Tables: []schema.Table{
		{Name: "shops", Key: []string{"id"}, Columns: []schema.Column{{Name: "id", Type: schema.ParseType("INTEGER")}, {Name: "city", Type: schema.ParseType("VARCHAR")}}},
		{Name: "sales", Columns: []schema.Column{{Name: "shop_id", Type: schema.ParseType("INTEGER")}, {Name: "amount", Type: schema.ParseType("DOUBLE")}}},
	}}
	p := queryplan.Plan{Table: "sales", Joins: []queryplan.Join{{Table: "shops"}}, Select: []queryplan.Expr{queryplan.Col("city"), {Function: queryplan.Sum, Column: "amount"}}, GroupBy: []queryplan.Term{queryplan.By("city")}}
	sql, err := p.SQL(s)
	if err != nil || !strings.Contains(sql, "JOIN shops ON sales.shop_id = shops.id") {
		t.Errorf("got %q, %v", sql, err)
	}
}

func FuzzPlan(f *testing.F) {
	f.Add(`{"table":"orders","select":[{"column":"id"}]}`, "x' OR 1=1 --", `a"; DROP TABLE x; --`)
	f.Add(`{"select":[]}`, "\\' \x00", "select")
	for _, raw := range plans(f) {
		f.Add(string(raw), "'", `"`)
	}
	f.Fuzz(func(t *testing.T, raw, value, name string) {
		for _, d := range dialects {
			breakout(t, d, value, name)
		}
		p, err := queryplan.Parse(json.RawMessage(raw))
		if err != nil {
			return
		}
		sql, err := p.SQL(shop)
		if err != nil {
			if len(p.Validate(shop)) == 0 {
				t.Fatalf("valid but not compiled: %v", err)
			}
			return
		}
		if again, _ := p.SQL(shop); again != sql {
			t.Fatalf("two texts for one plan:\n%s\n%s", sql, again)
		}
		for _, d := range dialects {
			sql, err := p.SQLFor(d, shop)
			if err != nil {
				continue
			}
			if tokens, closed := lex(d, sql); !closed || strings.Contains(outside(tokens), ";") || strings.Contains(outside(tokens), "--") {
				t.Fatalf("%s: broken out: %s", d, sql)
			}
		}
	})
}
