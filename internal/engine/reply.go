package engine

import (
	"context"
	"encoding/json"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// A Reply is how a run stands: what a chat response is made of.
type Reply struct {
	Run, Thread, Machine string
	State                string
	Outcome              string // running, waiting, or an event.Outcome
	Code                 fault.Code
	Text                 string
	Fields               map[string]json.RawMessage // what the machine's `reply:` says
	Card                 *event.CardRaised
	Shown                []ShownResult // results that the person sees, in order
	Artifacts            []event.ArtifactMade
	Ended                bool
}

// Status is how the run stands in the words of the chat contract: those that the
// machine's reply says, where the run came to its end by itself.
func (r Reply) Status() string {
	var said string
	switch event.Outcome(r.Outcome) {
	case event.Answered, event.Asked, event.Declined, event.Refused:
		if raw := r.Fields["status"]; len(raw) > 0 && json.Unmarshal(raw, &said) == nil && said != "" {
			return said
		}
	}
	return r.Outcome
}

// A ShownResult is a tool's result as the person sees it.
type ShownResult struct {
	Call, Tool string
	Output     json.RawMessage
}

// Add takes in the next event of the run, its values resolved. A reply is the sum of
// its run's events, so whoever follows a thread can keep it without asking the engine.
func (r *Reply) Add(b event.Body) error {
	switch b := b.(type) {
	case event.TurnStarted:
		r.Run, r.Outcome = b.Run, store.Running
	case event.StateEntered:
		r.State = b.To
	case event.ToolReturned:
		if b.Person.All || len(b.Person.Fields) > 0 {
			r.Shown = append(r.Shown, ShownResult{b.Call, b.Tool, Part(b.Result.JSON, b.Person)})
		}
	case event.ArtifactMade:
		r.Artifacts = append(r.Artifacts, b)
	case event.CardRaised:
		r.Card, r.Outcome = &b, store.Waiting
	case event.CardAnswered:
		r.Card, r.Outcome = nil, store.Running
	case event.CardClosed:
		r.Card = nil
	case event.ModelFailed:
		r.Code = b.Code
	case event.TurnEnded:
		r.Ended, r.Text, r.Code, r.Outcome = true, b.Text, b.Code, string(b.Status)
		if b.Reply.JSON != nil {
			return json.Unmarshal(b.Reply.JSON, &r.Fields)
		}
	}
	return nil
}

// Reply gives the outcome of a run from its log.
func (e *Engine) Reply(ctx context.Context, run string) (Reply, error) {
	row, err := e.cfg.Store.Run(ctx, run)
	if err != nil {
		return Reply{}, fault.Wrap(err, fault.RunNotFound, "there is no run %q", run)
	}
	r := Reply{Run: run, Thread: row.Thread, Machine: row.Machine, Outcome: row.Status}
	for ev, err := range Resolved(ctx, e.cfg.Store, row.Thread, row.First-1) {
		if err != nil {
			return r, err
		}
		if row.Last > 0 && ev.Seq > row.Last {
			break
		}
		if err := r.Add(ev.Body); err != nil || r.Ended {
			return r, err
		}
	}
	return r, nil
}
