package server

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// An eventStream writes server-sent events, each at once. It is safe for
// concurrent use.
type eventStream struct {
	w  http.ResponseWriter
	rc *http.ResponseController

	mu sync.Mutex
}

// comeBack makes clients come back at once when a connection breaks.
var comeBack = []byte("retry: 1000\n\n")

// openStream begins the answer.
func openStream(w http.ResponseWriter, opening []byte) *eventStream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	s := &eventStream{w: w, rc: http.NewResponseController(w)}
	_ = s.write(opening)
	return s
}

// send writes one event; id and name may be empty.
func (s *eventStream) send(id, name string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := writeEvent(s.w, id, name, data); err != nil {
		return err
	}
	return s.rc.Flush()
}

// sendLater writes one event that may wait for those that follow it at once.
func (s *eventStream) sendLater(id, name string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return writeEvent(s.w, id, name, data)
}

func (s *eventStream) write(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush(b)
}

func (s *eventStream) flush(b []byte) error {
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.rc.Flush()
}

// beat writes a comment now and then, so that proxies keep the connection and a
// dead one is noticed: then gone is called. The returned function ends it.
func (s *eventStream) beat(every time.Duration, gone func()) (end func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
				if s.write([]byte(": alive\n\n")) != nil {
					gone()
					return
				}
			}
		}
	}()
	return func() { close(stop); <-stopped }
}

// writeEvent encodes an event. Data is split wherever the format would end a line; an
// id or name that could do so is left out. Data is not copied: it may be large, and
// shared with other streams.
func writeEvent(w io.Writer, id, name string, data []byte) error {
	head := make([]byte, 0, 256)
	if id != "" && !strings.ContainsAny(id, "\r\n\x00") {
		head = append(append(append(head, "id: "...), id...), '\n')
	}
	if name != "" && !strings.ContainsAny(name, "\r\n") {
		head = append(append(append(head, "event: "...), name...), '\n')
	}
	for {
		i := bytes.IndexAny(data, "\r\n")
		line := data
		if i >= 0 {
			line = data[:i]
		}
		if _, err := w.Write(append(head, "data: "...)); err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
		head = append(head[:0], '\n')
		if i < 0 {
			_, err := w.Write(append(head, '\n'))
			return err
		}
		if data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			i++
		}
		data = data[i+1:]
	}
}
