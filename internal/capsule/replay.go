package capsule

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// A Replay is the outcome of driving a run again.
type Replay struct {
	Run    string      `json:"run_id"`
	Events int         `json:"events"`
	Same   bool        `json:"same"`
	Diff   *Difference `json:"difference,omitempty"`
}

// A Difference is the first event at which a replay left the recording.
type Difference struct {
	Seq      int64           `json:"seq"`
	Recorded json.RawMessage `json:"recorded,omitempty"`
	Replayed json.RawMessage `json:"replayed,omitempty"`
}

// Drive runs the machine again from the recorded replies of the model and results
// of the tools, with no model and no tool, on the recorded clock, and compares the
// log that comes out byte for byte. A replay has no interruptions: their time is
// taken out of the clock.
func Drive(ctx context.Context, s store.Store, tools *tool.Set, run string) (*Replay, error) {
	row, err := s.Run(ctx, run)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fault.Wrap(err, fault.RunNotFound, "there is no run %q", run)
	}
	if err != nil {
		return nil, err
	}
	if row.Last == 0 {
		return nil, fault.New(fault.BadRequest, "the run %s has not ended", run).Suggest("Wait for it, answer its card, or stop it.")
	}
	var past, want []event.Event
	var last time.Time
	var lost time.Duration // while no process ran the turn
	for ev, err := range engine.Resolved(ctx, s, row.Thread, 0) {
		if err != nil {
			return nil, err
		}
		if ev.Seq >= row.First && ev.Body.Kind() == event.KindTurnInterrupted {
			lost += ev.Time.Sub(last)
		}
		last = ev.Time
		switch {
		case ev.Seq < row.First:
			past = append(past, ev)
		case ev.Seq <= row.Last && ev.Body.Kind() != event.KindTurnInterrupted:
			ev.Time = ev.Time.Add(-lost)
			want = append(want, ev)
		}
	}
	rec := record(want)
	mem := newMemory(s, past)
	eng, err := engine.New(engine.Config{
		Store: mem, Machines: noMachines{}, Models: rec, Tools: tools.Map(rec.wrap), SnapshotEvery: 1 << 30,
		Now: rec.now, NewID: func(string) string { return run }, ToolSeconds: 1 << 20,
	})
	if err != nil {
		return nil, err
	}
	defer eng.Close()
	rec.stop = func() {
		go func() { _ = eng.Stop(context.WithoutCancel(ctx), row.Thread) }() // how it went, the log tells
	}
	for _, in := range inputs(want) {
		if _, err := eng.Send(ctx, row.Thread, in); err != nil {
			return nil, fmt.Errorf("replaying what the person said: %w", err)
		}
		if err := eng.Wait(ctx, row.Thread); err != nil {
			return nil, err
		}
	}
	mem.mu.Lock()
	got := mem.events[len(past):]
	mem.mu.Unlock()
	return compare(run, want, got), nil
}

// inputs lists what the person said in a run: what began it and the answers to its
// cards.
func inputs(events []event.Event) []engine.Input {
	var out []engine.Input
	for _, ev := range events {
		switch b := ev.Body.(type) {
		case event.TurnStarted:
			out = append(out, engine.Input{User: b.User, Text: b.Text, Dataset: b.Dataset, Attachments: b.Attachments, Rerun: b.Rerun, Settings: b.Settings})
		case event.PersonCalled:
			if in := &out[len(out)-1]; in.Text == "" {
				in.Direct = &engine.Direct{Tool: b.Tool, Args: b.Args.JSON}
			}
		case event.CommandGiven:
			in := &out[len(out)-1]
			in.Text, in.Command = "", &engine.Command{Name: b.Command, Fields: b.Fields}
		case event.CardAnswered:
			if b.Text != "" {
				out = append(out, engine.Input{User: b.User, Text: b.Text, Settings: b.Settings})
				continue
			}
			out = append(out, engine.Input{User: b.User, Settings: b.Settings, Card: &engine.CardAnswer{Card: b.Card, Answer: b.Answer, Fields: b.Fields, Note: b.Note}})
		}
	}
	return out
}

// compare finds the first event that differs in time or body. Sequence numbers of a
// run that was interrupted differ by the interruptions, and only by them.
func compare(run string, want, got []event.Event) *Replay {
	r := &Replay{Run: run, Events: len(want), Same: true}
	for i := range max(len(want), len(got)) {
		var a, b json.RawMessage
		var seq int64
		if i < len(want) {
			a, seq = canonical(want[i]), want[i].Seq
		}
		if i < len(got) {
			b = canonical(got[i])
		}
		if !bytes.Equal(a, b) {
			r.Same, r.Diff = false, &Difference{Seq: seq, Recorded: a, Replayed: b}
			return r
		}
	}
	return r
}

func canonical(ev event.Event) json.RawMessage {
	ev.Seq = 0
	raw, err := json.Marshal(ev)
	if err != nil {
		return nil
	}
	return raw
}

// recording hands out what was recorded: times, replies, results, versions.
type recording struct {
	stop  func() // ends the turn, as the person did
	model string // the name of the model of the run

	mu       sync.Mutex
	times    []time.Time
	replies  map[string]event.Body // by model call
	results  map[string]event.Body // by tool call
	made     map[string][]event.ArtifactMade
	versions map[string][]string // by tool and arguments, in order
}

func record(events []event.Event) *recording {
	r := &recording{
		replies: map[string]event.Body{}, results: map[string]event.Body{}, made: map[string][]event.ArtifactMade{}, versions: map[string][]string{},
	}
	for _, ev := range events {
		r.times = append(r.times, ev.Time)
		switch b := ev.Body.(type) {
		case event.TurnStarted:
			r.model = b.Model
		case event.ModelReplied:
			r.replies[b.Call] = b
		case event.ModelFailed:
			if r.replies[b.Call] == nil {
				r.replies[b.Call] = b
			}
		case event.ToolStarted:
			key := b.Tool + "\x00" + string(b.Args.JSON)
			r.versions[key] = append(r.versions[key], b.Version)
		case event.ToolReturned:
			r.results[b.Call] = b
			if b.Duplicate != "" {
				key := b.Tool + "\x00" + string(b.Args.JSON)
				r.versions[key] = append(r.versions[key], b.Version)
			}
		case event.ToolFailed:
			r.results[b.Call] = b
		case event.ArtifactMade:
			r.made[b.Call] = append(r.made[b.Call], b)
		}
	}
	return r
}

// now gives the recorded times one after the other: the engine asks once an event.
func (r *recording) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.times) == 0 {
		return time.Time{}
	}
	t := r.times[0]
	if len(r.times) > 1 {
		r.times = r.times[1:]
	}
	return t
}

// Model implements engine.Models: one recorded model stands for all.
func (r *recording) Model(string) (llm.Model, error) { return recordedModel{r}, nil }

type recordedModel struct{ r *recording }

func (m recordedModel) Name() string { return m.r.model }

func (m recordedModel) Reply(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		switch b := m.r.replies[req.Tag.Call].(type) {
		case event.ModelReplied:
			reply := &llm.Reply{Model: b.Model, Text: b.Text, Stop: b.Stop, Usage: b.Usage}
			for _, c := range b.Calls {
				reply.Calls = append(reply.Calls, llm.Call{ID: c.ID, Name: c.Name, Args: argsText(c.Args)})
			}
			yield(llm.Delta{Reply: reply}, nil)
		case event.ModelFailed:
			if b.Code == fault.Stopped {
				m.r.stop()
				<-ctx.Done()
			}
			yield(llm.Delta{}, &fault.Fault{Code: b.Code, Message: b.Message})
		default:
			yield(llm.Delta{}, fault.New(fault.ModelFailed, "the recording has no reply for the call %s", req.Tag.Call))
		}
	}
}

func argsText(v event.Value) string {
	var text string
	if json.Unmarshal(v.JSON, &text) == nil {
		return text
	}
	return string(v.JSON)
}

// wrap makes a tool that gives its recorded results.
func (r *recording) wrap(t tool.Tool) tool.Tool {
	rt := recordedTool{t, r}
	if _, ok := t.(tool.Versioner); ok {
		return recordedVersioner{rt}
	}
	return rt
}

type recordedTool struct {
	tool.Tool
	r *recording
}

func (t recordedTool) Call(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
	id := tool.In(ctx).ID
	switch b := t.r.results[id].(type) {
	case event.ToolReturned:
		return tool.Result{JSON: b.Result.JSON, Artifacts: t.r.made[id], Volatile: b.Volatile}, nil
	case event.ToolFailed:
		if b.Code == fault.Stopped {
			t.r.stop()
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}
		f := &fault.Fault{Code: b.Code, Message: b.Message, Suggestion: b.Suggestion}
		if b.Details.JSON != nil {
			f.Details = b.Details.JSON
		}
		return tool.Result{}, f
	}
	return tool.Result{}, fault.New(fault.ToolFailed, "the recording has no result for the call %s", id)
}

type recordedVersioner struct{ recordedTool }

func (t recordedVersioner) Version(_ context.Context, args json.RawMessage) string {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	key := t.Spec().Name + "\x00" + string(args)
	list := t.r.versions[key]
	if len(list) == 0 {
		return ""
	}
	if len(list) > 1 {
		t.r.versions[key] = list[1:]
	}
	return list[0]
}

// noMachines: a replay opens no thread; definitions come from the log.
type noMachines struct{}

func (noMachines) Get(name string) (*machine.Machine, error) {
	return nil, fault.New(fault.MachineNotFound, "a replay opens no machine")
}
