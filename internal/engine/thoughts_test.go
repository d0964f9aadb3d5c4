package engine_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"interlock/internal/capsule"
	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/tool"
)

// A waitingModel goes on only once somebody has seen its first thought.
type waitingModel struct {
	llm.Model
	seen chan struct{}
}

func (m waitingModel) Reply(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for d, err := range m.Model.Reply(ctx, req) {
			if !yield(d, err) {
				return
			}
			select {
			case <-m.seen:
			case <-ctx.Done():
			}
		}
	}
}

// TestThoughts holds that thoughts are streamed, stored with their reply and counted, that no
// later request holds them, that the run replays, and that the state says how much to think.
func TestThoughts(t *testing.T) {
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(context.Context, struct{}) (named, error) { return named{"x"}, nil })
	model := llm.ScriptFunc(func(req llm.Request) (llm.Reply, error) {
		r := llm.Reply{Thoughts: "A secret thought.", Usage: event.Usage{Output: 9, Reasoning: 7}}
		if n := len(req.Messages); req.Messages[n-1].Role == llm.User {
			r.Calls = []llm.Call{{Name: "look", Args: "{}"}}
		} else {
			r.Text = "Done."
		}
		return r, nil
	})
	r := newRig(t, model, look, newGate().tool("make", tool.Writes))
	definition := strings.Replace(lifeMachine, "    prompt: work.md\n", "    prompt: work.md\n    reasoning: {effort: '\"low\"', budget: settings.most * 1000}\n", 1)
	m, err := machine.Parse(map[string]string{machine.File: definition, "work.md": "Work."})
	if err != nil {
		t.Fatal(err)
	}
	r.m = m
	thread, seen := r.open(), make(chan struct{})
	r.model = waitingModel{model, seen}
	following := make(chan struct{})
	go func() {
		for e := range r.eng.Follow(t.Context(), thread, 0) {
			switch b := e.Body.(type) {
			case event.ThreadOpened:
				close(following) // a thought that comes before is not shown
			case event.Thought:
				if b.Text == "A secret thought." {
					close(seen)
					return
				}
			}
		}
	}()
	<-following
	r.send(thread, "First?")
	r.wait(thread)
	run := r.send(thread, "Second?")
	r.wait(thread)
	for i, req := range model.Requests() {
		if want := (event.Reasoning{Effort: "low", Budget: 5000}); req.Reasoning != want {
			t.Errorf("request %d: %+v", i+1, req.Reasoning)
		}
		if raw, err := json.Marshal(req); err != nil || strings.Contains(string(raw), "secret") {
			t.Errorf("request %d: %s %v", i+1, raw, err)
		}
	}
	stored, used := 0, 0
	for _, e := range r.log(thread) {
		switch b := e.Body.(type) {
		case event.ModelReplied:
			if b.Thoughts == "A secret thought." {
				stored++
			}
		case event.TurnEnded:
			used += b.Usage.Reasoning
		}
	}
	if stored != 4 || used != 28 {
		t.Errorf("%d replies with thoughts, %d tokens of them", stored, used)
	}
	if got, err := capsule.ReplayRun(t.Context(), r.store, r.tools, run); err != nil || !got.Same {
		t.Errorf("%+v %v", got, err)
	}
}

// TestWrongEffort holds that a word for an effort that does not exist is found before a
// machine runs.
func TestWrongEffort(t *testing.T) {
	definition := strings.Replace(lifeMachine, "    prompt: work.md\n", "    prompt: work.md\n    reasoning: {effort: '\"much\"'}\n", 1)
	_, err := machine.Parse(map[string]string{machine.File: definition, "work.md": "Work."})
	if err == nil || !strings.Contains(err.Error(), "effort") {
		t.Error(err)
	}
}
