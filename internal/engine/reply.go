package engine

import (
	"context"
	"encoding/json"
	"slices"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// A Reply is the outcome of a run so far. Chat responses are made from it.
type Reply struct {
	Run, Thread, Machine string
	State                string
	Outcome              string // running, waiting, or an event.Outcome
	Code                 fault.Code
	Text                 string
	Said                 []string                   // what the model said beside its calls, since the person last spoke; nil once the run ended
	Fields               map[string]json.RawMessage // what the machine's `reply:` says
	Card                 *event.CardRaised
	Shown                []ShownResult // results that the person sees, in order
	Artifacts            []event.ArtifactMade
	Figures              *event.FiguresTraced // nil if the answer has no figure, or they were not traced
	Ended                bool
}

// Status returns the status of the run for the chat contract: the one in the machine's
// `reply` if the run ended by itself, else the outcome.
func (r Reply) Status() string {
	var status string
	switch event.Outcome(r.Outcome) {
	case event.Answered, event.Asked, event.Declined, event.Refused:
		if raw := r.Fields["status"]; len(raw) > 0 && json.Unmarshal(raw, &status) == nil && status != "" {
			return status
		}
	}
	return r.Outcome
}

// A ShownResult is a tool's result as the person sees it.
type ShownResult struct {
	Call, Tool string
	Output     json.RawMessage
}

// Add applies the next event of the run, whose values must be resolved. A follower can
// build the reply from the events alone, without asking the engine.
func (r *Reply) Add(b event.Body) error {
	switch b := b.(type) {
	case event.TurnStarted:
		r.Run, r.Outcome = b.Run, store.Running
	case event.StateEntered:
		r.State = b.To
	case event.ToolReturned:
		if b.Person.All || len(b.Person.Fields) > 0 {
			r.Shown = append(r.Shown, ShownResult{b.Call, b.Tool, VisibleFields(b.Result.JSON, b.Person)})
		}
	case event.ArtifactMade:
		r.Artifacts = append(r.Artifacts, b)
	case event.CardRaised:
		r.Card, r.Outcome = &b, store.Waiting
	case event.CardAnswered:
		r.Card, r.Said, r.Outcome = nil, nil, store.Running
	case event.ModelReplied:
		r.Said = appendSaid(r.Said, b)
	case event.CardClosed:
		r.Card = nil
	case event.ModelFailed:
		r.Code = b.Code
	case event.FiguresTraced:
		r.Figures = &b
	case event.TurnEnded:
		r.Ended, r.Text, r.Said, r.Code, r.Outcome = true, b.Text, nil, b.Code, string(b.Status)
		if b.Reply.JSON != nil {
			return json.Unmarshal(b.Reply.JSON, &r.Fields)
		}
	}
	return nil
}

// keepSaid bounds the texts that a reply lists.
const keepSaid = 50

// appendSaid adds the text that a model said beside its calls.
func appendSaid(said []string, b event.ModelReplied) []string {
	if b.Text == "" || len(b.Calls) == 0 || len(said) == keepSaid {
		return said
	}
	return append(said, b.Text)
}

// Reply returns the outcome of a run: from memory if it is the last run of a thread that
// is there, else from the log.
func (e *Engine) Reply(ctx context.Context, run string) (Reply, error) {
	row, err := e.cfg.Store.Run(ctx, run)
	if err != nil {
		return Reply{}, fault.Wrap(err, fault.RunNotFound, "there is no run %q", run)
	}
	if p := e.lastRun(ctx, row); p != nil {
		return e.replyFrom(ctx, p.f)
	}
	return e.replyFromLog(ctx, row)
}

// lastRun returns the thread of a run from memory, nil if memory does not have the run or
// another process has continued it.
func (e *Engine) lastRun(ctx context.Context, run store.Run) *published {
	p, runs := e.publishedInMemory(run.Thread)
	if p == nil || p.f.Turn == nil || p.f.Turn.Run != run.ID || p.f.Turn.Reply.Cut {
		return nil
	}
	if runs || !p.f.active() {
		return p
	}
	if row, err := e.cfg.Store.Thread(ctx, run.Thread); err != nil || row.Seq != p.f.Seq {
		return nil
	}
	return p
}

// replyFrom returns the reply of a thread's last run.
func (e *Engine) replyFrom(ctx context.Context, f *fold) (r Reply, err error) {
	t := f.Turn
	r = Reply{
		Run: t.Run, Thread: f.Thread, Machine: f.Machine, Outcome: f.Status, Code: t.Reply.Code, Text: t.Reply.Text, Said: slices.Clone(t.Reply.Said),
		Artifacts: slices.Clone(t.Reply.Artifacts), Figures: t.Reply.Figures, Card: openCard(t.Phase), Ended: !f.active(),
	}
	if r.Ended {
		r.Outcome = string(t.Ended)
	}
	if t.Moves > 0 {
		r.State = f.State
	}
	for _, s := range t.Reply.Shown {
		result, err := e.fetch(ctx, s.Result)
		if err != nil {
			return r, err
		}
		r.Shown = append(r.Shown, ShownResult{s.Call, s.Tool, VisibleFields(result.JSON, s.Show)})
	}
	fields, err := e.fetch(ctx, t.Reply.Fields)
	if err == nil && fields.JSON != nil {
		err = json.Unmarshal(fields.JSON, &r.Fields)
	}
	return r, err
}

// fetch returns a value with its bytes.
func (e *Engine) fetch(ctx context.Context, v event.Value) (event.Value, error) {
	if v.Resolved() {
		return v, nil
	}
	raw, err := e.cfg.Store.Blob(ctx, v.Hash)
	return event.Value{Hash: v.Hash, JSON: raw}, err
}

func (e *Engine) replyFromLog(ctx context.Context, row store.Run) (Reply, error) {
	r := Reply{Run: row.ID, Thread: row.Thread, Machine: row.Machine, Outcome: row.Status}
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
