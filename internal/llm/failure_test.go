package llm_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"interlock/internal/fault"
	"interlock/internal/llm"
)

// TestFailures is what goes wrong at a provider and what people are told.
func TestFailures(t *testing.T) {
	status := func(code int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.WriteHeader(code); _, _ = io.WriteString(w, body) }
	}
	body := func(kind, text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.Header().Set("Content-Type", kind); _, _ = io.WriteString(w, text) }
	}
	for name, tt := range map[string]struct {
		serve func(http.ResponseWriter)
		code  fault.Code
		words []string
	}{
		"bad key":           {status(401, `{"error":{"message":"Incorrect API key: sk-secret-openai sk-secret-anthropic","type":"authentication_error"}}`), fault.ModelFailed, []string{"401", "_API_KEY"}},
		"no such model":     {status(404, `{"error":{"message":"The model does not exist"}}`), fault.ModelFailed, []string{"does not exist", "Check the name of the model"}},
		"bad request":       {status(400, `{"error":{"message":"messages are missing"}}`), fault.ModelFailed, []string{"messages are missing"}},
		"too long":          {status(400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`), fault.ModelContext, []string{"prompt is too long", "a new thread"}},
		"rate limit":        {status(429, `{"error":{"message":"slow down"}}`), fault.ModelRateLimited, []string{"slow down"}},
		"no credit":         {status(429, `{"error":{"message":"quota","code":"insufficient_quota","type":"insufficient_quota"}}`), fault.ModelRateLimited, []string{"no credit left"}},
		"overloaded":        {status(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), fault.ModelFailed, []string{"529", "Overloaded"}},
		"page of a proxy":   {status(502, "<html>Bad\n  Gateway</html>"), fault.ModelFailed, []string{"502", "<html>Bad Gateway</html>"}},
		"error as text":     {status(500, `{"error":"out of memory"}`), fault.ModelFailed, []string{"out of memory"}},
		"detail":            {status(422, `{"detail":[{"msg":"field required"}]}`), fault.ModelFailed, []string{"field required"}},
		"redirect":          {func(w http.ResponseWriter) { w.Header().Set("Location", "http://evil.example/"); w.WriteHeader(307) }, fault.ModelFailed, []string{"307"}},
		"endless error":     {status(500, strings.Repeat("x", 1<<20)), fault.ModelFailed, []string{"500"}},
		"page with 200":     {body("text/html", "<html>Log in</html>"), fault.ModelBadOutput, []string{"text/html"}},
		"nothing with 200":  {body("", ""), fault.ModelBadOutput, nil},
		"other JSON":        {body("application/json", `{"status":"ok"}`), fault.ModelBadOutput, []string{"application/json"}},
		"garbage":           {body("text/event-stream", "data: {{{{\n\ndata: nope\n\n"), fault.ModelBadOutput, []string{"could be read"}},
		"stream of nothing": {body("text/event-stream", "data: [DONE]\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"), fault.ModelBadOutput, []string{"empty"}},
		"endless event":     {body("text/event-stream", "data: "+strings.Repeat("x", 5<<20)), fault.ModelBadOutput, []string{"longer than"}},
		"error in stream":   {body("text/event-stream", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"), fault.ModelFailed, []string{"Overloaded"}},
		"limit in stream":   {body("text/event-stream", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow\"}}\n\n"), fault.ModelRateLimited, []string{"slow"}},
	} {
		for _, provider := range both {
			t.Run(name+"/"+provider, func(t *testing.T) {
				s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { tt.serve(w) })
				_, reply, err := hear(t.Context(), open(t, s.config(t, provider)), ask("x"))
				if reply != nil {
					t.Errorf("reply %v beside an error", reply)
				}
				wantCode(t, err, tt.code, append(tt.words, provider+"/test-model")...)
				if s.count() != 1 {
					t.Errorf("%d requests, want 1", s.count())
				}
			})
		}
	}
}

func TestNoServer(t *testing.T) {
	for _, provider := range both {
		s := serve(t, nil)
		s.Close()
		_, _, err := hear(t.Context(), open(t, s.config(t, provider)), ask("x"))
		wantCode(t, err, fault.ModelFailed, "connection refused", "See that the model server at "+s.URL)
	}
}

// A stream that breaks off is a failure, with the text that came before it.
func TestDropped(t *testing.T) {
	for _, provider := range both {
		for name, drop := range map[string]func(http.ResponseWriter){
			"closed":   func(http.ResponseWriter) {},
			"reset":    func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
			"mid-word": func(w http.ResponseWriter) { _, _ = io.WriteString(w, "data: {\"choi") },
		} {
			t.Run(provider+"/"+name, func(t *testing.T) {
				s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
					stream(w, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"hel"},"choices":[{"delta":{"content":"hel"}}]}`)
					drop(w)
				})
				deltas, _, err := hear(t.Context(), open(t, s.config(t, provider)), ask("x"))
				wantCode(t, err, fault.ModelFailed)
				if strings.Join(deltas, "") != "hel" {
					t.Errorf("deltas %q", deltas)
				}
			})
		}
	}
}

// Cancelling, and leaving the loop, both end the request at the provider.
func TestCancel(t *testing.T) {
	for _, provider := range both {
		for _, how := range []string{"cancel before the answer", "cancel within the stream", "leave the loop"} {
			t.Run(provider+"/"+how, func(t *testing.T) {
				asked, gone := make(chan bool, 1), make(chan bool, 1)
				s := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
					if how != "cancel before the answer" {
						stream(w, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"hel"},"choices":[{"delta":{"content":"hel"}}]}`)
					}
					asked <- true
					<-r.Context().Done() // the server sees the connection closed
					gone <- true
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if how == "cancel before the answer" {
					go func() { <-asked; cancel() }()
				}
				var last error
				for d, err := range open(t, s.config(t, provider)).Reply(ctx, ask("x")) {
					if last = err; err != nil {
						continue
					}
					if d.Text != "hel" {
						t.Errorf("delta %+v", d)
					}
					if how == "leave the loop" {
						break
					}
					cancel()
				}
				if how != "leave the loop" {
					wantCode(t, last, fault.ModelFailed, "cancelled")
					if !errors.Is(last, context.Canceled) {
						t.Errorf("%v does not say that it was cancelled", last)
					}
				}
				<-gone
			})
		}
	}
}

// slow is a provider in memory: it sends a piece, and another after each pause.
type slow struct {
	header time.Duration // before the answer begins
	pauses []time.Duration
	piece  string
	end    string
}

func (s slow) RoundTrip(req *http.Request) (*http.Response, error) {
	_ = req.Body.Close()
	select {
	case <-time.After(s.header):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	r, w := io.Pipe()
	go func() {
		for _, p := range s.pauses {
			if _, err := io.WriteString(w, s.piece); err != nil {
				return
			}
			select {
			case <-time.After(p):
			case <-req.Context().Done():
				_ = w.CloseWithError(req.Context().Err())
				return
			}
		}
		_, _ = io.WriteString(w, s.end)
		_ = w.Close()
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: r, Request: req}, nil
}

func TestTimeouts(t *testing.T) {
	const s = time.Second
	for name, tt := range map[string]struct {
		slow  slow
		took  time.Duration
		words string // of the fault; "" for an answer
	}{
		"slow but steady":    {slow{header: 10 * s, pauses: []time.Duration{20 * s, 20 * s, 20 * s}}, 70 * s, ""},
		"slow to begin":      {slow{header: 80 * s, pauses: []time.Duration{s}}, 81 * s, ""},
		"never begins":       {slow{header: 1000 * s}, 100 * s, "no whole answer within 1m40s"},
		"falls silent":       {slow{pauses: []time.Duration{s, 1000 * s}}, 31 * s, "silent for 30s"},
		"never ends":         {slow{pauses: []time.Duration{29 * s, 29 * s, 29 * s, 29 * s, 29 * s}}, 100 * s, "no whole answer within 1m40s"},
		"hangs when it done": {slow{pauses: []time.Duration{1000 * s}, piece: `data: {"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}` + "\n\n"}, 5 * s, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.slow.piece += `data: {"choices":[{"delta":{"content":"h"}}]}` + "\n\n"
				tt.slow.end = "data: [DONE]\n\n"
				m := open(t, llm.Config{
					Provider: llm.OpenAI, Model: "m", OpenAIKey: "k", Timeout: 100 * s, Idle: 30 * s,
					HTTPClient: &http.Client{Transport: tt.slow},
				})
				start := time.Now()
				_, reply, err := hear(t.Context(), m, ask("x"))
				if tt.words != "" {
					wantCode(t, err, fault.ModelTimeout, tt.words)
				} else if err != nil || reply == nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %s, want %s", took, tt.took)
				}
			})
		})
	}
}

// A caller that takes its time over a piece does not make the stream silent.
func TestSlowCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, llm.Config{
			OpenAIKey: "k", Timeout: time.Hour, Idle: 30 * time.Second,
			HTTPClient: &http.Client{Transport: slow{
				pauses: []time.Duration{time.Second, time.Second},
				piece:  `data: {"choices":[{"delta":{"content":"h"}}]}` + "\n\n",
				end:    "data: [DONE]\n\n",
			}},
		})
		for d, err := range m.Reply(t.Context(), ask("x")) {
			if err != nil {
				t.Fatal(err)
			}
			if d.Text != "" {
				<-time.After(50 * time.Second)
			}
		}
	})
}

// The caller's deadline is a time-out as well.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		m := open(t, llm.Config{OpenAIKey: "k", HTTPClient: &http.Client{Transport: slow{header: time.Hour}}})
		_, _, err := hear(ctx, m, ask("x"))
		wantCode(t, err, fault.ModelTimeout, "the time for this turn ran out")
	})
}
