package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// repairs is a small business that no other test knows.
func repairs() *nlq.Index {
	column := func(name, kind string) schema.Column { return schema.Column{Name: name, Type: schema.ParseType(kind)} }
	s := schema.Dataset{ID: "repairs", Tables: []schema.Table{
		{Name: "owners", Rows: 40, Key: []string{"owner_id"}, Columns: []schema.Column{column("owner_id", "BIGINT"), column("name", "VARCHAR"), column("district", "VARCHAR")}},
		{Name: "jobs", Rows: 900, Key: []string{"job_id"}, Columns: []schema.Column{column("job_id", "BIGINT"), column("owner_id", "BIGINT"), column("brought_in", "DATE"), column("kind", "VARCHAR"), column("fee", "DECIMAL(10,2)"), column("minutes", "BIGINT")}},
	}}
	return nlq.NewIndex(s, []nlq.ColumnValues{
		{Table: "owners", Column: "district", Values: []string{"north", "south", "harbour"}, Complete: true},
		{Table: "jobs", Column: "kind", Values: []string{"brakes", "tyres", "service"}, Complete: true},
	}, schema.Dictionary{})
}

func TestAnswerAboutData(t *testing.T) {
	t.Parallel()
	x := repairs()
	for text, wants := range map[string][]string{
		"hello": {"Hello", "jobs", "How many"}, "Hallo!": {"Hallo", "Fragen Sie zum Beispiel", "jobs"}, "Guten Morgen": {"Hallo"},
		"thanks": {"welcome"}, "Thank you very much!": {"welcome"}, "danke": {"Gern"}, "Vielen Dank": {"Gern"},
		"help": {"queries", "for example"}, "Hilfe": {"Abfragen"}, "what can I ask?": {"for example"}, "what can you do?": {"for example"}, "Was kann ich fragen?": {"zum Beispiel"},
		"What tables do you have?": {"these tables", "owners (40 rows)", "jobs (900 rows)", "brought_in"}, "which tables are there?": {"these tables"}, "show me the tables": {"these tables"},
		"what data do you have?": {"these tables"}, "Welche Tabellen gibt es?": {"diese Tabellen", "40 Zeilen"}, "what's in this data?": {"these tables"},
	} {
		got, ok := x.AnswerAboutData(text)
		for _, want := range wants {
			if !ok || !strings.Contains(got, want) {
				t.Errorf("%q: %v, %q lacks %q", text, ok, got, want)
			}
		}
	}
	for _, text := range []string{"how many jobs are there?", "help with jobs by kind", "what data do you have about owners in the south?", "thanks, and by kind?", "which jobs are open?", "what is the average fee?"} {
		if got, ok := x.AnswerAboutData(text); ok {
			t.Errorf("%q is a question and was answered %q", text, got)
		}
	}
}

// TestWhatATermMeans: the glossary's own words answer, also where they are not computed.
func TestWhatATermMeans(t *testing.T) {
	t.Parallel()
	x := lendingIndex("efficiency", "Planned effort divided by actual effort, in percent.")
	for _, text := range []string{"what does efficiency mean here?", "What counts as efficiency?", "how is efficiency defined?", "Was bedeutet efficiency?", "and what is meant by efficiency?", "define efficiency"} {
		got, ok := x.AnswerAboutData(text)
		if !ok || !strings.Contains(got, "Planned effort divided by actual effort, in percent") || !strings.Contains(got, `lanned effort`) {
			t.Errorf("%q: %v %q", text, ok, got)
		}
	}
	for _, text := range []string{"what is a typical fee?", "how is business?", "what does a saw cost?", "explain the fees by month"} {
		if got, ok := x.AnswerAboutData(text); ok {
			t.Errorf("%q is a question and was answered %q", text, got)
		}
	}
	if a := nlq.Plan(nlq.Question{Text: "efficiency by month", Index: x}); !strings.Contains(a.Declined, `I do not read "planned effort"`) {
		t.Errorf("declined with %q", a.Declined)
	}
}

// TestTablesOfARestaurant: where the data itself has tables, a question about tables is one about rows.
func TestTablesOfARestaurant(t *testing.T) {
	t.Parallel()
	s := schema.Dataset{ID: "inn", Tables: []schema.Table{{Name: "tables", Rows: 12, Columns: []schema.Column{{Name: "table_id", Type: schema.ParseType("BIGINT")}, {Name: "seats", Type: schema.ParseType("BIGINT")}}}}}
	if got, ok := nlq.NewIndex(s, nil, schema.Dictionary{}).AnswerAboutData("which tables are there?"); ok {
		t.Errorf("answered about the schema: %q", got)
	}
}

func TestThanksDoNotEndAConversation(t *testing.T) {
	t.Parallel()
	q := nlq.Question{Text: "and by kind?", Index: repairs(), History: []nlq.Turn{{Text: "How many jobs are there?"}, {Text: "thanks"}}}
	if a := nlq.Plan(q); !a.Sure() || !strings.Contains(a.SQL, "GROUP BY") {
		t.Errorf("after thanks: %+v", a)
	}
}

func TestStarters(t *testing.T) {
	t.Parallel()
	x := repairs()
	list := x.Starters([]string{"How many jobs per kind?", "What is the churn of owners?"}, 6)
	if len(list) != 6 || list[0].Question != "How many jobs per kind?" {
		t.Fatalf("starters: %+v", list)
	}
	kinds := map[string]bool{}
	for _, s := range list {
		if strings.Contains(s.Question, "churn") {
			t.Error("a question that the planner cannot answer is offered")
		}
		a := nlq.Plan(nlq.Question{Text: s.Question, Index: x})
		if !a.Sure() || a.SQL != s.SQL {
			t.Errorf("%q is not answered: %+v", s.Question, a)
		}
		kinds[strings.Join(strings.Fields(s.Question)[:2], " ")] = true
	}
	if len(kinds) < 3 {
		t.Errorf("the starters are all alike: %+v", list)
	}
}
