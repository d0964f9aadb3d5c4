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
// are pure: they read the fold and say what follows. What lies outside the thread is
// looked up before and handed in.
type rules struct {
	m           *machine.Machine
	f           *fold
	tools       *tool.Set
	resultBytes int

	view   *machine.Scope // at viewAt, for reading only
	viewAt int64
	env    map[string]any // what guards see of the run envRun after envAt milliseconds
	envRun string
	envAt  int64
	held   *bounds           // the limits as they were last looked at
	given  given             // to the model
	blobs  []store.Blob      // for the next batch
	stored map[string][]byte // blobs made in this turn
}

// outside is what a decision depends on beside the thread.
type outside struct {
	stop    bool    // somebody asked for the end of the turn
	resumed bool    // another process died in the middle of the turn
	found   *lookup // what the last decision asked for
}

// A decision is what comes next: events that follow without touching the world,
// then at most one job that does. Rest means that nothing comes next. A decision that
// needs to know something asks for it and says nothing else; it is then made again.
type decision struct {
	bodies []event.Body
	job    job
	rest   bool
	ask    *lookup
}

// job is the one thing to do after the bodies are stored.
type job int

// The jobs. What to call stands in the fold.
const (
	none job = iota
	askModel
	runTool
)

// decide says what comes next in the thread: first what the last event brings with it,
// then what is to be done in the present phase.
func (r *rules) decide(o outside) decision {
	t := r.f.Turn
	if t == nil {
		return decision{rest: true}
	}
	if consequences := r.react(); len(consequences) > 0 {
		return decision{bodies: consequences}
	}
	if o.stop && t.active() {
		return r.end(event.Stopped, fault.Stopped)
	}
	switch p := settled(t.Phase).(type) {
	case waiting, ended:
		return decision{rest: true}
	case givenUp:
		return r.giveUp(p)
	case running:
		return r.underWay(p, o.resumed)
	case asking:
		return decision{job: askModel}
	case choosing:
		return r.begin(p)
	case leaving:
		return r.end(event.Answered, "")
	case calling:
		if p.Approval != nil {
			return r.approved(p.Calls[0], *p.Approval, o.found)
		}
		return r.call(p, o.found)
	default:
		return r.work(p)
	}
}

// work goes on in the present state, where no call is open.
func (r *rules) work(p phase) decision {
	t := r.f.Turn
	if t.Direct != nil {
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
		return r.agent(p)
	case machine.StepK, machine.Final:
		return r.step(st, p)
	case machine.Ask:
		return r.ask(st)
	}
	return r.end(event.Failed, fault.InvalidState) // a pass that leads nowhere; the check forbids it
}

// underWay deals with a call that has begun. In the process that began it, it runs;
// after a crash it runs again only if that is harmless.
func (r *rules) underWay(p running, resumed bool) decision {
	if !resumed {
		return decision{job: runTool}
	}
	c := p.Call
	entry, err := r.tools.Get(c.Tool)
	if err == nil && entry.Spec().Effect != tool.Writes {
		return decision{job: runTool}
	}
	return decision{bodies: []event.Body{r.failure(c.Call, c.Tool, event.Value{},
		fault.New(fault.OutcomeUnknown, "the process died while %s ran; whether it finished is unknown", c.Tool))}}
}

// giveUp ends a turn whose process died again and again, whatever may be to blame.
func (r *rules) giveUp(p givenUp) decision {
	doing := "between two steps"
	switch in := p.In.(type) {
	case running:
		doing = "while " + in.Call.Tool + " ran"
	case asking:
		doing = "while the model was asked"
	}
	return r.endWith(fault.New(fault.Interrupted, "The turn was interrupted %d times, the last time %s, and is not tried again.", r.f.Turn.Interrupted, doing))
}

// begin runs the discover steps that remain, then chooses the state.
func (r *rules) begin(p choosing) decision {
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

// agent ends the turn if the model has given its answer or failed, else asks it.
func (r *rules) agent(p phase) decision {
	switch p.(type) {
	case spoken:
		return r.end(event.Answered, "")
	case unanswered:
		return r.end(event.Failed, r.f.Turn.ModelFailed.Code)
	}
	return decision{bodies: []event.Body{r.callModel(nil, nil)}, job: askModel}
}

// ask raises the card of an ask state.
func (r *rules) ask(st *machine.State) decision {
	s := r.readScope()
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
	if !f.Code.SentBack() {
		used++
	}
	b.TriesLeft = max(0, r.failuresAllowed()-used)
	if b.TriesLeft == 0 {
		b.Hint = strings.TrimSpace(b.Hint + " " + fault.ToolUsedUp.Entry().Hint)
	}
	return b
}
