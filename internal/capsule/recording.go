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

// A recording returns the recorded times, replies, results and versions of a run.
type recording struct {
	events        []event.Event
	stop          func()               // stops the turn of the replay
	stopsAt       int                  // index of the event before which the person stopped the run; -1 if nobody did
	model         string               // the name of the run's model
	context       int                  // tokens that it reads; 0 if unknown
	interruptions int                  // the number of interruptions after which the turn was given up
	figures       *event.FiguresTraced // the origins of the answer's figures; nil if they were not traced

	mu       sync.Mutex
	next     int                   // index of the event whose time is returned next
	replies  map[string]event.Body // by model call
	results  map[string]event.Body // by tool call
	made     map[string][]event.ArtifactMade
	versions map[string][]string // by tool and arguments, in order
}

func newRecording(events []event.Event) *recording {
	r := &recording{
		events: events, stopsAt: findStop(events), interruptions: 1 << 30,
		replies: map[string]event.Body{}, results: map[string]event.Body{}, made: map[string][]event.ArtifactMade{},
	}
	interruptions := 0
	for i, ev := range events {
		if traced, ok := ev.Body.(event.FiguresTraced); ok {
			r.figures = &traced
		}
		if r.stopsAt >= 0 && i >= r.stopsAt {
			continue // the events that end a stopped run are not results of calls
		}
		switch b := ev.Body.(type) {
		case event.TurnStarted:
			r.model, r.context = b.Model, b.Context
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

// unsupported returns the figures without an origin that the recorded reply to a call had.
func (r *recording) unsupported(call string) []string {
	reply, _ := r.replies[call].(event.ModelReplied)
	return reply.Unsupported
}

// findStop returns the index of the first event with which a stopped run ends, -1 if the
// run was not stopped. These events close the open calls and the card with the same code,
// and trace what was said.
func findStop(events []event.Event) int {
	last := len(events) - 1
	end, ok := events[last].Body.(event.TurnEnded)
	if !ok || end.Code != fault.Stopped {
		return -1
	}
	at := last
	for at > 0 && closesWithCode(events[at-1].Body, end.Code) {
		at--
	}
	return at
}

// closesWithCode reports whether an event closes a call or a card with the code.
func closesWithCode(b event.Body, code fault.Code) bool {
	switch b := b.(type) {
	case event.CardClosed, event.FiguresTraced:
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

// rewind continues the recording at an event, because a new process begins there.
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

// nextTime returns the recorded time of the next event; the engine asks once per event.
// Right before the events with which a stopped run ends it stops the replay.
func (r *recording) nextTime() time.Time {
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

// isStopped reports whether the person had stopped the run at this point.
func (r *recording) isStopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopsAt >= 0 && r.next >= r.stopsAt
}

// Model implements engine.Models. It returns the recorded model for every name.
func (r *recording) Model(string) (llm.Model, error) { return recordedModel{r}, nil }

type recordedModel struct{ r *recording }

func (m recordedModel) Name() string       { return m.r.model }
func (m recordedModel) ContextTokens() int { return m.r.context }

func (m recordedModel) Reply(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		switch b := m.r.replies[req.Tag.Call].(type) {
		case event.ModelReplied:
			reply := &llm.Reply{Model: b.Model, Thoughts: b.Thoughts, Text: b.Text, Stop: b.Stop, Usage: b.Usage}
			for _, c := range b.Calls {
				reply.Calls = append(reply.Calls, llm.Call{ID: c.ID, Name: c.Name, Args: string(c.Args.JSON)})
			}
			yield(llm.Delta{Reply: reply}, nil)
		case event.ModelFailed:
			yield(llm.Delta{}, llm.WithUsage(&fault.Fault{Code: b.Code, Message: b.Message, Suggestion: b.Suggestion}, b.Usage))
		default:
			if m.r.isStopped() {
				yield(llm.Delta{}, context.Canceled)
				return
			}
			yield(llm.Delta{}, fault.New(fault.ModelFailed, "the recording has no reply for the call %s", req.Tag.Call))
		}
	}
}

// wrapTool returns a tool that returns its recorded results.
func (r *recording) wrapTool(t tool.Tool) tool.Tool {
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
	if t.r.isStopped() {
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

// noMachines has no machine: a replay creates no thread, and its definition comes from the
// log.
type noMachines struct{}

func (noMachines) Get(name string) (*machine.Machine, error) {
	return nil, fault.New(fault.MachineNotFound, "a replay opens no machine")
}
