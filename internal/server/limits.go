package server

import (
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"interlock/internal/fault"
)

// limits bounds how much is under way at once and how fast requests may come,
// for each caller and in all. Streams, which last, are counted apart from the other
// requests. A caller is a user, or an address while it has not shown a token.
type limits struct {
	rate, burst        float64 // fixed at creation
	perCaller, inTotal [lanes]int
	now                func() time.Time

	mu      sync.Mutex
	total   [lanes]int
	callers map[string]*caller
}

type caller struct {
	tokens  float64
	seen    time.Time
	running [lanes]int
}

// A lane is a kind of request that is counted apart.
type lane int

const (
	briefLane  lane = iota // is answered and over
	streamLane             // lasts as long as its client likes
	lanes
)

// laneOf tells streams by their routes.
func laneOf(r *http.Request) lane {
	path := strings.TrimSuffix(r.URL.Path, "/")
	if path == "/chat/stream" || path == completionsPath || strings.HasPrefix(path, "/api/threads/") && strings.HasSuffix(path, "/events") {
		return streamLane
	}
	return briefLane
}

// maxCallers bounds the table; idle callers are forgotten when it is full.
const maxCallers = 10_000

func newLimits(cfg Config) *limits {
	return &limits{
		rate: cfg.Rate, burst: cfg.Burst, perCaller: [lanes]int{cfg.PerUser, cfg.StreamsPerUser}, inTotal: [lanes]int{cfg.Concurrent, cfg.Streams},
		now: time.Now, callers: map[string]*caller{},
	}
}

// enter lets a request in or says how long to wait; leave must follow. A crowd is a
// caller that may be many people: it has no bound of its own on what is under way.
func (l *limits) enter(name string, in lane, crowd bool) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	c := l.callers[name]
	if c == nil {
		if len(l.callers) >= maxCallers {
			l.forget(now)
		}
		c = &caller{tokens: l.burst, seen: now}
		l.callers[name] = c
	}
	c.tokens = min(l.burst, c.tokens+now.Sub(c.seen).Seconds()*l.rate)
	c.seen = now
	switch {
	case l.total[in] >= l.inTotal[in], c.running[in] >= l.perCaller[in] && !crowd:
		return 2 * time.Second, false
	case c.tokens < 1:
		return time.Duration((1 - c.tokens) / l.rate * float64(time.Second)), false
	}
	c.tokens--
	c.running[in]++
	l.total[in]++
	return 0, true
}

func (l *limits) leave(name string, in lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total[in]--
	if c := l.callers[name]; c != nil {
		c.running[in]--
	}
}

// forget drops callers that have nothing under way and a full bucket.
func (l *limits) forget(now time.Time) {
	for name, c := range l.callers {
		if c.running == [lanes]int{} && c.tokens+now.Sub(c.seen).Seconds()*l.rate >= l.burst {
			delete(l.callers, name)
		}
	}
}

// limited answers 429 to what comes too fast or on top of too much. Whoever watches
// over the server is never refused: that is when it matters.
func (s *Server) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/metrics":
			next.ServeHTTP(w, r)
			return
		}
		ip := remoteIP(r)
		name, crowd := "address "+ip, false
		if len(s.users.known) == 0 {
			crowd = isLoopback(ip) // everybody on this machine, or behind a proxy on it
		} else if user, known := s.users.find(r); known {
			name = "user " + user.Name
		}
		in := laneOf(r)
		wait, ok := s.limits.enter(name, in, crowd)
		if !ok {
			p := problemOf(r.Context(), fault.New(fault.TooMany, "too many requests at once or in a short time").
				Suggest("Wait a moment and try again; the operator can raise the limits with --requests-per-user and --streams-per-user."))
			p.wait = wait
			writeProblem(w, r, p)
			return
		}
		defer s.limits.leave(name, in)
		next.ServeHTTP(w, r)
	})
}

func remoteIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
