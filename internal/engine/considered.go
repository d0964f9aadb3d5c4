package engine

import (
	"context"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
)

// Considered returns the moves that the machine of a thread looked at, in the order in which
// they are tried, with what their guards saw. For an event that entered a state they end with
// the move that was made, and those before it were blocked; for an event that the machine
// reacted to (a result, a reply, an answer) they are those out of the state that it stood in.
// Other events have none.
func (e *Engine) Considered(ctx context.Context, thread string, seq int64) ([]machine.Considered, error) {
	cause, at, err := e.findCause(ctx, thread, seq)
	if err != nil {
		return nil, err
	}
	entered, moved := at.Body.(event.StateEntered)
	if !moved && cause != seq {
		return []machine.Considered{}, nil
	}
	if moved && entered.Cause == "start" {
		cause = 0 // what was discovered before it caused nothing
	}
	f, before := newFold(thread), 0 // states that were entered after the cause and before seq
	var trace *machine.Trace
	for ev, err := range Resolved(ctx, e.cfg.Store, thread, 0) {
		if err != nil {
			return nil, notFound(err, thread)
		}
		if cause == 0 && ev.Seq >= seq || ev.Seq > seq {
			break
		}
		if _, ok := ev.Body.(event.StateEntered); ok && trace != nil && ev.Seq < seq {
			before++
		}
		if trace != nil {
			continue
		}
		f.apply(ev)
		if ev.Seq == cause {
			m, err := e.defs.get(ctx, f.Version)
			if err != nil {
				return nil, err
			}
			r := e.newRules(m, f)
			r.trace = &machine.Trace{}
			r.react()
			trace = r.trace
		}
	}
	if trace != nil {
		if before < len(trace.Tried) && trace.Tried[before] != nil {
			return trace.Tried[before], nil
		}
		return []machine.Considered{}, nil
	}
	m, err := e.defs.get(ctx, f.Version)
	if err != nil {
		return nil, err
	}
	r := e.newRules(m, f)
	s := r.scope()
	if entered.Cause == "start" {
		s.Event = r.turnSignal().Env()
		return m.ConsiderStart(s), nil
	}
	return m.ConsiderFrom(entered.From, s), nil
}

// findCause returns the event of a thread with this number, and the number of the one that the
// machine reacted to when it happened; 0 if that was none, as at the start of a turn.
func (e *Engine) findCause(ctx context.Context, thread string, seq int64) (int64, event.Event, error) {
	f := newFold(thread)
	var cause int64
	for ev, err := range Resolved(ctx, e.cfg.Store, thread, 0) {
		if err != nil {
			return 0, ev, notFound(err, thread)
		}
		f.apply(ev)
		switch ev.Body.(type) {
		case event.StateEntered, event.FactsChanged:
		default:
			cause = 0
			if f.Turn != nil {
				if _, ok := f.Turn.Phase.(reacting); ok {
					cause = ev.Seq
				}
			}
		}
		if ev.Seq == seq {
			return cause, ev, nil
		}
	}
	return 0, event.Event{}, fault.New(fault.NotFound, "the thread %s has no event %d", thread, seq)
}
