package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// TestNumbersThatAreNoAmounts: what a description says is no amount is left out of averages, sums, extremes and
// rankings; a true zero is not.
func TestNumbersThatAreNoAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ column, said, left string }{
		{"km", "Kilometres ridden; -1 = tracker failed; NULL = not back.", "NOT IN (-1)"},
		{"odometer", "Reading in km; -1 = could not be read.", "NOT IN (-1)"},
		{"satisfaction", "Answer from 1 to 10; -1 = no answer.", "NOT IN (-1)"},
		{"payment_days", "Days to pay; -1 = pays in advance.", "NOT IN (-1)"},
		{"stock", "Units in stock; -1 means not counted yet.", "NOT IN (-1)"},
		{"stock", "Units in stock (−1 if nobody counted).", "NOT IN (-1)"},
		{"stars", "1 to 5; 9 = no rating.", "NOT IN (9)"},
		{"age", "Age; 999 stands for unknown.", "NOT IN (999)"},
		{"vintage", "Year of the harvest; 0 = no vintage.", "> 0"},
		{"stars", "Stars from 1 to 5; 0 = none given.", "> 0"},
		{"mark", "1 bad to 5 good; 0 = question skipped.", "> 0"},
		{"weight", "Weight in kg; 0 if not measured.", "> 0"},
		{"minutes", "Minutes of work; 0 = not finished yet.", "> 0"},
		{"credit", "Credit note in euro; 0 = nothing credited.", ""},
		{"late_fee", "Extra charge; 0 = none.", ""},
		{"children", "Children in the party; 0 = none.", ""},
		{"discount", "Discount in percent; 0 = no discount.", ""},
		{"units_delivered", "Units delivered; 0 = not delivered.", ""},
		{"paid_amount", "What was paid; 0 = not paid.", ""},
		{"fee", "Fee in euro, 0 if cancelled.", ""},
		{"weight", "Weight in kg.", ""},
	} {
		s := schema.Dataset{Tables: []schema.Table{{Name: "visits", Rows: 900, Key: []string{"visit_no"}, Columns: []schema.Column{
			{Name: "visit_no", Type: schema.ParseType("BIGINT")}, {Name: "place", Type: schema.ParseType("VARCHAR")}, {Name: c.column, Type: schema.ParseType("BIGINT")},
		}}}}
		x := nlq.NewIndex(s, nil, schema.Dictionary{Tables: map[string]schema.TableText{"visits": {Columns: map[string]string{c.column: c.said}}}})
		name := strings.ReplaceAll(c.column, "_", " ")
		for _, question := range []string{"average " + name + " per place", "highest " + name, "minimum " + name} {
			a := nlq.Plan(nlq.Question{Text: question, Index: x})
			if got := strings.Contains(a.SQL, "WHERE"); a.SQL == "" || got != (c.left != "") || !strings.Contains(a.SQL, c.left) {
				t.Errorf("%s: %s\n%s: %s %s", c.column, c.said, question, a.SQL, a.Declined)
			}
		}
	}
}
