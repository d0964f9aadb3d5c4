package engine

import (
	"context"
	"maps"
	"slices"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/internal/store"
)

// A View is a thread as a person may look at it.
type View struct {
	Thread    store.Thread         `json:"thread"`
	Settings  map[string]any       `json:"settings"`
	Facts     map[string]any       `json:"facts"`
	Card      *event.CardRaised    `json:"card,omitempty"`
	Offered   []string             `json:"offered"`
	Denied    []event.Denial       `json:"denied,omitempty"`
	Commands  []CommandView        `json:"commands,omitempty"`
	Messages  []Message            `json:"messages"`
	Artifacts []event.ArtifactMade `json:"artifacts"`
	Tainted   bool                 `json:"tainted"`
}

// A CommandView is a command with whether it may be given now.
type CommandView struct {
	Name    string            `json:"name"`
	Label   string            `json:"label"`
	Fields  map[string]string `json:"fields,omitempty"`
	Allowed bool              `json:"allowed"`
	Why     string            `json:"why,omitempty"` // it may not
}

// peek runs look on the thread's fold, which it must not change or keep. A resting
// thread is looked at in memory; while a turn runs the fold is read from the log,
// because its owner alone may touch the live one.
func (e *Engine) peek(ctx context.Context, thread string, look func(*rules)) error {
	if row, err := e.cfg.Store.Thread(ctx, thread); err == nil && e.peekCached(row, look) {
		return nil
	}
	f, err := e.read(ctx, thread)
	if err != nil {
		return err
	}
	for ev, err := range Resolved(ctx, e.cfg.Store, thread, f.Seq) {
		if err != nil {
			return notFound(err, thread)
		}
		f.apply(ev)
	}
	m, err := e.defs.get(ctx, f.Version)
	if err != nil {
		return err
	}
	look(e.rules(m, f))
	return nil
}

// peekCached looks at the fold in memory, if it is as new as the log.
func (e *Engine) peekCached(row store.Thread, look func(*rules)) bool {
	m, err := e.defs.get(context.Background(), row.Version)
	if err != nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.cache.look(row.ID)
	if f == nil || f.Seq != row.Seq {
		return false
	}
	look(e.rules(m, f))
	return true
}

func (e *Engine) rules(m *machine.Machine, f *fold) *rules {
	return &rules{m: m, f: f, tools: e.cfg.Tools, resultBytes: e.cfg.ResultBytes}
}

// View gives a thread's state, facts, open card and what is possible now.
func (e *Engine) View(ctx context.Context, thread string) (View, error) {
	var v View
	err := e.peek(ctx, thread, func(r *rules) {
		s := scope(r.m, r.f)
		v = View{
			Thread: head(r.m, r.f), Settings: maps.Clone(s.Settings), Facts: map[string]any{}, Messages: slices.Clone(r.f.Messages),
			Artifacts: slices.Clone(r.f.Artifacts), Tainted: r.f.Tainted, Offered: []string{},
		}
		for _, fact := range r.m.Facts {
			if val := r.m.Value(fact.Name, s); val != nil {
				v.Facts[fact.Name] = val
			}
		}
		if r.f.active() {
			v.Card = openCard(r.f.Turn.Phase)
		}
		offers, denied := r.offers(s)
		for _, o := range offers {
			v.Offered = append(v.Offered, o.entry.Spec().Name)
		}
		v.Denied = denied
		t := &turn{e: e, f: r.f, r: r}
		for _, c := range r.m.Commands {
			cv := CommandView{Name: c.Name, Label: c.Label, Fields: fieldTypes(c.Fields), Allowed: true}
			if err := t.mayCommand(c); err != nil {
				cv.Allowed, cv.Why = false, fault.From(err).Message
			}
			v.Commands = append(v.Commands, cv)
		}
	})
	return v, err
}

func fieldTypes(fields []machine.Field) map[string]string {
	if len(fields) == 0 {
		return nil
	}
	out := make(map[string]string, len(fields))
	for _, f := range fields {
		out[f.Name] = typeName(f.Type)
	}
	return out
}

// Messages gives the newest messages of a thread, oldest first.
func (e *Engine) Messages(ctx context.Context, thread string, limit int) ([]Message, error) {
	out := []Message{}
	err := e.peek(ctx, thread, func(r *rules) {
		out = append(out, r.f.Messages[max(0, len(r.f.Messages)-limit):]...)
	})
	return out, err
}

// Steps lists the moves of a run, in order.
func (e *Engine) Steps(ctx context.Context, run string) ([]event.StateEntered, error) {
	row, err := e.cfg.Store.Run(ctx, run)
	if err != nil {
		return nil, fault.Wrap(err, fault.RunNotFound, "there is no run %q", run)
	}
	var out []event.StateEntered
	for ev, err := range e.cfg.Store.Events(ctx, row.Thread, row.First-1) {
		if err != nil {
			return nil, err
		}
		if row.Last > 0 && ev.Seq > row.Last {
			break
		}
		if b, ok := ev.Body.(event.StateEntered); ok {
			out = append(out, b)
		}
	}
	return slices.Clip(out), nil
}
