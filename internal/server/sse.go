package server

import (
	"bytes"
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

	mu  sync.Mutex
	buf []byte
}

// openStream begins the answer.
func openStream(w http.ResponseWriter) *eventStream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	s := &eventStream{w: w, rc: http.NewResponseController(w)}
	_ = s.write([]byte("retry: 1000\n\n"))
	return s
}

// send writes one event; id and name may be empty.
func (s *eventStream) send(id, name string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf = appendEvent(s.buf[:0], id, name, data)
	return s.flush(s.buf)
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

// appendEvent encodes an event. Data is split wherever the format would end a
// line; an id or name that could do so is left out.
func appendEvent(dst []byte, id, name string, data []byte) []byte {
	if id != "" && !strings.ContainsAny(id, "\r\n\x00") {
		dst = append(append(append(dst, "id: "...), id...), '\n')
	}
	if name != "" && !strings.ContainsAny(name, "\r\n") {
		dst = append(append(append(dst, "event: "...), name...), '\n')
	}
	for {
		i := bytes.IndexAny(data, "\r\n")
		line := data
		if i >= 0 {
			line = data[:i]
		}
		dst = append(append(append(dst, "data: "...), line...), '\n')
		if i < 0 {
			return append(dst, '\n')
		}
		if data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			i++
		}
		data = data[i+1:]
	}
}
