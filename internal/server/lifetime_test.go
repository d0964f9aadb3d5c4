package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"interlock/internal/event"
	"interlock/internal/server"
)

// watched is an engine whose follower tells when it ends.
type watched struct {
	server.Engine
	ended chan struct{}
}

func (w *watched) Follow(ctx context.Context, thread string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		defer close(w.ended)
		w.Engine.Follow(ctx, thread, after)(yield)
	}
}

// A client that leaves, stops reading, or outlives the server does not keep its
// follower: each ends soon.
func TestFollowerEnds(t *testing.T) {
	tests := []struct {
		name  string
		say   string
		leave func(*testing.T, net.Conn)
	}{
		{"client leaves", "SQL: x", func(t *testing.T, c net.Conn) {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"client stops reading", "SQL: flood", func(*testing.T, net.Conn) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &watched{ended: make(chan struct{})}
			r := start(t, func(c *server.Config) {
				w.Engine = c.Engine
				c.Engine, c.WriteTimeout, c.Heartbeat = w, 200*time.Millisecond, time.Hour // nothing but the event is written
			})
			thread := get[map[string]any](t, r, "POST", "/api/turns", fmt.Sprintf(`{"message":%q}`, tt.say))["thread_id"].(string)
			conn := openEvents(t, r, thread)
			tt.leave(t, conn)
			select {
			case <-w.ended:
			case <-time.After(time.Minute):
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
	if err := conn.(*net.TCPConn).SetReadBuffer(16 << 10); err != nil { // soon full where nobody reads
		t.Fatal(err)
	}
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
		w.Engine = c.Engine
		c.Engine, c.BodyTimeout, c.Heartbeat = w, 50*time.Millisecond, time.Hour
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
	case <-time.After(time.Minute):
		t.Fatal("nobody noticed that the client left")
	}
}

// Serve returns although a stream is open and a request waits.
func TestServeEndsWithOpenStreams(t *testing.T) {
	e := newDesk(t, 0)
	s, err := server.New(config(e))
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
	r := &rig{engine: e, addr: ln.Addr().String(), url: "http://" + ln.Addr().String()}
	thread := get[map[string]any](t, r, "POST", "/chat", `{"message":"SQL: x"}`)["thread_id"].(string)
	openEvents(t, r, thread)
	post := func(path, body string) <-chan string {
		told := make(chan string, 1)
		go func() {
			res, err := http.Post(r.url+path, "application/json", strings.NewReader(body))
			if err != nil {
				told <- err.Error()
				return
			}
			defer res.Body.Close()
			raw, _ := io.ReadAll(res.Body)
			told <- res.Status + " " + string(raw)
		}()
		return told
	}
	told := post("/chat", `{"message":"wait"}`)
	chunks := post("/v1/chat/completions", `{"model":"desk","stream":true,"messages":[{"role":"user","content":"wait here"}]}`)
	for running := false; !running; { // until the turns are under way
		raw, err := json.Marshal(get[any](t, r, "GET", "/api/threads", ""))
		running = err == nil && strings.Count(string(raw), `"status":"running"`) == 2
	}
	stop()
	if text := <-chunks; !strings.Contains(text, `{"error":{"message":"`) || !strings.Contains(text, `"code":"shutting_down"`) || strings.Contains(text, "[DONE]") {
		t.Errorf("a stream that cannot be resumed is told %s", text) // else it would pass for a whole answer
	}
	if text := <-told; !strings.HasPrefix(text, "503") || !strings.Contains(text, `"code":"shutting_down"`) || !strings.Contains(text, "goes on by itself") {
		t.Errorf("a request that waits is told %s", text)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Serve does not return")
	}
}
