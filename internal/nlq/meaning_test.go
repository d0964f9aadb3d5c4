package nlq_test

import (
	"encoding/json"
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/queryplan/queryplantest"
	"interlock/internal/schema"
)

// declared is the shop with a semantic model.
func declared() *nlq.Index {
	d := queryplantest.Shop
	d.Meaning = &schema.Meaning{
		Today: "2026-06-30",
		Tables: []schema.TableMeaning{
			{Table: "orders", Synonyms: []string{"purchases"}, MainDate: "paid_at", Fields: []schema.FieldMeaning{
				{Column: "amount", Label: "ticket size", Unknown: []any{-1.0, 999.0}},
				{Column: "cost", Synonyms: []string{"expense"}},
				{Column: "status", IgnoreCase: true, Same: []schema.SameValue{{Value: "paid", Spellings: []string{"settled"}}}},
			}},
		},
		Metrics: []schema.Metric{
			{Name: "net_revenue", Table: "orders", Expression: "SUM(orders.amount - orders.cost) FILTER (WHERE orders.status = 'paid')", Description: "What is left of paid orders", Synonyms: []string{"takings"}},
			{Name: "gross revenue", Table: "orders", Expression: "SUM(orders.amount)"},
		},
		Ambiguous: []schema.AmbiguousTerm{{Term: "revenue", Readings: []string{"net revenue", "gross revenue"}}},
		Verified:  []schema.VerifiedQuestion{{Question: "Who spends most?", Plan: json.RawMessage(`{"table":"orders","select":[{"column":"customer_id"}],"limit":1}`)}, {Question: "Who is our best customer?", Plan: json.RawMessage(`{"table":"customers","select":[{"column":"name"}],"limit":1}`)}},
	}
	values := []nlq.ColumnValues{
		{Table: "orders", Column: "status", Values: []string{"paid", "Paid", "settled", "open"}, Complete: true},
		{Table: "customers", Column: "city", Values: []string{"Bern", "Basel"}, Complete: true},
		{Table: "customers", Column: "name", Values: []string{"Ada", "Ben"}, Complete: true},
	}
	return nlq.NewIndex(d, values, schema.Dictionary{})
}

// TestDeclaredMeaning asks questions whose words only the semantic model explains.
func TestDeclaredMeaning(t *testing.T) {
	x := declared()
	for _, tt := range []struct{ ask, want, explain string }{
		{"What is our net revenue?", `SELECT sum(amount - cost) FILTER (WHERE status = 'paid') AS net_revenue`, "By your definition of net revenue: What is left of paid orders."},
		{"takings by city", "WHERE orders.status = 'paid'\nGROUP BY customers.city", "By your definition of net revenue"},
		{"net revenue last month", "paid_at >= '2026-05-01' AND paid_at < '2026-06-01'", ""},
		{"how many purchases are there", "SELECT count(*) AS count\nFROM orders", ""},
		{"average ticket size", "SELECT avg(amount) AS avg_amount\nFROM orders\nWHERE amount NOT IN (-1, 999)", ""},
		{"total expense", "SELECT sum(cost)", ""},
		{"how many settled orders are there", "'settled'", ""},
		{"Who spends most?", "SELECT customer_id", "A person has verified this plan"},
		{"Could you please tell me who is our best customer", "SELECT name", "A person has verified this plan"},
	} {
		a := nlq.Plan(nlq.Question{Text: tt.ask, Index: x})
		if !strings.Contains(a.SQL, tt.want) || !strings.Contains(a.Explain, tt.explain) || !a.Sure() {
			t.Errorf("%s: sure %v, declined %q\n%s\n%s\nwant %s", tt.ask, a.Sure(), a.Declined, a.SQL, a.Explain, tt.want)
		}
	}
	if a := nlq.Plan(nlq.Question{Text: "how many settled orders are there", Index: x}); !strings.Contains(a.SQL, "'paid'") {
		t.Errorf("values that stand for one thing are taken apart: %s", a.SQL)
	}
}

// TestAmbiguousTerm is asked about with its readings, unless the question says one of them.
func TestAmbiguousTerm(t *testing.T) {
	x := declared()
	q := nlq.Question{Text: "revenue by city", Index: x}
	a := nlq.Plan(q)
	if len(a.Questions) != 1 || len(a.Questions[0].Alternatives) != 2 || a.Sure() {
		t.Fatalf("%+v", a)
	}
	for answer, want := range map[string]string{
		"2": "sum(orders.amount) AS", "net revenue": "AS net_revenue", "I mean the net revenue": "AS net_revenue", "the second one, please": "sum(orders.amount) AS",
		"no, option 1": "AS net_revenue", "gross": "sum(orders.amount) AS", "the one of paid orders": "AS net_revenue", "hm\n\n2": "sum(orders.amount) AS", // what chooses nothing is passed over
		"neither, the average amount": "avg(orders.amount)", "ich meine net revenue": "AS net_revenue",
	} {
		q.Clarification = answer
		if a := nlq.Plan(q); !a.Sure() || !strings.Contains(a.SQL, want) {
			t.Errorf("%s: %+v", answer, a)
		}
	}
	for _, answer := range []string{"revenue", "both", "how many customers are there?", "3"} {
		q.Clarification = answer
		if a := nlq.Plan(q); a.Sure() || len(a.Questions) != 1 {
			t.Errorf("%q chooses nothing: %+v", answer, a)
		}
	}
	if a := nlq.Plan(nlq.Question{Text: "gross revenue by city", Index: x}); !a.Sure() {
		t.Errorf("it asks about what was said: %+v", a)
	}
}

// TestMetricJudged holds the judge to plans that name metrics.
func TestMetricJudged(t *testing.T) {
	x := declared()
	q := nlq.Question{Text: "net revenue by city", Index: x}
	a := nlq.Plan(q)
	v := nlq.Judge(q, a.Plan, nlq.Result{Columns: []string{"city", "net_revenue"}, Rows: [][]any{{"Bern", 1.0}}})
	if v.Satisfaction != nlq.Satisfied {
		t.Errorf("%+v", v)
	}
}
