package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/server"
	"interlock/internal/store"
)

const (
	aliceToken = "alice-token-0123456789"
	bobToken   = "bob-token-0123456789ab"
	vicToken   = "vic-token-0123456789ab"
)

func withUsers(cfg *server.Config) {
	cfg.Users = []server.User{
		{Name: "alice", Token: aliceToken},
		{Name: "vic", Role: server.Viewer, Token: vicToken},
		{Name: "bob", Role: server.Admin, Token: bobToken},
	}
}

func TestHostsAndOrigins(t *testing.T) {
	r := start(t, func(cfg *server.Config) {
		cfg.Hosts = []string{"data.example.org"}
		cfg.Origins = []string{"https://notebook.example.org"}
	})
	_, port, _ := net.SplitHostPort(r.addr)
	const ok, no = http.StatusOK, http.StatusForbidden
	tests := []struct {
		headers []string
		status  int
	}{
		{nil, ok},
		{[]string{"Host: localhost"}, ok},
		{[]string{"Host: LOCALHOST.:" + port}, ok},
		{[]string{"Host: [::1]:" + port}, ok},
		{[]string{"Host: 127.0.0.2"}, ok},
		{[]string{"Host: data.example.org:443"}, ok},
		{[]string{"Host: evil.example"}, no},
		{[]string{"Host: evil.example:" + port}, no},
		{[]string{"Host: localhost.evil.example"}, no},
		{[]string{"Host: 127.0.0.1.evil.example"}, no},
		{[]string{"Host: 10.0.0.5"}, no},
		{[]string{"Host: 0.0.0.0"}, no},
		{[]string{"Host: evil.example@127.0.0.1"}, no},
		{[]string{"Origin: http://" + r.addr}, ok},
		{[]string{"Origin: https://notebook.example.org"}, ok},
		{[]string{"Origin: null"}, no},
		{[]string{"Origin: https://evil.example"}, no},
		{[]string{"Origin: http://127.0.0.1:1"}, no}, // another program of this machine
		{[]string{"Origin: http://localhost:" + port}, no},
		{[]string{"Origin: http://" + r.addr + ".evil.example"}, no},
		{[]string{"Origin: file://" + r.addr}, no},
		{[]string{"Sec-Fetch-Site: same-origin"}, ok},
		{[]string{"Sec-Fetch-Site: none"}, ok},
		{[]string{"Sec-Fetch-Site: cross-site"}, no},
		{[]string{"Sec-Fetch-Site: same-site"}, no},
		{[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, no},
		{[]string{"Sec-Fetch-Site: cross-site", "Origin: https://notebook.example.org"}, ok},
		{[]string{"Host: evil.example", "Origin: http://evil.example"}, no}, // DNS rebinding
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.headers, ", "), func(t *testing.T) {
			for _, req := range []struct{ method, path, body string }{
				{"GET", "/datasets", ""}, {"POST", "/chat", `{"message":"SQL: x"}`}, {"GET", "/healthz", ""}, {"GET", "/api/artifacts/a_1", ""},
			} {
				res, text := r.do(t, req.method, req.path, req.body, tt.headers...)
				if res.StatusCode != tt.status {
					t.Errorf("%s %s: %d, want %d: %s", req.method, req.path, res.StatusCode, tt.status, text)
				}
				if res.StatusCode == no && !strings.Contains(text, `"code":"foreign_origin"`) {
					t.Errorf("%s: %s", req.path, text)
				}
				if origin := res.Header.Get("Access-Control-Allow-Origin"); origin != "" && origin != "https://notebook.example.org" {
					t.Errorf("CORS is open for %s", origin)
				}
			}
		})
	}
	t.Run("an allowed page may ask first", func(t *testing.T) {
		for origin, want := range map[string]int{"https://notebook.example.org": 204, "https://evil.example": 403, "http://" + r.addr: 405} {
			res, _ := r.do(t, "OPTIONS", "/chat", "", "Origin: "+origin)
			if res.StatusCode != want {
				t.Errorf("%s: %s", origin, res.Status)
			}
			methods := strings.Split(res.Header.Get("Access-Control-Allow-Methods"), ", ")
			for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} { // those of the routes
				if slices.Contains(methods, m) != (want == http.StatusNoContent) {
					t.Errorf("pages of %s may send %q", origin, methods)
				}
			}
		}
	})
	t.Run("a link may open the page", func(t *testing.T) {
		if res, _ := r.do(t, "GET", "/", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"); res.StatusCode != ok {
			t.Error(res.Status)
		}
	})
}

// TestOnlyOwnThreadsAreCompared covers both sides of a comparison.
func TestOnlyOwnThreadsAreCompared(t *testing.T) {
	r := start(t, func(c *server.Config) {
		withUsers(c)
		c.CompareThreads = func(context.Context, string, string) (any, error) { return map[string]int{"shared": 1}, nil }
	})
	alice, bob := "Authorization: Bearer "+aliceToken, "Authorization: Bearer "+bobToken
	hers := get[map[string]any](t, r, "POST", "/chat", `{"message":"everything"}`, alice)["thread_id"].(string)
	his := get[map[string]any](t, r, "POST", "/chat", `{"message":"everything"}`, bob)["thread_id"].(string)
	for path, want := range map[string]int{his + "/diff/" + his: 200, his + "/diff/" + hers: 404, hers + "/diff/" + his: 404} {
		if res, body := r.do(t, "GET", "/api/threads/"+path, "", bob); res.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", path, res.StatusCode, body, want)
		}
	}
}

func TestTokens(t *testing.T) {
	r := start(t, withUsers)
	alice, bob, vic := "Authorization: Bearer "+aliceToken, "Authorization: Bearer "+bobToken, "Authorization: Bearer "+vicToken
	first := get[map[string]any](t, r, "POST", "/chat", `{"message":"everything"}`, alice)
	thread, run := first["thread_id"].(string), first["run_id"].(string)
	scenarios := []scenario{
		{name: "health is open", url: "/healthz"},
		{name: "page is open", url: "/"},
		{name: "script is open", url: "/assets/main-1.js"},
		{name: "icon is open", url: "/icon.svg"},
		{name: "no token", url: "/datasets", status: 401, has: []string{"Www-Authenticate: Bearer", `"code":"unauthorized"`}},
		{name: "no token for the description", url: "/openapi.json", status: 401},
		{name: "no token for readiness", url: "/readyz", status: 401},
		{name: "no token for a route unknown", url: "/nope", status: 401},
		{name: "post to the page", method: "POST", url: "/", status: 401},
		{name: "path trick", url: "/assets/../datasets", status: 307, has: []string{"Location: /datasets"}, hasNot: []string{"shop"}},
		{name: "wrong token", url: "/datasets", headers: []string{alice + "x"}, status: 401},
		{name: "half a token", url: "/datasets", headers: []string{alice[:len(alice)-1]}, status: 401},
		{name: "empty token", url: "/datasets", headers: []string{"Authorization: Bearer "}, status: 401},
		{name: "wrong scheme", url: "/datasets", headers: []string{"Authorization: Basic " + aliceToken}, status: 401},
		{name: "token in the query", url: "/datasets?token=" + aliceToken, status: 401},
		{name: "alice", url: "/api/me", headers: []string{alice}, has: []string{`"user":"alice","role":"analyst","token_required":true`}},

		{name: "own thread", url: "/api/threads/" + thread, headers: []string{alice}},
		{name: "another's thread", url: "/api/threads/" + thread, headers: []string{bob}, status: 404, has: []string{`"code":"thread_not_found"`}},
		{name: "another's messages", url: "/threads/" + thread + "/messages", headers: []string{bob}, status: 404},
		{name: "another's events", url: "/api/threads/" + thread + "/events", headers: []string{bob}, status: 404},
		{name: "another's stream", method: "POST", url: "/chat/stream", body: `{}`, headers: []string{bob, "Last-Event-ID: " + thread + ":1"}, status: 404},
		{name: "speaking in another's thread", method: "POST", url: "/chat", body: `{"message":"x","thread_id":"` + thread + `"}`, headers: []string{bob}, status: 404},
		{name: "answering in another's thread", method: "POST", url: "/api/chat", body: `{"message":"x","session_id":"` + thread + `"}`, headers: []string{bob}, status: 404},
		{name: "deleting another's thread", method: "DELETE", url: "/api/threads/" + thread, headers: []string{bob}, status: 404},
		{name: "deleting as a viewer", method: "DELETE", url: "/api/threads/" + thread, headers: []string{vic}, status: 403},
		{name: "stopping another's thread", method: "POST", url: "/api/threads/" + thread + "/stop", headers: []string{bob}, status: 404},
		{name: "forking another's thread", method: "POST", url: "/api/threads/" + thread + "/fork", body: `{"seq":1}`, headers: []string{bob}, status: 404},
		{name: "another's run", url: "/runs/" + run, headers: []string{bob}, status: 404},
		{name: "another's run status", url: "/runs/" + run + "/status", headers: []string{bob}, has: []string{"not_found"}},
		{name: "another's list", url: "/api/threads", headers: []string{bob}, has: []string{`{"threads":[]}`}},
		{name: "another's runs", url: "/runs", headers: []string{bob}, has: []string{`{"runs":[]}`}},
		{name: "own artifact", url: "/api/artifacts/a_alice", headers: []string{alice}, has: []string{"secret"}},
		{name: "another's artifact", url: "/api/artifacts/a_alice", headers: []string{bob}, status: 404, hasNot: []string{"secret"}},

		{name: "viewer looks", url: "/datasets", headers: []string{vic}},
		{name: "viewer asks", method: "POST", url: "/chat", body: `{"message":"x"}`, headers: []string{vic}, status: 403, has: []string{`"code":"forbidden"`}},
		{name: "viewer streams", method: "POST", url: "/chat/stream", body: `{"message":"x"}`, headers: []string{vic}, status: 403},
		{name: "viewer runs", method: "POST", url: "/runs", body: `{"dataset_id":"shop","query_type":"sql","sql":"x"}`, headers: []string{vic}, status: 403},
		{name: "analyst adds a source", method: "POST", url: "/api/sources", body: `{"url":"/etc/passwd"}`, headers: []string{alice}, status: 403},
		{name: "analyst removes a source", method: "DELETE", url: "/api/sources/orders", headers: []string{alice}, status: 403},
		{name: "analyst reads metrics", url: "/metrics", headers: []string{alice}, status: 403},
		{name: "admin adds a source", method: "POST", url: "/api/sources", body: `{"url":"/data/x.csv"}`, headers: []string{bob}},
		{name: "admin reads metrics", url: "/metrics", headers: []string{bob}},
	}
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) { sc.run(t, r) })
	}
	log := r.log.String()
	for _, secret := range []string{aliceToken, bobToken, vicToken, "everything"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log has %q", secret)
		}
	}
	for _, part := range []string{`"user":"alice"`, `"thread":"` + thread, `"run":"` + run, `"status":401`} {
		if !strings.Contains(log, part) {
			t.Errorf("the log lacks %s", part)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*server.Config)
		want   string
	}{
		{"open address without token", func(c *server.Config) { c.Listen = "0.0.0.0:80" }, "without a token"},
		{"all interfaces without token", func(c *server.Config) { c.Listen = ":80" }, "without a token"},
		{"name without token", func(c *server.Config) { c.Listen = "example.org:80" }, "without a token"},
		{"v6 without token", func(c *server.Config) { c.Listen = "[::]:80" }, "without a token"},
		{"no port", func(c *server.Config) { c.Listen = "127.0.0.1" }, "missing port"},
		{"short token", func(c *server.Config) { c.Users = []server.User{{Name: "a", Token: "short"}} }, "shorter than 16"},
		{"unknown role", func(c *server.Config) { c.Users = []server.User{{Name: "a", Role: "root", Token: aliceToken}} }, "unknown role"},
		{"twins", func(c *server.Config) {
			c.Users = []server.User{{Name: "a", Token: aliceToken}, {Name: "a", Token: bobToken}}
		}, "two users"},
		{"bad origin", func(c *server.Config) { c.Origins = []string{"example.org"} }, "does not look like"},
		{"no engine", func(c *server.Config) { c.Engine = nil }, "Config.Engine is required"},
	}
	e := newDesk(t, 0)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := config(e)
			tt.change(&cfg)
			if _, err := server.New(cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New: %v, want %q", err, tt.want)
			}
		})
	}
	cfg := config(e)
	withUsers(&cfg)
	cfg.Listen = "0.0.0.0:80"
	if _, err := server.New(cfg); err != nil {
		t.Errorf("with tokens: %v", err)
	}
}

func TestBodies(t *testing.T) {
	r := start(t, func(c *server.Config) { c.BodyBytes, c.BodyTimeout = 1000, 200*time.Millisecond })
	fit := `{"message":"SQL: ` + strings.Repeat("x", 1000-len(`{"message":"SQL: "}`)) + `"}`
	if res, text := r.do(t, "POST", "/chat", fit); res.StatusCode != 200 {
		t.Errorf("a body of the limit: %s %s", res.Status, text)
	}
	if res, text := r.do(t, "POST", "/chat", fit+" "); res.StatusCode != 413 || !strings.Contains(text, "too_large") {
		t.Errorf("one byte more: %s %s", res.Status, text)
	}
	raw := []struct{ name, send, want string }{
		{"huge without length", "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("400\r\n"+strings.Repeat(" ", 1024)+"\r\n", 3) + "0\r\n\r\n", " 413 "},
		{"lies about its length", "Content-Length: 9000000000\r\n\r\n{", " 413 "},
		{"broken chunks", "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", " 400 "},
		{"slow", "Content-Length: 50\r\n\r\n{", " 408 "},
		{"smuggled", "Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}", " 400 "},
		{"deep", fmt.Sprintf("Content-Length: 900\r\n\r\n%s", strings.Repeat("[", 900)), " 400 "},
		{"not UTF-8", "Content-Length: 14\r\n\r\n{\"message\":\"\xff\xfe", " 400 "},
	}
	for _, tt := range raw {
		t.Run(tt.name, func(t *testing.T) {
			c, err := net.Dial("tcp", r.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(10 * time.Second))
			go func() {
				_, _ = io.WriteString(c, "POST /chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+tt.send)
			}()
			line, err := bufio.NewReader(c).ReadString('\n')
			if !strings.Contains(line, tt.want) {
				t.Errorf("answer %q, %v; want %s", line, err, tt.want)
			}
		})
	}
	if res, _ := r.do(t, "GET", "/healthz", ""); res.StatusCode != 200 {
		t.Error("the server does not live on")
	}
}

// A turn that takes longer than a body may take to arrive is answered all the same.
func TestLongAnswerAfterBody(t *testing.T) {
	line, reached := llm.Say("never"), make(chan struct{})
	line.Before = func(ctx context.Context, _ llm.Request) error {
		close(reached)
		<-ctx.Done()
		return ctx.Err()
	}
	r := serve(t, newEngine(t, library(), llm.Script(line), regions), func(c *server.Config) { c.BodyTimeout = 50 * time.Millisecond })
	done := make(chan string, 1)
	go func() {
		res, err := http.Post(r.url+"/chat", "application/json", strings.NewReader(`{"message":"think"}`))
		if err != nil {
			done <- err.Error()
			return
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		done <- string(text)
	}()
	select {
	case text := <-done:
		t.Fatalf("not begun: %s", text)
	case <-reached:
	}
	select {
	case text := <-done:
		t.Fatalf("cut short: %s", text)
	case <-time.After(200 * time.Millisecond): // the deadline passes
	}
	threads, err := r.engine.store.Threads(t.Context(), store.Query{Owner: localUser})
	if err != nil || len(threads) != 1 {
		t.Fatal(threads, err)
	}
	r.do(t, "POST", "/api/threads/"+threads[0].ID+"/stop", "")
	if text := <-done; !strings.Contains(text, `"status":"stopped"`) {
		t.Errorf("got %s", text)
	}
}

func TestTooMany(t *testing.T) {
	t.Run("rate", func(t *testing.T) {
		r := start(t, func(c *server.Config) { c.Rate, c.Burst = 0.001, 3 })
		for i := range 5 {
			res, text := r.do(t, "GET", "/datasets", "")
			if want := map[bool]int{true: 200, false: 429}[i < 3]; res.StatusCode != want {
				t.Errorf("request %d: %s %s", i, res.Status, text)
			}
			if res.StatusCode == 429 && (res.Header.Get("Retry-After") == "" || !strings.Contains(text, `"code":"too_many"`)) {
				t.Errorf("%v %s", res.Header, text)
			}
		}
	})
	t.Run("at once", func(t *testing.T) {
		r := start(t, func(c *server.Config) { c.PerUser, c.StreamsPerUser = 1, 2; withUsers(c) })
		alice, bob := "Authorization: Bearer "+aliceToken, "Authorization: Bearer "+bobToken
		listen(t, r, "POST", "/chat/stream", `{"message":"wait"}`, "", func(received) bool {
			listen(t, r, "POST", "/chat/stream", `{"message":"wait"}`, "", func(received) bool {
				if res, _ := r.do(t, "POST", "/chat/stream", `{"message":"wait"}`, alice); res.StatusCode != 429 {
					t.Errorf("third stream of alice: %s", res.Status)
				}
				for _, who := range []string{alice, bob} { // streams are counted apart
					if res, _ := r.do(t, "GET", "/datasets", "", who); res.StatusCode != 200 {
						t.Errorf("request beside streams: %s", res.Status)
					}
				}
				return false
			}, alice)
			return false
		}, alice)
	})
}

// Whoever watches over the server is answered when nobody else is.
func TestHealthIsNeverRefused(t *testing.T) {
	r := start(t, func(c *server.Config) {
		c.Rate, c.Burst = 0.001, 1
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	})
	for range 3 {
		r.do(t, "GET", "/datasets", "")
	}
	if res, _ := r.do(t, "GET", "/datasets", ""); res.StatusCode != 429 {
		t.Fatalf("the limit is not reached: %s", res.Status)
	}
	for range 3 {
		for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
			if res, text := r.do(t, "GET", path, ""); res.StatusCode != 200 {
				t.Errorf("%s: %s %s", path, res.Status, text)
			}
		}
	}
}

// Without tokens everybody on this machine has the same address: no bound of one
// person holds for all of them together.
func TestNobodyIsEverybody(t *testing.T) {
	r := start(t, func(c *server.Config) { c.PerUser, c.StreamsPerUser = 1, 1 })
	listen(t, r, "POST", "/chat/stream", `{"message":"wait"}`, "", func(received) bool {
		listen(t, r, "POST", "/chat/stream", `{"message":"wait"}`, "", func(received) bool {
			if res, _ := r.do(t, "GET", "/datasets", ""); res.StatusCode != 200 {
				t.Errorf("a request beside two streams: %s", res.Status)
			}
			return false
		})
		return false
	})
}

// What goes wrong inside is logged and not shown.
func TestInternalErrorsStayInside(t *testing.T) {
	var made atomic.Int32
	r := start(t, func(c *server.Config) {
		c.Capsule = func(context.Context, string) (any, error) {
			switch made.Add(1) {
			case 1:
				return nil, fmt.Errorf("opening /var/secret/db: %w", io.ErrUnexpectedEOF)
			case 2:
				return nil, fault.Wrap(io.ErrClosedPipe, fault.StoreFailed, "writing /var/secret/db")
			}
			panic("secret panic")
		}
	})
	for _, want := range []int{500, 503, 500} {
		run := get[map[string]any](t, r, "POST", "/chat", `{"message":"SQL: x"}`)["run_id"].(string)
		res, text := r.do(t, "GET", "/runs/"+run, "", "X-Request-Id: find-me")
		if res.StatusCode != want || strings.Contains(text, "secret") || !strings.Contains(text, `"request_id":"find-me"`) {
			t.Errorf("%s %s", res.Status, text)
		}
	}
	for _, part := range []string{"opening /var/secret/db", "io: read/write on closed pipe", "secret panic", `"request":"find-me"`} {
		if !strings.Contains(r.log.String(), part) {
			t.Errorf("the log lacks %q", part)
		}
	}
}
