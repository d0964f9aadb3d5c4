package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// chatStream says something and follows the turn to its rest. With Last-Event-ID
// nothing is said again: the telling goes on after that message.
func (s *Server) chatStream(ctx context.Context, in *struct {
	Last string `header:"Last-Event-ID" maxLength:"300" doc:"Go on after this message; the body is not said again"`
	Body Saying
},
) (func(request), error) {
	if in.Last != "" {
		return s.resumeChat(ctx, in.Last, in.Body.Thread)
	}
	at, err := s.say(ctx, in.Body, s.cfg.Machine)
	if err != nil {
		return nil, err
	}
	return func(q request) {
		s.follow(q, s.newTeller(at.thread, at.run, false), mark{thread: at.thread, seq: at.after}, 0)
	}, nil
}

func (s *Server) resumeChat(ctx context.Context, last, thread string) (func(request), error) {
	m, err := parseMark(last)
	if err != nil {
		return nil, err
	}
	if m.thread == "" {
		m.thread = thread
	}
	t, err := s.ownThread(ctx, m.thread)
	if err != nil {
		return nil, err
	}
	run, err := s.runAt(ctx, t, m.seq)
	if err != nil {
		return nil, err
	}
	about(ctx, t.ID, run)
	until := t.Seq
	if t.Status == store.Running {
		until = 0
	} else if m.seq >= t.Seq && m.parts == 0 {
		return func(q request) { q.w.WriteHeader(http.StatusNoContent) }, nil
	}
	return func(q request) { s.follow(q, s.newTeller(t.ID, run, true), m, until) }, nil
}

// runAt finds the run that the event after seq belongs to.
func (s *Server) runAt(ctx context.Context, t store.Thread, seq int64) (string, error) {
	runs, err := s.cfg.Index.Runs(ctx, store.Query{Owner: t.Owner, Thread: t.ID})
	for _, r := range runs {
		if r.First <= seq+1 {
			return r.ID, err
		}
	}
	return t.Run, err
}

// follow tells a turn from the mark on until it rests, or until that event. The
// run's earlier events are read too, in silence: the teller builds on them.
func (s *Server) follow(q request, t *teller, m mark, until int64) {
	ctx, cancel := context.WithCancel(q.r.Context())
	defer cancel()
	from := m.seq
	if m.parts > 0 {
		from--
	}
	if run, err := s.cfg.Index.Run(ctx, t.run); err == nil {
		from = min(from, max(run.First-1, 0))
	}
	q.w.Header().Set("X-Thread-Id", t.thread)
	q.w.Header().Set("X-Run-Id", t.run)
	out := openStream(q.w)
	defer out.beat(s.cfg.Heartbeat, cancel)()
	for ev, err := range s.cfg.Engine.Follow(ctx, t.thread, from) {
		var said []message
		var rests bool
		if err == nil {
			said, rests, err = t.tell(ctx, ev)
		}
		if err != nil {
			s.broken(ctx, out, err)
			return
		}
		skip := m.skip(ev.Seq, len(said))
		for i, msg := range said[skip:] {
			id := ""
			if !ev.Transient() {
				at := mark{thread: t.thread, seq: ev.Seq, parts: skip + i + 1}
				if at.parts == len(said) {
					at.parts = 0
				}
				id = at.String()
			}
			if out.send(id, msg.name, encode(msg.data)) != nil {
				return
			}
		}
		if rests && skip < len(said) || until > 0 && ev.Seq >= until {
			return
		}
	}
}

// broken ends a stream that cannot go on; the client may come back with its last id.
func (s *Server) broken(ctx context.Context, out *eventStream, err error) {
	if ctx.Err() != nil || errors.Is(err, engine.ErrTooSlow) {
		return
	}
	noteOf(ctx).err = err
	p := problemOf(ctx, err)
	_ = out.send("", "error", encode(errorData{p.Code, p.Detail}))
}

// threadEvents follows the log itself, event by event, until the client leaves.
func (s *Server) threadEvents(ctx context.Context, in *struct {
	ID    string `path:"id" maxLength:"200"`
	Last  string `header:"Last-Event-ID" maxLength:"300" doc:"Go on after this event"`
	After int64  `query:"after" minimum:"0" doc:"The same, for clients that cannot set the header"`
},
) (func(request), error) {
	t, err := s.ownThread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	after := in.After
	if in.Last != "" {
		m, err := parseMark(in.Last)
		if err != nil {
			return nil, err
		}
		if m.thread != "" && m.thread != t.ID {
			return nil, badRequest("Last-Event-ID is of the thread %s", m.thread)
		}
		after = m.seq
	}
	return func(q request) { s.followLog(q, t.ID, after) }, nil
}

func (s *Server) followLog(q request, thread string, after int64) {
	ctx, cancel := context.WithCancel(q.r.Context())
	defer cancel()
	out := openStream(q.w)
	defer out.beat(s.cfg.Heartbeat, cancel)()
	for ev, err := range s.cfg.Engine.Follow(ctx, thread, after) {
		if err != nil {
			s.broken(ctx, out, err)
			return
		}
		if !s.sendLogged(ctx, out, ev) {
			return
		}
	}
}

// sendLogged sends an event of the log. Streams that send the same one at the same
// time share its encoding.
func (s *Server) sendLogged(ctx context.Context, out *eventStream, ev event.Event) bool {
	encoded := func() ([]byte, error) {
		ev.Body = event.Inline(ev.Body)
		return json.Marshal(ev)
	}
	var id string
	var data []byte
	var err error
	if ev.Transient() {
		data, err = encoded()
	} else {
		id = mark{thread: ev.Thread, seq: ev.Seq}.String()
		var release func()
		if data, release, err = s.told.Get(ctx, id, encoded); err == nil {
			defer release()
		}
	}
	if err != nil {
		s.broken(ctx, out, fault.Wrap(err, fault.Internal, "an event could not be shown"))
		return false
	}
	return out.send(id, string(ev.Body.Kind()), data) == nil
}
