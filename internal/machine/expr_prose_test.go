package machine_test

import (
	"strings"
	"testing"

	"interlock/internal/machine"
)

// TestProse: tables and lists of a text that repeat rows are cut, whatever their form; what
// says something else stays as it was written.
func TestProse(t *testing.T) {
	m, err := machine.Parse(map[string]string{machine.File: "name: x\nstart: a\nfacts: {said: string, rows: list(json), told: {type: string, is: 'prose(said, rows)'}}\nstates:\n  a: {kind: agent, terminal: true, complete: 'told != nil'}\n"})
	if err != nil {
		t.Fatal(err)
	}
	rows := []any{[]any{"2026-07", 4711.0, "Berlin"}, []any{"2026-08", 815.0, "Ulm"}, []any{"2026-09", 1234.5678, "Köln"}, []any{"2026-10", 0.25, nil}}
	const before, after = "July leads.", "Ask for the reasons."
	for name, c := range map[string]struct {
		said string
		cut  bool
	}{
		"markdown":                {"| month | returned | city |\n|---|---:|---|\n| 2026-07 | 4,711 | **Berlin** |\n| 2026-08 | 815 | Ulm |", true},
		"some columns":            {"| month | returned |\n|---|---|\n| 2026-09 | 1.234,57 |", true},
		"without outer bars":      {"month | returned | city\n--- | --- | ---\n2026-07 | 4711 | Berlin\n2026-08 | 815 | Ulm", true},
		"numbered":                {"| # | month | returned |\n|---|---|---|\n| 1 | 2026-07 | 4711 |\n| 2 | 2026-08 | 815 |", true},
		"percent":                 {"| month | share |\n|--|--|\n| 2026-10 | 25 % |", true},
		"html":                    {"<table><tr><th>month</th></tr><tr><td>2026-07</td><td>4711</td></tr></table>", true},
		"csv in a block":          {"```csv\nmonth,returned\n2026-07,4711\n2026-08,815\n```", true},
		"aligned in a block":      {"```\nmonth    returned\n2026-07      4711\n2026-08       815\n```", true},
		"a list of all rows":      {"- 2026-07: 4,711 (Berlin)\n- 2026-08: 815 (Ulm)\n- 2026-09: 1,234.57 (Köln)\n- 2026-10: 0.25", true},
		"a list of two rows":      {"- 2026-07: 4,711\n- 2026-08: 815", false},
		"a list of other things":  {"- July is the peak\n- August is low\n- ask for September\n- and October", false},
		"a table of other values": {"| month | change |\n|---|---|\n| 2026-08 | -82.7 % |\n| 2026-09 | 51.5 % |", false},
		"code of another kind":    {"```sql\nSELECT month\nFROM orders\n```", false},
		"a sentence":              {"July 2026-07 had 4711 returns, then 815, 1,234.57 and 0.25 in 2026-10.", false},
	} {
		said := before + "\n\n" + c.said + "\n\n" + after
		want := said
		if c.cut {
			want = before + "\n\n" + after
		}
		got, err := m.Eval(m.Fact("told").Is, &machine.Scope{Facts: map[string]any{"said": said, "rows": rows}})
		if err != nil || got != want {
			t.Errorf("%s: %v, said\n%v", name, err, got)
		}
	}
	all := "| 2026-07 | 4711 | Berlin |\n| 2026-08 | 815 | Ulm |"
	if got, _ := m.Eval(m.Fact("told").Is, &machine.Scope{Facts: map[string]any{"said": all, "rows": rows}}); got != "" {
		t.Errorf("of a text that is a table %q is left", got)
	}
	huge := strings.Repeat("| a | b |\n", 20_000)
	if got, err := m.Eval(m.Fact("told").Is, &machine.Scope{Facts: map[string]any{"said": huge, "rows": rows}}); err != nil || got != huge {
		t.Errorf("a huge text: %v", err)
	}
}
