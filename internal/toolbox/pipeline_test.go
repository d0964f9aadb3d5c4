package toolbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/toolbox"
)

func TestDescribeTables(t *testing.T) {
	out := must[toolbox.DescribeTablesOut](t, newFake(), "describe_tables", args{"dataset_id": ""})
	if out.Location != "shop/orders.csv, shop/customers.csv" || out.Version != "v1" || !strings.Contains(string(out.Schema), `"ref_table":"customers"`) {
		t.Errorf("got %+v %s", out, out.Schema)
	}
}

func TestLoadDictionary(t *testing.T) {
	out := must[toolbox.LoadDictionaryOut](t, newFake(), "load_dictionary", args{"dataset_id": "shop", "path": "data_dictionary.json"})
	if len(out.Warnings) != 1 || !strings.Contains(string(out.Dictionary), "turnover") || strings.Contains(string(out.Dictionary), "products") {
		t.Errorf("got %+v %s", out, out.Dictionary)
	}
}

// The dictionary that is named is the one that is read, by the planner too.
func TestNamedDictionary(t *testing.T) {
	f := newFake()
	out := must[toolbox.LoadDictionaryOut](t, f, "load_dictionary", args{"dataset_id": "shop", "path": "other.json"})
	if !strings.Contains(string(out.Dictionary), "takings") {
		t.Errorf("got %s", out.Dictionary)
	}
	question := args{"question": "What are the takings?", "schema": args{}, "dictionary": "other.json"}
	if p := must[toolbox.PlanQuestionOut](t, f, "plan_question", question); !strings.Contains(p.Plan.SQL, "sum(orders.amount)") && !strings.Contains(p.Plan.SQL, "sum(amount)") {
		t.Errorf("got %s", p.Plan.SQL)
	}
	delete(question, "dictionary")
	if p, err := call[toolbox.PlanQuestionOut](t, f, "plan_question", question); code(err) != fault.CannotAnswer {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestPlanQuestion(t *testing.T) {
	tests := []struct{ name, question, clarification, quality, sql string }{
		{"a count", "How many orders are there?", "", "high", "SELECT count(*) AS count FROM orders"},
		{"spellings of a value", "How many orders are open?", "", "high", "SELECT count(*) AS count FROM orders WHERE status IN ('Open', 'open')"},
		{"the glossary", "What is the turnover per city?", "", "high", "SELECT customers.city, sum(orders.amount) AS sum_amount FROM orders JOIN customers ON orders.customer_id = customers.id GROUP BY customers.city ORDER BY sum(orders.amount) DESC, customers.city"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := must[toolbox.PlanQuestionOut](t, newFake(), "plan_question", args{"question": tt.question, "schema": args{}, "clarification": tt.clarification})
			if got := strings.Join(strings.Fields(out.Plan.SQL), " "); got != tt.sql || out.Quality != tt.quality {
				t.Errorf("got %s %s", out.Quality, got)
			}
			if out.Plan.Type != "sql_plan" || out.Plan.TargetTable != "orders" || out.Plan.Confidence < 0.75 || len(out.Plan.Query) == 0 || out.Explain == "" {
				t.Errorf("got %+v, explained %q", out.Plan, out.Explain)
			}
		})
	}
}

func TestPlanQuestionDeclines(t *testing.T) {
	f := newFake()
	_, err := call[toolbox.PlanQuestionOut](t, f, "plan_question", args{"question": "What is the weather?", "schema": args{}})
	if code(err) != fault.CannotAnswer || !strings.Contains(err.Error(), "weather") {
		t.Errorf("got %v", err)
	}
	// A plan that was judged wrong is not given again.
	first := must[toolbox.PlanQuestionOut](t, f, "plan_question", args{"question": "How many orders are there?", "schema": args{}})
	_, err = call[toolbox.PlanQuestionOut](t, f, "plan_question", args{"question": "How many orders are there?", "schema": args{}, "previous": first.Plan, "notes": "wrong", "issues": []string{"wrong"}})
	if code(err) != fault.CannotAnswer {
		t.Errorf("the same plan came again: %v", err)
	}
}

func TestPlanQuestionFollowsUp(t *testing.T) {
	history := []toolbox.Past{{Query: "How many customers are in Bern?"}}
	out := must[toolbox.PlanQuestionOut](t, newFake(), "plan_question", args{"question": "what about Basel?", "schema": args{}, "history": history})
	if !strings.Contains(out.Plan.SQL, "city = 'Basel'") {
		t.Errorf("got %s", out.Plan.SQL)
	}
}

// TestPlanQuestionHearsAnswers: what a person answered to a question back is a part of the history.
func TestPlanQuestionHearsAnswers(t *testing.T) {
	history := []toolbox.Past{{Query: "customers of Bern", Clarification: "How many customers are in Bern?\n"}}
	out := must[toolbox.PlanQuestionOut](t, newFake(), "plan_question", args{"question": "what about Basel?", "schema": args{}, "history": history})
	if !strings.Contains(out.Plan.SQL, "city = 'Basel'") || !strings.Contains(out.Plan.SQL, "count(*)") {
		t.Errorf("got %s", out.Plan.SQL)
	}
}

func TestCheckSQL(t *testing.T) {
	f := newFake()
	check := func(sql string) toolbox.Safety {
		return must[toolbox.CheckSQLOut](t, f, "check_sql", args{"dataset_id": "shop", "sql": sql, "preview_rows": 100, "max_rows": 1000}).Safety
	}
	// MySQL, and PostgreSQL before 16, want a name for a query in FROM.
	if s := check("SELECT 1;"); !s.IsSafe || !s.LimitEnforced || s.SanitizedQuery != "SELECT * FROM (\nSELECT 1\n) AS capped LIMIT 100" || s.Statement != "SELECT 1" || s.MaxRows != 100 {
		t.Errorf("got %+v", s)
	}
	// A limit that is small enough stays as it is; one that is too large is lowered.
	for _, sql := range []string{"SELECT 1 LIMIT 5", "SELECT 1 LIMIT 1000 offset 3"} {
		if s := check(sql); !s.IsSafe || s.LimitEnforced || s.SanitizedQuery != sql || s.Statement != sql || s.MaxRows != 1000 {
			t.Errorf("%s: got %+v", sql, s)
		}
	}
	for _, sql := range []string{"SELECT 1 LIMIT 5000", "SELECT 1 LIMIT 10 + 10"} {
		if s := check(sql); !s.LimitEnforced || s.SanitizedQuery != "SELECT * FROM (\n"+sql+"\n) AS capped LIMIT 1000" || s.Statement != sql || s.MaxRows != 1000 {
			t.Errorf("%s: got %+v", sql, s)
		}
	}
	if s := check("DROP TABLE orders"); s.IsSafe || s.Reason != "only SELECT may run" || s.Code != string(fault.SQLPolicy) || s.SanitizedQuery != "" {
		t.Errorf("got %+v", s)
	}
	if _, err := call[toolbox.CheckSQLOut](t, f, "check_sql", args{"dataset_id": "shop", "sql": "broken", "preview_rows": 1, "max_rows": 1}); err == nil {
		t.Error("a broken checker let it pass")
	}
}

// TestRunQuery holds that the cap goes to the engine, which can tell whether it cut.
func TestRunQuery(t *testing.T) {
	f := newFake()
	const plain = "SELECT DISTINCT status FROM orders"
	tests := []struct {
		in      args
		most    int
		ran     string
		rows    int
		limited bool
	}{
		{args{"sql": "capped", "statement": plain, "statement_rows": 2}, 1000, plain, 2, true},
		{args{"sql": "capped", "statement": plain, "statement_rows": 100}, 1, plain, 1, true},
		{args{"sql": "capped", "statement": plain, "statement_rows": 100}, 1000, plain, 3, false},
		{args{"sql": plain}, 10, plain, 3, false},
		{args{"sql": "SELECT * FROM (\n" + plain + "\n) LIMIT 2"}, 10, "SELECT * FROM (\n" + plain + "\n) LIMIT 2", 3, false}, // nothing is read out of the text
	}
	for _, tt := range tests {
		tt.in["dataset_id"], tt.in["limit_enforced"], tt.in["max_rows"] = "shop", true, tt.most
		out := must[toolbox.RunQueryOut](t, f, "run_query", tt.in)
		if q := f.asked[len(f.asked)-1]; q.SQL != tt.ran || out.Result.RowCount != tt.rows || out.Stats.Limited != tt.limited || out.Result.Query != tt.in["sql"] || !out.Stats.LimitEnforced {
			t.Errorf("%v ran as %q with at most %d: %+v", tt.in, q.SQL, q.MaxRows, out)
		}
	}
}

func TestJudgeResult(t *testing.T) {
	f := newFake()
	planned := must[toolbox.PlanQuestionOut](t, f, "plan_question", args{"question": "How many orders are there per status?", "schema": args{}})
	result := toolbox.Executed{Columns: []string{"status", "count"}, Rows: json.RawMessage(`[["open",2],["Open",1]]`), RowCount: 2}
	judge := func(question string, in args) toolbox.JudgeResultOut {
		in["question"], in["plan"] = question, planned.Plan
		if in["stats"] == nil {
			in["stats"] = toolbox.Stats{}
		}
		return must[toolbox.JudgeResultOut](t, f, "judge_result", in)
	}
	if v := judge("How many orders are there per status?", args{"result": result}); v.Satisfaction != "satisfied" {
		t.Errorf("spellings of a group are groups: %+v", v)
	}
	if v := judge("How many paid orders are there?", args{"result": result}); v.Satisfaction != "needs_work" || len(v.Issues) == 0 || len(v.Improvements) == 0 {
		t.Errorf("a lost condition went by: %+v", v)
	}
	if v := judge("How many orders are there per status?", args{"stats": toolbox.Stats{Error: "no such column", Curable: true}}); v.Satisfaction != "needs_work" {
		t.Errorf("got %+v", v)
	}
	if v := judge("How many orders are there per status?", args{"stats": toolbox.Stats{Error: "the disk is gone"}}); v.Satisfaction != "failed" {
		t.Errorf("got %+v", v)
	}
}

func TestWriteAnswer(t *testing.T) {
	f := newFake()
	planned := must[toolbox.PlanQuestionOut](t, f, "plan_question", args{"question": "How many orders are open?", "schema": args{}})
	result := toolbox.Executed{Columns: []string{"count"}, Rows: json.RawMessage(`[[1234]]`), RowCount: 1}
	tests := []struct {
		name string
		in   args
		want []string
		none []string
	}{
		{"an answer", args{"plan": planned.Plan, "explain": planned.Explain, "result": result, "satisfaction": "satisfied"}, []string{"There are 1,234 orders where status is \"Open\" in any case", "How I read the question: "}, []string{"not satisfied"}},
		{"cut", args{"plan": planned.Plan, "result": toolbox.Executed{Columns: []string{"city"}, Rows: json.RawMessage(`[["Ulm"],["Bern"]]`), RowCount: 2, Limited: true, TotalRows: 3000}, "satisfaction": "satisfied"}, []string{"There are 3,000 rows."}, []string{"Ulm", "first"}},
		{"cut, uncounted", args{"result": result, "stats": toolbox.Stats{Limited: true}, "satisfaction": "satisfied"}, []string{"There are more than 1 rows"}, []string{"1,234"}},
		{"doubted", args{"plan": planned.Plan, "result": result, "satisfaction": "needs_work", "notes": "The group is wrong.", "used_up": true}, []string{"1,234", "I am not satisfied with this result: The group is wrong.", "used up"}, nil},
		{"judged", args{"plan": args{"sql": "SELECT count(*) FROM orders"}, "result": result, "satisfaction": "satisfied", "notes": "1,234 orders are open."}, []string{"1,234 orders are open."}, nil},
		{"judged with a figure of its own", args{"plan": args{"sql": "SELECT count(*) FROM orders"}, "result": toolbox.Executed{Columns: []string{"count"}, Rows: json.RawMessage(`[[1234567]]`), RowCount: 1}, "satisfaction": "satisfied", "notes": "63 orders are open."}, []string{"count: 1234567."}, []string{"63", "is 1"}},
		{"failed", args{"satisfaction": "failed", "notes": "the database is gone"}, []string{"I cannot answer this: the database is gone."}, []string{"How I read"}},
		{"nothing ran", args{"plan": planned.Plan, "satisfaction": "needs_work", "notes": "", "used_up": true}, []string{"no answer I could stand by", "used up"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in["question"], tt.in["metrics"] = "How many orders are open?", args{"start_time": "2026-01-02T03:04:05Z"}
			out := must[toolbox.WriteAnswerOut](t, f, "write_answer", tt.in)
			for _, w := range tt.want {
				if !strings.Contains(out.Output.Response, w) {
					t.Errorf("%q lacks %q", out.Output.Response, w)
				}
			}
			for _, w := range tt.none {
				if strings.Contains(out.Output.Response, w) {
					t.Errorf("%q says %q", out.Output.Response, w)
				}
			}
			if out.Entry.Time != "2026-01-02T03:04:05Z" || out.Entry.Response != out.Output.Response || !json.Valid(out.Output.PromptMonitor) {
				t.Errorf("the entry is %+v", out.Entry)
			}
		})
	}
}

// TestKnowledge holds that values are read once a version of the data.
func TestKnowledge(t *testing.T) {
	f := newFake()
	k := toolbox.NewKnowledge(f)
	first, err := k.Index(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	n := len(f.asked)
	if n != 3 {
		t.Errorf("%d statements for three text columns", n)
	}
	again, err := k.Index(t.Context(), "shop")
	if err != nil || again != first || len(f.asked) != n || f.read != 1 {
		t.Errorf("known data were read again: %v, %d statements", err, len(f.asked)-n)
	}
	f.version = "v2"
	if changed, err := k.Index(t.Context(), "shop"); err != nil || changed == first || len(f.asked) == n {
		t.Errorf("changed data were not read again: %v", err)
	}
	if _, err := k.Index(t.Context(), "nowhere"); code(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
	if ids, err := k.Datasets(t.Context()); err != nil || len(ids) != 1 || ids[0] != "shop" {
		t.Errorf("got %v, %v", ids, err)
	}
}
