package server_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"strings"
	"testing"
	"time"

	"interlock/internal/event"
	"interlock/internal/server"
)

// watched is an engine whose follower tells when it ends.
type watched struct {
	*fake
	flood bool // endless large events; else silence
	ended chan struct{}
}

func (w *watched) Follow(ctx context.Context, thread string, _ int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		defer close(w.ended)
		for w.flood && ctx.Err() == nil {
			if !yield(event.Event{Thread: thread, Body: event.Token{Call: "c", Text: strings.Repeat("x", 1<<16)}}, nil) {
				return
			}
		}
		<-ctx.Done()
	}
}

// A client that leaves, stops reading, or outlives the server does not keep its
// follower: each ends soon.
func TestFollowerEnds(t *testing.T) {
	tests := []struct {
		name  string
		flood bool
		leave func(*testing.T, net.Conn)
	}{
		{"client leaves", false, func(t *testing.T, c net.Conn) {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"client stops reading", true, func(*testing.T, net.Conn) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &watched{flood: tt.flood, ended: make(chan struct{})}
			r := start(t, func(c *server.Config) {
				w.fake = c.Engine.(*fake)
				c.Engine, c.WriteTimeout = w, 200*time.Millisecond
			})
			thread := get[map[string]any](t, r, "POST", "/chat", `{"message":"SQL: x"}`)["thread_id"].(string)
			conn := openEvents(t, r, thread)
			tt.leave(t, conn)
			select {
			case <-w.ended:
			case <-time.After(10 * time.Second):
				t.Fatal("the follower goes on")
			}
		})
	}
}

// openEvents asks for the log of a thread and reads the head of the answer.
func openEvents(t *testing.T, r *rig, thread string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, "GET /api/threads/"+thread+"/events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, head); err != nil || string(head) != "HTTP/1.1 200" {
		t.Fatalf("%q, %v", head, err)
	}
	return conn
}

// The deadline of a body is over once the body has arrived: much later it is still
// noticed at once that the client of a long request has left.
func TestClientLeavesLongAfterBody(t *testing.T) {
	w := &watched{ended: make(chan struct{})}
	r := start(t, func(c *server.Config) {
		w.fake = c.Engine.(*fake)
		c.Engine, c.BodyTimeout = w, 50*time.Millisecond
	})
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"message":"wait"}`
	if _, err := fmt.Fprintf(conn, "POST /chat/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200"))); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.ended:
		t.Fatal("the stream was cut short")
	case <-time.After(200 * time.Millisecond): // the deadline passes
	}
	_ = conn.Close()
	select {
	case <-w.ended:
	case <-time.After(10 * time.Second): // before the first heartbeat
		t.Fatal("nobody noticed that the client left")
	}
}

// Serve returns although a stream is open and a request waits.
func TestServeEndsWithOpenStreams(t *testing.T) {
	f := newFake()
	s, err := server.New(config(f))
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	r := &rig{fake: f, addr: ln.Addr().String(), url: "http://" + ln.Addr().String()}
	thread := get[map[string]any](t, r, "POST", "/chat", `{"message":"SQL: x"}`)["thread_id"].(string)
	openEvents(t, r, thread)
	stop()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Serve does not return")
	}
}
