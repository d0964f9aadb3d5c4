package engine

import (
	"encoding/json"
	"slices"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// A phase is the point that a turn has reached: one of the types below, each with the data
// that only it needs. Only nextPhase changes it, one event at a time, and decide says what
// is to be done in each phase. docs/design.md has the table.
type phase interface{ isPhase() }

// The phases in which the turn can go on by itself.
type (
	// choosing: the turn has no state yet. Discover steps run, then the machine chooses.
	choosing struct {
		Run        string            // names the person's own call
		Discovered int               // discover steps dealt with
		Calls      []event.ModelCall // the person's own call, if there is one
	}
	// placed: the turn is in a state whose work has not begun, or begins again.
	placed struct{}
	// calling: the calls of a reply, or of the person, that have no result yet.
	calling struct {
		Calls    []event.ModelCall
		Made     int                 // how many calls the reply made
		Approval *event.CardAnswered // the person's word on the first of them
	}
	// stepping: some of the work of a step state has been tried.
	stepping struct {
		At         event.StepAt // the step that was tried last
		Ended      bool         // it has ended
		Failed     bool         // its tool failed
		Unanswered bool         // its model did not answer, or in the wrong form
		Result     event.Value  // of the last step that returned
		BadOutputs int          // answers in the wrong form
		Said       string       // the model's last answer
		Lines      []line       // answers in the wrong form, each with what is wrong
	}
	// stepped: the work of a step state is done, and no transition has led on.
	stepped struct{ Result event.Value }
	// spoken: the model has given its answer, and no transition has led on.
	spoken struct{}
	// unanswered: the model failed in an agent state, and no transition has led on.
	unanswered struct{}
	// leaving: a move said that the turn ends in this state. Calls have no result yet.
	leaving struct {
		Calls []event.ModelCall
		Made  int
	}
	// givenUp: the turn lost its process too often.
	givenUp struct{ In phase }
	// reacting: Cause happened in the phase From. Its consequences (facts, moves, a card)
	// are recorded next, in the same batch. Then is the phase after them.
	reacting struct {
		Cause      event.Body
		From, Then phase
	}
)

// The phases in which the turn waits for something, or has ended. In is the phase that
// is continued afterwards.
type (
	// asking: the model has been asked.
	asking struct {
		Call event.ModelCalled
		In   phase
	}
	// running: a tool runs.
	running struct {
		Call event.ToolStarted
		In   phase
	}
	// waiting: a card is open. The turn needs no process.
	waiting struct {
		Card event.CardRaised
		In   phase
	}
	// ended: the turn is over.
	ended struct{}
)

func (choosing) isPhase()   {}
func (placed) isPhase()     {}
func (calling) isPhase()    {}
func (stepping) isPhase()   {}
func (stepped) isPhase()    {}
func (spoken) isPhase()     {}
func (unanswered) isPhase() {}
func (leaving) isPhase()    {}
func (givenUp) isPhase()    {}
func (reacting) isPhase()   {}
func (asking) isPhase()     {}
func (running) isPhase()    {}
func (waiting) isPhase()    {}
func (ended) isPhase()      {}

// nextPhase returns the phase after an event. It cannot fail, because the event has
// already happened.
func nextPhase(p phase, b event.Body) phase {
	from := beforeGivenUp(afterReaction(p))
	switch b := b.(type) {
	case event.TurnStarted:
		return choosing{Run: b.Run}
	case event.PersonCalled:
		return afterPersonCalled(from, b)
	case event.StateEntered:
		return afterMove(from, b)
	case event.ModelCalled:
		return asking{Call: b, In: beforeAsking(from, b)}
	case event.ModelReplied:
		return afterReply(from, b)
	case event.ModelFailed:
		return reacting{Cause: b, From: from, Then: afterModelFailed(from, b)}
	case event.ToolStarted:
		return running{Call: b, In: beforeRunning(from, b)}
	case event.ToolReturned:
		return reacting{Cause: b, From: from, Then: resolveCall(from, b.Call, b.Result, false)}
	case event.ToolFailed:
		return reacting{Cause: b, From: from, Then: resolveCall(from, b.Call, event.Value{}, true)}
	case event.ToolRefused:
		return reacting{Cause: b, From: from, Then: resolveCall(from, b.Call, event.Value{}, true)}
	case event.CardRaised:
		return reacting{Cause: b, From: from, Then: waiting{Card: b, In: from}}
	case event.CardAnswered:
		return reacting{Cause: b, From: from, Then: afterCardAnswered(from, b)}
	case event.CardClosed:
		return withoutCard(from)
	case event.StepDone:
		done := stepped{}
		if s, ok := from.(stepping); ok {
			done.Result = s.Result
		}
		return reacting{Cause: b, From: from, Then: done}
	case event.TurnInterrupted:
		if b.Last {
			return givenUp{In: from}
		}
	case event.TurnEnded:
		return ended{}
	}
	return from
}

// afterReaction returns the phase after the consequences of the last event.
func afterReaction(p phase) phase {
	if r, ok := p.(reacting); ok {
		return r.Then
	}
	return p
}

// beforeGivenUp returns the phase in which a turn was given up; any other phase is
// returned as it is.
func beforeGivenUp(p phase) phase {
	if g, ok := p.(givenUp); ok {
		return g.In
	}
	return p
}

func afterPersonCalled(p phase, b event.PersonCalled) phase {
	c, ok := p.(choosing)
	if !ok || b.Tool == "" {
		return p
	}
	c.Calls = []event.ModelCall{{ID: callID(c.Run, 1), Name: b.Tool, Args: b.Args}}
	return c
}

// afterMove returns the phase in the new state. Calls without a result are kept.
func afterMove(p phase, b event.StateEntered) phase {
	next := calling{Calls: openCalls(p)}
	switch p := p.(type) {
	case calling:
		next = p
	case leaving:
		next.Made = p.Made
	}
	switch {
	case b.Rest:
		return leaving{Calls: next.Calls, Made: next.Made}
	case len(next.Calls) == 0:
		return placed{}
	}
	return next
}

// beforeAsking returns the phase that continues after a model call: in a step state its
// work, elsewhere placed.
func beforeAsking(p phase, b event.ModelCalled) phase {
	if b.Step == nil {
		return placed{}
	}
	s, _ := p.(stepping)
	s.At, s.Ended, s.Unanswered = *b.Step, false, false
	return s
}

func afterReply(p phase, b event.ModelReplied) phase {
	if a, ok := p.(asking); ok && a.Call.Output != "" {
		s, _ := a.In.(stepping)
		s.Ended, s.Said = true, b.Text
		if json.Valid([]byte(b.Text)) {
			s.Result = event.NewValue(json.RawMessage(b.Text))
		}
		return reacting{Cause: b, From: p, Then: s}
	}
	if len(b.Calls) > 0 {
		return calling{Calls: b.Calls, Made: len(b.Calls)}
	}
	return reacting{Cause: b, From: p, Then: spoken{}}
}

func afterModelFailed(p phase, b event.ModelFailed) phase {
	if a, ok := p.(asking); ok {
		p = a.In
	}
	s, ok := p.(stepping)
	if !ok {
		return unanswered{}
	}
	s.Unanswered = true
	if b.Code == fault.ModelBadOutput {
		s.Ended = false
		s.BadOutputs++
		s.Lines = append(s.Lines[:len(s.Lines):len(s.Lines)], line{Role: "assistant", Text: s.Said}, line{Role: "user", Text: b.Message})
	}
	return s
}

// beforeRunning returns the phase that continues after a tool call: the discover steps,
// the work of a step state, or the calls of a reply.
func beforeRunning(p phase, b event.ToolStarted) phase {
	switch {
	case b.Step == nil:
	case b.By == byDiscover:
		if c, ok := p.(choosing); ok {
			c.Discovered = b.Step.Index
			return c
		}
	case b.By == byStep:
		s, _ := p.(stepping)
		s.Unanswered = s.Unanswered && s.At.Alt == b.Step.Alt // another alternative does without the model
		s.At, s.Ended = *b.Step, false
		return s
	}
	return p
}

// resolveCall returns the phase after a call has got its result.
func resolveCall(p phase, call string, result event.Value, failed bool) phase {
	switch p := p.(type) {
	case running:
		if p.Call.Call == call {
			return resolveCall(p.In, call, result, failed)
		}
		p.In = resolveCall(p.In, call, result, failed)
		return p
	case choosing:
		if !slices.ContainsFunc(p.Calls, hasID(call)) {
			p.Discovered++
		}
		p.Calls = withoutCall(p.Calls, call)
		return p
	case stepping:
		p.Ended = true
		if failed {
			p.Failed = true
		} else {
			p.Result = result
		}
		return p
	case calling:
		p.Calls, p.Approval = withoutCall(p.Calls, call), nil
		if len(p.Calls) == 0 {
			return placed{}
		}
		return p
	case leaving:
		p.Calls = withoutCall(p.Calls, call)
		return p
	}
	return p
}

func hasID(call string) func(event.ModelCall) bool {
	return func(c event.ModelCall) bool { return c.ID == call }
}

func withoutCall(calls []event.ModelCall, call string) []event.ModelCall {
	return slices.DeleteFunc(slices.Clone(calls), hasID(call))
}

func afterCardAnswered(p phase, b event.CardAnswered) phase {
	w, ok := p.(waiting)
	if !ok {
		return p
	}
	if c, ok := w.In.(calling); ok && w.Card.Name == approvalCard && w.Card.Call == c.Calls[0].ID {
		c.Approval = &b
		return c
	}
	return w.In
}

func withoutCard(p phase) phase {
	if w, ok := p.(waiting); ok {
		return w.In
	}
	return p
}

// openCalls returns the calls of the model or the person that have no result yet,
// including the one that runs.
func openCalls(p phase) []event.ModelCall {
	switch p := afterReaction(p).(type) {
	case choosing:
		return p.Calls
	case calling:
		return p.Calls
	case leaving:
		return p.Calls
	case running:
		return openCalls(p.In)
	case waiting:
		return openCalls(p.In)
	case givenUp:
		return openCalls(p.In)
	}
	return nil
}

// runningCall returns the tool call that runs, nil if there is none.
func runningCall(p phase) *event.ToolStarted {
	if r, ok := beforeGivenUp(afterReaction(p)).(running); ok {
		return &r.Call
	}
	return nil
}

// modelCall returns the model call that runs, nil if there is none.
func modelCall(p phase) *event.ModelCalled {
	if a, ok := beforeGivenUp(afterReaction(p)).(asking); ok {
		return &a.Call
	}
	return nil
}

// openCard returns the card that waits for an answer, nil if there is none.
func openCard(p phase) *event.CardRaised {
	if w, ok := afterReaction(p).(waiting); ok {
		return &w.Card
	}
	return nil
}
