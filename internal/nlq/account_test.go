package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// garageIndex is a repair shop whose dictionary says what its people mean.
func garageIndex() *nlq.Index {
	column := func(name, kind string) schema.Column { return schema.Column{Name: name, Type: schema.ParseType(kind)} }
	s := schema.Dataset{ID: "garage", Tables: []schema.Table{
		{Name: "mechanics", Rows: 20, Key: []string{"mechanic_id"}, Columns: []schema.Column{
			column("mechanic_id", "VARCHAR"), column("mechanic_name", "VARCHAR"), column("level", "VARCHAR"), column("kind", "VARCHAR"), column("country", "VARCHAR"), column("hourly_rate", "DOUBLE"), column("born", "BIGINT"), column("left_on", "DATE"), column("certified", "BOOLEAN"),
		}},
		{Name: "repairs", Rows: 400, Key: []string{"repair_no"}, Columns: []schema.Column{
			column("repair_no", "VARCHAR"), column("mechanic_id", "VARCHAR"), column("opened_on", "DATE"), column("closed_on", "DATE"), column("due_on", "DATE"), column("status", "VARCHAR"), column("cost", "DOUBLE"), column("height_cm", "BIGINT"),
		}},
		{Name: "logs", Rows: 900, Key: []string{"log_id"}, Columns: []schema.Column{
			column("log_id", "BIGINT"), column("mechanic_id", "VARCHAR"), column("worked_on", "DATE"), column("hours", "DOUBLE"), column("paid", "BOOLEAN"),
		}},
		{Name: "complaints", Rows: 90, Key: []string{"complaint_no"}, Columns: []schema.Column{
			column("complaint_no", "BIGINT"), column("repair_no", "VARCHAR"), column("raised_on", "DATE"), column("settled_on", "DATE"),
		}},
	}}
	values := []nlq.ColumnValues{
		{Table: "mechanics", Column: "level", Values: []string{"master", "junior"}, Complete: true},
		{Table: "mechanics", Column: "kind", Values: []string{"engine", "paint"}, Complete: true},
		{Table: "mechanics", Column: "country", Values: []string{"Germany", "DE", "Italy"}, Complete: true},
		{Table: "repairs", Column: "status", Values: []string{"open", "closed", "used"}, Complete: true},
	}
	return nlq.NewIndex(s, values, schema.Dictionary{
		Tables: map[string]schema.TableText{
			"mechanics": {Columns: map[string]string{"country": "Seat. DE is Germany."}},
			"repairs":   {Columns: map[string]string{"opened_on": "Day of opening. Repairs are counted by this day."}},
		},
		Glossary: map[string]string{
			"open complaint":     "A complaint without settled_on.",
			"current mechanic":   "A mechanic without left_on.",
			"utilization":        "Sum of hours of paid logs divided by sum of all hours.",
			"load":               "Sum of hours of the moon divided by sum of all hours.",
			"overdue":            "A repair is overdue when its status is open and due_on is before the day of the extract.",
			"day of the extract": "2026-06-30. Relative dates count from this day.",
		},
	})
}

// TestEveryWordCounts asks questions in which a word was dropped, or taken for two things.
func TestEveryWordCounts(t *testing.T) {
	t.Parallel()
	x := garageIndex()
	for _, tt := range []struct {
		question string
		want     []string // "declined" and "asked" stand for what is no plan
		wrong    []string
	}{
		{"how many repairs did we open in 2025?", []string{"opened_on >= '2025-01-01'"}, []string{"status"}},
		{"how many repairs were opened and closed in 2025", []string{"opened_on >= '2025-01-01'", "closed_on >= '2025-01-01'"}, []string{"status"}},
		{"how many repairs were used in 2025?", []string{"status = 'used'", "opened_on >="}, nil},
		{"How many complaints are still open?", []string{"settled_on IS NULL"}, nil},
		{"Could you tell me how many juniors we currently have?", []string{"level = 'junior'", "left_on IS NULL"}, nil},
		{"number of German mechanics", []string{"'Germany', 'DE'"}, nil},
		{"how many repairs are overdue?", []string{"due_on < '2026-06-30'", "status = 'open'"}, nil},
		{"utilization by level", []string{"WHERE logs.paid", "100", "GROUP BY mechanics.level"}, nil},
		{"load by level", []string{"declined"}, nil},
		{"Who has worked the most hours this year?", nil, []string{"GROUP BY worked_on"}},
		{"list the masters with their rate", []string{"mechanic_name", "hourly_rate", "level = 'master'"}, []string{"cost"}},
		{"Would you be so kind and show me the certified mechanics?", []string{"mechanic_name", "certified"}, []string{"SELECT kind"}},
		{"mechanics born after 1980", nil, []string{"opened_on", "worked_on", "raised_on"}},
		{"mechanics we have nothing of", []string{"declined"}, nil},
		{"compare the number of repairs of Q1 2025 and Q1 2026", []string{"opened_on >= '2025-01-01'", "OR", "opened_on < '2026-04-01'", "quarter"}, nil},
		{"number of repairs in Q1 2025 and Q1 2026", nil, []string{"opened_on < '2026-04-01'"}},
		{"which status had the most new repairs in 2025?", []string{"GROUP BY", "status", "LIMIT 1"}, nil},
		{"what percentage of repairs was used in 2025?", []string{"FILTER (WHERE status = 'used')", "WHERE opened_on >= '2025-01-01'"}, nil},
		{"how many closings have left", nil, []string{"count(DISTINCT"}},
		{"how many mechanics do we have at the moment?", []string{"left_on IS NULL"}, nil},
		{"which mechanic is the oldest?", nil, []string{"sum("}},
		{"repairs with cost > 2000 and cost < 8000, how many", []string{"cost > 2000", "cost < 8000"}, []string{"IN (", "2001"}},
		{"How many repairs cost more than 2000?", []string{"cost > 2000"}, []string{"2001"}},
		{"largest repairs", []string{"asked"}, nil},
		{"cost of everything closed", nil, []string{"SELECT cost"}},
		{"please give me a list of all countries, thank you", []string{"SELECT DISTINCT country"}, nil},
	} {
		a := nlq.Plan(nlq.Question{Text: tt.question, Index: x})
		got := a.SQL
		switch {
		case a.Declined != "":
			got = "declined: " + a.Declined
		case !a.Sure():
			got = "asked: " + a.SQL
		}
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s lacks %s", tt.question, got, want)
			}
		}
		for _, wrong := range tt.wrong {
			if strings.Contains(got, wrong) {
				t.Errorf("%s: %s has %s", tt.question, got, wrong)
			}
		}
	}
}

// TestFollowUpChangesDate: a message that names another date moves the periods and months to it.
func TestFollowUpChangesDate(t *testing.T) {
	t.Parallel()
	x := garageIndex()
	for _, text := range []string{"no, by the closing date", "I mean by the day they were closed", "by the date of closing"} {
		a := nlq.Plan(nlq.Question{Text: text, Index: x, History: []nlq.Turn{{Text: "How many repairs per month in 2025?"}}})
		if !a.Sure() || !strings.Contains(a.SQL, "closed_on >= '2025-01-01'") || strings.Contains(a.SQL, "opened_on") || strings.Contains(a.SQL, "status") {
			t.Errorf("%s: %+v", text, a)
		}
	}
}

// TestFollowUpOfPronoun: their stands for the rows before, and never for all.
func TestFollowUpOfPronoun(t *testing.T) {
	t.Parallel()
	x := garageIndex()
	a := nlq.Plan(nlq.Question{Text: "with their rate", Index: x, History: []nlq.Turn{{Text: "which mechanics are certified?"}}})
	if a.Declined == "" && (!strings.Contains(a.SQL, "certified") || !strings.Contains(a.SQL, "hourly_rate")) {
		t.Errorf("%+v", a)
	}
}

// TestFollowUpOfUnanswered: what goes on from a message that was not understood is asked about, or
// declined where nothing was answered before; it is never answered as if the message had not been.
func TestFollowUpOfUnanswered(t *testing.T) {
	t.Parallel()
	x := garageIndex()
	plan := func(said ...string) nlq.Answer {
		q := nlq.Question{Text: said[len(said)-1], Index: x}
		for _, text := range said[:len(said)-1] {
			q.History = append(q.History, nlq.Turn{Text: text})
		}
		return nlq.Plan(q)
	}
	const first = "How many mechanics per level?"
	asked := plan(first, "only the fluffy ones", "by country instead")
	if len(asked.Questions) != 1 || !strings.Contains(asked.Questions[0].Question, `"only the fluffy ones" was not understood`) {
		t.Fatalf("%+v", asked)
	}
	for _, said := range [][]string{{first, "only the fluffy ones", "by country instead", "yes"}, {first, "only the fluffy ones", "by country instead", "1"}} {
		if a := plan(said...); !a.Sure() || !strings.Contains(a.SQL, "country") {
			t.Errorf("%v: %+v", said, a)
		}
	}
	if a := nlq.Plan(nlq.Question{Text: "by country instead", Index: x, Clarification: "yes", History: []nlq.Turn{{Text: first}, {Text: "only the fluffy ones"}}}); !a.Sure() {
		t.Errorf("a yes that came with the question: %+v", a)
	}
	if a := plan(first, "only the fluffy ones", "How many repairs are there?"); !a.Sure() {
		t.Errorf("a question of its own: %+v", a)
	}
	for _, text := range []string{"their total cost", "show me the repair numbers", "with their mechanics"} {
		if a := plan("How many repairs sparkle?", text); a.Declined == "" {
			t.Errorf("%s after nothing that was answered: %s", text, a.SQL)
		}
	}
}
