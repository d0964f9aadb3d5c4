package server

import (
	"net"
	"net/http"
	"sync"
	"time"

	"interlock/internal/fault"
)

// limits bounds how much is under way at once and how fast requests may come,
// for each caller and in all. A caller is a user, or an address while it has not
// shown a token.
type limits struct {
	rate, burst        float64 // fixed at creation
	perCaller, inTotal int
	now                func() time.Time

	mu      sync.Mutex
	total   int
	callers map[string]*caller
}

type caller struct {
	tokens  float64
	seen    time.Time
	running int
}

// maxCallers bounds the table; idle callers are forgotten when it is full.
const maxCallers = 10_000

func newLimits(cfg Config) *limits {
	return &limits{
		rate: cfg.Rate, burst: cfg.Burst, perCaller: cfg.PerUser, inTotal: cfg.Concurrent,
		now: time.Now, callers: map[string]*caller{},
	}
}

// enter lets a request in or says how long to wait; leave must follow.
func (l *limits) enter(name string) (wait time.Duration, ok bool) {
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
	case l.total >= l.inTotal, c.running >= l.perCaller:
		return 2 * time.Second, false
	case c.tokens < 1:
		return time.Duration((1 - c.tokens) / l.rate * float64(time.Second)), false
	}
	c.tokens--
	c.running++
	l.total++
	return 0, true
}

func (l *limits) leave(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if c := l.callers[name]; c != nil {
		c.running--
	}
}

// forget drops callers that have nothing under way and a full bucket.
func (l *limits) forget(now time.Time) {
	for name, c := range l.callers {
		if c.running == 0 && c.tokens+now.Sub(c.seen).Seconds()*l.rate >= l.burst {
			delete(l.callers, name)
		}
	}
}

// limited answers 429 to what comes too fast or on top of too much.
func (s *Server) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "address " + remoteIP(r)
		if user, known := s.users.of(r); known {
			name = "user " + user.Name
		}
		wait, ok := s.limits.enter(name)
		if !ok {
			p := problemOf(r.Context(), fault.New(fault.TooMany, "too many requests at once or in a short time"))
			p.wait = wait
			writeProblem(w, r, p)
			return
		}
		defer s.limits.leave(name)
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
