package engine

import (
	"unicode/utf8"

	"interlock/internal/event"
)

// maxLive bounds the output of running calls that is kept of one thread, in bytes; of more,
// the newest is kept.
const maxLive = 1 << 20

// pieceSize is what a piece counts beside its text.
const pieceSize = 128

// A live holds what the running calls of a thread have streamed so far: text and thoughts of
// models, output and notes of tools. Followers that join meanwhile get it at once.
type live struct {
	pieces []*piece
	bytes  int
}

// A piece is what one call has streamed on one channel without a break.
type piece struct {
	body event.Body // Token, Thought or ToolProgress, without its text
	call string
	text []byte
}

// add keeps a transient event. Text of the same kind is joined; a note replaces the last one.
func (l *live) add(body event.Body) {
	p := &piece{call: streamingCall(body)}
	note := false
	switch b := body.(type) {
	case event.Token:
		p.text, b.Text = []byte(b.Text), ""
		p.body = b
	case event.Thought:
		p.text, b.Text = []byte(b.Text), ""
		p.body = b
	case event.ToolProgress:
		p.text, b.Note = []byte(b.Note), ""
		p.body, note = b, b.Stream == ""
	default:
		return
	}
	if last := l.last(p.call); last != nil && last.body == p.body {
		l.bytes += len(p.text)
		if note {
			l.bytes -= len(last.text)
			last.text = nil
		}
		last.text = append(last.text, p.text...)
	} else {
		l.pieces = append(l.pieces, p)
		l.bytes += pieceSize + len(p.text)
	}
	l.drop(l.bytes - maxLive)
}

// last is the newest piece of a call.
func (l *live) last(call string) *piece {
	for i := len(l.pieces) - 1; i >= 0; i-- {
		if l.pieces[i].call == call {
			return l.pieces[i]
		}
	}
	return nil
}

// drop forgets at least n bytes of the oldest pieces. A text stays whole characters.
func (l *live) drop(n int) {
	for n > 0 && len(l.pieces) > 0 {
		p := l.pieces[0]
		if len(p.text) <= n {
			n -= pieceSize + len(p.text)
			l.bytes -= pieceSize + len(p.text)
			l.pieces = l.pieces[1:]
			continue
		}
		for n < len(p.text) && !utf8.RuneStart(p.text[n]) {
			n++
		}
		p.text = append([]byte(nil), p.text[n:]...)
		l.bytes -= n
		return
	}
}

// end forgets what a stored event makes superfluous: it holds the whole of it.
func (l *live) end(body event.Body) {
	call := endedCall(body)
	if _, ok := body.(event.TurnEnded); ok {
		*l = live{}
	}
	kept := l.pieces[:0]
	for _, p := range l.pieces {
		if call == "" || p.call != call {
			kept = append(kept, p)
			continue
		}
		l.bytes -= pieceSize + len(p.text)
	}
	l.pieces = kept
}

// endedCall is the call of a model or tool that an event ends, "" for other events.
func endedCall(body event.Body) string {
	switch b := body.(type) {
	case event.ModelReplied:
		return b.Call
	case event.ModelFailed:
		return b.Call
	case event.ToolReturned:
		return b.Call
	case event.ToolFailed:
		return b.Call
	case event.ToolRefused:
		return b.Call
	}
	return ""
}

// streamingCall is the call of a transient event.
func streamingCall(body event.Body) string {
	switch b := body.(type) {
	case event.Token:
		return b.Call
	case event.Thought:
		return b.Call
	case event.ToolProgress:
		return b.Call
	}
	return ""
}

// bodies are the events that tell all of it to somebody who knows nothing of it yet.
func (l *live) bodies() []event.Body {
	out := make([]event.Body, 0, len(l.pieces))
	for _, p := range l.pieces {
		switch b := p.body.(type) {
		case event.Token:
			b.Text = string(p.text)
			out = append(out, b)
		case event.Thought:
			b.Text = string(p.text)
			out = append(out, b)
		case event.ToolProgress:
			b.Note = string(p.text)
			out = append(out, b)
		}
	}
	return out
}
