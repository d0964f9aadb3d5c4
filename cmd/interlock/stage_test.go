package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
	"interlock/machines"
)

// A stage is the world of a play: one state folder for all its threads, and the
// process that runs at the moment.
type stage struct {
	*world
	play  play
	m     *machine.Machine
	store store.Store
	tools *tool.Set
	actor *actor
	proc  *process
	base  atomic.Pointer[string] // the address of the newest process
	known map[string]bool        // threads of earlier performances
	// due says whether the next kill is due; nil while no kill is on its way.
	due atomic.Pointer[dueFunc]
}

// A dueFunc looks into the log of a thread and says whether the process is to be killed.
type dueFunc func(ctx context.Context, row store.Thread) bool

// atEvent is due once event k is stored.
func atEvent(k int64) dueFunc {
	return func(_ context.Context, row store.Thread) bool { return row.Seq >= k }
}

// atBoundary is due once n boundaries are stored after event k. A call of a tool that
// writes is none: it would not be run again.
func (s *stage) atBoundary(k int64, n int) dueFunc {
	return func(ctx context.Context, row store.Thread) bool {
		found := 0
		for ev, err := range s.store.Events(ctx, row.ID, k) {
			if err != nil {
				return false
			}
			if s.repeatable(ev.Body) {
				found++
			}
		}
		return found >= n
	}
}

// repeatable says that a turn which is killed at this boundary goes on as if nothing had
// happened.
func (s *stage) repeatable(b event.Body) bool {
	call, ok := b.(event.ToolStarted)
	return boundary(b) && !(ok && s.writes(call.Tool))
}

func newStage(t *testing.T, pl play) *stage {
	t.Helper()
	s := &stage{world: newWorld(t, desk, pl.files), play: pl, known: map[string]bool{}, tools: tool.NewSet(nil, toolbox.Tools(toolbox.Config{})...)}
	if pl.long {
		s.flags = append(s.flags, "--max-interruptions", "1000")
	}
	if pl.lines == nil {
		s.flags = append(s.flags, "--provider", "offline")
	} else {
		s.actor = newActor(t, pl.lines)
		s.actor.before = s.hold
		s.flags = append(s.flags, s.actor.flags()...)
	}
	var err error
	if shipped := machines.All()[pl.machine]; shipped != nil {
		s.m, err = machine.Load(shipped)
	} else {
		s.m, err = machine.Load(os.DirFS(s.path("machines/" + pl.machine)))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.start()
	if s.store, err = store.Open(store.Config{DSN: s.path("state/interlock.db")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *stage) start() {
	s.t.Helper()
	s.proc = s.serve()
	s.base.Store(&s.proc.url)
}

// hold keeps the model's reply back while a kill is due, so that the kill lands where
// it is meant to. It asks the store itself: whoever kills may not have looked yet.
func (s *stage) hold(r *http.Request) {
	due := s.due.Load()
	if due == nil {
		return
	}
	if row, ok := s.newThread(r.Context()); ok && (*due)(r.Context(), row) {
		<-r.Context().Done()
	}
}

// A performance is what came of one turn.
type performance struct {
	thread, run string
	events      []event.Event
	log         []string // the events as text, without what may differ
	told        []string // names of the stored messages of /chat/stream
	answer      string
	asked, same int      // requests to the model, and the most that were equal
	landed      []string // the last event before each kill
}

// never is a kill that does not come.
const never = math.MaxInt64

// perform plays the turn, and kills the process once event k is stored; below zero, at
// boundary -k and then, by dice, one to three boundaries later each time: at half of them.
func (s *stage) perform(k int64) performance {
	t := s.t
	t.Helper()
	if s.actor != nil {
		s.actor.forget()
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	c := &client{stage: s, onward: k < 0}
	c.plan = func(due dueFunc) {
		s.due.Store(&due)
		killed, proc := make(chan killing, 1), s.proc
		c.killed = killed
		all.Go(func() { killed <- s.killWhen(ctx, due, proc) })
	}
	switch {
	case k < 0:
		c.plan(s.atBoundary(0, int(-k)))
	case k < never:
		c.plan(atEvent(k))
	}
	follower := &follower{base: &s.base}
	all.Go(func() { follower.run(ctx, s.newThread) })

	var p performance
	c.converse(toJSON(map[string]any{"message": s.play.message, "machine": s.play.machine, "dataset_id": "shop", "settings": s.play.set}), 1)
	for range 10 {
		if c.last.Card == nil {
			break
		}
		answer := s.play.answers[c.last.Card.Name]
		row := s.row(c.last.Thread)
		c.converse(toJSON(map[string]any{"thread_id": c.last.Thread, "card_response": map[string]string{"card_id": c.last.Card.ID, "answer": answer}}), row.Seq)
	}
	p.thread, p.run, p.answer, p.told = c.last.Thread, c.last.Run, c.last.Assistant, c.told
	if k < never {
		if k > 0 || s.due.Load() != nil && (*s.due.Load())(ctx, s.row(p.thread)) {
			c.await() // a kill at the last event lands after the conversation
		}
		p.landed = c.landed
	}
	s.due.Store(nil)
	eventually(t, "the thread rests", func() bool { return s.row(p.thread).Status != store.Running })
	for ev, err := range engine.Resolved(ctx, s.store, p.thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		p.events = append(p.events, ev)
		if ev.Body.Kind() != event.KindTurnInterrupted {
			p.log = append(p.log, plain(t, withoutMoment(ev, p.events), p.thread, p.run))
		}
	}
	eventually(t, "the follower has seen the whole log", func() bool { return follower.count() >= len(p.events) })
	cancel()
	all.Wait()
	follower.check(t, p.thread, len(p.events))
	if s.actor != nil {
		p.asked, p.same = s.actor.counts()
	}
	s.known[p.thread] = true
	return p
}

// newThread finds the thread of this performance in the log.
func (s *stage) newThread(ctx context.Context) (store.Thread, bool) {
	rows, err := s.store.Threads(ctx, store.Query{})
	if err != nil {
		return store.Thread{}, false
	}
	i := slices.IndexFunc(rows, func(r store.Thread) bool { return !s.known[r.ID] })
	if i < 0 {
		return store.Thread{}, false
	}
	return rows[i], true
}

func (s *stage) row(thread string) store.Thread {
	s.t.Helper()
	row, err := s.store.Thread(s.t.Context(), thread)
	if err != nil {
		s.t.Fatal(err)
	}
	return row
}

// lookAgain is the pause between two looks into the log: less than a statement or a request takes.
const lookAgain = time.Millisecond

// A killing is the last event that was stored when the process was dead.
type killing struct {
	seq  int64
	kind string
}

// killWhen waits until a kill is due and kills the process.
func (s *stage) killWhen(ctx context.Context, due dueFunc, proc *process) (k killing) {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	row, ok := s.newThread(ctx)
	for seen := int64(0); !ok || row.Seq == seen || !due(ctx, row); row, ok = s.newThread(ctx) {
		seen = row.Seq // nothing is due until the log grows
		select {
		case <-ctx.Done():
			return k
		case <-tick.C:
		}
	}
	proc.kill()
	for ev, err := range s.store.Events(ctx, row.ID, 0) {
		if err == nil {
			k = killing{ev.Seq, fmt.Sprintf("%d %s", ev.Seq, ev.Body.Kind())}
		}
	}
	return k
}

// A client says things through /chat/stream and comes back with its last id whenever
// the connection breaks.
type client struct {
	*stage
	onward bool              // the process is killed again and again
	plan   func(due dueFunc) // plans the next kill
	killed <-chan killing    // tells of it; nil while none is planned
	landed []string          // the last event before each kill
	told   []string
	last   chatResponse
}

// await waits for the kill and starts the server again.
func (c *client) await() {
	c.t.Helper()
	if c.killed == nil {
		return
	}
	k := <-c.killed
	c.killed = nil
	c.landed = append(c.landed, k.kind)
	c.due.Store(nil)
	c.start()
	if c.onward {
		c.plan(c.atBoundary(k.seq, 1+rand.IntN(3)))
	}
}

// converse sends a saying, and reads on over restarts until the turn rests. before is
// the last event of the thread before it.
func (c *client) converse(body string, before int64) {
	t := c.t
	t.Helper()
	last := ""
	for {
		var header []string
		if last != "" {
			header = []string{"Last-Event-ID", last}
		}
		res, err := c.proc.request("POST", "/chat/stream", body, header...)
		if err == nil && res.StatusCode == http.StatusNoContent {
			res.Body.Close()
			return
		}
		if err == nil && res.StatusCode != http.StatusOK {
			raw, _ := io.ReadAll(res.Body)
			res.Body.Close()
			t.Fatalf("%s with %q: %s", res.Status, last, raw)
		}
		if err == nil {
			rests := c.listen(res.Body, &last)
			res.Body.Close()
			if rests {
				return
			}
		}
		if c.killed == nil {
			t.Fatalf("the connection broke though nobody was killed any more: %v\n%s", err, c.proc.log)
		}
		c.await()
		if last != "" {
			continue
		}
		// Nothing was told. The log says whether the saying arrived.
		row, there := c.newThread(t.Context())
		switch {
		case !there:
		case row.Seq > before:
			last = fmt.Sprintf("%s:%d", row.ID, before)
		case before == 1:
			body = toJSON(map[string]string{"message": c.play.message, "thread_id": row.ID, "dataset_id": "shop"})
		}
	}
}

// listen reads a stream and says whether it came to its end.
func (c *client) listen(body io.Reader, last *string) bool {
	for ev := range sentEvents(body) {
		if ev.id != "" {
			*last = ev.id
			c.told = append(c.told, ev.name)
		}
		switch ev.name {
		case "result":
			c.last = chatResponse{}
			if err := json.Unmarshal([]byte(ev.data), &c.last); err != nil {
				c.t.Fatal(err)
			}
		case "done":
			return true
		}
	}
	return false
}

// A follower reads the log of the thread by SSE, over all restarts.
type follower struct {
	base *atomic.Pointer[string]

	mu  sync.Mutex
	ids []string
}

func (f *follower) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.ids)
}

func (f *follower) run(ctx context.Context, find func(context.Context) (store.Thread, bool)) {
	last := ""
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for ctx.Err() == nil {
		<-tick.C
		row, ok := find(ctx)
		if !ok {
			continue
		}
		req, err := http.NewRequestWithContext(ctx, "GET", *f.base.Load()+"/api/threads/"+row.ID+"/events", nil)
		if err != nil {
			return
		}
		if last != "" {
			req.Header.Set("Last-Event-ID", last)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			continue
		}
		for ev := range sentEvents(res.Body) {
			if ev.id != "" {
				last = ev.id
				f.mu.Lock()
				f.ids = append(f.ids, ev.id)
				f.mu.Unlock()
			}
		}
		res.Body.Close()
	}
}

// check wants every event once, in order.
func (f *follower) check(t *testing.T, thread string, n int) {
	t.Helper()
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("%s:%d", thread, i+1))
	}
	if diff := cmp.Diff(want, f.ids); diff != "" {
		t.Errorf("the follower saw another log: %s", diff)
	}
}
