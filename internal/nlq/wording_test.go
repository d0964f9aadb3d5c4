package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// What is said is in whole sentences, and rows of a typed statement are called rows.
func TestSentences(t *testing.T) {
	t.Parallel()
	if got, want := nlq.AnswerText("", nil, []string{"country", "n"}, [][]any{{"Spain", 3}, {"Chad", 2}}), "There are 2 rows, with country and n: Spain, 3; Chad, 2."; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	for text, want := range map[string]string{"it is not clear": "It is not clear.", "Which one?": "Which one?", "It is so.": "It is so."} {
		if got := nlq.Sentence(text); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// A column that no word of the question names, or only the word "numbers", is no answer.
func TestAnswersNameTheirColumns(t *testing.T) {
	t.Parallel()
	column := func(name, kind string) schema.Column { return schema.Column{Name: name, Type: schema.ParseType(kind)} }
	x := nlq.NewIndex(schema.Dataset{ID: "d", Tables: []schema.Table{
		{Name: "guests", Rows: 50, Key: []string{"guest_id"}, Columns: []schema.Column{column("guest_id", "BIGINT"), column("name", "VARCHAR")}},
		{Name: "stays", Rows: 300, Key: []string{"stay_id"}, Columns: []schema.Column{column("stay_id", "BIGINT"), column("guest_id", "BIGINT"), column("channel", "VARCHAR"), column("status", "VARCHAR")}},
		{Name: "bills", Rows: 300, Key: []string{"bill_no"}, Columns: []schema.Column{column("bill_no", "BIGINT"), column("stay_id", "BIGINT"), column("payer", "VARCHAR")}},
	}}, []nlq.ColumnValues{
		{Table: "stays", Column: "channel", Values: []string{"phone", "web"}, Complete: true},
		{Table: "stays", Column: "status", Values: []string{"no-show", "stayed"}, Complete: true},
		{Table: "bills", Column: "payer", Values: []string{"firm", "guest"}, Complete: true},
	}, schema.Dictionary{})
	for _, question := range []string{"What are the phone numbers of the no-show guests?", "how many open stays and bills"} {
		if a := nlq.Plan(nlq.Question{Text: question, Index: x}); a.Sure() {
			t.Errorf("%s was answered by %s", question, a.SQL)
		}
	}
	if a := nlq.Plan(nlq.Question{Text: "What are the names of the no-show guests?", Index: x}); !a.Sure() {
		t.Errorf("the names are not told: %+v", a)
	}
}

// A value that is a common word is not dropped, in questions and in definitions, and a follow-up that
// changes nothing is not answered by what was answered before.
func TestCommonWordsAsValues(t *testing.T) {
	t.Parallel()
	column := func(name, kind string) schema.Column { return schema.Column{Name: name, Type: schema.ParseType(kind)} }
	x := nlq.NewIndex(schema.Dataset{ID: "d", Tables: []schema.Table{
		{Name: "jobs", Rows: 300, Key: []string{"job_id"}, Columns: []schema.Column{column("job_id", "BIGINT"), column("status", "VARCHAR"), column("price", "DOUBLE")}},
	}}, []nlq.ColumnValues{{Table: "jobs", Column: "status", Values: []string{"done", "waiting"}, Complete: true}},
		schema.Dictionary{Glossary: map[string]string{"job revenue": "Sum of jobs.price over jobs with status done."}})
	for _, question := range []string{"What is the job revenue?", "How many jobs with status done?", "How many jobs are done?"} {
		if a := nlq.Plan(nlq.Question{Text: question, Index: x}); a.Sure() && !strings.Contains(a.SQL, "= 'done'") {
			t.Errorf("%s dropped the value: %s", question, a.SQL)
		} else if !a.Sure() {
			t.Errorf("%s: %+v", question, a)
		}
	}
	if a := nlq.Plan(nlq.Question{Text: "for whom?", Index: x, History: []nlq.Turn{{Text: "How many jobs are waiting?"}}}); a.Sure() {
		t.Errorf("for whom? was answered by %s", a.SQL)
	}
}

// TestTypedYears holds that years by which a typed statement groups have no thousands, and
// that what it measures has them.
func TestTypedYears(t *testing.T) {
	for _, c := range []struct {
		columns []string
		rows    [][]any
		want    string
	}{
		{[]string{"y", "n"}, [][]any{{2023.0, 1950.0}, {2024.0, 2050.0}}, "There are 2 rows, with y and n: 2023, 1,950; 2024, 2,050."},
		{[]string{"city", "y", "n"}, [][]any{{"Bonn", 2023.0, 7.0}, {"Ulm", 2024.0, 8.0}}, "There are 2 rows, with city, y and n: Bonn, 2023, 7; Ulm, 2024, 8."},
		{[]string{"y"}, [][]any{{2023.0}, {2024.0}}, "There are 2 rows: 2023 and 2024."},
		{[]string{"k", "n"}, [][]any{{2023.0, 1.0}, {4711.0, 2.0}}, "There are 2 rows, with k and n: 2,023, 1; 4,711, 2."},
		{[]string{"n"}, [][]any{{2024.0}}, "The n is 2,024."},
	} {
		if got := nlq.AnswerText("", nil, c.columns, c.rows); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
