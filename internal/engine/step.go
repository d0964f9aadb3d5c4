package engine

import (
	"encoding/json"
	"maps"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
)

// badOutputs is how often a model step may give an answer of the wrong form.
const badOutputs = 2

// decideStep returns the next step of a step or final state. The first alternative whose
// guard holds is taken; its steps run in order, without those whose guard does not hold.
func (r *rules) decideStep(st *machine.State, p phase) decision {
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
			return r.endTurn(event.Failed, r.stepFailureCode()) // no transition follows the failure; the check forbids that
		default:
			if done := st.Run[at.Alt].Steps[at.Index]; done.Stop != nil && r.m.Holds(done.Stop, s) {
				return decision{bodies: []event.Body{event.StepDone{State: st.Name, Stopped: true}}}
			}
			at.Index++
		}
	default:
		if at.Alt = r.findAlternative(st, 0, s); at.Alt < 0 {
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
				return r.endTurn(event.Failed, fault.ModelBadOutput)
			}
			return decision{bodies: []event.Body{r.callModel(sp, &at)}, job: askModel}
		}
		return decision{bodies: []event.Body{r.startStep(sp, byStep, &at, s)}}
	}
	return decision{bodies: []event.Body{event.StepDone{State: st.Name}}}
}

// findAlternative returns the first alternative of a state, from index from on, whose guard
// holds; -1 if there is none.
func (r *rules) findAlternative(st *machine.State, from int, s *machine.Scope) int {
	for i := from; i < len(st.Run); i++ {
		if r.m.Holds(st.Run[i].When, s) {
			return i
		}
	}
	return -1
}

// nextAlternative returns the alternative to try if the step needs a model and there is
// none that can do it, -1 otherwise. Any other failure of a model fails the step.
func (r *rules) nextAlternative(p stepping) int {
	st := r.m.State(r.f.State)
	if st == nil || !p.Unanswered || r.f.Turn.ModelFailed.Code != fault.ModelCannot {
		return -1
	}
	return r.findAlternative(st, p.At.Alt+1, r.readScope())
}

func (r *rules) stepFailureCode() fault.Code {
	if f := r.f.Turn.ModelFailed; f != nil {
		return f.Code
	}
	return fault.ToolFailed
}

// afterStep ends the turn when the work of a state is done and no transition follows.
func (r *rules) afterStep(st *machine.State) decision {
	if st.Kind == machine.Final {
		return r.endTurn(event.Answered, "")
	}
	return r.endTurn(event.Failed, fault.InvalidState)
}

// startStep returns the event that starts a tool of a step or of discover: what the step
// gives goes before what the machine binds for all calls. Its arguments are checked when it
// runs.
func (r *rules) startStep(sp *machine.Step, by string, at *event.StepAt, s *machine.Scope) event.Body {
	args := make(map[string]any, len(sp.In))
	for _, a := range sp.In {
		if v, err := r.m.Eval(a.Expr, s); err == nil && v != nil {
			args[a.Name] = v
		}
	}
	if whole, bad := r.bindArgs(sp.Tool, args, r.narrowArgs(sp.Tool, s), s); bad == nil {
		maps.Copy(whole, args) // the step is the machine's own word
		args = whole
	}
	call := r.f.Turn.Run + "_s" + itoa(r.f.Turn.Counts[toolCalls]+1)
	return event.ToolStarted{Call: call, Tool: sp.Tool, Args: event.EncodeValue(args), State: r.f.State, By: by, Step: at}
}

// parseStepOutput decodes the answer of a model step: one JSON document of the declared
// type.
func (r *rules) parseStepOutput(text string, t *machine.Type) (any, *fault.Fault) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fault.New(fault.ModelBadOutput, "The answer is no JSON: %v. Answer with the JSON document alone.", err)
	}
	fit, err := machine.Conform(t, v)
	if err != nil {
		return nil, fault.New(fault.ModelBadOutput, "The answer does not have the form that is asked for: %v.", err)
	}
	if missing := machine.MissingField(t, fit); missing != "" {
		return nil, fault.New(fault.ModelBadOutput, "The answer has no value for %s. Every field of the form is needed, and null is no value.", missing)
	}
	return fit, nil
}

// findStep returns the declaration of a step of a state, nil if there is none.
func (r *rules) findStep(state string, at *event.StepAt) *machine.Step {
	st := r.m.State(state)
	if st == nil || at == nil || at.Alt >= len(st.Run) || at.Index >= len(st.Run[at.Alt].Steps) {
		return nil
	}
	return st.Run[at.Alt].Steps[at.Index]
}
