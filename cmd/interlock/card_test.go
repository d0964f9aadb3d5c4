package main

import (
	"bytes"
	"testing"
)

// The rows of a pair are shown beside each other, values before examples, and nothing as JSON.
func TestShowCard(t *testing.T) {
	var out bytes.Buffer
	c := &chat{app: &app{out: &out}}
	row := func(cells ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(cells); i += 2 {
			m[cells[i].(string)] = cells[i+1]
		}
		return m
	}
	c.showContent(row("pair", row("left", row("no", 3142.0, "town", "Linz"), "right", row("ref", "RE 7"), "left_key", "3142"), "agree", []any{"no and ref are equal"}))
	if got, want := out.String(), "  no and ref are equal\nleft       right\n─────────  ────────\nno 3142    ref RE 7\ntown Linz\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	out.Reset()
	c.showContent(row("examples", row("open_left", []any{row("reason", "nothing fits", "row", row("no", "L1"))}, "conflicts", []any{}), "outcome", row("unmatched_left", 2.0, "by_rule", row("r1", 5.0))))
	if got, want := out.String(), "  outcome by rule: r1 5\n  outcome unmatched left: 2\n  open left:\n    reason: nothing fits; row: no L1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
