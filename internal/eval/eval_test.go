package eval_test

import (
	"testing"

	"interlock/internal/eval"
)

func TestSame(t *testing.T) {
	rows := func(rs ...[]any) eval.Result {
		width := 0
		if len(rs) > 0 {
			width = len(rs[0])
		}
		return eval.Result{Columns: make([]string, width), Rows: rs}
	}
	row := func(vs ...any) []any { return vs }
	tests := []struct {
		name      string
		gold, got eval.Result
		ordered   bool
		want      bool
	}{
		{"equal", rows(row(1, "a")), rows(row(1, "a")), false, true},
		{"columns turned", rows(row(1, "a"), row(2, "b")), rows(row("b", 2), row("a", 1)), false, true},
		{"columns turned, pairs torn", rows(row(1, "a"), row(2, "b")), rows(row("b", 1), row("a", 2)), false, false},
		{"order matters", rows(row(1), row(2)), rows(row(2), row(1)), true, false},
		{"order is free", rows(row(1), row(2)), rows(row(2), row(1)), false, true},
		{"a multiset", rows(row(1), row(1), row(2)), rows(row(1), row(2), row(2)), false, false},
		{"missing row", rows(row(1), row(1)), rows(row(1)), false, false},
		{"more columns", rows(row(1)), rows(row(1, 2)), false, false},
		{"rounding", rows(row(0.1 + 0.2)), rows(row(0.3)), false, true},
		{"not rounding", rows(row(0.3)), rows(row(0.3001)), false, false},
		{"large numbers", rows(row(1e12)), rows(row(1e12 + 1)), false, true},
		{"number as text", rows(row("150")), rows(row(150)), false, true},
		{"null is not empty", rows(row(nil)), rows(row("")), false, false},
		{"timestamps", rows(row("2018-03-09 00:00:00")), rows(row("2018-03-09T00:00:00Z")), false, true},
		{"equal columns", rows(row(1, 1, 2), row(1, 1, 3)), rows(row(2, 1, 1), row(3, 1, 1)), false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := eval.Same(tt.gold, tt.got, tt.ordered); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestOrdered(t *testing.T) {
	for sql, want := range map[string]bool{
		"select a from t order by b":                                  true,
		"SELECT a FROM t ORDER  BY count(*) LIMIT 1":                  true,
		"select a from t where b = (select c from d order by e)":      false,
		"select 'order by' from t":                                    false,
		`select count(*) from (select a from t order by b limit 3) x`: false,
	} {
		if got := eval.Ordered(sql); got != want {
			t.Errorf("%s: got %v", sql, got)
		}
	}
}

func TestSummarise(t *testing.T) {
	record := func(db string, o eval.Outcome, c float64) eval.Record {
		return eval.Record{Case: eval.Case{DB: db}, Outcome: o, Confidence: c}
	}
	s := eval.Summarise([]eval.Record{record("a", eval.Right, 0.95), record("a", eval.Wrong, 0.55), record("b", eval.Asked, 0), record("b", eval.Right, 1)})
	if s.EX != 0.5 || s.Coverage != 0.75 || s.Precision != 2.0/3 || s.Asked != 1 || s.ByDatabase["b"].Precision != 1 {
		t.Errorf("got %+v", s)
	}
	if len(s.Failures) != 2 || len(s.Bands) != 2 || s.Bands[1].Right != 2 {
		t.Errorf("failures %d, bands %+v", len(s.Failures), s.Bands)
	}
}
