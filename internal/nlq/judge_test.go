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
