package capsule

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// A Comparison says how two threads differ: the events that both begin with, and where each
// goes its own way. A fork and its parent share their past.
type Comparison struct {
	Shared int64   `json:"shared"` // number of equal events at the beginning
	A      Branch  `json:"a"`
	B      Branch  `json:"b"`
	Facts  []Facts `json:"facts,omitempty"` // that differ, by name
}

// A Branch is what one thread has after the shared past.
type Branch struct {
	Thread    string                 `json:"thread"`
	Machine   string                 `json:"machine"`
	Version   string                 `json:"machine_version"`
	State     string                 `json:"state"`
	Events    int64                  `json:"events"` // after the shared ones
	Turns     []Turn                 `json:"turns"`
	Artifacts []event.ArtifactMade   `json:"artifacts"`
	facts     map[string]event.Value // whole values
}

// A Turn is a question after the shared past with its answer.
type Turn struct {
	Run      string        `json:"run_id"`
	Question string        `json:"question"`
	Answer   string        `json:"answer,omitempty"`
	Status   event.Outcome `json:"status,omitempty"` // "" while it runs or waits
	Tools    []string      `json:"tools"`            // that were called, in order
}

// Facts is a fact that differs; a value that is missing is null.
type Facts struct {
	Name string          `json:"name"`
	A    json.RawMessage `json:"a"`
	B    json.RawMessage `json:"b"`
}

// maxCompared bounds the events of a thread that are compared.
const maxCompared = 100_000

// CompareThreads compares the logs of two threads.
func CompareThreads(ctx context.Context, s store.Store, a, b string) (*Comparison, error) {
	left, err := loadLog(ctx, s, a)
	if err != nil {
		return nil, err
	}
	right, err := loadLog(ctx, s, b)
	if err != nil {
		return nil, err
	}
	c := &Comparison{}
	for int(c.Shared) < min(len(left), len(right)) && sameEvent(left[c.Shared], right[c.Shared]) {
		c.Shared++
	}
	c.A, c.B = newBranch(a, left, c.Shared), newBranch(b, right, c.Shared)
	c.Facts = compareFacts(c.A.facts, c.B.facts)
	return c, nil
}

func loadLog(ctx context.Context, s store.Store, thread string) ([]event.Event, error) {
	var log []event.Event
	for ev, err := range engine.Resolved(ctx, s, thread, 0) {
		if err != nil {
			return nil, fault.Wrap(err, fault.ThreadNotFound, "the thread %q cannot be read", thread)
		}
		if len(log) == maxCompared {
			return nil, fault.New(fault.TooLarge, "the thread %s has more than %d events", thread, maxCompared)
		}
		log = append(log, ev)
	}
	return log, nil
}

// sameEvent reports whether two events say the same. Threads differ in their ids, and a fork
// in its owner and parent.
func sameEvent(a, b event.Event) bool {
	a.Thread, b.Thread = "", ""
	if opened, ok := a.Body.(event.ThreadOpened); ok {
		other, ok := b.Body.(event.ThreadOpened)
		return ok && a.Time.Equal(b.Time) && opened.Machine == other.Machine && opened.Version == other.Version
	}
	return bytes.Equal(encodeEvent(a), encodeEvent(b))
}

// newBranch reads the whole log of a thread and keeps what happened after the shared past.
func newBranch(thread string, log []event.Event, shared int64) Branch {
	b := Branch{Thread: thread, Events: int64(len(log)) - shared, Turns: []Turn{}, Artifacts: []event.ArtifactMade{}, facts: map[string]event.Value{}}
	for i, ev := range log {
		switch e := ev.Body.(type) {
		case event.ThreadOpened:
			b.Machine, b.Version = e.Machine, e.Version
		case event.ThreadMigrated:
			b.Version = e.To
		case event.StateEntered:
			b.State = e.To
		case event.FactsChanged:
			for _, name := range e.Dropped {
				delete(b.facts, name)
			}
			for name, v := range e.Set {
				b.facts[name] = v
			}
		}
		if int64(i) >= shared {
			b.addFuture(ev)
		}
	}
	return b
}

// addFuture adds an event after the shared past. The turn in which the threads part is listed
// with what each did in it.
func (b *Branch) addFuture(ev event.Event) {
	if e, ok := ev.Body.(event.TurnStarted); ok {
		b.Turns = append(b.Turns, Turn{Run: e.Run, Question: e.Text, Tools: []string{}})
		return
	}
	if e, ok := ev.Body.(event.ArtifactMade); ok {
		b.Artifacts = append(b.Artifacts, e)
		return
	}
	if len(b.Turns) == 0 {
		b.Turns = append(b.Turns, Turn{Question: "(the turn in which they part)", Tools: []string{}})
	}
	turn := &b.Turns[len(b.Turns)-1]
	switch e := ev.Body.(type) {
	case event.ToolStarted:
		turn.Tools = append(turn.Tools, e.Tool)
	case event.TurnEnded:
		turn.Run, turn.Answer, turn.Status = e.Run, e.Text, e.Status
	}
}

// compareFacts lists the facts of two threads that differ.
func compareFacts(a, b map[string]event.Value) []Facts {
	var out []Facts
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		left, right := a[name].JSON, b[name].JSON
		if !bytes.Equal(left, right) {
			out = append(out, Facts{name, nullOr(left), nullOr(right)})
		}
	}
	return out
}

func nullOr(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}
