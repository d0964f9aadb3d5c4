package nlq_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"interlock/internal/dialect"
	"interlock/internal/nlq"
	"interlock/internal/queryplan"
	"interlock/internal/queryplan/lift"
)

// TestJudge shows the judge right plans and plans with one fault each, run on the
// data, and holds the rates: most faults are found, hardly any right plan is doubted.
func TestJudge(t *testing.T) {
	raw, err := os.ReadFile("testdata/judge.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Schema, Question string
		Plan             json.RawMessage
		Wrong            []struct {
			Kind string
			Plan json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	bases := map[string]*base{"shop": small(t, "shop"), "league": small(t, "league")}
	judged := func(b *base, question string, raw json.RawMessage) nlq.Verdict {
		p, err := queryplan.Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", question, err)
		}
		if problems := p.Validate(b.schema); len(problems) > 0 {
			t.Fatalf("%s: %v", question, problems)
		}
		res := nlq.Result{}
		if statement, err := p.SQLFor(dialect.SQLite, b.schema); err == nil {
			if r, err := run(b.db, statement); err == nil {
				res.Columns, res.Rows = r.Columns, r.Rows
			}
		}
		return nlq.Judge(nlq.Question{Text: question, Index: b.index, Now: today}, p, res)
	}
	right, alarms, wrong, caught := 0, 0, 0, 0
	found, all := map[string]int{}, map[string]int{}
	for _, c := range cases {
		b := bases[c.Schema]
		right++
		if v := judged(b, c.Question, c.Plan); v.Satisfaction != nlq.Satisfied {
			alarms++
			t.Logf("false alarm: %s: %s", c.Question, v.Notes)
		}
		for _, w := range c.Wrong {
			wrong++
			all[w.Kind]++
			if v := judged(b, c.Question, w.Plan); v.Satisfaction == nlq.NeedsWork {
				caught++
				found[w.Kind]++
			} else {
				t.Logf("not caught (%s): %s %s", w.Kind, c.Question, w.Plan)
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		t.Logf("%-20s %d of %d", kind, found[kind], all[kind])
	}
	t.Logf("caught %d of %d wrong plans; doubted %d of %d right ones", caught, wrong, alarms, right)
	if right < 60 || wrong < 60 {
		t.Errorf("the corpus has %d right and %d wrong plans; 60 of each are wanted", right, wrong)
	}
	if caught*100 < wrong*85 || alarms*100 > right*5 {
		t.Errorf("caught %d of %d, doubted %d of %d", caught, wrong, alarms, right)
	}
}

// TestJudgeDoubtsLess: right statements that say what the question does in another way are not doubted, and
// their wrong neighbours are.
func TestJudgeDoubtsLess(t *testing.T) {
	t.Parallel()
	x := garageIndex()
	for _, tt := range []struct {
		question, sql string
		want          nlq.Satisfaction
	}{
		{"repairs of Q1 2025 compared with Q1 2026", "SELECT strftime('%Y', opened_on) AS y, count(*) AS n FROM repairs WHERE opened_on >= '2025-01-01' GROUP BY 1", nlq.Satisfied},
		{"longest running open repair", "SELECT repair_no FROM repairs WHERE status = 'open' ORDER BY opened_on LIMIT 1", nlq.Satisfied},
		{"cost by status, biggest first", "SELECT status, sum(cost) AS c FROM repairs GROUP BY status ORDER BY c DESC", nlq.Satisfied},
		{"which mechanics do no longer work here?", "SELECT mechanic_name FROM mechanics WHERE left_on IS NOT NULL", nlq.Satisfied},
		{"which mechanics do not work here?", "SELECT mechanic_name FROM mechanics WHERE certified", nlq.NeedsWork},
		{"How many repairs in 2025?", "SELECT count(*) AS n FROM repairs WHERE opened_on >= '2024-01-01' AND opened_on < '2025-01-01'", nlq.NeedsWork},
	} {
		p, err := lift.Plan(tt.sql, x.Schema())
		if err != nil {
			t.Fatalf("%s: %v", tt.sql, err)
		}
		v := nlq.Judge(nlq.Question{Text: tt.question, Index: x}, p, nlq.Result{Columns: []string{"a"}, Rows: [][]any{{1}}})
		if v.Satisfaction != tt.want {
			t.Errorf("%s: %s: %s", tt.question, v.Satisfaction, v.Notes)
		}
	}
}
