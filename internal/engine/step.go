package engine

import (
	"encoding/json"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
)

// badOutputs is how often a model step may answer in the wrong form.
const badOutputs = 2

// step does the work of a step or final state: the first alternative whose guard
// holds, its steps in order, less those whose guard does not hold.
func (r *rules) step(st *machine.State, p phase) decision {
	s := r.readScope()
	var at event.StepAt
	var tried stepping
	switch p := p.(type) {
	case stepped:
		return r.afterStep(st)
	case stepping:
		tried, at = p, p.At
		next := r.nextAlternative(p)
		switch {
		case next >= 0:
			at = event.StepAt{Alt: next}
		case !p.Ended: // a model step that has another try
		case p.Failed || p.Unanswered:
			return r.end(event.Failed, r.stepCode()) // its failure led nowhere; the check forbids it
		default:
			if done := st.Run[at.Alt].Steps[at.Index]; done.Stop != nil && r.m.Holds(done.Stop, s) {
				return decision{bodies: []event.Body{event.StepDone{State: st.Name, Stopped: true}}}
			}
			at.Index++
		}
	default:
		if at.Alt = r.alternative(st, 0, s); at.Alt < 0 {
			return decision{bodies: []event.Body{event.StepDone{State: st.Name}}}
		}
	}
	steps := st.Run[at.Alt].Steps
	for ; at.Index < len(steps); at.Index++ {
		sp := steps[at.Index]
		if !r.m.Holds(sp.When, s) {
			continue
		}
		if sp.Model != nil {
			if tried.BadOutputs >= badOutputs {
				return r.end(event.Failed, fault.ModelBadOutput)
			}
			return decision{bodies: []event.Body{r.callModel(sp, &at)}, job: askModel}
		}
		return decision{bodies: []event.Body{r.startStep(sp, byStep, &at, s)}}
	}
	return decision{bodies: []event.Body{event.StepDone{State: st.Name}}}
}

// alternative finds the first way of doing a state's work, from one on, whose guard
// holds; -1 if there is none.
func (r *rules) alternative(st *machine.State, from int, s *machine.Scope) int {
	for i := from; i < len(st.Run); i++ {
		if r.m.Holds(st.Run[i].When, s) {
			return i
		}
	}
	return -1
}

// nextAlternative is the alternative that remains where no model that answers can do
// the step, -1 otherwise. Another failure of a model is the step's failure.
func (r *rules) nextAlternative(p stepping) int {
	st := r.m.State(r.f.State)
	if st == nil || !p.Unanswered || r.f.Turn.ModelFailed.Code != fault.ModelCannot {
		return -1
	}
	return r.alternative(st, p.At.Alt+1, r.readScope())
}

func (r *rules) stepCode() fault.Code {
	if f := r.f.Turn.ModelFailed; f != nil {
		return f.Code
	}
	return fault.ToolFailed
}

// afterStep is reached when the work is done and no transition led on.
func (r *rules) afterStep(st *machine.State) decision {
	if st.Kind == machine.Final {
		return r.end(event.Answered, "")
	}
	return r.end(event.Failed, fault.InvalidState)
}

// startStep makes the event with which a tool of a step or of discover begins. Its
// arguments are checked when it runs.
func (r *rules) startStep(sp *machine.Step, by string, at *event.StepAt, s *machine.Scope) event.Body {
	args := make(map[string]any, len(sp.In))
	for _, a := range sp.In {
		if v, err := r.m.Eval(a.Expr, s); err == nil && v != nil {
			args[a.Name] = v
		}
	}
	if whole, bad := r.bind(sp.Tool, args, r.narrowing(sp.Tool, s), s); bad == nil {
		args = whole
	}
	call := r.f.Turn.Run + "_s" + itoa(r.f.Turn.Counts[toolCalls]+1)
	return event.ToolStarted{Call: call, Tool: sp.Tool, Args: event.From(args), State: r.f.State, By: by, Step: at}
}

// output reads the answer of a model step: one JSON document of the declared type.
func (r *rules) output(text string, t *machine.Type) (any, *fault.Fault) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fault.New(fault.ModelBadOutput, "The answer is no JSON: %v. Answer with the JSON document alone.", err)
	}
	fit, err := machine.Conform(t, v)
	if err != nil {
		return nil, fault.New(fault.ModelBadOutput, "The answer does not have the form that is asked for: %v.", err)
	}
	if missing := machine.Lacks(t, fit); missing != "" {
		return nil, fault.New(fault.ModelBadOutput, "The answer has no value for %s. Every field of the form is needed, and null is no value.", missing)
	}
	return fit, nil
}

// stepAt gives the declaration of a step of a state.
func (r *rules) stepAt(state string, at *event.StepAt) *machine.Step {
	st := r.m.State(state)
	if st == nil || at == nil || at.Alt >= len(st.Run) || at.Index >= len(st.Run[at.Alt].Steps) {
		return nil
	}
	return st.Run[at.Alt].Steps[at.Index]
}
