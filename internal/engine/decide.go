package engine

import (
	"encoding/json"
	"strings"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// rules decides what comes next in a thread. It reads the fold and the definition of the
// thread and does no I/O; what a decision needs from outside is handed in.
type rules struct {
	m           *machine.Machine
	f           *fold
	tools       *tool.Set
	resultBytes int
	trace       *machine.Trace // notes the moves that a reaction looks at, nil for none

	cachedScope    *machine.Scope // after the event cachedScopeSeq, for reading only
	cachedScopeSeq int64
	cachedTurnEnv  map[string]any // what guards see of the run cachedEnvRun after cachedEnvMS milliseconds
	cachedEnvRun   string
	cachedEnvMS    int64
	limits         *turnLimits       // the limits as they were last looked at
	lastRequest    modelInput        // to the model
	blobs          []store.Blob      // for the next batch
	madeBlobs      map[string][]byte // blobs made in this turn
}

// A decideInput is what a decision depends on besides the thread.
type decideInput struct {
	stop    bool    // somebody asked for the end of the turn
	resumed bool    // another process died in the middle of the turn
	found   *lookup // what the last decision asked for
}

// A decision is what comes next in a thread: events, then at most one job that touches
// the outside world. If rest is set, nothing comes next. If lookup is set, the other
// fields are empty, and decide must be called again with what was found.
type decision struct {
	bodies []event.Body
	job    job
	rest   bool
	lookup *lookup
}

// A job is what is to be done once the events of a decision are stored.
type job int

// The jobs. The phase of the turn holds the call that they are about.
const (
	none job = iota
	askModel
	runTool
)

// decide returns what comes next in the thread: first the consequences of the last event,
// then what is to be done in the present phase.
func (r *rules) decide(o decideInput) decision {
	t := r.f.Turn
	if t == nil {
		return decision{rest: true}
	}
	if consequences := r.react(); len(consequences) > 0 {
		return decision{bodies: consequences}
	}
	if o.stop && t.active() {
		return r.endTurn(event.Stopped, fault.Stopped)
	}
	switch p := afterReaction(t.Phase).(type) {
	case waiting, ended:
		return decision{rest: true}
	case givenUp:
		return r.giveUp(p)
	case running:
		return r.decideRunningCall(p, o.resumed)
	case asking:
		return decision{job: askModel}
	case choosing:
		return r.decideStart(p)
	case leaving:
		return r.endTurn(event.Answered, "")
	case calling:
		if p.Approval != nil {
			return r.continueApproved(p.Calls[0], *p.Approval, o.found)
		}
		return r.decideCall(p, o.found)
	default:
		return r.decideWork(p)
	}
}

// decideWork decides in the present state when no call is open.
func (r *rules) decideWork(p phase) decision {
	t := r.f.Turn
	if t.Direct != nil {
		return r.endTurn(event.Answered, "")
	}
	if over := r.overLimit(); over != nil {
		return decision{bodies: append([]event.Body{*over}, r.endTurn(event.Limited, over.Code).bodies...)}
	}
	st := r.m.State(r.f.State)
	if st == nil {
		return r.endTurn(event.Failed, fault.InvalidState)
	}
	switch st.Kind {
	case machine.Agent:
		return r.decideAgent(p)
	case machine.StepK, machine.Final:
		return r.decideStep(st, p)
	case machine.Ask:
		return r.raiseAskCard(st)
	}
	return r.endTurn(event.Failed, fault.InvalidState) // a pass that leads nowhere; the check forbids it
}

// decideRunningCall decides about a call that has started. It runs in the process that
// started it; after a crash it runs again only if the tool does not write.
func (r *rules) decideRunningCall(p running, resumed bool) decision {
	if !resumed {
		return decision{job: runTool}
	}
	c := p.Call
	entry, err := r.findTool(c.Tool)
	if err == nil && entry.Spec().Effect != tool.Writes {
		return decision{job: runTool}
	}
	return decision{bodies: []event.Body{r.newToolFailed(c.Call, c.Tool, event.Value{},
		fault.New(fault.OutcomeUnknown, "the process died while %s ran; whether it finished is unknown", c.Tool))}}
}

// giveUp ends a turn whose process died too often.
func (r *rules) giveUp(p givenUp) decision {
	doing := "between two steps"
	switch in := p.In.(type) {
	case running:
		doing = "while " + in.Call.Tool + " ran"
	case asking:
		doing = "while the model was asked"
	}
	return r.endWithFault(fault.New(fault.Interrupted, "The turn was interrupted %d times, the last time %s, and is not tried again.", r.f.Turn.Interrupted, doing))
}

// decideStart runs the remaining discover steps, then chooses the first state of the turn.
func (r *rules) decideStart(p choosing) decision {
	s := r.scope()
	if r.f.Turn.Direct == nil {
		for i := p.Discovered; i < len(r.m.Discover); i++ {
			if d := r.m.Discover[i]; r.m.Holds(d.When, s) {
				return decision{bodies: []event.Body{r.startStep(d, byDiscover, &event.StepAt{Index: i}, s)}}
			}
		}
	}
	sig := r.turnSignal()
	s.Event = sig.Env()
	choice, err := r.m.Choose(s, r.f.State)
	if err != nil {
		return r.endOnDefect(err)
	}
	re, err := r.m.Begin(s, choice, sig)
	if err != nil {
		return r.endOnDefect(err)
	}
	return decision{bodies: reactionEvents(re)}
}

// turnSignal returns the signal that tells the machine of a new turn.
func (r *rules) turnSignal() machine.Signal {
	return machine.Signal{Name: machine.OnTurn, Fields: map[string]any{"text": r.f.Turn.Text}}
}

// decideAgent asks the model, or ends the turn if the model has answered or failed.
func (r *rules) decideAgent(p phase) decision {
	switch p.(type) {
	case spoken:
		return r.endTurn(event.Answered, "")
	case unanswered:
		return r.endTurn(event.Failed, r.f.Turn.ModelFailed.Code)
	}
	return decision{bodies: []event.Body{r.callModel(nil, nil)}, job: askModel}
}

// raiseAskCard raises the card of an ask state.
func (r *rules) raiseAskCard(st *machine.State) decision {
	s := r.readScope()
	content := map[string]any{}
	for _, a := range st.In {
		v, err := r.m.Eval(a.Expr, s)
		if err != nil {
			return r.endOnDefect(fault.Wrap(err, fault.InvalidState, "the card %s of state %s cannot be filled", st.Card, st.Name))
		}
		content[a.Name] = v
	}
	return decision{bodies: []event.Body{r.newCard(st.Card, content, "")}}
}

// newCard returns the event that raises a card of the machine.
func (r *rules) newCard(name string, content map[string]any, call string) event.CardRaised {
	c := r.m.Cards[name]
	b := event.CardRaised{
		Card: r.cardID(), Name: name, Content: event.EncodeValue(content), State: r.f.State, Call: call,
	}
	if c == nil {
		return b
	}
	b.Title, b.Message = c.Title, c.Message
	for _, a := range c.Answers {
		ch := event.CardChoice{Name: a.Name, Label: a.Label, Key: a.Key}
		for _, fd := range a.Fields {
			if ch.Fields == nil {
				ch.Fields = map[string]string{}
			}
			ch.Fields[fd.Name] = typeName(fd.Type)
		}
		b.Answers = append(b.Answers, ch)
	}
	return b
}

// typeName writes a type of a card's field for clients.
func typeName(t *machine.Type) string {
	switch {
	case t == nil:
		return string(machine.JSON)
	case t.Kind == machine.Enum:
		return "enum(" + strings.Join(t.Values, ", ") + ")"
	case t.Kind == machine.List:
		return "list(" + typeName(t.Of) + ")"
	}
	return string(t.Kind)
}

// cardID returns the id of the next card of the turn.
func (r *rules) cardID() string {
	return r.f.Turn.Run + "_card" + itoa(r.f.Turn.Cards+1)
}

// endOnDefect ends the turn because of an error in the definition, which the check should
// have found.
func (r *rules) endOnDefect(err error) decision {
	return r.endWithFault(fault.From(err))
}

// endWithFault ends the turn as failed and adds the reason to its text.
func (r *rules) endWithFault(f *fault.Fault) decision {
	return withReason(r.endTurn(event.Failed, f.Code), f.Message)
}

// withReason adds to the text of a turn that ends why it does.
func withReason(d decision, reason string) decision {
	for i, b := range d.bodies {
		if e, ok := b.(event.TurnEnded); ok {
			e.Text = strings.TrimSpace(e.Text + "\n\n" + reason)
			d.bodies[i] = e
		}
	}
	return d
}

// newToolFailed returns the result of a call that failed.
func (r *rules) newToolFailed(call, name string, args event.Value, f *fault.Fault) event.ToolFailed {
	row := f.Code.Entry()
	b := event.ToolFailed{
		Call: call, Tool: name, Args: args, Code: f.Code, Message: f.Message, Suggestion: f.Suggestion, Hint: row.Hint, Curable: row.Curable,
	}
	if f.Details != nil {
		if raw, err := json.Marshal(f.Details); err == nil {
			b.Details = event.NewValue(raw)
		}
	}
	used := r.f.Turn.Failures[name]
	if !f.Code.SentBack() && !f.Code.IsSlip() {
		used++
	}
	b.TriesLeft = max(0, r.failuresAllowed()-used)
	if b.TriesLeft == 0 {
		b.Hint = strings.TrimSpace(b.Hint + " " + fault.ToolUsedUp.Entry().Hint)
	}
	return b
}
