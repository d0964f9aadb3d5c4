package main

import (
	"slices"
	"testing"

	"interlock/internal/eval"
	"interlock/internal/racetest"
)

// The shares that the demo's dialogues must reach without a key.
const (
	demoRight     = 0.65
	demoWrong     = 0.03
	demoPrecision = 0.95
)

// TestDemoDialogues plays what people of the three demo firms ask, as `interlock eval internal/demo/dialogues
// --data DEMO` does. Whatever question the page offers must come out right.
func TestDemoDialogues(t *testing.T) {
	racetest.Skip(t, "judges answers; TestGoldenQueries asks the same system under the detector")
	const dir = "../../internal/demo/dialogues"
	e := newEvaluation(t, "analyst")
	list, err := eval.LoadDialogues(dir)
	if err != nil {
		t.Fatal(err)
	}
	turns, err := e.play(t.Context(), dir, list)
	if err != nil {
		t.Fatal(err)
	}
	sum := eval.SummariseDialogues(turns)
	t.Log(sum.String())
	all := sum.All
	if len(list) < 60 || all.RightShare() < demoRight || all.WrongShare() > demoWrong || all.Precision() < demoPrecision {
		t.Errorf("%d dialogues, right %.3f, wrong %.3f, precision %.3f", len(list), all.RightShare(), all.WrongShare(), all.Precision())
	}
	for _, r := range turns {
		if r.Verdict != eval.Right {
			t.Logf("%s %s.%d: %s\n\t%s\n\t%.200s", r.Verdict, r.Dialogue, r.Number, r.Turn.Say, r.SQL, r.Text)
		}
	}
	datasets, err := e.s.catalog.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range datasets {
		shown, err := e.s.knowledge.Starters(t.Context(), d.ID)
		if err != nil || len(shown) < 5 {
			t.Errorf("%s has the starters %q, %v", d.ID, shown, err)
		}
		for _, q := range d.Prompts {
			i := slices.IndexFunc(turns, func(r eval.TurnRecord) bool { return r.Dataset == d.ID && r.Turn.Say == q })
			if i < 0 {
				t.Errorf("no dialogue has the question %q that %s comes with", q, d.ID)
			} else if slices.Contains(shown, q) && turns[i].Verdict != eval.Right {
				t.Errorf("the starter %q of %s is %s", q, d.ID, turns[i].Verdict)
			}
		}
	}
}
