package nlq_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// shopIndex is the shop without a database, for tests that only plan.
func shopIndex() (*nlq.Index, schema.Dataset) {
	col := func(pairs ...string) (cs []schema.Column) {
		for i := 0; i < len(pairs); i += 2 {
			cs = append(cs, schema.Column{Name: pairs[i], Type: schema.ParseType(pairs[i+1])})
		}
		return cs
	}
	s := schema.Dataset{Tables: []schema.Table{
		{Name: "customers", Key: []string{"id"}, Columns: col("id", "INTEGER", "name", "VARCHAR", "country", "VARCHAR")},
		{Name: "orders", Key: []string{"id"}, Columns: col("id", "INTEGER", "customer_id", "INTEGER", "ordered_on", "DATE", "amount", "DECIMAL(10,2)", "status", "VARCHAR")},
	}}
	values := []nlq.ColumnValues{
		{Table: "customers", Column: "country", Values: []string{"France", "Spain", "O'Land"}, Complete: true},
		{Table: "customers", Column: "name", Values: []string{"Ann", "Bob"}},
		{Table: "orders", Column: "status", Values: []string{"open", "paid"}, Complete: true},
	}
	dict := schema.Dictionary{Glossary: map[string]string{"turnover": "total amount of orders", "big spenders": "customers with more than 3 orders"}}
	return nlq.NewIndex(s, values, dict), s
}

func sqlOf(t *testing.T, q nlq.Question) string {
	t.Helper()
	q.Now = today
	a := nlq.Plan(q)
	if a.Declined != "" {
		return "declined: " + a.Declined
	}
	return strings.ReplaceAll(a.SQL, "\n", " ")
}

func TestPeriods(t *testing.T) {
	x, _ := shopIndex()
	tests := map[string]string{ // today is 2024-04-15, a Monday
		"How many orders in March 2024?":                                ">= '2024-03-01' AND ordered_on < '2024-04-01'",
		"How many orders last month?":                                   ">= '2024-03-01' AND ordered_on < '2024-04-01'",
		"How many orders this month?":                                   ">= '2024-04-01' AND ordered_on < '2024-05-01'",
		"How many orders last week?":                                    ">= '2024-04-08' AND ordered_on < '2024-04-15'",
		"How many orders last year?":                                    ">= '2023-01-01' AND ordered_on < '2024-01-01'",
		"How many orders last quarter?":                                 ">= '2024-01-01' AND ordered_on < '2024-04-01'",
		"How many orders in Q3 2023?":                                   ">= '2023-07-01' AND ordered_on < '2023-10-01'",
		"How many orders yesterday?":                                    ">= '2024-04-14' AND ordered_on < '2024-04-15'",
		"How many orders in the last 30 days?":                          ">= '2024-03-16' AND ordered_on < '2024-04-16'",
		"How many orders since 2024-02-01?":                             "WHERE ordered_on >= '2024-02-01'",
		"How many orders before 2023?":                                  "WHERE ordered_on < '2023-01-01'",
		"How many orders after March 2023?":                             "WHERE ordered_on >= '2023-04-01'",
		"How many orders until March 2023?":                             "WHERE ordered_on < '2023-04-01'",
		"How many orders between March 2023 and May 2023?":              ">= '2023-03-01' AND ordered_on < '2023-06-01'",
		"How many orders on 2024-02-29?":                                ">= '2024-02-29' AND ordered_on < '2024-03-01'",
		"What is the total amount of orders per quarter?":               "date_trunc('quarter', ordered_on)",
		"What is the average amount of orders on January 5, 2024?":      ">= '2024-01-05' AND ordered_on < '2024-01-06'",
		"What is the monthly total amount of orders?":                   "date_trunc('month', ordered_on)",
		"How many orders were there between 2024-01-10 and 2024-01-20?": ">= '2024-01-10' AND ordered_on < '2024-01-21'",
	}
	for question, want := range tests {
		if got := sqlOf(t, nlq.Question{Text: question, Index: x}); !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", question, got, want)
		}
	}
}

// Words for the largest and a number mean what "top" means.
func TestHighestRows(t *testing.T) {
	x, _ := shopIndex()
	for _, tt := range []struct{ question, same string }{
		{"Highest 10 orders by amount", "Top 10 orders by amount"},
		{"the 10 highest orders by amount", "Top 10 orders by amount"},
		{"the 5 largest orders by amount", "Top 5 orders by amount"},
		{"Lowest 3 orders by amount", "Bottom 3 orders by amount"},
		{"highest 3 customers by number of orders", "Top 3 customers by number of orders"},
		{"highest orders by amount", "Top 1 orders by amount"},
	} {
		got, want := sqlOf(t, nlq.Question{Text: tt.question, Index: x}), sqlOf(t, nlq.Question{Text: tt.same, Index: x})
		if got != want || !strings.Contains(want, "ORDER BY") {
			t.Errorf("%s\n got %s\nwant %s", tt.question, got, want)
		}
	}
}

func TestFollowUps(t *testing.T) {
	x, _ := shopIndex()
	tests := []struct{ before, question, want string }{
		{"What is the total amount of orders?", "and by month?", "SELECT date_trunc('month', ordered_on) AS month, sum(amount) AS sum_amount FROM orders GROUP BY date_trunc('month', ordered_on) ORDER BY month"},
		{"How many customers are in France?", "what about Spain?", "SELECT count(*) AS count FROM customers WHERE country = 'Spain'"},
		{"How many orders in 2023?", "and in 2024?", "SELECT count(*) AS count FROM orders WHERE ordered_on >= '2024-01-01' AND ordered_on < '2025-01-01'"},
		{"What is the average amount of orders?", "only in March 2024", "SELECT avg(amount) AS avg_amount FROM orders WHERE ordered_on >= '2024-03-01' AND ordered_on < '2024-04-01'"},
		{"How many customers are there?", "per country?", "SELECT country, count(*) AS count FROM customers GROUP BY country ORDER BY count(*) DESC, country"},
	}
	for _, tt := range tests {
		got := sqlOf(t, nlq.Question{Text: tt.question, Index: x, History: []nlq.Turn{{Text: tt.before}}})
		if got != tt.want {
			t.Errorf("%s / %s\n got %s\nwant %s", tt.before, tt.question, got, tt.want)
		}
	}
}

func TestGlossary(t *testing.T) {
	x, _ := shopIndex()
	a := nlq.Plan(nlq.Question{Text: "What is the turnover in 2023?", Index: x, Now: today})
	if !strings.Contains(a.SQL, "sum(amount)") || len(a.Understood) == 0 || a.Understood[0].Text != "turnover" {
		t.Errorf("got %q, understood %v", a.SQL, a.Understood)
	}
	if got := sqlOf(t, nlq.Question{Text: "List the big spenders in Spain.", Index: x}); !strings.Contains(got, "HAVING count(*) >= 4") || !strings.Contains(got, "'Spain'") {
		t.Errorf("got %s", got)
	}
}

func TestClarification(t *testing.T) {
	b := small(t, "league")
	q := nlq.Question{Text: "How many games did the Falcons play?", Index: b.index, Now: today}
	a := nlq.Plan(q)
	if len(a.Questions) != 1 || len(a.Questions[0].Alternatives) != 2 || a.Quality == nlq.High {
		t.Fatalf("not asked back: %+v", a)
	}
	for i, alt := range a.Questions[0].Alternatives {
		q.Clarification = alt.Text
		if got := nlq.Plan(q); got.SQL != alt.SQL || len(got.Questions) > 0 && len(got.Questions[0].Alternatives) > 1 {
			t.Errorf("answering %q gave %q, want %q", alt.Text, got.SQL, alt.SQL)
		}
		q.Clarification = []string{"1", "2"}[i]
		if got := nlq.Plan(q); got.SQL != alt.SQL {
			t.Errorf("answering %q gave %q, want %q", q.Clarification, got.SQL, alt.SQL)
		}
	}
	q.Clarification = "the home team"
	if got := nlq.Plan(q); !strings.Contains(got.SQL, "home_team_id") {
		t.Errorf("free words gave %q", got.SQL)
	}
	q.Clarification, q.Avoid = "", []string{a.Questions[0].Alternatives[0].SQL}
	if got := nlq.Plan(q); got.SQL != a.Questions[0].Alternatives[1].SQL {
		t.Errorf("after one reading was judged wrong: %q", got.SQL)
	}
	q.Avoid = append(q.Avoid, a.Questions[0].Alternatives[1].SQL)
	if got := nlq.Plan(q); got.Declined == "" {
		t.Errorf("after both readings were judged wrong: %q", got.SQL)
	}
}

// TestConfirmed holds that a person's yes makes a medium reading one that may run.
func TestConfirmed(t *testing.T) {
	b := small(t, "library")
	q := nlq.Question{Text: "What is the name of the branch where Fay Moss borrowed a book?", Index: b.index, Now: today}
	a := nlq.Plan(q)
	if a.Quality != nlq.Medium || len(a.Questions) != 1 {
		t.Fatalf("the reading is %s with %d questions: choose another question for this test", a.Quality, len(a.Questions))
	}
	q.Clarification = "yes, please"
	if got := nlq.Plan(q); !got.Sure() || got.SQL != a.SQL {
		t.Errorf("got %+v", got)
	}
}

// TestWithoutIndex plans from a schema alone: no values, no declared relations.
func TestWithoutIndex(t *testing.T) {
	_, s := shopIndex()
	a := nlq.Plan(nlq.Question{Text: "What is the total amount of orders for each customer?", Schema: s, Now: today})
	want := "JOIN customers ON orders.customer_id = customers.id"
	if !a.Sure() || !strings.Contains(a.SQL, want) {
		t.Errorf("got %q (%s, declined %q), want %q in it", a.SQL, a.Quality, a.Declined, want)
	}
}

// TestAdjectives holds that a word that chooses among rows is not passed over.
func TestAdjectives(t *testing.T) {
	b := small(t, "library")
	for _, question := range []string{"Show overdue loans", "How many late loans are there?", "List the expensive books", "Which is the busiest branch?"} {
		if a := nlq.Plan(nlq.Question{Text: question, Index: b.index, Now: today}); a.Sure() || a.Declined == "" {
			t.Errorf("%s: %s %q", question, a.Quality, a.SQL)
		}
	}
}

func TestRefusals(t *testing.T) {
	x, _ := shopIndex()
	for _, question := range []string{
		"", "?", "hello", "What is the weather in France?", "Drop table customers", "What is the email of Ann?",
		"How many unicorns are there?", "What is the median height of customers?",
	} {
		a := nlq.Plan(nlq.Question{Text: question, Index: x, Now: today})
		if a.Sure() {
			t.Errorf("%q was answered with %q", question, a.SQL)
		}
		if a.Plan == nil && a.Declined == "" {
			t.Errorf("%q: neither a plan nor a reason", question)
		}
	}
}

// checkPlan holds what must be true of any answer to any text.
func checkPlan(t interface{ Fatalf(string, ...any) }, x *nlq.Index, s schema.Dataset, text string) {
	a := nlq.Plan(nlq.Question{Text: text, Index: x, Now: today, History: []nlq.Turn{{Text: "How many orders?"}}})
	if (a.Plan == nil) != (a.Declined != "") {
		t.Fatalf("%q: plan %v, declined %q", text, a.Plan, a.Declined)
	}
	if a.Confidence < 0 || a.Confidence > 1 {
		t.Fatalf("%q: confidence %v", text, a.Confidence)
	}
	if a.Plan == nil {
		return
	}
	if problems := a.Plan.Validate(s); len(problems) > 0 {
		t.Fatalf("%q: %v", text, problems)
	}
	if again := nlq.Plan(nlq.Question{Text: text, Index: x, Now: today, History: []nlq.Turn{{Text: "How many orders?"}}}); again.SQL != a.SQL {
		t.Fatalf("%q: two plans for one question:\n%s\n%s", text, a.SQL, again.SQL)
	}
	nlq.Judge(nlq.Question{Text: text, Index: x, Now: today}, a.Plan, nlq.Result{Columns: []string{"a"}, Rows: [][]any{{nil}}})
}

func TestAnyWords(t *testing.T) {
	x, s := shopIndex()
	words := strings.Fields("how many what is the average total number of orders customers amount name country status each per by more than less at least 3 10 2023 in not no without and or both most least top first last month France 'paid' \"Ann\" between since before whose with that have sorted descending different percentage of , ? . '")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 14).Draw(t, "words"), " ")
		checkPlan(t, x, s, text)
	})
}

func FuzzQuestion(f *testing.F) {
	x, s := shopIndex()
	for _, q := range []string{"How many orders?", "Top 3 customers by total amount", "orders of O'Land since '2024-01-01'", "what' \" ’s (", "\x00\xff 1e999 ١٢"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, text string) { checkPlan(t, x, s, text) })
}

func ExamplePlan() {
	x, _ := shopIndex()
	a := nlq.Plan(nlq.Question{Text: "How many customers are in France?", Index: x})
	fmt.Println(a.SQL)
	fmt.Println(a.Explain)
	// Output:
	// SELECT count(*) AS count
	// FROM customers
	// WHERE country = 'France'
	// The number of customers where country is "France".
}
