package engine

import (
	"net/http"
	"strings"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
)

// endTurn returns the events with which a turn ends: every open call gets its result, an
// open card is closed, and the reply is computed. With the status Answered the turn ended
// by itself, and turnOutcome decides its status.
func (r *rules) endTurn(status event.Outcome, code fault.Code) decision {
	t := r.f.Turn
	var out []event.Body
	if card := openCard(t.Phase); card != nil {
		out = append(out, event.CardClosed{Card: card.Card, Cause: "the turn ended"})
	}
	if c := modelCall(t.Phase); c != nil {
		out = append(out, event.ModelFailed{Call: c.Call, Code: codeOr(code, fault.Stopped), Message: "the turn ended before the model had answered"})
	}
	ran := runningCall(t.Phase)
	for _, c := range openCalls(t.Phase) {
		if ran == nil || ran.Call != c.ID {
			out = append(out, r.newToolRefused(c, fault.New(codeOr(code, fault.InvalidState), "the turn ended before %s was dealt with", c.Name)))
		}
	}
	if ran != nil {
		out = append(out, r.newToolFailed(ran.Call, ran.Tool, event.Value{}, fault.New(codeOr(code, fault.Stopped), "the turn ended while %s ran", ran.Tool)))
	}
	s := r.readScope()
	if status == event.Answered {
		status, code = r.turnOutcome(s)
	}
	text := t.Final
	if t.Direct != nil {
		text = t.Direct.Say
	}
	if text == "" && t.Direct == nil {
		text = t.Said
	}
	if text == "" && t.ModelFailed != nil {
		text = withAdvice(*t.ModelFailed)
	}
	if text == "" && status == event.Limited {
		text = code.Explain()
	}
	reply := r.m.ReplyAt(s, TurnError(string(status), code))
	if words, ok := reply[replyMessage].(string); ok {
		text = words
	}
	delete(reply, replyMessage)
	b := event.TurnEnded{
		Run: t.Run, Status: status, Code: code, Text: text, State: r.f.State, Usage: t.Used, Counts: t.Counts,
	}
	if len(reply) > 0 {
		b.Reply = event.EncodeValue(reply)
	}
	return decision{bodies: append(out, b)}
}

// TurnError returns `event.error` of a machine's `reply`. It is nil unless the turn failed
// or reached a limit, and a code says why.
func TurnError(outcome string, code fault.Code) map[string]any {
	if code == "" || outcome != string(event.Failed) && outcome != string(event.Limited) {
		return nil
	}
	return map[string]any{"type": string(code), "message": code.Explain()}
}

// turnOutcome returns the outcome of a turn that ended by itself: the one that the
// machine's `outcome` gives, else the one of the model's last reply or of the person's call.
func (r *rules) turnOutcome(s *machine.Scope) (event.Outcome, fault.Code) {
	t := r.f.Turn
	switch {
	case t.Direct != nil && t.Direct.Say != "":
		return event.Declined, ""
	case t.ModelFailed != nil && t.ModelFailed.Code == fault.ModelRefused:
		return event.Declined, t.ModelFailed.Code
	case t.ModelFailed != nil:
		return event.Failed, t.ModelFailed.Code
	}
	if r.m.Outcome != nil {
		if v, err := r.m.Eval(r.m.Outcome, s); err == nil && v != nil {
			if word, ok := v.(string); ok && machine.IsOutcome(word) {
				return event.Outcome(word), ""
			}
		}
	}
	switch {
	case t.Direct != nil && t.DirectEnded != "":
		return t.DirectEnded, ""
	}
	return replyOutcome(t.FinalStop), ""
}

// replyOutcome is what a reply without a call does with the question: it answers, asks
// back or declines.
func replyOutcome(stop string) event.Outcome {
	switch stop {
	case llm.StopRefusal:
		return event.Declined
	case llm.StopQuestion:
		return event.Asked
	}
	return event.Answered
}

// callOutcome returns the outcome of a turn in which the person's own call failed.
func callOutcome(code fault.Code) event.Outcome {
	if code.Entry().Status == http.StatusForbidden {
		return event.Refused
	}
	return event.Failed
}

// withAdvice tells the person why a model did not answer and what to do about it.
func withAdvice(f event.ModelFailed) string {
	if f.Suggestion == "" {
		return f.Message
	}
	return strings.TrimRight(f.Message, ". ") + ". " + f.Suggestion
}

// replyMessage is the key of `reply:` that gives the answer's text, for machines
// whose answer is made by a step and not said by a model.
const replyMessage = "message"

func codeOr(code, def fault.Code) fault.Code {
	if code == "" {
		return def
	}
	return code
}

// The limits of a turn where the machine names none.
const (
	defaultIterations = 25
	defaultSeconds    = 300
	defaultTokens     = 200_000
	defaultDollars    = 1.0
)

// turnLimits are the limits of a turn.
type turnLimits struct {
	iterations, seconds, tokens int
	dollars                     float64
}

// currentLimits returns the limits that hold in the present state.
func (r *rules) currentLimits() turnLimits {
	s := r.readScope()
	of := func(l *machine.Limits) turnLimits {
		return turnLimits{
			r.m.Int(l.Iterations, s, defaultIterations), r.m.Int(l.Seconds, s, defaultSeconds), r.m.Int(l.Tokens, s, defaultTokens),
			r.m.Float(l.Dollars, s, defaultDollars),
		}
	}
	if st := r.m.State(r.f.State); st != nil && st.Limits != nil {
		return of(st.Limits)
	}
	return of(&r.m.Limits)
}

// overLimit returns the limit that the turn has reached, nil if there is none.
func (r *rules) overLimit() *event.LimitReached {
	t := r.f.Turn
	b := r.currentLimits()
	r.limits = &b
	used := func(code fault.Code, limit, used float64) *event.LimitReached {
		if used < limit {
			return nil
		}
		return &event.LimitReached{Code: code, Limit: limit, Used: used}
	}
	if _, over := afterReaction(t.Phase).(spoken); over {
		return nil // it ends by itself
	}
	for _, l := range []*event.LimitReached{
		used(fault.LimitIterations, float64(b.iterations), float64(t.Models)),
		used(fault.LimitSeconds, float64(b.seconds), t.elapsed(r.f.Now).Seconds()),
		used(fault.LimitTokens, float64(b.tokens), float64(t.Used.Input+t.Used.Output)),
		used(fault.LimitDollars, b.dollars, float64(t.Used.MicroUSD)/1e6),
	} {
		if l != nil {
			return l
		}
	}
	return nil
}
