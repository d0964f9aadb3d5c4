package capsule

import (
	"context"
	"encoding/json"
	"iter"
	"sync"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/tool"
)

// recording hands out what was recorded: times, replies, results, versions.
type recording struct {
	events        []event.Event
	stop          func() // ends the turn, as the person did
	stopsAt       int    // the event before which the person stopped the run; -1 if nobody did
	model         string // the name of the model of the run
	interruptions int    // after so many the turn was given up

	mu       sync.Mutex
	next     int                   // the event whose time comes next
	replies  map[string]event.Body // by model call
	results  map[string]event.Body // by tool call
	made     map[string][]event.ArtifactMade
	versions map[string][]string // by tool and arguments, in order
}

func record(events []event.Event) *recording {
	r := &recording{
		events: events, stopsAt: stopsAt(events), interruptions: 1 << 30,
		replies: map[string]event.Body{}, results: map[string]event.Body{}, made: map[string][]event.ArtifactMade{},
	}
	interruptions := 0
	for i, ev := range events {
		if i == r.stopsAt {
			break // what ends a stopped run is no result of a call
		}
		switch b := ev.Body.(type) {
		case event.TurnStarted:
			r.model = b.Model
		case event.ModelReplied:
			r.replies[b.Call] = b
		case event.ModelFailed:
			if r.replies[b.Call] == nil {
				r.replies[b.Call] = b
			}
		case event.ToolReturned:
			r.results[b.Call] = b
		case event.ToolFailed:
			r.results[b.Call] = b
		case event.ArtifactMade:
			r.made[b.Call] = append(r.made[b.Call], b)
		case event.TurnInterrupted:
			if interruptions++; b.Last {
				r.interruptions = interruptions
			}
		}
	}
	return r
}

// stopsAt finds the first of the events with which a stopped run ends: its open calls
// and its card are closed with the code of the end.
func stopsAt(events []event.Event) int {
	last := len(events) - 1
	end, ok := events[last].Body.(event.TurnEnded)
	if !ok || end.Code != fault.Stopped {
		return -1
	}
	at := last
	for at > 0 && closes(events[at-1].Body, end.Code) {
		at--
	}
	return at
}

func closes(b event.Body, code fault.Code) bool {
	switch b := b.(type) {
	case event.CardClosed:
		return true
	case event.ModelFailed:
		return b.Code == code
	case event.ToolRefused:
		return b.Code == code
	case event.ToolFailed:
		return b.Code == code
	}
	return false
}

// rewind goes back to the first event that is not stored: a process died there.
func (r *recording) rewind(stored int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next, r.versions = stored, map[string][]string{}
	for _, ev := range r.events[min(stored, len(r.events)):] {
		switch b := ev.Body.(type) {
		case event.ToolStarted:
			r.addVersion(b.Tool, b.Args, b.Version)
		case event.ToolReturned:
			if b.Duplicate != "" {
				r.addVersion(b.Tool, b.Args, b.Version)
			}
		}
	}
}

func (r *recording) addVersion(tool string, args event.Value, version string) {
	key := tool + "\x00" + string(args.JSON)
	r.versions[key] = append(r.versions[key], version)
}

// now gives the recorded times one after the other: the engine asks once an event.
// The person's stop comes right before the events with which it ended the run.
func (r *recording) now() time.Time {
	r.mu.Lock()
	t := r.events[min(r.next, len(r.events)-1)].Time
	r.next++
	stops := r.next == r.stopsAt
	r.mu.Unlock()
	if stops {
		r.stop()
	}
	return t
}

// stopped says whether the person has stopped the run by now.
func (r *recording) stopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopsAt >= 0 && r.next >= r.stopsAt
}

// Model implements engine.Models: one recorded model stands for all.
func (r *recording) Model(string) (llm.Model, error) { return recordedModel{r}, nil }

type recordedModel struct{ r *recording }

func (m recordedModel) Name() string { return m.r.model }

func (m recordedModel) Reply(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		switch b := m.r.replies[req.Tag.Call].(type) {
		case event.ModelReplied:
			reply := &llm.Reply{Model: b.Model, Text: b.Text, Stop: b.Stop, Usage: b.Usage}
			for _, c := range b.Calls {
				reply.Calls = append(reply.Calls, llm.Call{ID: c.ID, Name: c.Name, Args: string(c.Args.JSON)})
			}
			yield(llm.Delta{Reply: reply}, nil)
		case event.ModelFailed:
			yield(llm.Delta{}, &fault.Fault{Code: b.Code, Message: b.Message, Suggestion: b.Suggestion})
		default:
			if m.r.stopped() {
				yield(llm.Delta{}, context.Canceled)
				return
			}
			yield(llm.Delta{}, fault.New(fault.ModelFailed, "the recording has no reply for the call %s", req.Tag.Call))
		}
	}
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
		return tool.Result{JSON: b.Result.JSON, Artifacts: t.r.made[id], Volatile: b.Volatile, Ran: b.Ran}, nil
	case event.ToolFailed:
		f := &fault.Fault{Code: b.Code, Message: b.Message, Suggestion: b.Suggestion}
		if b.Details.JSON != nil {
			f.Details = b.Details.JSON
		}
		return tool.Result{}, f
	}
	if t.r.stopped() {
		return tool.Result{}, context.Canceled
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
