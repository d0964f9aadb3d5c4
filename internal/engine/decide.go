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

// rules is a thread with its definition: all that decisions look at. Its methods
// are pure: they read the fold and say what follows.
type rules struct {
	m           *machine.Machine
	f           *fold
	tools       *tool.Set
	resultBytes int
	// version is the one look at the world that a decision takes; what it saw is
	// stored with the call.
	version func(*tool.Entry, json.RawMessage) string
	// fetch gives a stored value its bytes, which the log has fixed for ever.
	fetch func(event.Value) (event.Value, error)

	seen   *machine.Scope // at seenAt, for reading only
	seenAt int64
	held   *bounds           // the limits as they were last looked at
	given  given             // to the model
	blobs  []store.Blob      // for the next batch
	stored map[string][]byte // blobs made in this turn
}

// A decision is what comes next: events that follow without touching the world,
// then at most one job that does. Rest means that nothing comes next.
type decision struct {
	bodies []event.Body
	job    job
	rest   bool
}

// job is the one thing to do after the bodies are stored.
type job int

// The jobs. What to call stands in the fold.
const (
	none job = iota
	askModel
	runTool
)

// decide says what comes next in the thread. resumed is true for the first look
// after another process died: a call that was under way may not be repeated
// blindly.
func (r *rules) decide(resumed bool) decision {
	t := r.f.Turn
	switch {
	case t == nil || t.Ended != "" || t.Card != nil:
		return decision{rest: true}
	case t.GivenUp:
		return r.giveUp()
	case t.Running != nil:
		return r.underWay(resumed)
	case t.Calling != nil:
		return decision{job: askModel}
	case !t.Placed:
		return r.begin()
	case t.Rest:
		return r.end(event.Answered, "")
	case t.Answered != nil && t.Answered.Card.Name == approvalCard && len(t.Pending) > 0 && t.Answered.Card.Call == t.Pending[0].ID:
		return r.approved(t.Pending[0], t.Answered.CardAnswered)
	case len(t.Pending) > 0:
		return r.call(t.Pending[0])
	case t.Direct != nil:
		return r.end(event.Answered, "")
	}
	if over := r.overLimit(); over != nil {
		return decision{bodies: append([]event.Body{*over}, r.end(event.Limited, over.Code).bodies...)}
	}
	st := r.m.State(r.f.State)
	if st == nil {
		return r.end(event.Failed, fault.InvalidState)
	}
	switch st.Kind {
	case machine.Agent:
		return r.agent()
	case machine.StepK, machine.Final:
		return r.step(st)
	case machine.Ask:
		return r.ask(st)
	}
	return r.end(event.Failed, fault.InvalidState) // a pass that leads nowhere; the check forbids it
}

// underWay deals with a call that has begun. In the process that began it, it runs;
// after a crash it runs again only if that is harmless.
func (r *rules) underWay(resumed bool) decision {
	s := r.f.Turn.Running
	if !resumed {
		return decision{job: runTool}
	}
	entry, err := r.tools.Get(s.Tool)
	if err == nil && entry.Spec().Effect != tool.Writes {
		return decision{job: runTool}
	}
	return decision{bodies: []event.Body{r.failure(s.Call, s.Tool, event.Value{},
		fault.New(fault.OutcomeUnknown, "the process died while %s ran; whether it finished is unknown", s.Tool))}}
}

// giveUp ends a turn whose process died again and again, whatever may be to blame.
func (r *rules) giveUp() decision {
	t := r.f.Turn
	doing := "between two steps"
	switch {
	case t.Running != nil:
		doing = "while " + t.Running.Tool + " ran"
	case t.Calling != nil:
		doing = "while the model was asked"
	}
	return r.endWith(fault.New(fault.Interrupted, "The turn was interrupted %d times, the last time %s, and is not tried again.", t.Interrupted, doing))
}

// begin runs the discover steps that are left, then chooses the state.
func (r *rules) begin() decision {
	s := scope(r.m, r.f)
	t := r.f.Turn
	if t.Direct == nil {
		for i := t.Discovered; i < len(r.m.Discover); i++ {
			if d := r.m.Discover[i]; r.m.Holds(d.When, s) {
				return decision{bodies: []event.Body{r.startStep(d, byDiscover, &event.StepAt{Index: i}, s)}}
			}
		}
	}
	sig := r.turnSignal()
	s.Event = sig.Env()
	choice, err := r.m.Choose(s, r.f.State)
	if err != nil {
		return r.broken(err)
	}
	re, err := r.m.Begin(s, choice, sig)
	if err != nil {
		return r.broken(err)
	}
	return decision{bodies: bodies(re)}
}

func (r *rules) turnSignal() machine.Signal {
	return machine.Signal{Name: machine.OnTurn, Fields: map[string]any{"text": r.f.Turn.Text}}
}

// agent ends the turn if the model has said its last word, else asks it.
func (r *rules) agent() decision {
	t := r.f.Turn
	switch {
	case t.FinalSaid:
		return r.end(event.Answered, "")
	case t.FailureOpen:
		return r.end(event.Failed, t.ModelFailed.Code)
	}
	return decision{bodies: []event.Body{r.modelCall(nil, nil)}, job: askModel}
}

// ask raises the card of an ask state.
func (r *rules) ask(st *machine.State) decision {
	s := r.look()
	content := map[string]any{}
	for _, a := range st.In {
		v, err := r.m.Eval(a.Expr, s)
		if err != nil {
			return r.broken(fault.Wrap(err, fault.InvalidState, "the card %s of state %s cannot be filled", st.Card, st.Name))
		}
		content[a.Name] = v
	}
	return decision{bodies: []event.Body{r.card(st.Card, content, "")}}
}

// card makes the event that raises a card of the machine.
func (r *rules) card(name string, content map[string]any, call string) event.CardRaised {
	c := r.m.Cards[name]
	b := event.CardRaised{
		Card: r.cardID(), Name: name, Content: event.From(content), State: r.f.State, Call: call,
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

func (r *rules) cardID() string {
	return r.f.Turn.Run + "_card" + itoa(r.f.Turn.Cards+1)
}

// broken ends the turn because the definition could not go on: a defect that the
// check should have found, told as such.
func (r *rules) broken(err error) decision {
	return r.endWith(fault.From(err))
}

// endWith fails the turn and tells the person why.
func (r *rules) endWith(f *fault.Fault) decision {
	d := r.end(event.Failed, f.Code)
	for i, b := range d.bodies {
		if e, ok := b.(event.TurnEnded); ok {
			e.Text = strings.TrimSpace(e.Text + "\n\n" + f.Message)
			d.bodies[i] = e
		}
	}
	return d
}

// failure makes the one result of a call that failed.
func (r *rules) failure(call, name string, args event.Value, f *fault.Fault) event.ToolFailed {
	row := f.Code.Entry()
	b := event.ToolFailed{
		Call: call, Tool: name, Args: args, Code: f.Code, Message: f.Message, Suggestion: f.Suggestion, Hint: row.Hint, Curable: row.Curable,
	}
	if f.Details != nil {
		if raw, err := json.Marshal(f.Details); err == nil {
			b.Details = event.Of(raw)
		}
	}
	used := r.f.Turn.Failures[name]
	if f.Code != fault.EmptyPythonRetried {
		used++
	}
	b.TriesLeft = max(0, r.failuresAllowed()-used)
	if b.TriesLeft == 0 {
		b.Hint = strings.TrimSpace(b.Hint + " " + fault.ToolUsedUp.Entry().Hint)
	}
	return b
}
