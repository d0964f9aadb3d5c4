package data

import (
	"strings"
	"testing"

	"interlock/internal/capsule"
	"interlock/internal/event"
	"interlock/internal/fault"
)

// A call with a statement is found by its id, by its number, or is the last one.
func TestCallWithStatement(t *testing.T) {
	ran := func(sql string) *event.Ran { return &event.Ran{Dataset: "d", SQL: sql} }
	c := &capsule.Capsule{Run: "r", Tools: []capsule.ToolCall{
		{Call: "c1", Outcome: "returned", Ran: ran("SELECT 1")},
		{Call: "c2", Outcome: "failed"},
		{Call: "c3", Outcome: "returned"}, // rows of other means
		{Call: "c4", Outcome: "returned", Ran: ran("SELECT 4")},
	}}
	for wanted, want := range map[string]string{"": "c4", "c1": "c1", "1": "c1", "2": "c4"} {
		if got, err := callWithStatement(c, wanted); err != nil || got.Call != want {
			t.Errorf("%q is %s, %v, want %s", wanted, got.Call, err, want)
		}
	}
	for _, wrong := range []string{"c2", "c3", "3", "0"} {
		if got, err := callWithStatement(c, wrong); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q is %s, %v", wrong, got.Call, err)
		}
	}
	if _, err := callWithStatement(&capsule.Capsule{Outcome: "stopped"}, ""); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "was stopped") {
		t.Errorf("a run that was stopped: %v", err)
	}
	if _, err := callWithStatement(&capsule.Capsule{}, ""); !fault.Is(err, fault.NotFound) {
		t.Errorf("a run without statements gives %v", err)
	}
}
