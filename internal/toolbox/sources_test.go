package toolbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// fakeSources has one table of three invoices, which conditions on id filter.
type fakeSources struct{ asked []toolbox.Loading }

func (f *fakeSources) List(context.Context) ([]toolbox.SourceRow, error) {
	return []toolbox.SourceRow{{Alias: "invoices", Kind: "csv", Columns: []string{"id", "amount"}, RowCount: 3}}, nil
}

func (f *fakeSources) Load(_ context.Context, l toolbox.Loading) (toolbox.Loaded, error) {
	f.asked = append(f.asked, l)
	if l.Alias != "invoices" {
		return toolbox.Loaded{}, fault.New(fault.SourceNotRegistered, "no source has the alias %q", l.Alias)
	}
	rows := []string{`["I1",10.50]`, `["I2",20]`, `["I3",12345678901234567890]`}
	rows = slices.DeleteFunc(rows, func(row string) bool {
		return slices.ContainsFunc(l.Conditions, func(c schema.Condition) bool { return c.Column == "id" && !strings.Contains(row, fmt.Sprint(c.Value)) })
	})
	total := len(rows)
	rows = rows[min(l.Offset, total):]
	rows = rows[:min(l.Limit, len(rows))]
	return toolbox.Loaded{
		Alias: "invoices", Columns: []schema.Column{{Name: "id", Type: schema.ParseType("VARCHAR")}, {Name: "amount", Type: schema.ParseType("DECIMAL(20,2)")}},
		Rows: json.RawMessage("[" + strings.Join(rows, ",") + "]"), TotalRows: int64(total),
	}, nil
}

func TestSourceTools(t *testing.T) {
	f := &fakeSources{}
	set := tool.NewSet(nil, toolbox.Tools(toolbox.Config{Sources: f})...)
	for _, c := range []struct{ name, args, want string }{
		{"list_sources", `{}`, `{"sources":[{"alias":"invoices","kind":"csv","columns":["id","amount"],"row_count":3}]}`},
		{
			"get_source_preview", `{"alias":"invoices","limit":1,"offset":1}`,
			`{"alias":"invoices","schema":{"alias":"invoices","columns":[{"name":"id","type":"VARCHAR"},{"name":"amount","type":"DECIMAL(20,2)"}],"row_count":3},"rows":[{"id":"I2","amount":20}],"total_rows":3}`,
		},
		{
			"get_source_preview", `{"alias":"invoices","scoped":true,"scopes":{"left":{"alias":"invoices","scope":{"conditions":[{"column":"id","op":"eq","value":"I3"}],"total_rows":1,"key":"id"}},"right":{"alias":"x","scope":null}}}`,
			`{"alias":"invoices","schema":{"alias":"invoices","columns":[{"name":"id","type":"VARCHAR"},{"name":"amount","type":"DECIMAL(20,2)"}],"row_count":1},"rows":[{"id":"I3","amount":12345678901234567890}],"total_rows":1}`,
		},
		{
			"load_scoped", `{"alias":"invoices","conditions":[],"limit":2}`,
			`{"alias":"invoices","scope":{"conditions":[],"total_rows":3,"key":""},"columns":["id","amount"],"rows":[{"id":"I1","amount":10.50},{"id":"I2","amount":20}],"total_rows":3,"preview_rows":2,"outside":[],"note":"The first 2 of 3 rows are shown."}`,
		},
		{ // a narrower scope names the pairs that it leaves out, of its own side
			"load_scoped", `{"alias":"invoices","conditions":[{"column":"id","op":"eq","value":"I1"}],"limit":5,"left":{"alias":"invoices","schema":null,"scope":null,"sample":[]},
				"confirmed":[{"left_key":"I1","right_key":"P1","left":{"id":"I1","amount":10.50},"right":{"ref":"P1"},"reason":""},
				{"left_key":"I2","right_key":"P2","left":{"id":"I2"},"right":{"ref":"P2"},"reason":""}]}`,
			`{"alias":"invoices","scope":{"conditions":[{"column":"id","op":"eq","value":"I1"}],"total_rows":1,"key":""},"columns":["id","amount"],"rows":[{"id":"I1","amount":10.50}],"total_rows":1,"preview_rows":1,"outside":["I2"],"note":"All 1 rows are shown."}`,
		},
	} {
		tl, err := set.Get(c.name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tl.Call(t.Context(), json.RawMessage(c.args))
		if err != nil {
			t.Errorf("%s %s: %v", c.name, c.args, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(got.JSON)); diff != "" {
			t.Errorf("%s %s: %s", c.name, c.args, diff)
		}
	}
	load, err := set.Get("load_scoped")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load.Call(t.Context(), json.RawMessage(`{"alias":"ledger","conditions":[]}`)); !fault.Is(err, fault.SourceNotRegistered) {
		t.Errorf("another alias: %v", err)
	}
}

// What compiled plans call in a dialect, the policy lets through.
func TestPlansMayCallTheirFunctions(t *testing.T) {
	for _, d := range []dialect.Dialect{dialect.SQLite, dialect.PostgreSQL, dialect.MySQL, dialect.ClickHouse, dialect.Trino, dialect.Snowflake} {
		rules, ok := sqlpolicy.RulesFor(d)
		if !ok {
			t.Fatal("no rules for ", d)
		}
		allowed := rules.Functions()
		for _, f := range queryplan.Functions(d) {
			if !slices.Contains(allowed, f) {
				t.Errorf("%s: a plan may call %s, the policy refuses it", d, f)
			}
		}
	}
}
