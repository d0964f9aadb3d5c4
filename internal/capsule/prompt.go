package capsule

import (
	"context"
	"encoding/json"
	"errors"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// A Prompt is what a model was given in one call, before the messages of its own turn,
// which are the events of the run up to Seq.
type Prompt struct {
	Call    string          `json:"call"`
	State   string          `json:"state"`
	Seq     int64           `json:"seq"`
	System  string          `json:"system"`
	Tools   json.RawMessage `json:"tools,omitempty"`
	History json.RawMessage `json:"history,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"` // the schema that the answer had to fit
}

// LoadPrompt loads what the model saw in one call of a run.
func LoadPrompt(ctx context.Context, s store.Store, run, call string) (*Prompt, error) {
	row, err := s.Run(ctx, run)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fault.Wrap(err, fault.RunNotFound, "there is no run %q", run)
	}
	if err != nil {
		return nil, err
	}
	for ev, err := range engine.Resolved(ctx, s, row.Thread, row.First-1) {
		if err != nil {
			return nil, err
		}
		if row.Last > 0 && ev.Seq > row.Last {
			break
		}
		if b, ok := event.Inline(ev.Body).(event.ModelCalled); ok && b.Call == call {
			return loadPrompt(ctx, s, ev.Seq, b)
		}
	}
	return nil, fault.New(fault.NotFound, "the run %s has no model call %q", run, call)
}

func loadPrompt(ctx context.Context, s store.Store, seq int64, b event.ModelCalled) (*Prompt, error) {
	p := &Prompt{Call: b.Call, State: b.State, Seq: seq}
	var system []byte
	for _, part := range []struct {
		hash string
		into *[]byte
	}{{b.System, &system}, {b.Tools, (*[]byte)(&p.Tools)}, {b.History, (*[]byte)(&p.History)}, {b.Output, (*[]byte)(&p.Output)}} {
		if part.hash == "" {
			continue
		}
		raw, err := s.Blob(ctx, part.hash)
		if err != nil {
			return nil, err
		}
		*part.into = raw
	}
	p.System = string(system)
	return p, nil
}
