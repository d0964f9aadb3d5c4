package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A line is what the actor answers: text, then calls.
type line struct {
	text  string
	calls []lineCall
}

type lineCall struct{ name, args string }

// An actor is a model server of the test: it speaks OpenAI's stream and says its
// lines by how many results of tools it sees, so that the same request always gets
// the same answer.
type actor struct {
	url   string
	lines func(user string, results int) line
	// before is called with every request; it may hold the reply back.
	before func(*http.Request)

	mu    sync.Mutex
	asked map[string]int // by the whole request
}

func newActor(t *testing.T, lines func(user string, results int) line) *actor {
	t.Helper()
	a := &actor{lines: lines, asked: map[string]int{}, before: func(*http.Request) {}}
	srv := httptest.NewServer(a)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	a.url = srv.URL + "/v1"
	return a
}

// flags make the program use the actor.
func (a *actor) flags() []string { return []string{"--openai-url", a.url, "--model", "actor"} }

func (a *actor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "no request", http.StatusBadRequest)
		return
	}
	user, results := heard(raw)
	a.mu.Lock()
	a.asked[string(raw)]++
	a.mu.Unlock()
	a.before(r)
	if r.Context().Err() != nil {
		return
	}
	speak(w, a.lines(user, results))
}

// heard gives what the person said last in a request, and how many results of tools
// have come since.
func heard(request []byte) (user string, results int) {
	var req struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.Unmarshal(request, &req) // what is no request has no messages
	for _, m := range req.Messages {
		switch m.Role {
		case "user":
			user, results = string(m.Content), 0
		case "tool":
			results++
		}
	}
	return user, results
}

// counts gives how many requests came, and the most that were the same.
func (a *actor) counts() (all, same int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.asked {
		all, same = all+n, max(same, n)
	}
	return all, same
}

// forget begins to count anew.
func (a *actor) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.asked)
}

// speak writes a reply in OpenAI's stream, the text word by word.
func speak(w http.ResponseWriter, l line) {
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta map[string]any, finish any) {
		raw, _ := json.Marshal(map[string]any{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "actor",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		fmt.Fprintf(w, "data: %s\n\n", raw)
		w.(http.Flusher).Flush()
	}
	for _, word := range strings.SplitAfter(l.text, " ") {
		if word != "" {
			chunk(map[string]any{"content": word}, nil)
		}
	}
	finish := "stop"
	for i, c := range l.calls {
		finish = "tool_calls"
		chunk(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function", "function": map[string]any{"name": c.name, "arguments": c.args},
		}}}, nil)
	}
	chunk(map[string]any{}, finish)
	fmt.Fprint(w, `data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}}`+"\n\ndata: [DONE]\n\n")
}
