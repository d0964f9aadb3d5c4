package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
)

// maxText bounds a message in bytes.
const maxText = 256 << 10

// Open creates a thread of a machine. The thread keeps the present version of the
// machine's definition.
func (e *Engine) Open(ctx context.Context, o Opening) (string, error) {
	id, t, err := e.newThread(o)
	if err != nil {
		return "", err
	}
	defer e.releaseThread(id, t)
	if err := t.commit(ctx); err != nil {
		return "", err
	}
	return id, nil
}

// Start creates a thread with its first turn in one batch. If the input is refused, no
// thread is created.
func (e *Engine) Start(ctx context.Context, o Opening, in Input) (thread, run string, err error) {
	if err := in.checkSize(); err != nil {
		return "", "", err
	}
	thread, t, err := e.newThread(o)
	if err != nil {
		return "", "", err
	}
	started := false
	defer func() {
		if !started {
			e.releaseThread(thread, t)
		}
	}()
	if err := t.receive(in); err != nil {
		return "", "", err
	}
	if err := e.acquireLease(ctx, thread, t); err != nil {
		return "", "", err
	}
	if err := t.commit(ctx); err != nil {
		return "", "", err
	}
	started = true
	run = t.f.Turn.Run
	e.launch(thread, t)
	return thread, run, nil
}

// newThread makes a thread with its first event, which is not stored yet. The caller owns
// the thread.
func (e *Engine) newThread(o Opening) (string, *turn, error) {
	m, err := e.cfg.Machines.Get(o.Machine)
	if err != nil {
		return "", nil, err
	}
	set, err := checkSettings(m, o.Settings)
	if err != nil {
		return "", nil, err
	}
	id := e.cfg.NewID("t")
	t, err := e.claimThread(id, toRun)
	if err != nil {
		return "", nil, err
	}
	t.setFold(newFold(id), m)
	t.blobs = []store.Blob{e.defs.add(m)}
	t.emit(event.ThreadOpened{Owner: o.Owner, Machine: m.Name, Version: m.Hash, Title: o.Title, Dataset: o.Dataset, Settings: set})
	return id, t, nil
}

// checkSize refuses messages that are too long.
func (in Input) checkSize() error {
	if len(in.Text) > maxText {
		return fault.New(fault.TooLarge, "the message has %d bytes; %d are allowed", len(in.Text), maxText)
	}
	return nil
}

// Send passes a message, the answer to a card, a command or a direct call to a thread. It
// returns once that is stored; the turn then runs in its own goroutine.
func (e *Engine) Send(ctx context.Context, thread string, in Input) (run string, err error) {
	if err := in.checkSize(); err != nil {
		return "", err
	}
	if err := e.waitForRest(ctx, thread); err != nil {
		return "", err
	}
	t, err := e.takeOwnership(ctx, thread, toRun)
	if err != nil {
		return "", err
	}
	started := false
	defer func() {
		if !started {
			e.releaseThread(thread, t)
		}
	}()
	if err := t.loadThread(ctx, thread); err != nil {
		return "", err
	}
	if t.f.active() && openCard(t.f.Turn.Phase) == nil {
		if err := e.stalledError(thread); err != nil {
			return "", err
		}
		return "", fault.New(fault.ThreadBusy, "the thread %s has an unfinished turn whose process died", thread).
			Suggest("Wait until it has ended: a server takes it over within %s, and `interlock chat --thread %s` at once. Or stop it: `interlock thread stop %s`.", e.cfg.Lease, thread, thread)
	}
	if err := t.receive(in); err != nil {
		if len(t.pending) > 0 { // the fold is ahead of the log: the next caller reads it from there
			t.f, t.pending = nil, nil
		}
		return "", err
	}
	if err := t.commit(ctx); err != nil {
		return "", err
	}
	run, started = t.f.Turn.Run, true
	e.launch(thread, t)
	return run, nil
}

// launch runs the turn in a goroutine of its own, which outlives the request.
func (e *Engine) launch(thread string, t *turn) {
	e.wg.Go(func() {
		defer e.releaseThread(thread, t)
		if err := t.runRecovering(); err != nil && !errors.Is(err, context.Canceled) {
			t.failed = err
			e.stallTurn(thread, t)
		}
	})
}

// receive emits the events of an input.
func (t *turn) receive(in Input) error {
	text := strings.TrimSpace(truncateText(in.Text, maxText))
	card := t.openCard()
	switch {
	case in.Card != nil && t.namesOtherDataset(in):
		return fault.New(fault.BadRequest, "the card belongs to a turn about %q, and the answer names the dataset %q", t.f.Turn.Dataset, in.Dataset).
			Suggest("Answer without a dataset, or ask about the other one in a new message.")
	case in.Card != nil:
		return t.answerCard(in, *in.Card, "")
	case in.OpenCard != "" && (card == nil || card.Card != in.OpenCard):
		return newCardClosed(in.OpenCard)
	case in.Command != nil:
		return t.giveCommand(in)
	case in.Direct != nil:
		t.closeOpenCard("a new call was made")
		if err := t.beginRun(in, event.TurnStarted{Text: text}); err != nil {
			return err
		}
		t.emit(event.PersonCalled{Tool: in.Direct.Tool, Args: event.NewValue(in.Direct.Args), By: byDirect})
		return nil
	case text == "":
		return fault.New(fault.BadRequest, "there is no message").Suggest("Send a message, the answer to a card, or a command.")
	case card != nil && card.Message != "" && !t.namesOtherDataset(in):
		return t.answerCard(in, CardAnswer{Card: card.Card, Answer: card.Message, Fields: t.messageFields(card, text)}, text)
	}
	t.closeOpenCard("a new message came")
	if err := t.beginRun(in, event.TurnStarted{Text: text}); err != nil {
		return err
	}
	if called := t.findShortcut(text); called != nil {
		t.emit(*called)
	}
	return nil
}

// namesOtherDataset reports whether an input is about another dataset than the turn that
// waits. Such an input cannot answer the turn's card.
func (t *turn) namesOtherDataset(in Input) bool {
	return t.f.active() && in.Dataset != "" && t.f.Turn.Dataset != "" && in.Dataset != t.f.Turn.Dataset
}

func (t *turn) openCard() *event.CardRaised {
	if !t.f.active() {
		return nil
	}
	return openCard(t.f.Turn.Phase)
}

// closeOpenCard closes the open card, if there is one, and ends its run.
func (t *turn) closeOpenCard(cause string) {
	if card := t.openCard(); card != nil {
		t.emit(event.CardClosed{Card: card.Card, Cause: cause})
		t.emit(t.withFigures(t.r.endTurn(event.Stopped, fault.CardClosed).bodies)...)
	}
}

// beginRun emits the start of a run, resets the facts that last for one turn, and runs the
// machine's effects of a new turn.
func (t *turn) beginRun(in Input, b event.TurnStarted) error {
	set, err := checkSettings(t.r.m, in.Settings)
	if err != nil {
		return err
	}
	b.Settings = set
	b.Run, b.User, b.Dataset, b.Attachments = t.e.cfg.NewID("r"), in.User, in.Dataset, in.Attachments
	b.Rerun = rerunAsked(t.r.m, in)
	if m, err := t.e.cfg.Models.Model(""); err == nil {
		b.Model, b.Context = m.Name(), llm.ContextTokens(m)
	}
	t.emit(b)
	t.nameSaying(in)
	s := t.r.scope()
	if fc, changed := newFactsChanged(t.r.m.NewTurn(s), "turn"); changed {
		t.emit(fc)
	}
	t.emit(reactionEvents(t.r.m.RunEffects(t.r.scope(), t.r.turnSignal()))...)
	return nil
}

// nameSaying stores the last event under the name that the client gave it.
func (t *turn) nameSaying(in Input) {
	if in.Name != "" {
		t.said = store.Saying{Owner: t.f.Owner, Name: in.Name, Thread: t.f.Thread, Run: t.f.Turn.Run, Seq: t.f.Seq}
	}
}

// findShortcut returns the call that the prefix of a message stands for: that of the first
// shortcut with the prefix whose guard holds. If no guard holds the call is denied; a
// message with such a prefix is never read as a question.
func (t *turn) findShortcut(text string) *event.PersonCalled {
	var denied *event.PersonCalled
	s := t.r.scope()
	for _, sc := range t.r.m.Short {
		if len(text) < len(sc.Prefix) || !strings.EqualFold(text[:len(sc.Prefix)], sc.Prefix) {
			continue
		}
		s.Event = map[string]any{"name": machine.OnTurn, "text": text, "rest": strings.TrimSpace(text[len(sc.Prefix):])}
		args := map[string]any{}
		for _, a := range sc.In {
			if v, err := t.r.m.Eval(a.Expr, s); err == nil && v != nil {
				args[a.Name] = v
			}
		}
		called := &event.PersonCalled{Tool: sc.Tool, Args: event.EncodeValue(args), By: byShortcut}
		if sc.Say != "" {
			called = &event.PersonCalled{Say: sc.Say, By: byShortcut}
		}
		if t.r.m.Holds(sc.When, s) {
			return called
		}
		if denied == nil && sc.Tool != "" {
			denied = called
			denied.Denied = &event.Denial{Tool: sc.Tool, Code: fault.ToolNotAllowed, When: sc.When.Source, Saw: t.r.m.GuardValues(sc.When, s)}
			if sc.BySettings {
				denied.Denied.Code = fault.FeatureDisabled
			}
		}
	}
	return denied
}

// messageFields puts a plain message into the text field of a card's answer.
func (t *turn) messageFields(card *event.CardRaised, text string) map[string]any {
	if c := t.r.m.Cards[card.Name]; c != nil {
		if a := c.Answer(card.Message); a != nil {
			for _, f := range a.Fields {
				if f.Type.Kind == machine.String {
					return map[string]any{f.Name: text}
				}
			}
		}
	}
	return nil
}

func newCardClosed(card string) *fault.Fault {
	return fault.New(fault.CardClosed, "the card %q is not open", card)
}

// answerCard checks and emits the answer to the open card. text is the message that was
// taken for an answer, "" if the card was answered directly.
func (t *turn) answerCard(in Input, a CardAnswer, text string) error {
	set, err := checkSettings(t.r.m, in.Settings)
	if err != nil {
		return err
	}
	card := t.openCard()
	if card == nil || card.Card != a.Card {
		return newCardClosed(a.Card)
	}
	i := slices.IndexFunc(card.Answers, func(c event.CardChoice) bool { return c.Name == a.Answer })
	if i < 0 {
		names := make([]string, len(card.Answers))
		for i, c := range card.Answers {
			names[i] = c.Name
		}
		return fault.New(fault.BadAnswer, "the card has no answer %q; it takes %s", truncateText(a.Answer, 100), strings.Join(names, ", ")).With(card.Answers)
	}
	if decl := t.r.m.Cards[card.Name]; decl != nil && card.Name != approvalCard {
		ans := decl.Answer(a.Answer)
		if ans == nil {
			return fault.New(fault.BadAnswer, "the card has no answer %q", a.Answer)
		}
		fields, err := fitFields(ans.Fields, a.Fields)
		if err != nil {
			return err
		}
		a.Fields = fields
		if err := t.r.checkAnswerGuard(ans, *card, a); err != nil {
			return err
		}
		if cmd := t.r.m.Command(ans.Command); cmd != nil {
			if err := t.r.checkCommand(cmd); err != nil {
				return err
			}
		}
	}
	t.emit(event.CardAnswered{Card: a.Card, Answer: a.Answer, Fields: a.Fields, Note: truncateText(a.Note, maxText), Text: text, User: in.User, Settings: set})
	t.nameSaying(in)
	t.emitConsequences()
	return nil
}

// checkAnswerGuard refuses an answer whose guard does not hold. The card stays open.
func (r *rules) checkAnswerGuard(ans *machine.Answer, card event.CardRaised, a CardAnswer) error {
	s := r.scope()
	s.Event = machine.Signal{Name: machine.OnAnswered, Card: card.Name, Fields: map[string]any{
		"content": card.Content.Decode(), "answer": a.Answer, "fields": a.Fields, "note": a.Note,
	}}.Env()
	if r.m.Holds(ans.When, s) {
		return nil
	}
	refused := fault.New(fault.BadAnswer, "the answer %s is taken only when %s", a.Answer, ans.When.Source)
	if v, err := r.m.Eval(ans.Otherwise, s); err == nil && v != nil {
		refused.Message, _ = v.(string)
	}
	return refused.With(card.Answers).Suggest("Answer again: the card is still open.")
}

// checkCommand returns an error that says why a command may not be given now.
func (r *rules) checkCommand(c *machine.Command) error {
	s := r.scope()
	if len(c.From) > 0 && !slices.Contains(c.From, r.f.State) {
		return fault.New(fault.BadCommand, "%s is possible in %s, and the thread is in %q", c.Name, strings.Join(c.From, ", "), r.f.State)
	}
	if !r.m.Holds(c.When, s) {
		return fault.New(fault.BadCommand, "%s is possible only when %s", c.Name, c.When.Source).With(r.m.GuardValues(c.When, s))
	}
	return nil
}

// giveCommand begins a turn with a command of the person.
func (t *turn) giveCommand(in Input) error {
	given := *in.Command
	c := t.r.m.Command(given.Name)
	if c == nil {
		return fault.New(fault.BadCommand, "the machine %s has no command %q", t.r.m.Name, given.Name)
	}
	if err := t.r.checkCommand(c); err != nil {
		return err
	}
	fields, err := fitFields(c.Fields, given.Fields)
	if err != nil {
		return err
	}
	t.closeOpenCard("the command " + c.Name + " was given")
	if err := t.beginRun(in, event.TurnStarted{Text: c.Label}); err != nil {
		return err
	}
	sig := machine.Signal{Name: machine.OnCommand, Command: c.Name, Fields: map[string]any{"fields": fields}}
	re, err := t.r.m.Enter(t.r.scope(), c.To, sig, nil, &c.Writes)
	if err != nil {
		return err
	}
	var dropped []string
	for _, a := range re.Acts {
		dropped = append(dropped, a.Change.Dropped...)
	}
	t.emit(event.CommandGiven{Command: c.Name, User: in.User, Fields: fields, Dropped: dropped})
	t.emit(reactionEvents(re)...)
	return nil
}

// Direct makes one call in a new thread of a machine, without a model.
func (e *Engine) Direct(ctx context.Context, o Opening, user, tool string, args json.RawMessage) (thread, run string, err error) {
	return e.Start(ctx, o, Input{User: user, Dataset: o.Dataset, Direct: &Direct{Tool: tool, Args: args}})
}
