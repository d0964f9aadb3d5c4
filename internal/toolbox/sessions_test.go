package toolbox

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"interlock/internal/event"
	"interlock/internal/query"
)

// A fakeSpace is a workspace of a test that only knows whether it is closed.
type fakeSpace struct{ closed bool }

func (*fakeSpace) Create(context.Context, string, string, ...string) error { return nil }
func (*fakeSpace) Query(context.Context, string, ...string) (*query.Result, error) {
	return &query.Result{}, nil
}
func (*fakeSpace) Drop(context.Context, ...string) error { return nil }
func (*fakeSpace) Tables() []string                      { return nil }
func (*fakeSpace) KeepFiles(context.Context, string, func(string) ([]string, error)) ([]event.ArtifactMade, error) {
	return nil, nil
}

func (w *fakeSpace) Close() error {
	w.closed = true
	return nil
}

func fakeSession(owner, thread string) (*session, *fakeSpace) {
	space := &fakeSpace{}
	return &session{space: space, owner: owner, thread: thread, rows: "rows"}, space
}

// A session is there for the next call of its thread, and closed as soon as it is idle, its
// rows are others, its place is needed, or the program ends.
func TestSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := NewSessions(SessionsConfig{Max: 2, Idle: time.Minute})
		s, space := fakeSession("ann", "t1")
		k.giveBack(s)
		time.Sleep(59 * time.Second)
		if k.take(t.Context(), "t1", "rows") != s || k.take(t.Context(), "t1", "rows") != nil {
			t.Error("the session is not there, or twice")
		}
		k.giveBack(s)
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if !space.closed || k.take(t.Context(), "t1", "rows") != nil {
			t.Error("an idle session stays open")
		}

		s, space = fakeSession("ann", "t1")
		k.giveBack(s)
		if k.take(t.Context(), "t1", "other rows") != nil || !space.closed {
			t.Error("a session of other rows was taken, or stays open")
		}

		// Another workspace of the owner, or one that finds all places taken.
		own, ownSpace := fakeSession("ann", "t1")
		other, otherSpace := fakeSession("ben", "t2")
		k.giveBack(own)
		k.giveBack(other)
		opened := k.makeRoom("ann")
		if !ownSpace.closed || otherSpace.closed {
			t.Errorf("ann's is closed: %t, ben's: %t", ownSpace.closed, otherSpace.closed)
		}
		late, lateSpace := fakeSession("ben", "t3")
		k.giveBack(late)
		if !lateSpace.closed {
			t.Error("a session is kept while a call waits for a place")
		}
		opened()
		time.Sleep(time.Second)
		third, thirdSpace := fakeSession("ann", "t4")
		k.giveBack(third)
		k.makeRoom("eve")()
		if !otherSpace.closed || thirdSpace.closed {
			t.Error("another session was closed than the one that was used longest ago")
		}

		// A training in the background ends with its session.
		trained, trainedSpace := fakeSession("ann", "t5")
		ctx, cancel := context.WithCancel(t.Context())
		trained.ahead = &training{cancel: cancel, done: make(chan struct{})}
		go func() {
			<-ctx.Done()
			close(trained.ahead.done)
		}()
		k.giveBack(trained)
		if err := k.Close(); err != nil || !trainedSpace.closed {
			t.Errorf("%v %t", err, trainedSpace.closed)
		}
		after, afterSpace := fakeSession("ann", "t6")
		k.giveBack(after)
		if !afterSpace.closed {
			t.Error("a session is kept after the end")
		}
	})
}
