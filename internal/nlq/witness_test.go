package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/queryplan"
)

// A statement that rounds what the planner does not, or gives its rows in another order,
// agrees with it; one with another value or another number of rows does not, and is told so.
func TestCompare(t *testing.T) {
	witness := nlq.Answer{Explain: "The average fee, for each level.", Plan: &queryplan.Plan{GroupBy: []queryplan.Term{{Expr: queryplan.Expr{Column: "level"}}}}}
	own := nlq.Result{Columns: []string{"level", "avg_fee"}, Rows: [][]any{{"beginner", 203.51351351351352}, {"advanced", 1179.2345678912}}}
	for name, c := range map[string]struct {
		other nlq.Result
		want  string
	}{
		"rounded":        {nlq.Result{Columns: []string{"level", "fee"}, Rows: [][]any{{"advanced", 1179.23}, {"beginner", 203.51}}}, ""},
		"rounded to one": {nlq.Result{Columns: []string{"fee", "level"}, Rows: [][]any{{204, "beginner"}, {1179, "advanced"}}}, ""},
		"other values":   {nlq.Result{Columns: []string{"level", "fee"}, Rows: [][]any{{"advanced", 1179.23}, {"beginner", 203.59}}}, "other values in level, avg_fee"},
		"cut":            {nlq.Result{Columns: []string{"level", "fee"}, Rows: [][]any{{"advanced", 1178}, {"beginner", 203}}}, "other values"},
		"fewer rows":     {nlq.Result{Columns: []string{"level", "fee"}, Rows: [][]any{{"advanced", 1179.23}}}, "2 rows and not 1"},
	} {
		got := nlq.Compare(witness, own, c.other)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
