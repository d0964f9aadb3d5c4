package llm_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
)

func TestScript(t *testing.T) {
	stop := errors.New("stop")
	m := llm.Script(
		llm.Line{Text: []string{"I ", "look."}, Calls: []llm.Call{{Name: "f", Args: "{}"}, {ID: "own", Name: "g", Args: "{}"}}},
		llm.Say("Done."),
		llm.Line{Text: []string{"hel"}, Fault: fault.New(fault.ModelTimeout, "too slow")},
		llm.Line{Before: func(context.Context, llm.Request) error { return stop }},
	)
	deltas, reply, err := hear(t.Context(), m, ask("one"))
	want := &llm.Reply{Model: "scripted/lines", Text: "I look.", Stop: "calls", Calls: []llm.Call{{ID: "call_1_1", Name: "f", Args: "{}"}, {ID: "own", Name: "g", Args: "{}"}}}
	if diff := cmp.Diff(want, reply); err != nil || diff != "" || len(deltas) != 2 {
		t.Fatal(deltas, err, diff)
	}
	if _, reply, err = hear(t.Context(), m, ask("two")); err != nil || reply.Text != "Done." || reply.Stop != "end" {
		t.Fatal(reply, err)
	}
	deltas, _, err = hear(t.Context(), m, ask("three"))
	wantCode(t, err, fault.ModelTimeout)
	if len(deltas) != 1 {
		t.Errorf("deltas %q", deltas)
	}
	if _, _, err = hear(t.Context(), m, ask("four")); !errors.Is(err, stop) || m.Left() != 0 {
		t.Fatal(err, m.Left())
	}
	_, _, err = hear(t.Context(), m, ask("five"))
	wantCode(t, err, fault.ModelFailed, "ends after 4 replies; call 5")
	var asked []string
	for _, r := range m.Requests() {
		asked = append(asked, r.Messages[0].Text)
	}
	if diff := cmp.Diff([]string{"one", "two", "three", "four", "five"}, asked); diff != "" {
		t.Error(diff)
	}
}

func TestScriptFunc(t *testing.T) {
	m := llm.ScriptFunc(func(r llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: "You said " + r.Messages[0].Text}, nil
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, r, err := hear(t.Context(), m, ask("x")); err != nil || r.Text != "You said x" {
				t.Error(r, err)
			}
		})
	}
	wg.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := hear(ctx, m, ask("x"))
	wantCode(t, err, fault.ModelFailed, "cancelled")
}

func BenchmarkScripted(b *testing.B) {
	m := llm.ScriptFunc(func(llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: "ok", Calls: []llm.Call{{ID: "c", Name: "f", Args: "{}"}}}, nil
	}).Forget()
	req := ask("x")
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range m.Reply(b.Context(), req) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func TestPriceOf(t *testing.T) {
	own := map[string]llm.Price{"my-": {Input: 1}, "my-big": {Input: 9}, "gpt-4.1": {Input: 7}}
	for model, want := range map[string]float64{
		"gpt-4.1": 7, "my-small": 1, "my-bigger": 9, "gpt-5.4": 2.5, "openai/gpt-5.4": 2.5, "gpt-4o-2024-08-06": 2.5,
		"claude-sonnet-4-5-20250929": 3, "anthropic/claude-opus-4.6": 5, "claude-opus-5-5": 4, "claude-3-5-haiku-latest": 0.8,
	} {
		if p, ok := llm.PriceOf(model, own); !ok || p.Input != want {
			t.Errorf("%s: %v, %v; want %v", model, p, ok, want)
		}
	}
	for _, model := range []string{"", "llama3.3", "gpt-5-pro", "gpt-5.7", "claude-opus-5-9", "gpt-4o:free"} {
		if p, ok := llm.PriceOf(model, own); ok || p != (llm.Price{}) {
			t.Errorf("%s: %v, %v; want unknown", model, p, ok)
		}
	}
	u := event.Usage{Input: 1_000_000, Output: 100_000, CacheRead: 2_000_000, CacheWrite: 10}
	if got := (llm.Price{Input: 2.5, Output: 15, CacheRead: 0.25, CacheWrite: 3}).Cost(u); got != 2_500_000+1_500_000+500_000+30 {
		t.Errorf("cost %d", got)
	}
}
