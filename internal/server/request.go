package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"interlock/internal/fault"
)

// A note is what is known about a request while it is answered; the access log
// is written from it. It belongs to the request's goroutine.
type note struct {
	id, path    string
	user        User
	thread, run string
	err         error
	openAI      bool // errors are told as OpenAI's API does
}

type noteKey struct{}

// noteOf gives the note of the request; outside one it is empty but usable.
func noteOf(ctx context.Context) *note {
	if n, ok := ctx.Value(noteKey{}).(*note); ok {
		return n
	}
	return &note{}
}

// UserOf returns the name of the user whose request ctx belongs to, for handlers of Extra.
func UserOf(ctx context.Context) string { return noteOf(ctx).user.Name }

// noteThread remembers thread and run for the log.
func noteThread(ctx context.Context, thread, run string) {
	n := noteOf(ctx)
	n.thread, n.run = thread, run
}

// aborted says whether a handler gave up a response that it had begun.
func aborted(panicked any) bool {
	err, ok := panicked.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// logged gives each request its id, its note and one line in the log, and turns
// a panic into a problem.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := &note{id: requestID(r.Header.Get("X-Request-Id")), path: r.URL.Path, openAI: strings.HasPrefix(r.URL.Path, openAIPrefix)}
		rw := &response{ResponseWriter: w, rc: http.NewResponseController(w), each: s.cfg.WriteTimeout}
		_ = rw.rc.SetWriteDeadline(time.Time{})
		rw.Header().Set("X-Request-Id", n.id)
		r = r.WithContext(context.WithValue(r.Context(), noteKey{}, n))
		began := time.Now()
		defer func() {
			if p := recover(); p != nil && !aborted(p) {
				err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				if rw.status == 0 {
					writeProblem(rw, r, err)
				}
				n.err = err
			}
			s.log(r, n, rw, time.Since(began))
		}()
		next.ServeHTTP(rw, r)
	})
}

func (s *Server) log(r *http.Request, n *note, rw *response, took time.Duration) {
	attrs := []slog.Attr{
		slog.String("request", n.id), slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", rw.status), slog.Int64("bytes", rw.bytes), slog.Int64("ms", took.Milliseconds()),
		slog.String("remote", r.RemoteAddr),
	}
	for key, v := range map[string]string{"user": n.user.Name, "thread": n.thread, "run": n.run} {
		if v != "" {
			attrs = append(attrs, slog.String(key, v))
		}
	}
	level, text := slog.LevelInfo, "Answered a request."
	if n.err != nil {
		attrs = append(attrs, slog.String("err", n.err.Error()))
		if c := cause(n.err); c != nil && rw.status < 500 {
			attrs = append(attrs, slog.String("cause", c.Error()))
		}
	}
	switch {
	case rw.status == http.StatusNotModified: // pages look often whether something changed
		level = slog.LevelDebug
	case r.Context().Err() != nil && rw.status >= 500:
		text = "A client left before its answer."
	case rw.status >= 500:
		level, text = slog.LevelError, "A request failed."
		if c := cause(n.err); c != nil {
			attrs = append(attrs, slog.String("cause", c.Error()))
		}
	}
	s.cfg.Log.LogAttrs(r.Context(), level, text, attrs...)
}

// cause is what a fault hides from the person.
func cause(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}

// requestID takes over a client's id if it is harmless, else makes one.
func requestID(given string) string {
	if given != "" && len(given) <= 64 && bytes.IndexFunc([]byte(given), unfitForID) < 0 {
		return given
	}
	var b [8]byte
	_, _ = rand.Read(b[:])
	return "q_" + hex.EncodeToString(b[:])
}

func unfitForID(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
}

// A response counts what is written, and gives each write its own deadline: a
// client that does not read is let go, a long answer is not cut.
type response struct {
	http.ResponseWriter
	rc     *http.ResponseController
	each   time.Duration
	status int
	bytes  int64
}

func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) WriteHeader(code int) {
	if w.status == 0 && code >= 200 {
		w.status = code
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	_ = w.rc.SetWriteDeadline(time.Now().Add(w.each))
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Flush is for handlers of Extra that look for it.
func (w *response) Flush() { _ = w.rc.Flush() }

// bounded limits how large a body may be and how long it may take to arrive.
func (s *Server) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		allowed := s.cfg.BodyBytes
		switch {
		case isUpload(r):
			allowed = s.cfg.UploadBytes
		case r.URL.Path == completionsPath:
			allowed = max(allowed, historyBytes)
		}
		if r.ContentLength > allowed {
			if r.ContentLength <= discardBytes && r.Header.Get("Expect") == "" { // else nothing was sent yet
				_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.cfg.BodyTimeout))
				discardBody(r.Body)
			}
			writeProblem(w, r, fault.New(fault.TooLarge, "the request's body has %d bytes, %d are allowed", r.ContentLength, allowed))
			return
		}
		if isUpload(r) {
			r.Body = &slowBody{http.MaxBytesReader(w, r.Body, allowed), http.NewResponseController(w), s.cfg.BodyTimeout}
		} else if r.ContentLength != 0 {
			// net/http lifts the deadline by itself once the body has arrived.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.cfg.BodyTimeout))
			// One byte more, so that huma can see that a body is too large.
			r.Body = &boundedBody{http.MaxBytesReader(w, r.Body, allowed+1), r.Body, allowed + 1}
		}
		next.ServeHTTP(w, r)
	})
}

// discardBytes is how much of a body that nobody wants is read.
const discardBytes = 64 << 20

// discardBody reads what is left of a body before the answer is written. A client that sends
// all of it before it reads would meet a closed connection instead of the answer.
func discardBody(body io.Reader) { _, _ = io.CopyN(io.Discard, body, discardBytes) }

// A boundedBody discards the rest of a body once more of it was read than is allowed.
type boundedBody struct {
	io.ReadCloser
	whole io.Reader
	left  int64 // until it is too large
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left > 0 && int64(n) >= b.left {
		discardBody(b.whole)
	}
	b.left -= int64(n)
	return n, err
}
