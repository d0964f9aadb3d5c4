package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// A turn is a thread while a goroutine owns it: the one that runs it, or the caller of
// Send that prepares it. Only the owner touches its fold.
type turn struct {
	e          *Engine
	purpose    purpose
	r          *rules
	f          *fold
	pending    []event.Event // not stored yet
	blobs      []store.Blob
	storedRun  store.Run                 // the run's row as the index has it
	ended      []store.Run               // runs that end in pending
	said       store.Saying              // what pending begins with, where the client named it
	parent     string                    // of a fork: the runs in its past belong to this thread
	latest     atomic.Pointer[published] // the state after the last batch, for readers
	resumed    bool                      // another process began the turn and died
	lease      store.Lease
	leaseUntil atomic.Int64 // when the lease expires, in nanoseconds; renewLeases changes it

	ctx     context.Context    // outlives the request that began the turn
	cancel  context.CancelFunc // ends the running job
	halted  atomic.Bool        // Stop was called
	resting atomic.Bool        // the last batch is being stored
	done    chan struct{}      // closed when the thread is released
	failed  error              // why the turn could not be stored; valid after done is closed
}

// run is the main loop: it decides, stores and performs until the turn ends or waits.
func (t *turn) run(ctx context.Context) error {
	var o decideInput
	for o.resumed = t.resumed; ; {
		o.stop = t.halted.Load()
		d := t.r.decide(o)
		if d.lookup != nil {
			o.found = t.lookUp(*d.lookup)
			continue
		}
		o = decideInput{}
		t.emit(t.withFigures(d.bodies)...)
		t.resting.Store(d.rest)
		if d.rest || d.job != none {
			if err := t.commitRetrying(ctx); err != nil {
				return err
			}
		}
		if d.rest {
			return nil
		}
		if d.job == none {
			continue
		}
		happened := t.perform(ctx, d.job)
		t.emit(happened...)
		if t.e.ctx.Err() != nil && !t.halted.Load() { // the process is shutting down, and the next one goes on from here
			t.emitConsequences()
			if err := t.commit(ctx); err != nil {
				return err
			}
			return context.Canceled
		}
	}
}

// While another process keeps the store locked, a batch is tried again so many times, with
// a pause that doubles. Each attempt waits for the lock as well.
const (
	lockedRetries = 5
	lockedPause   = 50 * time.Millisecond
)

// commitRetrying is commit for the results of jobs, which would be lost with their batch: it
// waits for a store that is locked. Should another process take the thread over meanwhile,
// the batch is refused because of its fence.
func (t *turn) commitRetrying(ctx context.Context) error {
	pause := lockedPause
	for range lockedRetries {
		err := t.commit(ctx)
		if !errors.Is(err, store.ErrLocked) {
			return err
		}
		t.e.cfg.Log.Warn("the store is locked; the batch is tried again", "thread", t.f.Thread, "err", err)
		select {
		case <-time.After(pause):
		case <-t.e.ctx.Done():
		}
		pause *= 2
	}
	return t.commit(ctx)
}

// emit adds events to the fold and to the next batch. Readers see them after commit.
func (t *turn) emit(bs ...event.Body) {
	for _, b := range bs {
		e := event.Event{Thread: t.f.Thread, Seq: t.f.Seq + 1, Time: t.e.cfg.Now().UTC().Truncate(time.Microsecond)}
		e.Body = t.withDuration(b, e.Time)
		t.pending = append(t.pending, e)
		t.f.apply(e)
		if e.Body.Kind() == event.KindTurnEnded {
			t.ended = append(t.ended, *runRow(t.f))
		}
		t.countMetrics(e.Body)
	}
}

// emitConsequences emits the consequences of the last event, which must be stored in the
// same batch.
func (t *turn) emitConsequences() {
	for bs := t.r.react(); len(bs) > 0; bs = t.r.react() {
		t.emit(bs...)
	}
}

// withDuration sets how long something took. It is the difference of two stored times, so
// that a replay computes the same.
func (t *turn) withDuration(b event.Body, now time.Time) event.Body {
	tf := t.f.Turn
	if tf == nil {
		return b
	}
	took := (tf.elapsed(now) - tf.jobFrom).Milliseconds()
	switch e := b.(type) {
	case event.ModelReplied:
		e.MS = took
		return e
	case event.ModelFailed:
		if modelCall(tf.Phase) != nil {
			e.MS = took
		}
		return e
	case event.ToolReturned:
		if ranCall(tf.Phase, e.Call) != nil {
			e.MS = took
		}
		return e
	case event.ToolFailed:
		if ranCall(tf.Phase, e.Call) != nil {
			e.MS = took
		}
		return e
	case event.TurnEnded:
		e.MS = tf.elapsed(now).Milliseconds()
		return e
	}
	return b
}

// commit stores the emitted events in one batch, then publishes them. The end of a request
// or of the server does not interrupt it.
func (t *turn) commit(ctx context.Context) error {
	if len(t.pending) == 0 {
		return nil
	}
	b := store.Batch{
		Thread: t.f.Thread, After: t.pending[0].Seq - 1, Fence: t.lease.Fence, Parent: t.parent, Events: t.pending, Blobs: append(t.blobs, t.r.blobs...), Head: t.r.threadRow(), Said: t.said,
	}
	if t.parent == "" {
		b.Runs = t.ended
		if t.f.active() {
			b.Runs = t.appendChangedRun(b.Runs)
		}
	}
	for _, e := range t.pending {
		for _, v := range event.Blobs(e.Body) {
			b.Blobs = append(b.Blobs, store.Blob{Hash: v.Hash, Bytes: v.JSON})
		}
	}
	if !t.f.active() && t.f.Seq-t.f.SnapshotAt >= int64(t.e.cfg.SnapshotEvery) {
		t.f.SnapshotAt = t.f.Seq
		b.Snapshot = t.f.snapshot()
	}
	if err := t.e.cfg.Store.Append(context.WithoutCancel(ctx), b); err != nil {
		if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrFenced) {
			return fault.Wrap(err, fault.Conflict, "the thread %s was changed by another process", t.f.Thread)
		}
		return err
	}
	if n := len(b.Runs); n > 0 {
		t.storedRun = b.Runs[n-1]
	}
	shown := t.pending
	t.pending, t.blobs, t.r.blobs, t.ended, t.said = nil, nil, nil, nil, store.Saying{}
	t.publish()
	t.e.hub.publish(shown)
	return nil
}

// appendChangedRun adds the row of the present run, unless the index has it already. A
// change of cost alone is not stored: it changes with every reply, and the row is stored
// at the latest when the run ends or waits.
func (t *turn) appendChangedRun(rows []store.Run) []store.Run {
	row := *runRow(t.f)
	known := t.storedRun
	known.Tokens, known.MicroUSD = row.Tokens, row.MicroUSD
	if row == known {
		return rows
	}
	return append(rows, row)
}

// countMetrics counts an event in the metrics.
func (t *turn) countMetrics(b event.Body) {
	c := t.e.cfg.Count
	switch e := b.(type) {
	case event.ToolReturned:
		if e.Duplicate != "" {
			c("duplicate_skips", e.Tool)
		}
	case event.ToolFailed:
		c("tool_failures", e.Tool, string(e.Code))
		if e.Code.SentBack() {
			c("retries", e.Tool)
		}
	case event.ToolRefused:
		c("tool_refusals", e.Tool, string(e.Code))
	case event.ToolStarted:
		c("tool_calls", e.Tool)
		for _, kind := range e.Rescued {
			c("rescues", kind)
		}
		if t.f.Turn.SentBack[e.Tool] > 0 {
			c("retry_successes", e.Tool)
		}
	case event.ArtifactMade:
		if e.Reused {
			c("artifact_dedups", e.Producer)
		}
	case event.ModelReplied:
		c("model_replies", e.Model)
	case event.TurnEnded:
		c("turns", t.f.Machine, string(e.Status))
	}
}

// lookUpTime bounds what finds the version of a call: it may import the dataset, which
// the call would do otherwise.
const lookUpTime = 30 * time.Second

// lookUp loads what a call depends on outside the thread.
func (t *turn) lookUp(l lookup) *lookup {
	if v, ok := l.entry.Tool.(tool.Versioner); ok {
		ctx, cancel := context.WithTimeout(t.ctx, lookUpTime)
		defer cancel()
		l.version = v.Version(tool.With(ctx, t.callInfo("")), l.whole.JSON)
	}
	if k, ok := t.r.findEarlierResult(t.r.identify(l.admitted, &l)); ok {
		if v, err := t.fetch(k.Result); err == nil {
			l.earlier = v
		}
	}
	return &l
}

func (t *turn) callInfo(id string) tool.Call {
	return tool.Call{Owner: t.f.Owner, Thread: t.f.Thread, Run: t.f.Turn.Run, ID: id, Dataset: t.f.Turn.Dataset, Question: t.f.Turn.Text, Artifacts: t.f.Artifacts}
}
