package nlq_test

import (
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// TestLooseReadingsOfDescribedData: the grammar of sentences joins tables where names are all that is
// known. Where a dictionary describes the data it answers of one table only.
func TestLooseReadingsOfDescribedData(t *testing.T) {
	t.Parallel()
	number, text := schema.ParseType("BIGINT"), schema.ParseType("VARCHAR")
	s := schema.Dataset{
		Tables: []schema.Table{
			{Name: "members", Rows: 40, Key: []string{"member_no"}, Columns: []schema.Column{{Name: "member_no", Type: number}, {Name: "full_name", Type: text}}},
			{Name: "boats", Rows: 30, Key: []string{"boat_no"}, Columns: []schema.Column{{Name: "boat_no", Type: number}, {Name: "title", Type: text}}},
			{Name: "loans", Rows: 900, Key: []string{"loan_no"}, Columns: []schema.Column{{Name: "loan_no", Type: number}, {Name: "member_no", Type: number}, {Name: "boat_no", Type: number}}},
		},
		Relations: []schema.Relation{
			{Table: "loans", Column: "member_no", RefTable: "members", RefColumn: "member_no"},
			{Table: "loans", Column: "boat_no", RefTable: "boats", RefColumn: "boat_no"},
		},
	}
	const question = "Give the full name of members and the title of their boats"
	if a := nlq.Plan(nlq.Question{Text: question, Index: nlq.NewIndex(s, nil, schema.Dictionary{})}); a.Plan == nil || len(a.Plan.Joins) != 2 {
		t.Errorf("names alone: %s %s", a.SQL, a.Declined)
	}
	dict := schema.Dictionary{Tables: map[string]schema.TableText{"loans": {Text: "Who took which boat."}}}
	if a := nlq.Plan(nlq.Question{Text: question, Index: nlq.NewIndex(s, nil, dict)}); a.SQL != "" || a.Declined == "" {
		t.Errorf("with a dictionary: %s", a.SQL)
	}
}
