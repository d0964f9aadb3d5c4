package server_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// fake is an engine in memory whose turns are scripts (fake_script_test.go). It
// keeps the contract of the real one: events are stored before they are seen, a
// late follower gets the text so far, a turn outlives the request that began it.
type fake struct {
	pace time.Duration // between tokens

	wg      sync.WaitGroup
	mu      sync.Mutex
	nextID  int
	threads map[string]*fakeThread
	order   []string
	runs    []*store.Run
}

type fakeThread struct {
	head    store.Thread
	all     []event.Event // transient ones too
	partial map[string]string
	grew    chan struct{}
	stop    context.CancelFunc
	card    *event.CardRaised
	msgs    []engine.Message
	made    []event.ArtifactMade
	set     map[string]any
	calls   int // of the model, by the goroutine of the turn
}

func newFake() *fake { return &fake{threads: map[string]*fakeThread{}} }

// id must be called with the lock held.
func (f *fake) id(prefix string) string {
	f.nextID++
	return fmt.Sprintf("%s_%04d", prefix, f.nextID)
}

func (f *fake) Open(_ context.Context, o engine.Opening) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.Machine == "nowhere" {
		return "", fault.New(fault.MachineNotFound, "there is no machine %q", o.Machine)
	}
	if _, ok := o.Settings["wrong"]; ok {
		return "", fault.New(fault.BadSetting, "there is no setting wrong")
	}
	id := f.id("t")
	f.threads[id] = &fakeThread{
		head: store.Thread{
			ID: id, Owner: o.Owner, Machine: o.Machine, Version: "v1", Title: o.Title, Dataset: o.Dataset,
			Status: store.Idle, Created: time.Now(), Updated: time.Now(),
		},
		partial: map[string]string{}, grew: make(chan struct{}), set: o.Settings,
	}
	f.order = append(f.order, id)
	f.record(f.threads[id], event.ThreadOpened{Owner: o.Owner, Machine: o.Machine, Version: "v1", Title: o.Title})
	return id, nil
}

// record appends stored events; the lock is held.
func (f *fake) record(t *fakeThread, bodies ...event.Body) {
	for _, b := range bodies {
		t.head.Seq++
		t.head.Updated = time.Now()
		switch e := b.(type) {
		case event.ModelReplied:
			delete(t.partial, e.Call)
		case event.StateEntered:
			t.head.State = e.To
		case event.ArtifactMade:
			t.made = append(t.made, e)
		}
		t.all = append(t.all, event.Event{Thread: t.head.ID, Seq: t.head.Seq, Time: time.Now(), Body: b})
	}
	close(t.grew)
	t.grew = make(chan struct{})
}

// show sends a transient event; the lock is held.
func (f *fake) show(t *fakeThread, b event.Body) {
	if tok, ok := b.(event.Token); ok {
		t.partial[tok.Call] += tok.Text
	}
	t.all = append(t.all, event.Event{Thread: t.head.ID, Time: time.Now(), Body: b})
	close(t.grew)
	t.grew = make(chan struct{})
}

func (f *fake) Send(_ context.Context, thread string, in engine.Input) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.threads[thread]
	if t.head.Status == store.Running {
		return "", fault.New(fault.ThreadBusy, "a turn is running in %s", thread)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.stop = stop
	if in.Card != nil {
		if t.card == nil || t.card.Card != in.Card.Card {
			stop()
			return "", fault.New(fault.CardClosed, "the card %s is no longer open", in.Card.Card)
		}
		run := t.head.Run
		t.card = nil
		t.head.Status = store.Running
		f.record(t, event.CardAnswered{Card: in.Card.Card, Answer: in.Card.Answer, Fields: in.Card.Fields, User: in.User})
		f.play(ctx, t, run, "answered "+in.Card.Answer)
		return run, nil
	}
	if in.Command != nil && in.Command.Name == "unknown" {
		stop()
		return "", fault.New(fault.BadCommand, "there is no command %q", in.Command.Name)
	}
	run := f.id("r")
	t.head.Run, t.head.Status, t.card = run, store.Running, nil
	text := in.Text
	if in.Command != nil {
		text = "command " + in.Command.Name
	}
	f.runs = append(f.runs, &store.Run{
		ID: run, Thread: thread, Owner: t.head.Owner, Machine: t.head.Machine, Dataset: in.Dataset,
		Question: text, Status: store.Running, First: t.head.Seq + 1, Started: time.Now(),
	})
	t.msgs = append(t.msgs, engine.Message{Role: "user", Content: text, DatasetID: in.Dataset, RunID: run, CreatedAt: time.Now()})
	f.record(t, event.TurnStarted{Run: run, User: in.User, Text: in.Text, Dataset: in.Dataset})
	if in.Command != nil {
		f.record(t, event.CommandGiven{Command: in.Command.Name, User: in.User, Dropped: []string{"rules"}})
	}
	f.play(ctx, t, run, text)
	return run, nil
}

func (f *fake) play(ctx context.Context, t *fakeThread, run, text string) {
	f.wg.Go(func() {
		s := &script{f: f, t: t, run: run, ctx: ctx}
		s.play(text)
	})
}

// Start is Open and Send; what Send refuses leaves no thread.
func (f *fake) Start(ctx context.Context, o engine.Opening, in engine.Input) (thread, run string, err error) {
	if thread, err = f.Open(ctx, o); err != nil {
		return "", "", err
	}
	if run, err = f.Send(ctx, thread, in); err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.threads, thread)
		f.order = slices.DeleteFunc(f.order, func(id string) bool { return id == thread })
		return "", "", err
	}
	return thread, run, nil
}

func (f *fake) Direct(ctx context.Context, o engine.Opening, user, tool string, args json.RawMessage) (thread, run string, err error) {
	if thread, err = f.Open(ctx, o); err != nil {
		return "", "", err
	}
	run, err = f.Send(ctx, thread, engine.Input{User: user, Text: "direct " + tool + " " + string(args), Dataset: o.Dataset})
	return thread, run, err
}

func (f *fake) Stop(_ context.Context, thread string) error {
	f.mu.Lock()
	t := f.threads[thread]
	if t.stop != nil {
		t.stop()
	}
	f.mu.Unlock()
	return f.Wait(context.Background(), thread)
}

func (f *fake) Fork(ctx context.Context, thread string, seq int64, owner string) (string, error) {
	f.mu.Lock()
	from := f.threads[thread].head
	f.mu.Unlock()
	if seq > from.Seq {
		return "", fault.New(fault.BadRequest, "thread %s ends at %d", thread, from.Seq)
	}
	return f.Open(ctx, engine.Opening{Machine: from.Machine, Owner: owner, Title: from.Title})
}

func (f *fake) Follow(ctx context.Context, thread string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		f.mu.Lock()
		t := f.threads[thread]
		var past []event.Event
		for _, ev := range t.all {
			if ev.Seq > after {
				past = append(past, ev)
			}
		}
		for call, text := range t.partial {
			past = append(past, event.Event{Thread: thread, Body: event.Token{Call: call, Text: text}})
		}
		at := len(t.all)
		grew := t.grew
		f.mu.Unlock()
		for {
			for _, ev := range past {
				if ctx.Err() != nil || !yield(ev, nil) {
					return
				}
			}
			select {
			case <-ctx.Done():
				yield(event.Event{}, ctx.Err())
				return
			case <-grew:
			}
			f.mu.Lock()
			past = slices.Clone(t.all[at:])
			at, grew = len(t.all), t.grew
			f.mu.Unlock()
		}
	}
}

func (f *fake) Wait(ctx context.Context, thread string) error {
	for {
		f.mu.Lock()
		t := f.threads[thread]
		status, grew := t.head.Status, t.grew
		f.mu.Unlock()
		if status != store.Running {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-grew:
		}
	}
}

func (f *fake) View(_ context.Context, thread string) (engine.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.threads[thread]
	return engine.View{
		Thread: t.head, Settings: t.set, Facts: map[string]any{"status": "succeeded"},
		Card: t.card, Offered: []string{"execute_sql"}, Messages: slices.Clone(t.msgs), Artifacts: slices.Clone(t.made),
		Denied: []event.Denial{{Tool: "execute_python", Code: fault.FeatureDisabled, When: "settings.python"}},
		Commands: []engine.CommandView{
			{Name: "other_scope", Label: "Choose another scope", Allowed: t.head.Status != store.Running},
			{Name: "other_rules", Label: "Learn other rules", Allowed: false, Why: "there are no rules yet"},
		},
	}, nil
}

func (f *fake) Messages(_ context.Context, thread string, limit int) ([]engine.Message, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	msgs := f.threads[thread].msgs
	return slices.Clone(msgs[max(0, len(msgs)-limit):]), nil
}

func (f *fake) Reply(ctx context.Context, run string) (engine.Reply, error) {
	row, err := f.Run(ctx, run)
	if err != nil {
		return engine.Reply{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := engine.Reply{Thread: row.Thread}
	for _, ev := range f.threads[row.Thread].all {
		if ev.Seq >= row.First && !r.Ended {
			if err := r.Add(event.Inline(ev.Body)); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

func (f *fake) Thread(_ context.Context, id string) (store.Thread, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.threads[id]; t != nil {
		return t.head, nil
	}
	return store.Thread{}, fmt.Errorf("thread %s: %w", id, store.ErrNotFound)
}

func (f *fake) Threads(_ context.Context, q store.Query) ([]store.Thread, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []store.Thread
	for _, id := range slices.Backward(f.order) {
		if t := f.threads[id].head; t.Owner == q.Owner && len(out) < cmp.Or(q.Limit, 100) {
			out = append(out, t)
		}
	}
	return out, nil
}

func (f *fake) Run(_ context.Context, id string) (store.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.runs {
		if r.ID == id {
			return *r, nil
		}
	}
	return store.Run{}, store.ErrNotFound
}

func (f *fake) Runs(_ context.Context, q store.Query) ([]store.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []store.Run
	for _, r := range slices.Backward(f.runs) {
		if r.Owner == q.Owner && (q.Thread == "" || q.Thread == r.Thread) {
			out = append(out, *r)
		}
	}
	return out, nil
}
