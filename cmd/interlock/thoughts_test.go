package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestSignedThoughtsGoBack holds over the whole program that Anthropic's signed thoughts go
// back before the call that they led to, whose id is ours by then.
func TestSignedThoughtsGoBack(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var second map[string]any
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		if n == 1 {
			fmt.Fprint(w, `{"type":"message","id":"m1","content":[{"type":"thinking","thinking":"I count.","signature":"SIG"},{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_01","name":"execute_sql","input":{"sql": "SELECT count(*) AS n FROM orders", "dataset_id": "shop", "answer": true}}],"stop_reason":"tool_use"}`)
			return
		}
		if n == 2 {
			second = body
		}
		fmt.Fprint(w, `{"type":"message","id":"m2","content":[{"type":"text","text":"There are 5 orders."}],"stop_reason":"end_turn"}`)
	}))
	defer s.Close()
	w := newWorld(t)
	w.env = append(w.env, "ANTHROPIC_API_KEY=k")
	w.flags = append(w.flags, "--provider", "anthropic", "--anthropic-url", s.URL)
	out, errs, code := w.run("chat", "--dataset", "shop", "How many orders are there?")
	if code != 0 || !strings.Contains(out, "5 orders") {
		t.Fatalf("%d: %s%s", code, out, errs)
	}
	raw, err := json.Marshal(second["messages"])
	if err != nil {
		t.Fatal(err)
	}
	thought, call := strings.Index(string(raw), `"signature":"SIG","thinking":"I count."`), strings.Index(string(raw), `"type":"tool_use"`)
	if thought < 0 || call < thought || strings.Contains(string(raw), "toolu_01") || !strings.Contains(string(raw), `"tool_use_id":"r_`) {
		t.Errorf("the second request has %s", raw)
	}
}
