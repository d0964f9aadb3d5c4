package engine

import (
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
)

// react returns the consequences of the last event: changed facts, moves, a card. They
// are stored in the same batch as the event, so that no log ends between a cause and its
// effects.
func (r *rules) react() []event.Body {
	p, ok := r.f.Turn.Phase.(reacting)
	if !ok {
		return nil
	}
	switch e := p.Cause.(type) {
	case event.ToolReturned:
		return r.reactToResult(e, ranCall(p.From, e.Call))
	case event.ToolFailed:
		return r.reactToFailure(e, ranCall(p.From, e.Call))
	case event.ToolRefused:
		return r.reactTo(machine.Signal{Name: machine.OnRefused, Tool: e.Tool, Fields: map[string]any{
			"args": signalArgs(nil, e.Args), "code": string(e.Code), "message": e.Message,
		}})
	case event.ModelReplied:
		return r.reactToReply(e, p.Then)
	case event.ModelFailed:
		return r.reactToModelFailure(e, p.Then)
	case event.CardRaised:
		sig := machine.Signal{Name: machine.OnAsked, Card: e.Name, Fields: map[string]any{"content": e.Content.Decode()}}
		return reactionEvents(r.m.RunEffects(r.scope(), sig))
	case event.CardAnswered:
		if w, ok := p.From.(waiting); ok && w.Card.Name != approvalCard {
			return r.reactToAnswer(e, w.Card)
		}
	case event.StepDone:
		done, _ := p.Then.(stepped)
		return r.reactTo(machine.Signal{Name: machine.OnDone, Fields: map[string]any{"state": e.State, "result": done.Result.Decode()}})
	}
	return nil
}

// ranCall returns the start of a call that has just ended, nil if it never started.
func ranCall(p phase, call string) *event.ToolStarted {
	if c := runningCall(p); c != nil && c.Call == call {
		return c
	}
	return nil
}

// reactTo returns the machine's reaction to a signal. If the definition cannot make a
// move, the turn ends.
func (r *rules) reactTo(sig machine.Signal) []event.Body {
	re, err := r.m.React(r.scope(), sig)
	out := reactionEvents(re)
	if err != nil {
		return append(out, r.endOnDefect(err).bodies...)
	}
	return out
}

// signalArgs returns `event.args`: the arguments of the call that ran, or those that were
// sent for one that never started.
func signalArgs(ran *event.ToolStarted, sent event.Value) any {
	if ran != nil {
		return ran.Args.Decode()
	}
	v := sent.Decode()
	if _, isText := v.(string); isText {
		return nil
	}
	return v
}

func (r *rules) reactToResult(e event.ToolReturned, ran *event.ToolStarted) []event.Body {
	sig := machine.Signal{Name: machine.OnReturned, Tool: e.Tool}
	ofStep := ran != nil && (ran.By == byStep || ran.By == byDiscover)
	card := r.cardOfTool(e.Tool)
	if !ofStep && card == "" && !r.m.Reacts(r.f.State, sig) {
		return nil
	}
	result := e.Result.Decode()
	var out []event.Body
	s := r.scope()
	if ofStep {
		sp := r.findStep(ran.State, ran.Step)
		if ran.By == byDiscover {
			sp = r.m.Discover[ran.Step.Index]
		}
		if sp != nil {
			if b, changed := newFactsChanged(r.m.Output(sp.Out, result, s), "out "+e.Tool); changed {
				out = append(out, b)
			}
		}
		if ran.By == byDiscover {
			return out
		}
	}
	sig.Fields = map[string]any{
		"args": signalArgs(ran, e.Args), "result": result, "duplicate": e.Duplicate != "", "ms": float64(e.MS),
	}
	if card != "" && r.f.Turn.Direct == nil {
		out = append(out, reactionEvents(r.m.RunEffects(s, sig))...)
		return append(out, r.newCard(card, cardContent(r.m.Cards[card], result), e.Call))
	}
	re, err := r.m.React(s, sig)
	out = append(out, reactionEvents(re)...)
	if err != nil {
		out = append(out, r.endOnDefect(err).bodies...)
	}
	return out
}

// cardOfTool returns the card that a result of the tool raises, "" if there is none.
func (r *rules) cardOfTool(name string) string {
	if b := r.m.Tools[name]; b != nil {
		return b.Card
	}
	return ""
}

// cardContent returns the fields of a tool's result that the card declares.
func cardContent(c *machine.Card, result any) map[string]any {
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

func (r *rules) reactToFailure(e event.ToolFailed, ran *event.ToolStarted) []event.Body {
	if ran != nil && ran.By == byDiscover {
		return nil
	}
	sig := machine.Signal{Name: machine.OnFailed, Tool: e.Tool, Fields: map[string]any{
		"args": signalArgs(ran, e.Args), "code": string(e.Code), "message": e.Message, "suggestion": e.Suggestion,
		"details": e.Details.Decode(), "curable": e.Curable, "tries_left": float64(e.TriesLeft),
	}}
	s := r.scope()
	re, err := r.m.React(s, sig)
	out := reactionEvents(re)
	if err != nil {
		return append(out, r.endOnDefect(err).bodies...)
	}
	skip := r.skipTarget()
	if e.TriesLeft > 0 || skip == "" || re.Moved() {
		return out
	}
	re, err = r.m.Enter(s, skip, machine.Signal{Name: "skip", Tool: e.Tool}, nil, nil)
	out = append(out, reactionEvents(re)...)
	if err != nil {
		out = append(out, r.endOnDefect(err).bodies...)
	}
	return out
}

// textValues gives texts as a list that expressions read.
func textValues(list []string) []any {
	out := make([]any, len(list))
	for i, text := range list {
		out[i] = text
	}
	return out
}

func (r *rules) reactToReply(e event.ModelReplied, now phase) []event.Body {
	p, inStep := now.(stepping)
	if !inStep {
		sig := machine.Signal{Name: machine.OnFinal, Fields: map[string]any{"text": e.Text, "outcome": string(replyOutcome(e.Stop)), "unsupported": textValues(e.Unsupported)}}
		if r.m.Reacts(r.f.State, sig) {
			if quoted := r.quotedCall(e.Text); quoted != nil {
				sig.Fields["quoted"] = quoted
			}
		}
		return r.reactTo(sig)
	}
	sp := r.findStep(r.f.State, &p.At)
	if sp == nil || sp.Model == nil {
		return nil
	}
	v, bad := r.parseStepOutput(e.Text, sp.Model.Output)
	if bad != nil {
		return []event.Body{event.ModelFailed{Call: e.Call, Code: bad.Code, Message: bad.Message}}
	}
	change := r.m.Output(sp.Out, v, r.scope())
	if len(change.Problems) > 0 {
		return []event.Body{event.ModelFailed{Call: e.Call, Code: fault.ModelBadOutput, Message: change.Problems[0]}}
	}
	if b, changed := newFactsChanged(change, "out model"); changed {
		return []event.Body{b}
	}
	return nil
}

func (r *rules) reactToModelFailure(e event.ModelFailed, now phase) []event.Body {
	fields := map[string]any{"code": string(e.Code), "message": withAdvice(e)}
	p, inStep := now.(stepping)
	if !inStep {
		return r.reactTo(machine.Signal{Name: machine.OnModelFailed, Fields: fields})
	}
	if e.Code == fault.ModelBadOutput && p.BadOutputs < badOutputs {
		return nil // it gets another try
	}
	if r.nextAlternative(p) >= 0 {
		return nil
	}
	fields["curable"] = e.Code.Entry().Curable
	return r.reactTo(machine.Signal{Name: machine.OnFailed, Fields: fields})
}

// reactToAnswer carries out the writes of an answer, then its move.
func (r *rules) reactToAnswer(e event.CardAnswered, card event.CardRaised) []event.Body {
	sig := machine.Signal{Name: machine.OnAnswered, Card: card.Name, Fields: map[string]any{
		"content": card.Content.Decode(), "answer": e.Answer, "fields": e.Fields, "note": e.Note,
	}}
	decl := r.m.Cards[card.Name]
	if decl == nil || decl.Answer(e.Answer) == nil {
		return r.reactTo(sig)
	}
	a := decl.Answer(e.Answer)
	writes, to := a.Writes, a.To
	if cmd := r.m.Command(a.Command); cmd != nil {
		writes, to = joinWrites(a.Writes, cmd.Writes), cmd.To
	}
	re, err := r.m.Enter(r.scope(), to, sig, nil, &writes)
	out := reactionEvents(re)
	if err != nil {
		out = append(out, r.endOnDefect(err).bodies...)
	}
	return out
}

func joinWrites(a, b machine.Writes) machine.Writes {
	return machine.Writes{
		Drop: append(a.Drop[:len(a.Drop):len(a.Drop)], b.Drop...), Keep: append(a.Keep[:len(a.Keep):len(a.Keep)], b.Keep...),
		Set: append(a.Set[:len(a.Set):len(a.Set)], b.Set...), Append: append(a.Append[:len(a.Append):len(a.Append)], b.Append...),
		Increment: append(a.Increment[:len(a.Increment):len(a.Increment)], b.Increment...),
	}
}
