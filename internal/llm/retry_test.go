package llm_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"interlock/internal/fault"
	"interlock/internal/llm"
)

// answers is a provider in memory that gives its answers in order, the last one
// again and again, and notes when it was asked.
type answers struct {
	list  []answer
	times []time.Time
}

type answer struct {
	status int
	header http.Header
	body   string
	err    error
}

func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	_ = req.Body.Close()
	x := a.list[min(len(a.times), len(a.list)-1)]
	a.times = append(a.times, time.Now())
	if x.err != nil {
		return nil, x.err
	}
	h := x.header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Content-Type", "text/event-stream")
	return &http.Response{StatusCode: x.status, Header: h, Body: io.NopCloser(strings.NewReader(x.body)), Request: req}, nil
}

// waits gives the pauses between the requests.
func (a *answers) waits() (out []time.Duration) {
	for i := 1; i < len(a.times); i++ {
		out = append(out, a.times[i].Sub(a.times[i-1]))
	}
	return out
}

const piece = "data: {\"choices\":[{\"delta\":{\"content\":\"hello\"}}]}\n\n"

var (
	fine    = answer{status: 200, body: piece + "data: [DONE]\n\n"}
	busy    = answer{status: 503, body: "busy"}
	limited = answer{status: 429, body: "slow down"}
)

func retryAfter(a answer, v string) answer {
	a.header = http.Header{"Retry-After": {v}}
	return a
}

func TestRetry(t *testing.T) {
	const s = time.Second
	type span struct{ from, to time.Duration }
	for name, tt := range map[string]struct {
		list    []answer
		retries int
		waits   []span
		code    fault.Code // "" for an answer
	}{
		"not needed":                 {list: []answer{fine}},
		"busy twice":                 {list: []answer{busy, busy, fine}, waits: []span{{s / 4, s / 2}, {s / 2, s}}},
		"connection errors":          {list: []answer{{err: errors.New("connection reset by peer")}, fine}, waits: []span{{s / 4, s / 2}}},
		"overloaded in the stream":   {list: []answer{{status: 200, body: "data: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n"}, fine}, waits: []span{{s / 4, s / 2}}},
		"empty stream":               {list: []answer{{status: 200}, fine}, waits: []span{{s / 4, s / 2}}},
		"asked to wait in seconds":   {list: []answer{retryAfter(limited, "7"), fine}, waits: []span{{7 * s, 8 * s}}},
		"asked to wait until a date": {list: []answer{retryAfter(limited, "Sat, 01 Jan 2000 00:00:20 GMT"), fine}, waits: []span{{20 * s, 23 * s}}},
		"asked to wait too long":     {list: []answer{retryAfter(limited, "3600"), fine}, code: fault.ModelRateLimited},
		"always busy":                {list: []answer{busy}, waits: []span{{s / 4, s / 2}, {s / 2, s}, {s, 2 * s}, {2 * s, 4 * s}}, code: fault.ModelFailed},
		"always limited":             {list: []answer{limited}, retries: 1, waits: []span{{s / 4, s / 2}}, code: fault.ModelRateLimited},
		"no retries wanted":          {list: []answer{busy}, retries: -1, code: fault.ModelFailed},
		"wrong request":              {list: []answer{{status: 400, body: "no"}, fine}, code: fault.ModelFailed},
		"bad key":                    {list: []answer{{status: 401, body: "no"}, fine}, code: fault.ModelFailed},
		"no credit":                  {list: []answer{{status: 429, body: `{"error":{"code":"insufficient_quota"}}`}, fine}, code: fault.ModelRateLimited},
		"after text":                 {list: []answer{{status: 200, body: piece}, fine}, code: fault.ModelFailed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &answers{list: tt.list}
				m := open(t, llm.Config{OpenAIKey: "sk-secret", Retries: tt.retries, HTTPClient: &http.Client{Transport: a}})
				deltas, reply, err := hear(t.Context(), m, ask("x"))
				if tt.code != "" {
					wantCode(t, err, tt.code)
				} else if err != nil || reply.Text != "hello" || len(deltas) != 1 {
					t.Fatalf("%q, %v, %v", deltas, reply, err)
				}
				waits := a.waits()
				if len(waits) != len(tt.waits) {
					t.Fatalf("waits %v, want %v", waits, tt.waits)
				}
				for i, w := range waits {
					if w < tt.waits[i].from || w > tt.waits[i].to {
						t.Errorf("wait %d is %s, want %v", i+1, w, tt.waits[i])
					}
				}
			})
		})
	}
}

// A structured answer is not shown while it arrives, so it can be tried again
// even when the stream broke in its middle.
func TestRetryStructured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answers{list: []answer{
			{status: 200, body: "data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"a\\\":\"}}]}\n\n"},
			{status: 200, body: "data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"a\\\":1}\"}}]}\n\ndata: [DONE]\n\n"},
		}}
		m := open(t, llm.Config{OpenAIKey: "k", HTTPClient: &http.Client{Transport: a}})
		deltas, reply, err := hear(t.Context(), m, llm.Request{Output: []byte(`{"type":"object"}`)})
		if err != nil || len(deltas) != 0 || reply.Text != `{"a":1}` {
			t.Fatalf("%q, %v, %v", deltas, reply, err)
		}
	})
}

// Cancelling ends the pause between two attempts.
func TestRetryCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a := &answers{list: []answer{retryAfter(limited, "50")}}
		m := open(t, llm.Config{OpenAIKey: "k", HTTPClient: &http.Client{Transport: a}})
		time.AfterFunc(3*time.Second, cancel)
		start := time.Now()
		_, _, err := hear(ctx, m, ask("x"))
		wantCode(t, err, fault.ModelFailed, "cancelled")
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

// A retry is logged, without the key.
func TestRetryLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		a := &answers{list: []answer{{status: 500, body: "sk-secret is odd"}, fine}}
		m := open(t, llm.Config{OpenAIKey: "sk-secret", Log: slog.New(slog.NewTextHandler(&log, nil)), HTTPClient: &http.Client{Transport: a}})
		if _, _, err := hear(t.Context(), m, ask("x")); err != nil {
			t.Fatal(err)
		}
		if got := log.String(); !strings.Contains(got, "tried again") || strings.Contains(got, "sk-secret") {
			t.Errorf("log %q", got)
		}
	})
}

// TestNoRetryOnceTakenBack holds that a model on this machine gets no second attempt when
// its agreement was taken back during the first.
func TestNoRetryOnceTakenBack(t *testing.T) {
	for _, agreed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			a := &answers{list: []answer{busy, fine}}
			m := open(t, llm.Config{
				Provider: llm.Local, Local: &llm.LocalModel{URL: "http://127.0.0.1:9/v1", Model: "m"},
				StillAgreed: func() bool { return agreed }, HTTPClient: &http.Client{Transport: a},
			})
			_, _, err := hear(t.Context(), m, ask("x"))
			if (err == nil) != agreed || (len(a.times) == 2) != agreed {
				t.Errorf("agreed %v: %d requests, %v", agreed, len(a.times), err)
			}
		})
	}
}
