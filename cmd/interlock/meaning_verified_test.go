package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerifyAnswer keeps the plan of an answer that a person approved: the same question is answered by
// it in every machine, eval asks it, and it can be forgotten. What has no plan, or is no question by
// itself, is refused with what to do.
func TestVerifyAnswer(t *testing.T) {
	w := newWorld(t, brief)
	lastRun := func() string {
		t.Helper()
		out, errs, code := w.run("run", "list", "--json")
		var list []struct {
			Run string `json:"run_id"`
		}
		if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) == 0 {
			t.Fatalf("%d %v %s %s", code, err, out, errs)
		}
		return list[0].Run
	}
	want := func(text string, args ...string) {
		t.Helper()
		if out, errs, code := w.run(args...); code != 0 || !strings.Contains(out+errs, text) {
			t.Errorf("%v: %d, %q is not in\n%s\n%s", args, code, text, out, errs)
		}
	}
	refused := func(text string, args ...string) {
		t.Helper()
		if out, errs, code := w.run(args...); code == 0 || !strings.Contains(errs, text) {
			t.Errorf("%v: %d, %q is not in\n%s\n%s", args, code, text, out, errs)
		}
	}
	want("There are 3 orders", "chat", "--dataset", "shop", "How many orders have the status paid?")
	run := lastRun()
	want("verified as v", "meaning", "verify", run, "--question", "Sold?")
	want("Sold?", "meaning", "verified", "shop")
	want("A person has verified this plan", "ask", "--dataset", "shop", "Sold?")
	want("precision of answered 100.0 % (1 of 1)", "eval", filepath.Join(w.dir, "data", "shop"))
	want("count_star", "chat", "--dataset", "shop", "SQL: SELECT count(*) FROM orders")
	refused("no query plan", "meaning", "verify", lastRun())
	refused("not", "meaning", "verify", "r_nothing")
	var found struct{ Verified []struct{ ID string } }
	out, _, _ := w.run("meaning", "verified", "shop", "--json")
	if err := json.Unmarshal([]byte(out), &found); err != nil || len(found.Verified) != 1 {
		t.Fatalf("%v %s", err, out)
	}
	want("forgotten", "meaning", "forget", "shop", found.Verified[0].ID)
	want("no question of shop is verified", "meaning", "verified", "shop")
}
