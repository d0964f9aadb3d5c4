package engine_test

import (
	"context"
	"encoding/json"
	"iter"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// A countingStore counts how often a log is read.
type countingStore struct {
	store.Store
	reads atomic.Int64
}

func (c *countingStore) Events(ctx context.Context, thread string, after int64) iter.Seq2[event.Event, error] {
	c.reads.Add(1)
	return c.Store.Events(ctx, thread, after)
}

func (c *countingStore) Snapshot(ctx context.Context, thread string) ([]byte, int64, error) {
	c.reads.Add(1)
	return c.Store.Snapshot(ctx, thread)
}

// countReads gives the rig an engine whose reads of the log are counted.
func (r *rig) countReads() *countingStore {
	r.t.Helper()
	if err := r.eng.Close(); err != nil {
		r.t.Fatal(err)
	}
	c := &countingStore{Store: r.store}
	var err error
	if r.eng, err = engine.New(engine.Config{Store: c, Machines: r, Models: r, Tools: r.tools}); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// Whoever looks at a thread while its turn runs, or after it, is shown what was last
// stored, and the log is not read again for it.
func TestReadsDoNotReadTheLog(t *testing.T) {
	g := newGate()
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Ask("look", "{}"), llm.Say("done")), g.tool("look", tool.Reads), newGate().tool("make", tool.Writes))
	reads := r.countReads()
	thread := r.open()
	run := r.send(thread, "go")
	for _, seen := range []int{0, 1} {
		<-g.reached
		before := reads.reads.Load()
		view, err := r.eng.View(t.Context(), thread)
		if err != nil {
			t.Fatal(err)
		}
		if list, _ := view.Facts["seen"].([]any); len(list) != seen || view.Thread.Status != store.Running {
			t.Errorf("while call %d runs the view says %v, %s", seen+1, view.Facts, view.Thread.Status)
		}
		reply, err := r.eng.Reply(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Shown) != seen || reply.Ended || reply.Outcome != store.Running || reply.State != "work" {
			t.Errorf("while call %d runs the reply is %+v", seen+1, reply)
		}
		messages, err := r.eng.Messages(t.Context(), thread, 10)
		if err != nil || len(messages) != 1 {
			t.Errorf("messages %v, %v", messages, err)
		}
		if n := reads.reads.Load() - before; n != 0 {
			t.Errorf("the log was read %d times while call %d ran", n, seen+1)
		}
		g.open <- struct{}{}
	}
	r.wait(thread)
	before := reads.reads.Load()
	reply, err := r.eng.Reply(t.Context(), run)
	if err != nil || !reply.Ended || reply.Text != "done" || len(reply.Shown) != 2 || string(reply.Fields["seen"]) != `["found","found"]` {
		t.Errorf("at rest the reply is %+v, %v", reply, err)
	}
	if _, err := r.eng.View(t.Context(), thread); err != nil {
		t.Error(err)
	}
	if n := reads.reads.Load() - before; n != 0 {
		t.Errorf("the log was read %d times at rest", n)
	}
	// Another process gives the same reply from the log.
	r.stop()
	r.start()
	fromLog, err := r.eng.Reply(t.Context(), run)
	if err != nil || !reflect.DeepEqual(fromLog, reply) {
		t.Errorf("from the log the reply is\n%+v\nand from memory\n%+v\n%v", fromLog, reply, err)
	}
}

// Readers in other goroutines see whole batches while a turn goes on: facts, messages
// and status of one moment, and never an older one after a newer one.
func TestReadersBesideATurn(t *testing.T) {
	const steps = 60
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(_ context.Context, v struct {
		Name string `json:"name"`
	},
	) (map[string]string, error) {
		return map[string]string{"name": v.Name}, nil
	})
	model := llm.ScriptFunc(func(q llm.Request) (llm.Reply, error) {
		if q.Tag.Number > steps {
			return llm.Reply{Text: "done"}, nil
		}
		return llm.Reply{Calls: []llm.Call{{Name: "look", Args: `{"name":"a"}`}}}, nil
	}).Forget()
	r := newRig(t, model, look, newGate().tool("make", tool.Writes))
	yaml := strings.Replace(lifeMachine, "iterations: 4", "iterations: 1000", 1)
	var err error
	if r.m, err = machine.Parse(map[string]string{"machine.yaml": yaml, "work.md": "Seen: {{ seen }}"}); err != nil {
		t.Fatal(err)
	}
	thread := r.open()
	run := r.send(thread, "go")
	ctx, end := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			last, seq := 0, int64(0)
			for ctx.Err() == nil {
				view, err := r.eng.View(t.Context(), thread)
				if err != nil {
					t.Error(err)
					return
				}
				list, _ := view.Facts["seen"].([]any)
				if len(list) < last || view.Thread.Seq < seq {
					t.Errorf("%d facts at event %d after %d at event %d", len(list), view.Thread.Seq, last, seq)
					return
				}
				last, seq = len(list), view.Thread.Seq
				if _, err := json.Marshal(view); err != nil {
					t.Error(err)
				}
				if _, err := r.eng.Reply(t.Context(), run); err != nil {
					t.Error(err)
				}
			}
		})
	}
	r.wait(thread)
	end()
	wg.Wait()
	view, err := r.eng.View(t.Context(), thread)
	if list, _ := view.Facts["seen"].([]any); err != nil || len(list) != steps {
		t.Errorf("%d facts at the end, %v", len(list), err)
	}
}

// A thread that waits with large values may be looked at while its card is answered.
func TestViewsWhileACardIsAnswered(t *testing.T) {
	m := strings.Replace(lifeMachine, "tools: [look, make]", "tools: [look, {name: make, approve: always}]", 1)
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Ask("make", "{}"), llm.Say("done")), noisy("look", 96<<10), noisy("make", 10))
	var err error
	if r.m, err = machine.Parse(map[string]string{"machine.yaml": m, "work.md": "Seen: {{ seen }}"}); err != nil {
		t.Fatal(err)
	}
	thread := r.open()
	run := r.send(thread, "go")
	r.wait(thread)
	view, err := r.eng.View(t.Context(), thread)
	if err != nil || view.Card == nil {
		t.Fatalf("no card is open: %v", err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if _, err := r.eng.View(t.Context(), thread); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if _, err := r.eng.Send(t.Context(), thread, engine.Input{User: "ann", Card: &engine.CardAnswer{Card: view.Card.Card, Answer: "allow_once"}}); err != nil {
		t.Error(err)
	}
	wg.Wait()
	r.wait(thread)
	// A word that was meant for the card and comes too late is no question.
	if _, err := r.eng.Send(t.Context(), thread, engine.Input{User: "bob", Text: "yes", OpenCard: view.Card.Card}); !fault.Is(err, fault.CardClosed) {
		t.Errorf("a late answer: %v", err)
	}
	if rep := r.reply(run); rep.Outcome != "answered" || len(rep.Shown) != 2 {
		t.Errorf("the turn ended as %s with %d results", rep.Outcome, len(rep.Shown))
	}
}
