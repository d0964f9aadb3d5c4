package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// bakery is a business that no other test knows.
func bakery() *nlq.Index {
	column := func(name, kind string) schema.Column {
		return schema.Column{Name: name, Type: schema.ParseType(kind)}
	}
	s := schema.Dataset{ID: "bakery", Tables: []schema.Table{
		{Name: "branches", Rows: 4, Key: []string{"branch_id"}, Columns: []schema.Column{column("branch_id", "BIGINT"), column("branch_name", "VARCHAR"), column("town", "VARCHAR")}},
		{Name: "deliveries", Rows: 900, Key: []string{"delivery_id"}, Columns: []schema.Column{column("delivery_id", "BIGINT"), column("branch_id", "BIGINT"), column("delivered_on", "DATE"), column("state", "VARCHAR"), column("loaves", "BIGINT"), column("amount", "DOUBLE")}},
	}, Relations: []schema.Relation{{Table: "deliveries", Column: "branch_id", RefTable: "branches", RefColumn: "branch_id"}}}
	values := []nlq.ColumnValues{
		{Table: "branches", Column: "branch_name", Values: []string{"Hafen", "Markt", "Nord", "West"}, Complete: true},
		{Table: "branches", Column: "town", Values: []string{"Jever", "Leer", "Norden"}, Complete: true},
		{Table: "deliveries", Column: "state", Values: []string{"paid", "open", "returned", "Paid"}, Complete: true},
	}
	return nlq.NewIndex(s, values, schema.Dictionary{Glossary: map[string]string{
		"takings": "Sum of deliveries.amount over deliveries with state paid or open, by delivered_on.",
		"today":   "The data was extracted on 2026-03-31.",
	}})
}

// TestEveryWord asks what words change: each is part of the statement, or the answer declines and
// names it.
func TestEveryWord(t *testing.T) {
	t.Parallel()
	x := bakery()
	for question, want := range map[string]string{
		"deliveries with amount over 20 and amount under 80, how many?": "",
		"How many deliveries have an amount over 20,5?":                 "amount > 20.5",
		"How many paid and open deliveries are there?":                  "'paid'",
		"How many deliveries abbove 50 euro?":                           "amount > 50",
		"Could you please tell me how many deliveries were returned?":   "'returned'",
		"takings per month in 2025":                                     "sum(",
		"Top 2 branches by takings":                                     "sum(deliveries.amount)",
		"How many deliveries to Norden in February 2026?":               "'Norden'",
		"Wie viele Lieferungen gab es im Februar 2026?":                 ">= '2026-02-01'",
		"How many deliveries were there last month?":                    ">= '2026-02-01'",
		"How many frozen deliveries are there?":                         "declined:frozen",
		"takings by baker":                                              "declined:baker",
		"How many deliveries will there be in 2027?":                    "declined:",
		"deliveries by state":                                           "lower(state)",
		"How many branches have never had a delivery?":                  "NOT IN",
		"Which branches have more than 100 deliveries?":                 "HAVING count(*) > 100",
		"What share of deliveries is returned?":                         "100 * count(*)",
	} {
		a := nlq.Plan(nlq.Question{Text: question, Index: x})
		sql := strings.Join(strings.Fields(a.SQL), " ")
		if word, ok := strings.CutPrefix(want, "declined:"); ok {
			if a.Sure() || !strings.Contains(a.Declined+strings.Join(a.NotUnderstood, " "), word) {
				t.Errorf("%s\n got %s %q, want it declined for %q", question, sql, a.Declined, word)
			}
			continue
		}
		if a.Sure() && strings.Contains(sql, "IN (20, 80)") || want != "" && (!a.Sure() || !strings.Contains(sql, want)) {
			t.Errorf("%s\n got %s declined %q asked %v\nwant %s", question, sql, a.Declined, a.Questions, want)
		}
	}
}

// TestFollowUpEdits edits an inquiry by the messages after it.
func TestFollowUpEdits(t *testing.T) {
	t.Parallel()
	x := bakery()
	var history []nlq.Turn
	for _, turn := range []struct{ say, want string }{
		{"How many deliveries were there in 2025?", "delivered_on >= '2025-01-01'"},
		{"only returned ones", "state = 'returned'"},
		{"by branch", "branch_name"},
		{"in percent", "100"},
		{"and in 2024?", "'2024-01-01'"},
		{"top 2", "LIMIT 2"},
	} {
		a := nlq.Plan(nlq.Question{Text: turn.say, Index: x, History: history})
		history = append(history, nlq.Turn{Text: turn.say})
		if !a.Sure() || a.Plan.Limit == queryplan.DefaultLimit || !strings.Contains(a.SQL, turn.want) {
			t.Fatalf("%s\n got %s declined %q asked %v\nwant %s", turn.say, a.SQL, a.Declined, a.Questions, turn.want)
		}
	}
	if a := nlq.Plan(nlq.Question{Text: "only Jever", Index: x, History: []nlq.Turn{{Text: "How happy are the guests?"}}}); a.Sure() || !strings.Contains(a.Declined, "not answered") {
		t.Errorf("a follow-up to nothing: %s %q", a.SQL, a.Declined)
	}
}
