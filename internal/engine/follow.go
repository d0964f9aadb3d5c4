package engine

import (
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
)

// follows says what an event that has just happened brings with it: writes of
// facts, moves, cards. The fold holds the event already. All of it is stored in the
// same batch as the event, so that no log ends between a cause and its effects.
func (r *rules) follows(b event.Body) []event.Body {
	switch e := b.(type) {
	case event.ToolReturned:
		return r.afterReturn(e)
	case event.ToolFailed:
		return r.afterFailure(e)
	case event.ToolRefused:
		sig := machine.Signal{Name: machine.OnRefused, Tool: e.Tool, Fields: map[string]any{
			"args": r.argsOf(e.Args), "code": string(e.Code), "message": e.Message,
		}}
		return r.react(sig)
	case event.ModelReplied:
		return r.afterReply(e)
	case event.ModelFailed:
		return r.afterModelFailure(e)
	case event.CardRaised:
		sig := machine.Signal{Name: machine.OnAsked, Card: e.Name, Fields: map[string]any{"content": e.Content.Decode()}}
		return bodies(r.m.RunEffects(scope(r.m, r.f), sig))
	case event.CardAnswered:
		return r.afterAnswer(e)
	case event.StepDone:
		return r.react(machine.Signal{Name: machine.OnDone, Fields: map[string]any{"state": e.State, "result": r.f.Turn.StepResult.Decode()}})
	}
	return nil
}

// react gives the reaction to a signal; a move that the definition cannot make ends
// the turn.
func (r *rules) react(sig machine.Signal) []event.Body {
	re, err := r.m.React(scope(r.m, r.f), sig)
	out := bodies(re)
	if err != nil {
		return append(out, r.broken(err).bodies...)
	}
	return out
}

// argsOf is `event.args`: of the call that ran, or of one that never started.
func (r *rules) argsOf(sent event.Value) any {
	if d := r.f.Turn.Done; d != nil {
		return d.Args.Decode()
	}
	v := sent.Decode()
	if _, isText := v.(string); isText {
		return nil
	}
	return v
}

func (r *rules) afterReturn(e event.ToolReturned) []event.Body {
	t := r.f.Turn
	result := e.Result.Decode()
	var out []event.Body
	s := scope(r.m, r.f)
	if d := t.Done; d != nil && (d.By == byStep || d.By == byDiscover) {
		sp := r.stepAt(d.State, d.Step)
		if d.By == byDiscover {
			sp = r.m.Discover[d.Step.Index]
		}
		if sp != nil {
			if b, changed := factsChanged(r.m.Output(sp.Out, result, s), "out "+e.Tool); changed {
				out = append(out, b)
			}
		}
		if d.By == byDiscover {
			return out
		}
	}
	sig := machine.Signal{Name: machine.OnReturned, Tool: e.Tool, Fields: map[string]any{
		"args": r.argsOf(e.Args), "result": result, "duplicate": e.Duplicate != "", "ms": float64(e.MS),
	}}
	if card := r.cardOf(e.Tool); card != "" && t.Direct == nil {
		out = append(out, bodies(r.m.RunEffects(s, sig))...)
		return append(out, r.card(card, contentOf(r.m.Cards[card], result), e.Call))
	}
	re, err := r.m.React(s, sig)
	out = append(out, bodies(re)...)
	if err != nil {
		out = append(out, r.broken(err).bodies...)
	}
	return out
}

func (r *rules) cardOf(name string) string {
	if b := r.m.Tools[name]; b != nil {
		return b.Card
	}
	return ""
}

// contentOf takes the declared content of a card from a tool's result.
func contentOf(c *machine.Card, result any) map[string]any {
	rec, _ := result.(map[string]any)
	if c == nil || len(c.Content) == 0 {
		return rec
	}
	out := make(map[string]any, len(c.Content))
	for name := range c.Content {
		if v, ok := rec[name]; ok {
			out[name] = v
		}
	}
	return out
}

func (r *rules) afterFailure(e event.ToolFailed) []event.Body {
	if d := r.f.Turn.Done; d != nil && d.By == byDiscover {
		return nil
	}
	sig := machine.Signal{Name: machine.OnFailed, Tool: e.Tool, Fields: map[string]any{
		"args": r.argsOf(e.Args), "code": string(e.Code), "message": e.Message, "suggestion": e.Suggestion,
		"details": e.Details.Decode(), "curable": e.Curable, "tries_left": float64(e.TriesLeft),
	}}
	s := scope(r.m, r.f)
	re, err := r.m.React(s, sig)
	out := bodies(re)
	if err != nil {
		return append(out, r.broken(err).bodies...)
	}
	skip := r.skipTo()
	if e.TriesLeft > 0 || skip == "" || re.Moved() {
		return out
	}
	re, err = r.m.Enter(s, skip, machine.Signal{Name: "skip", Tool: e.Tool}, nil, nil)
	out = append(out, bodies(re)...)
	if err != nil {
		out = append(out, r.broken(err).bodies...)
	}
	return out
}

func (r *rules) afterReply(e event.ModelReplied) []event.Body {
	t := r.f.Turn
	if sp := r.stepAt(r.f.State, t.Step); sp != nil && sp.Model != nil {
		v, bad := r.output(e.Text, sp.Model.Output)
		if bad != nil {
			return []event.Body{event.ModelFailed{Call: e.Call, Code: bad.Code, Message: bad.Message}}
		}
		s := scope(r.m, r.f)
		change := r.m.Output(sp.Out, v, s)
		if len(change.Problems) > 0 {
			return []event.Body{event.ModelFailed{Call: e.Call, Code: fault.ModelBadOutput, Message: change.Problems[0]}}
		}
		if b, changed := factsChanged(change, "out model"); changed {
			return []event.Body{b}
		}
		return nil
	}
	if len(e.Calls) > 0 {
		return nil
	}
	return r.react(machine.Signal{Name: machine.OnFinal, Fields: map[string]any{"text": e.Text}})
}

func (r *rules) afterModelFailure(e event.ModelFailed) []event.Body {
	t := r.f.Turn
	fields := map[string]any{"code": string(e.Code), "message": withAdvice(e)}
	if t.Step == nil {
		return r.react(machine.Signal{Name: machine.OnModelFailed, Fields: fields})
	}
	if e.Code == fault.ModelBadOutput && t.BadOutput < badOutputs {
		return nil // it gets another try
	}
	if r.nextAlternative() >= 0 {
		return nil
	}
	fields["curable"] = e.Code.Entry().Curable
	return r.react(machine.Signal{Name: machine.OnFailed, Fields: fields})
}

// afterAnswer carries out what an answer does: its writes, then where it leads.
func (r *rules) afterAnswer(e event.CardAnswered) []event.Body {
	t := r.f.Turn
	if t.Answered == nil || t.Answered.Card.Name == approvalCard {
		return nil
	}
	card := t.Answered.Card
	sig := machine.Signal{Name: machine.OnAnswered, Card: card.Name, Fields: map[string]any{
		"content": card.Content.Decode(), "answer": e.Answer, "fields": e.Fields, "note": e.Note,
	}}
	decl := r.m.Cards[card.Name]
	if decl == nil || decl.Answer(e.Answer) == nil {
		return r.react(sig)
	}
	a := decl.Answer(e.Answer)
	writes, to := a.Writes, a.To
	if cmd := r.m.Command(a.Command); cmd != nil {
		writes, to = joined(a.Writes, cmd.Writes), cmd.To
	}
	re, err := r.m.Enter(scope(r.m, r.f), to, sig, nil, &writes)
	out := bodies(re)
	if err != nil {
		out = append(out, r.broken(err).bodies...)
	}
	return out
}

func joined(a, b machine.Writes) machine.Writes {
	return machine.Writes{
		Drop: append(a.Drop[:len(a.Drop):len(a.Drop)], b.Drop...), Keep: append(a.Keep[:len(a.Keep):len(a.Keep)], b.Keep...),
		Set: append(a.Set[:len(a.Set):len(a.Set)], b.Set...), Append: append(a.Append[:len(a.Append):len(a.Append)], b.Append...),
		Increment: append(a.Increment[:len(a.Increment):len(a.Increment)], b.Increment...),
	}
}
