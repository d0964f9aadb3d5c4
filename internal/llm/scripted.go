package llm

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// A Line is one reply of a script.
type Line struct {
	Text  []string    `json:"text,omitempty"`  // each is streamed as one delta
	Calls []Call      `json:"calls,omitempty"` // ids may be left out
	Stop  string      `json:"stop,omitempty"`  // worked out if empty
	Usage event.Usage `json:"usage,omitzero"`
	// Fault ends the reply after its text.
	Fault *fault.Fault `json:"fault,omitempty"`
	// Before runs before the reply begins, for tests of delays and cancellation; its
	// error ends the reply.
	Before func(context.Context, Request) error `json:"-"`
}

// Say is a line of text.
func Say(text string) Line { return Line{Text: []string{text}} }

// Ask is a line of one call; args is its JSON text.
func Ask(tool, args string) Line { return Line{Calls: []Call{{Name: tool, Args: args}}} }

// Scripted answers from a script, for tests and transcripts. It records what it
// was asked.
type Scripted struct {
	name string
	fn   func(Request) (Reply, error)

	mu       sync.Mutex
	lines    []Line
	asked    int
	requests []Request
	forget   bool
}

// Script makes a model that speaks the lines in order. A request beyond the last
// is a fault.
func Script(lines ...Line) *Scripted { return &Scripted{name: "scripted/lines", lines: lines} }

// ScriptFunc makes a model that answers with what fn says. Thoughts and text are
// streamed as one delta each.
func ScriptFunc(fn func(Request) (Reply, error)) *Scripted {
	return &Scripted{name: "scripted/func", fn: fn}
}

// Forget keeps no requests, so that a long run needs no memory for them.
func (s *Scripted) Forget() *Scripted {
	s.forget = true
	return s
}

// Name says that no provider is behind it.
func (s *Scripted) Name() string { return s.name }

// Requests returns what the model was asked so far.
func (s *Scripted) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Left counts the lines that have not been spoken.
func (s *Scripted) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(len(s.lines)-s.asked, 0)
}

// Reply speaks the next line.
func (s *Scripted) Reply(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		n, line := s.next(req)
		if ctx.Err() != nil {
			yield(Delta{}, cancelled(ctx, s.name))
			return
		}
		if s.fn != nil {
			s.answer(n, req, yield)
			return
		}
		if line == nil {
			yield(Delta{}, fault.New(fault.ModelFailed, "the script ends after %d replies; call %d (state %q) has none", n-1, n, req.Tag.State))
			return
		}
		s.speak(ctx, n, line, req, yield)
	}
}

// next counts and records a request, and finds its line.
func (s *Scripted) next(req Request) (int, *Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if !s.forget {
		req.History, req.Messages = slices.Clone(req.History), slices.Clone(req.Messages)
		s.requests = append(s.requests, req)
	}
	if s.asked > len(s.lines) {
		return s.asked, nil
	}
	return s.asked, &s.lines[s.asked-1]
}

func (s *Scripted) answer(n int, req Request, yield func(Delta, error) bool) {
	r, err := s.fn(req)
	if err != nil {
		yield(Delta{}, err)
		return
	}
	for _, d := range []Delta{{Thought: r.Thoughts}, {Text: r.Text}} {
		if d != (Delta{}) && !yield(d, nil) {
			return
		}
	}
	s.finish(&r, n)
	yield(Delta{Reply: &r}, nil)
}

func (s *Scripted) speak(ctx context.Context, n int, l *Line, req Request, yield func(Delta, error) bool) {
	if l.Before != nil {
		if err := l.Before(ctx, req); err != nil {
			yield(Delta{}, err)
			return
		}
	}
	for _, text := range l.Text {
		if ctx.Err() != nil {
			yield(Delta{}, cancelled(ctx, s.name))
			return
		}
		if !yield(Delta{Text: text}, nil) {
			return
		}
	}
	if l.Fault != nil {
		yield(Delta{}, l.Fault)
		return
	}
	r := &Reply{Text: strings.Join(l.Text, ""), Calls: slices.Clone(l.Calls), Stop: l.Stop, Usage: l.Usage}
	s.finish(r, n)
	yield(Delta{Reply: r}, nil)
}

// finish fills what the script left out.
func (s *Scripted) finish(r *Reply, n int) {
	r.Model = cmp.Or(r.Model, s.name)
	for i := range r.Calls {
		if r.Calls[i].ID == "" {
			r.Calls[i].ID = fmt.Sprintf("call_%d_%d", n, i+1)
		}
	}
	if r.Stop == "" {
		r.Stop = stopEnd
		if len(r.Calls) > 0 {
			r.Stop = stopCalls
		}
	}
}
