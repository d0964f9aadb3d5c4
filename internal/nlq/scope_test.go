package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// TestUnclearScope declines questions whose words leave open what a condition is said of, and
// answers those that say it.
func TestUnclearScope(t *testing.T) {
	col := func(pairs ...string) (cs []schema.Column) {
		for i := 0; i < len(pairs); i += 2 {
			cs = append(cs, schema.Column{Name: pairs[i], Type: schema.ParseType(pairs[i+1])})
		}
		return cs
	}
	s := schema.Dataset{Tables: []schema.Table{
		{Name: "boats", Rows: 40, Key: []string{"boat_id"}, Columns: col("boat_id", "BIGINT", "name", "VARCHAR", "kind", "VARCHAR", "berths", "BIGINT")},
		{Name: "repairs", Rows: 90, Key: []string{"repair_id"}, Columns: col("repair_id", "BIGINT", "boat_id", "BIGINT", "cost", "DOUBLE", "trade", "VARCHAR")},
	}, Relations: []schema.Relation{{Table: "repairs", Column: "boat_id", RefTable: "boats", RefColumn: "boat_id"}}}
	values := []nlq.ColumnValues{
		{Table: "boats", Column: "kind", Values: []string{"Yacht", "Ketch", "Sloop"}, Complete: true},
		{Table: "boats", Column: "name", Values: []string{" Ada", " Ben"}, Complete: true},
		{Table: "repairs", Column: "trade", Values: []string{"Sails", "Engine"}, Complete: true},
	}
	x := nlq.NewIndex(s, values, schema.Dictionary{})
	for ask, reason := range map[string]string{
		"What are the names of boats that are either yachts or sloops with more than 3 berths?": "can be said of the last one",
		"What are the names of boats with more than 3 berths?":                                  "",
		"How many berths does Ada have?":                                                        "",
	} {
		a := nlq.Plan(nlq.Question{Text: ask, Index: x})
		if reason == "" && a.Declined != "" || !strings.Contains(a.Declined, reason) || reason != "" && a.Plan != nil {
			t.Errorf("%s: declined %q, want %q\n%s", ask, a.Declined, reason, a.SQL)
		}
	}
	if a := nlq.Plan(nlq.Question{Text: "How many berths does Ada have?", Index: x}); !strings.Contains(a.Explain, `" Ada" was taken for "Ada"`) {
		t.Errorf("blanks are not told of: %s", a.Explain)
	}
	for ask, want := range map[string]string{
		"Which boats have repairs other than Engine?":                   "other than Engine can mean",
		"Which boats have not cost more than 1000 for repairs?":         "one of the repairs or of all",
		"Which boats have no repairs with a cost of more than 1000?":    "",
		"Which boats have repairs with a cost of more than 1000?":       "",
		"What are the names of boats that have no repairs with Engine?": "",
	} {
		a := nlq.Plan(nlq.Question{Text: ask, Index: x})
		if want == "" && strings.Contains(a.Declined, "can mean") || want == "" && strings.Contains(a.Declined, "of all of them together") || want != "" && a.Sure() {
			t.Errorf("%s: declined %q, want %q\n%s", ask, a.Declined, want, a.SQL)
		}
	}
}
