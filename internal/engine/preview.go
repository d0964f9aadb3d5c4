package engine

import (
	"context"
	"maps"
	"slices"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
)

// A PreviewRequest asks how a machine would begin a turn.
type PreviewRequest struct {
	Machine  string
	Owner    string
	Dataset  string
	Settings map[string]any // instead of the defaults
	Text     string         // the question; "" looks at the states alone
}

// A Preview is how a machine would begin a turn under some settings: which state it would
// choose, from which values, and what a model would get in each state. Nothing is stored.
type Preview struct {
	Machine  string         `json:"machine"`
	Version  string         `json:"version"`
	Settings map[string]any `json:"settings"`
	// Active is the state that the turn would begin in; When is the guard that chose it
	// and Saw the values that the guard saw.
	Active string         `json:"active"`
	When   string         `json:"when,omitempty"`
	Saw    map[string]any `json:"saw,omitempty"`
	// Scores are the facts that are a number or a truth value after discovery.
	Scores map[string]any `json:"scores"`
	// Discovered are the calls that were made to find out.
	Discovered []PreviewCall  `json:"discovered"`
	States     []PreviewState `json:"states"`
}

// A PreviewCall is a call of the machine's discovery.
type PreviewCall struct {
	Tool  string     `json:"tool"`
	Error string     `json:"error,omitempty"`
	Code  fault.Code `json:"code,omitempty"`
}

// A PreviewState is a state that is possible under the settings, as a model would find
// it. Values that only the course of a turn brings are absent.
type PreviewState struct {
	Name   string            `json:"name"`
	Kind   machine.StateKind `json:"kind"`
	Active bool              `json:"active"`
	Data   map[string]any    `json:"data,omitempty"`
	Prompt string            `json:"prompt,omitempty"`
	Tools  []llm.Tool        `json:"tools"`
	Denied []event.Denial    `json:"denied,omitempty"`
}

// Preview returns how a turn would begin. It makes the calls of the machine's discovery,
// which only read.
func (e *Engine) Preview(ctx context.Context, q PreviewRequest) (Preview, error) {
	m, err := e.cfg.Machines.Get(q.Machine)
	if err != nil {
		return Preview{}, err
	}
	settings, err := checkSettings(m, q.Settings)
	if err != nil {
		return Preview{}, err
	}
	t := &turn{e: e, f: newFold("preview"), ctx: ctx}
	t.r = e.newRules(m, t.f)
	t.emit(event.ThreadOpened{Owner: q.Owner, Machine: m.Name, Version: m.Hash, Dataset: q.Dataset, Settings: settings})
	if err := t.beginRun(Input{User: q.Owner, Text: q.Text, Dataset: q.Dataset}, event.TurnStarted{Text: q.Text}); err != nil {
		return Preview{}, err
	}
	p := Preview{Machine: m.Name, Version: m.Hash, Settings: maps.Clone(effectiveSettings(m, t.f)), Discovered: []PreviewCall{}, States: []PreviewState{}}
	if q.Text == "" {
		t.emitChoice()
	} else if err := t.previewStart(ctx, &p); err != nil {
		return Preview{}, err
	}
	for _, ev := range t.pending {
		if b, ok := ev.Body.(event.StateEntered); ok && b.Cause == "start" {
			p.When, p.Saw = b.When, b.Saw
		}
	}
	p.Active = t.f.State
	p.Scores = t.r.scores()
	for _, name := range m.PossibleStates(p.Settings) {
		p.States = append(p.States, t.previewState(name, name == p.Active))
	}
	return p, nil
}

// previewStart runs the beginning of the turn until a state has been entered.
func (t *turn) previewStart(ctx context.Context, p *Preview) error {
	for t.f.State == "" && t.f.active() {
		if err := ctx.Err(); err != nil {
			return err
		}
		d := t.r.decide(decideInput{})
		t.emit(d.bodies...)
		if d.job != runTool {
			continue
		}
		happened := t.perform(ctx, d.job)
		if t.e.ctx.Err() != nil {
			return errClosed
		}
		for _, b := range happened {
			switch b := b.(type) {
			case event.ToolReturned:
				p.Discovered = append(p.Discovered, PreviewCall{Tool: b.Tool})
			case event.ToolFailed:
				p.Discovered = append(p.Discovered, PreviewCall{Tool: b.Tool, Error: b.Message, Code: b.Code})
			}
		}
		t.emit(happened...)
	}
	return nil
}

// emitChoice enters the state that the machine chooses without discovery.
func (t *turn) emitChoice() {
	p := choosing{Discovered: len(t.r.m.Discover)}
	t.emit(t.r.decideStart(p).bodies...)
}

// scores returns the facts that are a number or a truth value.
func (r *rules) scores() map[string]any {
	s, out := r.scope(), map[string]any{}
	for _, f := range r.m.Facts {
		switch v := r.m.Value(f.Name, s).(type) {
		case float64, bool:
			out[f.Name] = v
		}
	}
	return out
}

// previewState returns a state as a model would find it with the present facts.
func (t *turn) previewState(name string, active bool) PreviewState {
	was := t.f.State
	defer func() { t.f.State = was }()
	t.f.State = name
	st, s := t.r.m.State(name), t.r.scope()
	out := PreviewState{Name: name, Kind: st.Kind, Active: active, Data: t.r.stateData(s), Tools: []llm.Tool{}}
	if st.Kind != machine.Agent {
		return out
	}
	out.Prompt = t.r.systemPrompt(s)
	offers, denied := t.r.offers(s)
	out.Tools = append(out.Tools, toolSpecs(offers)...)
	out.Denied = slices.DeleteFunc(denied, func(d event.Denial) bool { return d.Code == fault.FeatureDisabled })
	return out
}

// stateData returns what the present state says that it is about.
func (r *rules) stateData(s *machine.Scope) map[string]any {
	st := r.m.State(r.f.State)
	if st == nil || len(st.Data) == 0 {
		return nil
	}
	out := make(map[string]any, len(st.Data))
	for _, a := range st.Data {
		if v, err := r.m.Eval(a.Expr, s); err == nil && v != nil {
			out[a.Name] = v
		}
	}
	return out
}
