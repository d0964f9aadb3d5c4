package meaning_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"interlock/internal/meaning"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// TestDraft writes a draft of the shop; the golden file is what a person would read.
func TestDraft(t *testing.T) {
	d := meaning.Draft{
		Name: "shop", Head: []string{"Drafted."}, Today: "2026-06-30", TodayBecause: "the glossary says so",
		Tables: []meaning.DraftTable{
			{
				Name: "orders", Key: []string{"id"}, KeyBecause: "5 rows, each with another value", MainDate: "sold_at", MainDateBecause: "the dictionary says that rows count by it",
				Fields: []meaning.DraftField{
					{Column: "status", IgnoreCase: true, Same: []schema.SameValue{{Value: "paid", Spellings: []string{"it's paid"}}}, Because: []string{`there are "Paid", "paid"`}},
					{Column: "nowhere", Label: "x", Because: []string{"nobody"}},
				},
			},
			{Name: "customers", Open: "Several dates: which one counts?"},
			{Name: "order lines", Fields: []meaning.DraftField{{Column: "unit price", Unknown: []any{0}, Because: []string{"the dictionary says what 0 means"}}}},
		},
		Relations: []meaning.DraftRelation{{Relation: schema.Relation{Table: "orders", Column: "customer_id", RefTable: "customers", RefColumn: "id"}, Because: "all values are found"}},
		Metrics: []meaning.DraftMetric{
			{Metric: schema.Metric{Name: "revenue", Expression: "SUM(orders.amount) FILTER (WHERE orders.amount < 100)", Table: "orders", Description: "Sum: of `it`"}, Because: "the glossary: Sum of amount\nover orders"},
			{Metric: schema.Metric{Name: "broken", Expression: "SUM(orders.nothing)"}},
			{Metric: schema.Metric{Name: "orders placed", Expression: "COUNT(*)", Table: "orders"}},
		},
	}
	text := d.Write(shop())
	compareGolden(t, "testdata/draft.golden.yaml", string(text))
	requireSound(t, text, shop())
}

func requireSound(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text []byte, d schema.Dataset,
) {
	t.Helper()
	doc, found := meaning.Read("draft.yaml", text)
	if doc != nil {
		_, found = meaning.Check(doc, d)
	}
	if errs := found.Errors(); len(errs) > 0 {
		t.Fatalf("the draft does not pass its check:\n%v\n%s", errs, text)
	}
}

// TestDraftsPass holds drafts of any tables to the promise that they pass their check.
func TestDraftsPass(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.OneOf(rapid.StringMatching(`[a-z_]{1,8}`), rapid.StringN(1, 12, 40), rapid.SampledFrom([]string{"select", "a.b", "a: b", "- x", "#", "'", `"`, "null", "1", "Straße", "a\nb", "{x}", "@", "`"}))
		var d schema.Dataset
		d.ID = name.Draw(r, "id")
		draft := meaning.Draft{Name: d.ID, Head: []string{name.Draw(r, "head")}}
		taken := map[string]bool{}
		for range rapid.IntRange(1, 3).Draw(r, "tables") {
			table := schema.Table{Name: name.Draw(r, "table")}
			if taken[strings.ToLower(table.Name)] {
				continue
			}
			taken[strings.ToLower(table.Name)] = true
			columns := map[string]bool{}
			drafted := meaning.DraftTable{Name: table.Name, Open: name.Draw(r, "open"), Description: name.Draw(r, "text")}
			for range rapid.IntRange(1, 4).Draw(r, "columns") {
				c := schema.Column{Name: name.Draw(r, "column"), Type: schema.ParseType(rapid.SampledFrom([]string{"VARCHAR", "INTEGER", "DATE", "BOOLEAN"}).Draw(r, "type"))}
				if columns[strings.ToLower(c.Name)] {
					continue
				}
				columns[strings.ToLower(c.Name)] = true
				table.Columns = append(table.Columns, c)
				drafted.Fields = append(drafted.Fields, meaning.DraftField{Column: c.Name, Label: name.Draw(r, "label"), IgnoreCase: rapid.Bool().Draw(r, "case"), Synonyms: []string{name.Draw(r, "synonym")}, Because: []string{name.Draw(r, "because")}})
				drafted.Key, drafted.MainDate = []string{c.Name}, c.Name
				draft.Metrics = append(draft.Metrics, meaning.DraftMetric{Metric: schema.Metric{Name: fmt.Sprintf("sum %d", len(draft.Metrics)), Expression: queryplan.MetricText(queryplan.Expr{Column: table.Name + "." + c.Name, Function: queryplan.Sum})}, Because: name.Draw(r, "why")})
			}
			d.Tables, draft.Tables = append(d.Tables, table), append(draft.Tables, drafted)
		}
		requireSound(r, draft.Write(d), d)
	})
}
