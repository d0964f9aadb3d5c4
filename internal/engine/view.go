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

// A View is what a person sees of a thread.
type View struct {
	Thread    store.Thread         `json:"thread"`
	Settings  map[string]any       `json:"settings"`
	Facts     map[string]any       `json:"facts"`
	Data      map[string]any       `json:"data,omitempty"` // what the present state is about
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

func (e *Engine) newRules(m *machine.Machine, f *fold) *rules {
	return &rules{m: m, f: f, tools: e.cfg.Tools, resultBytes: e.cfg.ResultBytes}
}

// View returns a thread's state, facts and open card, and the tools and commands that are
// possible now.
func (e *Engine) View(ctx context.Context, thread string) (View, error) {
	p, release, err := e.loadPublished(ctx, thread)
	if err != nil {
		return View{}, err
	}
	defer release()
	r := e.newRules(p.m, p.f)
	s := r.scope()
	v := View{
		Thread: r.threadRow(), Settings: maps.Clone(s.Settings), Facts: map[string]any{}, Data: r.stateData(s), Messages: slices.Clone(r.f.Messages),
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
	for _, c := range r.m.Commands {
		cv := CommandView{Name: c.Name, Label: c.Label, Fields: fieldTypes(c.Fields), Allowed: true}
		if err := r.checkCommand(c); err != nil {
			cv.Allowed, cv.Why = false, fault.From(err).Message
		}
		v.Commands = append(v.Commands, cv)
	}
	return v, nil
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

// Messages returns the newest messages of a thread, oldest first.
func (e *Engine) Messages(ctx context.Context, thread string, limit int) ([]Message, error) {
	p, _, err := e.currentInMemory(ctx, thread)
	if err == nil && p == nil {
		var release func()
		if p, release, err = e.loadPublished(ctx, thread); err == nil {
			defer release()
		}
	}
	if err != nil {
		return nil, err
	}
	return append([]Message{}, p.f.Messages[max(0, len(p.f.Messages)-limit):]...), nil
}
