package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// planner answers the model steps of the pipeline: every plan is this statement, every
// result satisfies.
func planner(sql string) func(string, int) line {
	return func(user string, _ int) line {
		var answer any = map[string]any{
			"plan":    map[string]string{"sql": sql, "type": "sql_plan", "target_table": "orders"},
			"quality": "high", "explain": "It counts the orders.", "questions": []string{}, "decline": "",
		}
		if strings.Contains(user, `\"result\"`) {
			answer = map[string]any{"satisfaction": "satisfied", "notes": "It is what was asked.", "issues": []string{}, "improvements": []string{}}
		}
		raw, err := json.Marshal(answer)
		if err != nil {
			return line{text: err.Error()}
		}
		return line{text: string(raw)}
	}
}

// TestAskWithModel: the answer is printed once, whoever made it.
func TestAskWithModel(t *testing.T) {
	w := newWorld(t)
	w.flags = append(w.flags, newActor(t, planner("SELECT count(*) AS n FROM orders")).flags()...)
	out, errs, code := w.run("ask", "how many orders are there")
	if code != exitDone || strings.Count(out, "How I read the question: It counts the orders.") != 1 {
		t.Fatalf("exit %d, stdout:\n%s\nstderr:\n%s", code, out, errs)
	}
	if strings.Contains(out, `"sql_plan"`) {
		t.Errorf("the model's plan is shown as an answer:\n%s", out)
	}

	w.flags = w.flags[:4]
	w.flags = append(w.flags, newActor(t, deskLines).flags()...)
	out, errs, code = w.run("chat", "how many orders are there")
	if code != exitDone || strings.Count(out, "There are 5 orders.") != 1 {
		t.Fatalf("exit %d, stdout:\n%s\nstderr:\n%s", code, out, errs)
	}
}

// TestAskRefusedPlan: a plan that is refused each time is no answer, and says so.
func TestAskRefusedPlan(t *testing.T) {
	w := newWorld(t)
	w.flags = append(w.flags, newActor(t, planner("DROP TABLE orders")).flags()...)
	out, errs, code := w.run("ask", "how many orders are there")
	if code != exitRefused || !strings.Contains(out, "I have no answer I could stand by.") || !strings.Contains(errs, "[refused") {
		t.Fatalf("exit %d, stdout:\n%s\nstderr:\n%s", code, out, errs)
	}
}
