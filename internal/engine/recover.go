package engine

import (
	"context"
	"runtime/debug"

	"interlock/internal/fault"
)

// runRecovering runs the turn. If a tool, a model or the engine itself panics, the turn ends
// as failed, and nothing else does.
func (t *turn) runRecovering() (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.e.cfg.Log.Error("turn broke down", "thread", t.f.Thread, "panic", p, "stack", string(debug.Stack()))
			err = t.endBroken()
		}
	}()
	return t.run(t.ctx)
}

// endBroken ends a turn that has panicked. What it had not stored may be half done, so the
// thread is read from the log again.
func (t *turn) endBroken() (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.e.cfg.Log.Error("turn that broke down could not be ended", "thread", t.f.Thread, "panic", p, "stack", string(debug.Stack()))
			err = fault.New(fault.Conflict, "the turn of the thread %s broke down and could not be ended", t.f.Thread).
				Suggest("The server's log says why.")
		}
	}()
	ctx := context.WithoutCancel(t.ctx)
	f, err := t.e.loadFold(ctx, t.f.Thread, nil)
	if err != nil {
		return err
	}
	t.setFold(f, t.r.m)
	t.pending, t.blobs, t.ended = nil, nil, nil
	if !f.active() {
		t.publish()
		return nil
	}
	broken := fault.New(fault.Internal, "Something broke down inside Interlock, and the turn was ended. The server's log says what it was.")
	t.emit(t.withFigures(t.r.endWithFault(broken).bodies)...)
	return t.commitRetrying(ctx)
}
