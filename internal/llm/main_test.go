package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"interlock/internal/fault"
	"interlock/internal/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A server is a provider that answers as a test says and keeps what it was sent.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []map[string]any
	heads  []http.Header
}

// serve starts a provider. The handler gets the number of the request, from 1.
func serve(t *testing.T, handle func(n int, w http.ResponseWriter, r *http.Request)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body map[string]any
		r.Header.Set("X-Body", string(raw)) // for handlers that look at it
		if err := json.Unmarshal(raw, &body); err != nil && r.Method != http.MethodGet {
			t.Errorf("the request is no JSON: %v", err)
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, body)
		s.heads = append(s.heads, r.Header.Clone())
		n := len(s.bodies)
		s.mu.Unlock()
		handle(n, w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) sent(n int) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies[n-1]
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

// config points both providers at the server, without retries.
func (s *server) config(t *testing.T, provider string) llm.Config {
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return llm.Config{
		Provider: provider, Model: "test-model", Retries: -1, HTTPClient: client,
		OpenAIKey: "sk-secret-openai", OpenAIBaseURL: s.URL + "/v1",
		AnthropicKey: "sk-secret-anthropic", AnthropicBaseURL: s.URL,
	}
}

func open(t *testing.T, c llm.Config) llm.Model {
	t.Helper()
	m, err := llm.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// stream writes events: OpenAI's if they have no name, else "name data" for Anthropic.
func stream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if name, data, ok := strings.Cut(e, " "); ok && !strings.HasPrefix(e, "{") && !strings.HasPrefix(e, "[") {
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
			continue
		}
		fmt.Fprintf(w, "data: %s\n\n", e)
	}
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// The same short answer in both dialects.
func hello(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/messages") {
		stream(w,
			`message_start {"type":"message_start","message":{"id":"m","usage":{"input_tokens":3}}}`,
			`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`,
			`message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`,
			`message_stop {"type":"message_stop"}`)
		return
	}
	stream(w, `{"id":"c","choices":[{"delta":{"content":"hello"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, `[DONE]`)
}

// hear collects a reply.
func hear(ctx context.Context, m llm.Model, req llm.Request) (deltas []string, reply *llm.Reply, err error) {
	for d, e := range m.Reply(ctx, req) {
		switch {
		case e != nil:
			err = e
		case d.Reply != nil:
			reply = d.Reply
		case d.Text != "":
			deltas = append(deltas, d.Text)
		}
	}
	return deltas, reply, err
}

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}
}

func wantCode(t *testing.T, err error, code fault.Code, words ...string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Code != code {
		t.Fatalf("error %v, want %s", err, code)
	}
	for _, w := range words {
		if !strings.Contains(f.Error(), w) {
			t.Errorf("error %q does not say %q", f, w)
		}
	}
	for e := error(f); e != nil; {
		if strings.Contains(fmt.Sprintf("%v %+v", e, e), "sk-secret") {
			t.Errorf("the key is in %v", e)
		}
		u, ok := e.(interface{ Unwrap() error })
		if !ok {
			break
		}
		e = u.Unwrap()
	}
}

var both = []string{llm.OpenAI, llm.Anthropic}

func mustURL(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}
