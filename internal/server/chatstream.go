package server

import (
	"context"
	"net/http"

	"interlock/internal/event"
	"interlock/internal/store"
)

// chatStream says something and follows the turn to its rest. With Last-Event-ID
// nothing is said again: the stream goes on after that frame.
func (s *Server) chatStream(ctx context.Context, in *struct {
	Last string `header:"Last-Event-ID" maxLength:"300" doc:"Go on after this message; the body is not said again"`
	Body Saying
},
) (func(request), error) {
	if in.Last != "" {
		return s.resumeChat(ctx, in.Last, in.Body.Thread)
	}
	at, err := s.startTurn(ctx, in.Body, s.cfg.Machine)
	if err != nil {
		return nil, err
	}
	run, err := s.cfg.Index.Run(ctx, at.run)
	if err != nil {
		return nil, err
	}
	return func(q request) {
		s.streamChat(q, &chatProjection{frames: s.newChatFrames(run, false), last: eventID{thread: at.thread, seq: at.after}})
	}, nil
}

func (s *Server) resumeChat(ctx context.Context, given, thread string) (func(request), error) {
	last, err := parseEventID(given)
	if err != nil {
		return nil, err
	}
	if last.thread == "" {
		last.thread = thread
	}
	t, err := s.ownThread(ctx, last.thread)
	if err != nil {
		return nil, err
	}
	if err := checkAfter(t, last.seq); err != nil {
		return nil, err
	}
	run, err := s.runAfter(ctx, t, last.seq)
	if err != nil {
		return nil, err
	}
	noteThread(ctx, t.ID, run.ID)
	p := &chatProjection{frames: s.newChatFrames(run, true), last: last}
	if t.Status != store.Running {
		p.until = t.Seq
		if last.seq >= t.Seq && last.frames == 0 {
			return func(q request) { q.w.WriteHeader(http.StatusNoContent) }, nil
		}
	}
	return func(q request) { s.streamChat(q, p) }, nil
}

// runAfter finds the run that the event after seq belongs to.
func (s *Server) runAfter(ctx context.Context, t store.Thread, seq int64) (store.Run, error) {
	runs, err := s.cfg.Index.Runs(ctx, store.Query{Owner: t.Owner, Thread: t.ID})
	if err != nil {
		return store.Run{}, err
	}
	for _, r := range runs {
		if r.First <= seq+1 {
			return r, nil
		}
	}
	return s.cfg.Index.Run(ctx, t.Run)
}

func (s *Server) streamChat(q request, p *chatProjection) {
	q.w.Header().Set("X-Thread-Id", p.frames.reply.Thread)
	q.w.Header().Set("X-Run-Id", p.frames.reply.Run)
	s.streamEvents(q, p.frames.reply.Thread, stretch{after: p.frames.first - 1}, p)
}

// A chatProjection sends a run as the frames of /chat/stream, until the run rests. It
// reads the run from its first event, because later frames depend on earlier events,
// and leaves out what the client has.
type chatProjection struct {
	frames *chatFrames
	last   eventID // the last frame that the client has
	until  int64   // the last event of a thread at rest, else 0
}

func (*chatProjection) opening() ([]byte, bool) { return comeBack, true }

func (p *chatProjection) project(_ context.Context, ev event.Event, send sendFunc) (more bool, err error) {
	frames, rests, err := p.frames.add(ev)
	if err != nil {
		return false, err
	}
	sent := p.last.alreadySent(ev.Seq, len(frames))
	for i, f := range frames[sent:] {
		id := ""
		if !ev.Transient() {
			at := eventID{thread: ev.Thread, seq: ev.Seq, frames: sent + i + 1}
			if at.frames == len(frames) {
				at.frames = 0
			}
			id = at.String()
		}
		if !send(id, f.name, encode(f.data)) {
			return false, nil
		}
	}
	over := rests && sent < len(frames) || p.until > 0 && ev.Seq >= p.until
	return !over, nil
}

func (*chatProjection) failure(p *Problem) any { return errorData{p.Code, p.Detail} }
