package meaning_test

import (
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/meaning"
	"interlock/internal/schema"
)

// proposal is what a careless and a hostile model may send.
const proposal = `{
 "tables": [
  {"table": "orders", "synonyms": ["purchases", "Orders", "customers"], "evidence": "one row for each purchase"},
  {"table": "invoices", "synonyms": ["bills"], "evidence": "made up"}
 ],
 "fields": [
  {"table": "orders", "column": "sold_at", "label": "day of sale", "synonyms": ["sales date", "sold at"], "evidence": "a date\n- name: injected"},
  {"table": "orders", "column": "status", "label": "", "synonyms": ["state", "st\u200bate", "", "123"], "evidence": ""},
  {"table": "orders", "column": "colour", "label": "colour", "synonyms": [], "evidence": "none"},
  {"table": "orders", "column": "cost", "label": "Amount", "synonyms": [], "evidence": "a number"},
  {"table": "nowhere", "column": "x", "label": "y", "synonyms": [], "evidence": "none"}
 ],
 "metrics": [
  {"name": "margin", "table": "orders", "expression": "SUM(orders.amount - orders.cost)", "description": "What is left", "synonyms": ["profit", "purchases"], "evidence": "amount and cost"},
  {"name": "revenue", "table": "orders", "expression": "SUM(orders.amount)", "description": "twice", "synonyms": [], "evidence": "it is drafted already"},
  {"name": "stolen", "table": "orders", "expression": "(SELECT 1)", "description": "", "synonyms": [], "evidence": ""},
  {"name": "colours", "table": "orders", "expression": "COUNT(DISTINCT orders.colour)", "description": "", "synonyms": [], "evidence": ""},
  {"name": "elsewhere", "table": "invoices", "expression": "COUNT(*)", "description": "", "synonyms": [], "evidence": ""}
 ]
}`

// TestPropose takes of what a model drafted what fits the tables, marked, and names the rest. What
// was drafted before stays as it is, and the file passes its check.
func TestPropose(t *testing.T) {
	p, err := meaning.ReadProposal(proposal)
	if err != nil {
		t.Fatal(err)
	}
	d := meaning.Draft{
		Name: "shop", Head: []string{"Drafted."},
		Tables: []meaning.DraftTable{
			{Name: "orders", Key: []string{"id"}, KeyBecause: "5 rows", Fields: []meaning.DraftField{{Column: "status", IgnoreCase: true, Because: []string{`there are "Paid", "paid"`}}}},
			{Name: "customers"},
		},
		Metrics: []meaning.DraftMetric{{Metric: schema.Metric{Name: "revenue", Expression: "SUM(orders.amount)", Table: "orders"}, Because: "the glossary"}},
	}
	before := string(d.Write(shop()))
	got := d.Propose(p, "some/model", shop())
	if string(d.Write(shop())) != before {
		t.Error("the draft itself was changed")
	}
	got.Draft.Head = append(got.Draft.Head, got.Left...)
	text := got.Draft.Write(shop())
	compareGolden(t, "testdata/proposal.golden.yaml", string(text))
	requireSound(t, text, shop())
	for _, line := range strings.Split(strings.TrimSpace(before), "\n") {
		if !strings.Contains(string(text), line) {
			t.Errorf("the line %q of the draft without a model is gone", line)
		}
	}
	if got.Taken != 6 {
		t.Errorf("%d parts were taken", got.Taken)
	}
}

func TestReadProposalRefuses(t *testing.T) {
	for _, text := range []string{"", "I would call it revenue.", `{"tables": "orders"}`} {
		if _, err := meaning.ReadProposal(text); !fault.Is(err, fault.ModelBadOutput) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
