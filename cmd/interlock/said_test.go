package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"interlock/internal/fault"
)

// What the person says runs, on the data that it names, each time it is said.
func TestShortcutRunsWhatIsSaid(t *testing.T) {
	w := newWorld(t, map[string]string{"data/books/orders.csv": "id,amount\n7,70\n"})
	w.flags = append(w.flags, "--provider", "offline")
	p := w.serve()
	said := func(thread, dataset, message string) chatResponse {
		t.Helper()
		var chat chatResponse
		p.call("POST", "/chat", fmt.Sprintf(`{"message":%q,"dataset_id":%q,"thread_id":%q}`, message, dataset, thread), http.StatusOK, &chat)
		if chat.Status != "succeeded" {
			t.Fatalf("%s on %s: %+v", message, dataset, chat)
		}
		return chat
	}
	const count = "SQL: SELECT count(*) FROM orders"
	shop := said("", "shop", count)
	books := said(shop.Thread, "books", count)
	if one, other := fmt.Sprint(shop.Result.Rows), fmt.Sprint(books.Result.Rows); one == other || other != "[[1]]" {
		t.Errorf("shop has %s orders, books %s", one, other)
	}
	const roll = "SQL: SELECT random(), count(*) FROM orders"
	first, second := said(shop.Thread, "books", roll), said(shop.Thread, "books", roll)
	if one, two := fmt.Sprint(first.Result.Rows), fmt.Sprint(second.Result.Rows); one == two {
		t.Errorf("the statement was not run again: %s", one)
	}
	for _, run := range []string{books.Run, second.Run} {
		if out, errs, code := w.run("replay", run); code != 0 {
			t.Errorf("replay gave %d: %s%s", code, out, errs)
		}
	}
}

// refusing is a provider that accepts no key.
func refusing(t *testing.T) (url string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: sk-te****cret (%s). Ask your administrator.","type":"invalid_request_error"}}`, r.Header.Get("Authorization"))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// What the provider says reaches the person, with what to do and without the key. A
// fallback to the built-in model works in a machine of steps as well.
func TestProviderRefuses(t *testing.T) {
	w := newWorld(t)
	w.env = append(w.env, "OPENAI_API_KEY=sk-test-secret")
	w.flags = append(w.flags, "--provider", "openai", "--openai-url", refusing(t), "--model", "gpt-4.1")
	out, errs, _ := w.run("ask", "--dataset", "shop", "How many orders are there?")
	for _, want := range []string{"Incorrect API key provided", "Ask your administrator", "OPENAI_API_KEY"} {
		if !strings.Contains(out+errs, want) {
			t.Errorf("the person is not told %q:\n%s%s", want, out, errs)
		}
	}
	if strings.Contains(out+errs, "sk-te") {
		t.Errorf("the key is told:\n%s%s", out, errs)
	}
	w.flags = append(w.flags, "--fallback", "offline")
	out, errs, code := w.run("ask", "--machine", "pipeline", "--dataset", "shop", "How many orders are there?")
	if code != 0 || !strings.Contains(out, "5") {
		t.Errorf("the fallback gave %d:\n%s%s", code, out, errs)
	}
}

// A machine whose model has no key says so, and the others work.
func TestModelWithoutAKey(t *testing.T) {
	w := newWorld(t, map[string]string{
		"machines/keyed/machine.yaml": "name: keyed\ntitle: Keyed\nstart: work\nstates:\n  work:\n    kind: agent\n    terminal: true\n    model: anthropic/claude-opus-4\n    prompt: work.md\n    tools: [list_datasets]\n",
		"machines/keyed/work.md":      "Work.\n",
	})
	w.flags = append(w.flags, "--provider", "offline")
	p := w.serve()
	var list struct {
		Machines []struct {
			Name    string        `json:"name"`
			Unready []fault.Fault `json:"unready"`
		} `json:"machines"`
	}
	p.call("GET", "/api/machines", "", http.StatusOK, &list)
	for _, m := range list.Machines {
		code, known := map[string]fault.Code{"analyst": "", "pipeline": "", "reconcile": "", "keyed": fault.ModelKeyMissing, "assistant": ""}[m.Name]
		switch {
		case known && code == "" && len(m.Unready) > 0:
			t.Errorf("%s: %+v", m.Name, m.Unready)
		case code != "" && (len(m.Unready) != 1 || m.Unready[0].Code != code || m.Unready[0].Suggestion == ""):
			t.Errorf("%s: %+v", m.Name, m.Unready)
		case m.Name == "keyed" && !strings.Contains(m.Unready[0].Message, "state work of keyed"):
			t.Errorf("%s: %s", m.Name, m.Unready[0].Message)
		}
	}
	out, errs, exit := w.run("machine", "list")
	for _, want := range []string{"state work of keyed asks the model"} {
		if exit != 0 || !strings.Contains(out, want) {
			t.Errorf("the list of machines does not say %q:\n%s%s", want, out, errs)
		}
	}
	var chat chatResponse
	p.call("POST", "/chat", `{"message":"How many orders are there?","dataset_id":"shop"}`, http.StatusOK, &chat)
	if !strings.Contains(chat.Assistant, "5 orders") {
		t.Errorf("the analyst says %q", chat.Assistant)
	}
	p.call("POST", "/chat", `{"message":"Hello","machine":"keyed"}`, http.StatusOK, &chat)
	if chat.Status != "failed" || !strings.Contains(chat.Assistant, "ANTHROPIC_API_KEY is not set") {
		t.Errorf("%s: %q", chat.Status, chat.Assistant)
	}
}
