package server

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// A projection turns the events of a thread into the frames that a client gets.
// There is one stream of events, engine.Follow; the routes differ in how they show it.
type projection interface {
	// opening is what the stream begins with, and whether a client whose stream breaks comes
	// back to where it was.
	opening() (text []byte, comesBack bool)
	// project sends the frames of an event and says whether the stream goes on.
	project(ctx context.Context, ev event.Event, send sendFunc) (more bool, err error)
	// failure is the data of the last frame of a stream that cannot go on.
	failure(p *Problem) any
}

// A sendFunc writes one frame; false says that the client has gone.
type sendFunc func(id, name string, data []byte) bool

// A stretch is the part of a log that a stream sends.
type stretch struct {
	after  int64 // events after this one
	until  int64 // up to this one; 0 = for as long as the client stays
	stored int64 // events before this one are there already: they are sent together
	opened bool  // the event that opened the thread comes first
}

// streamEvents sends a stretch of a thread's events through a projection, until it says
// that no more are wanted or the client leaves.
func (s *Server) streamEvents(q request, thread string, part stretch, p projection) {
	ctx, cancel := context.WithCancel(q.r.Context())
	defer cancel()
	opening, comesBack := p.opening()
	out := openStream(q.w, opening)
	defer out.beat(s.cfg.Heartbeat, cancel)()
	send := func(id, name string, data []byte) bool { return out.send(id, name, data) == nil }
	later := func(id, name string, data []byte) bool { return out.sendLater(id, name, data) == nil }
	failed := context.Canceled // where the events end by themselves
	for ev, err := range s.events(ctx, thread, part) {
		more := false
		if err == nil && ev.Seq > 0 && ev.Seq < part.stored {
			more, err = p.project(ctx, ev, later)
		} else if err == nil {
			more, err = p.project(ctx, ev, send)
		}
		if err != nil {
			failed = err
			break
		}
		if !more {
			return
		}
	}
	if isLost(ctx, failed, comesBack) {
		noteOf(ctx).err = failed
		send("", "error", encode(p.failure(problemOf(ctx, failed))))
	}
}

// isLost says whether a stream that ended must say so. A client that was too slow, or whose
// server is shutting down, comes back by itself; to one that does not, a part would pass for
// the whole.
func isLost(ctx context.Context, err error, comesBack bool) bool {
	if errors.Is(context.Cause(ctx), errShuttingDown) || errors.Is(err, engine.ErrTooSlow) {
		return !comesBack
	}
	return ctx.Err() == nil && !errors.Is(err, context.Canceled)
}

// events yields a stretch of a thread's log.
func (s *Server) events(ctx context.Context, thread string, part stretch) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if part.opened {
			for ev, err := range s.cfg.Engine.Follow(ctx, thread, 0) {
				if !yield(ev, err) || err != nil {
					return
				}
				break
			}
		}
		for ev, err := range s.cfg.Engine.Follow(ctx, thread, part.after) {
			if !yield(ev, err) || part.until > 0 && ev.Seq >= part.until {
				return
			}
		}
	}
}

// threadEvents follows the log itself, event by event, until the client leaves.
func (s *Server) threadEvents(ctx context.Context, in *struct {
	ID    string `path:"id" maxLength:"200"`
	Last  string `header:"Last-Event-ID" maxLength:"300" doc:"Go on after this event"`
	After int64  `query:"after" minimum:"0" doc:"The same, for clients that cannot set the header"`
	Until int64  `query:"until" minimum:"0" doc:"End after this event"`
	Turns int    `query:"turns" minimum:"0" doc:"Begin with the last turns, so many at most, after the event that opened the thread; not with an event to go on after"`
},
) (func(request), error) {
	t, err := s.ownThread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	part := stretch{after: in.After, until: in.Until, stored: t.Seq}
	if in.Last != "" {
		last, err := parseEventID(in.Last)
		if err != nil {
			return nil, err
		}
		if last.thread != "" && last.thread != t.ID {
			return nil, badRequest("Last-Event-ID is of the thread %s, not of %s", truncate(last.thread, 60), t.ID)
		}
		part.after = last.seq
	}
	if err := checkAfter(t, max(part.after, part.until)); err != nil {
		return nil, err
	}
	if in.Turns > 0 && part.after == 0 {
		if part.after, err = s.beforeTurns(ctx, t, in.Turns); err != nil {
			return nil, err
		}
		part.opened = part.after > 0
	}
	return func(q request) { s.streamEvents(q, t.ID, part, logProjection{s}) }, nil
}

// beforeTurns is the last event before the newest turns of a thread, 0 if it has no more of its own.
func (s *Server) beforeTurns(ctx context.Context, t store.Thread, turns int) (int64, error) {
	runs, err := s.cfg.Index.Runs(ctx, store.Query{Owner: t.Owner, Thread: t.ID, Limit: clamp(turns)})
	if err != nil || len(runs) < clamp(turns) {
		return 0, err
	}
	first := runs[0].First
	for _, r := range runs {
		first = min(first, r.First)
	}
	return first - 1, nil
}

// checkAfter refuses to follow a thread from an event that it does not have: the client
// has seen another log, such as one that a backup has replaced, and would wait in vain.
func checkAfter(t store.Thread, after int64) error {
	if after <= t.Seq {
		return nil
	}
	return fault.New(fault.Conflict, "the thread %s has %d events and none with the number %d", t.ID, t.Seq, after).
		Suggest("Follow it from its start, without Last-Event-ID.")
}

// A logProjection sends each event as it is, under the name of its kind. web/types has
// the types of what it sends.
type logProjection struct{ s *Server }

func (logProjection) opening() ([]byte, bool) { return comeBack, true }

// project sends an event of the log. Streams that send the same one at the same time
// share its encoding.
func (p logProjection) project(ctx context.Context, ev event.Event, send sendFunc) (more bool, err error) {
	encodeEvent := func() ([]byte, error) {
		ev.Body = event.Inline(ev.Body)
		data, err := json.Marshal(ev)
		if err != nil {
			return nil, fault.Wrap(err, fault.Internal, "an event could not be shown")
		}
		return data, nil
	}
	name := string(ev.Body.Kind())
	if ev.Transient() {
		data, err := encodeEvent()
		return err == nil && send("", name, data), err
	}
	id := eventID{thread: ev.Thread, seq: ev.Seq}.String()
	data, release, err := p.s.encoded.Get(ctx, id, encodeEvent)
	if err != nil {
		return false, err
	}
	defer release()
	return send(id, name, data), nil
}

func (logProjection) failure(p *Problem) any {
	return &fault.Fault{Code: p.Code, Message: p.Detail, Suggestion: p.Suggestion, Details: p.Details}
}
