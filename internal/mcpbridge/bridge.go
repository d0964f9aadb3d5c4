// Package mcpbridge connects to the MCP servers of users and calls their tools. A server
// is a stranger: what it declares and returns is bounded in size and time, its word about
// itself counts only where the configuration says so, and a tool that it declares in
// another way than it did when it was found is not called.
//
// A Bridge has one session for each user and server, opened when it is first needed. The
// SDK runs a goroutine for each session, which ends when the session is closed: by Close,
// after a failure, or when it was not used for idleTime.
package mcpbridge

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"interlock/internal/fault"
	"interlock/internal/tool"
)

// Bounds of what a server may do.
const (
	connectTime  = 20 * time.Second
	listTime     = 20 * time.Second
	idleTime     = 10 * time.Minute
	freshTime    = time.Minute      // for which a server's list of tools is believed before a call
	restTime     = 30 * time.Second // for which a server that failed is not asked for its tools again
	maxSessions  = 256
	maxTools     = 2000    // of a server
	maxPages     = 200     // of its list
	maxMessage   = 8 << 20 // bytes of one message
	maxSchema    = 32 << 10
	maxTold      = 1024      // characters of a description
	maxResult    = 256 << 10 // bytes of text of a result
	maxParts     = 64        // of a result
	maxErrorText = 2000
)

// Config configures a Bridge.
type Config struct {
	// Servers returns the servers of a user by name. Required.
	Servers func(owner string) (map[string]Server, error)
	// Log hears of servers that fail. Default: nobody does.
	Log *slog.Logger
}

// A Bridge calls the tools of MCP servers. It is safe for concurrent use.
type Bridge struct {
	cfg Config // fixed at creation

	mu       sync.Mutex
	sessions map[sessionKey]*session
	failed   map[sessionKey]failure // of servers whose tools could not be listed
	closed   bool
}

// A failure is why the tools of a server could not be listed.
type failure struct {
	server Server
	err    error
	at     time.Time
}

type sessionKey struct{ owner, server string }

// New returns a bridge. It connects to nothing until a tool is listed or called.
func New(cfg Config) (*Bridge, error) {
	if cfg.Servers == nil {
		return nil, errors.New("mcpbridge: Config.Servers is required")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Bridge{cfg: cfg, sessions: map[sessionKey]*session{}, failed: map[sessionKey]failure{}}, nil
}

// Close ends all sessions and the processes that they started.
func (b *Bridge) Close() error {
	b.mu.Lock()
	open := slices.Collect(maps.Values(b.sessions))
	b.sessions, b.closed = map[sessionKey]*session{}, true
	b.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range open {
		wg.Go(s.close)
	}
	wg.Wait()
	return nil
}

// A Status is how a server of a user stands.
type Status struct {
	Server string       `json:"server"`
	Tools  int          `json:"tools"`
	Error  *fault.Fault `json:"error,omitempty"`
}

// Status connects to the servers of a user and says how each of them stands.
func (b *Bridge) Status(ctx context.Context, owner string) ([]Status, error) {
	lists, err := b.list(ctx, owner, true)
	out := make([]Status, len(lists))
	for i, l := range lists {
		out[i] = Status{Server: l.server, Tools: len(l.tools)}
		if l.err != nil {
			out[i].Error = fault.From(l.err)
		}
	}
	return out, err
}

// Tools returns the tools of the servers of a user as they declare them now, by name. A
// server that fails is logged and left out, and for restTime not tried again: every turn
// lists the tools and would wait for it.
func (b *Bridge) Tools(ctx context.Context, owner string) ([]tool.Found, error) {
	lists, err := b.list(ctx, owner, false)
	if err != nil {
		return nil, err
	}
	var out []tool.Found
	for _, l := range lists {
		if l.err != nil {
			b.cfg.Log.Warn("an MCP server cannot be used", "server", l.server, "owner", owner, "err", l.err)
			continue
		}
		out = append(out, l.tools...)
	}
	return out, nil
}

// A listing is what a server declares, or why it could not be asked.
type listing struct {
	server string
	tools  []tool.Found
	err    error
}

// list asks the servers of a user at the same time for their tools; with all, those that
// have just failed as well.
func (b *Bridge) list(ctx context.Context, owner string, all bool) ([]listing, error) {
	servers, err := b.cfg.Servers(owner)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(servers))
	names = slices.DeleteFunc(names, func(n string) bool { return servers[n].Disabled })
	out := make([]listing, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			out[i].server = name
			key := sessionKey{owner, name}
			if out[i].err = b.recentFailure(key, servers[name]); out[i].err != nil && !all {
				return
			}
			out[i].tools, out[i].err = b.listServer(ctx, key, servers[name])
			if ctx.Err() == nil { // whoever gave up says nothing of the server
				b.noteFailure(key, servers[name], out[i].err)
			}
		})
	}
	wg.Wait()
	return out, nil
}

// listServer lists the tools of a server. A session that was open may have lost its server since: then a
// new one is tried, once.
func (b *Bridge) listServer(ctx context.Context, key sessionKey, server Server) ([]tool.Found, error) {
	for again := false; ; again = true {
		s, err := b.session(ctx, key.owner, key.server, server)
		if err != nil {
			return nil, err
		}
		listed := s.listed()
		tools, err := s.listTools(ctx)
		if err == nil {
			return tools, nil
		}
		b.drop(s)
		if !listed || again || ctx.Err() != nil {
			return nil, err
		}
	}
}

// recentFailure returns why a server could not be asked within restTime, if it was configured as it is now; else nil.
func (b *Bridge) recentFailure(key sessionKey, server Server) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.failed[key]
	if time.Since(f.at) > restTime || !reflect.DeepEqual(f.server, server) {
		return nil
	}
	return f.err
}

// noteFailure keeps or forgets that a server failed.
func (b *Bridge) noteFailure(key sessionKey, server Server, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.failed, key)
	if err != nil && len(b.failed) < maxSessions {
		b.failed[key] = failure{server, err, time.Now()}
	}
}

// session returns the open session of a user with a server, or opens one.
func (b *Bridge) session(ctx context.Context, owner, name string, server Server) (*session, error) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil, fault.New(fault.Unavailable, "the program is ending")
	}
	idle := b.takeIdle()
	key := sessionKey{owner, name}
	s := b.sessions[key]
	if s == nil || !s.serves(server) {
		if s != nil {
			idle = append(idle, s) // the configuration has changed
		}
		if len(b.sessions) >= maxSessions {
			b.mu.Unlock()
			closeAll(idle)
			return nil, fault.New(fault.TooMany, "%d sessions with MCP servers are open", maxSessions)
		}
		s = &session{key: key, server: server}
		b.sessions[key] = s
	}
	s.used = time.Now()
	b.mu.Unlock()
	closeAll(idle)
	if err := s.connect(ctx); err != nil {
		b.drop(s)
		return nil, err
	}
	return s, nil
}

// begin counts a call on a session, which is not idle until end is called.
func (b *Bridge) begin(s *session) (end func()) {
	b.mu.Lock()
	s.calls++
	b.mu.Unlock()
	return func() {
		b.mu.Lock()
		s.calls--
		s.used = time.Now()
		b.mu.Unlock()
	}
}

// takeIdle removes the sessions that nobody has used for a while and returns them.
func (b *Bridge) takeIdle() []*session {
	var out []*session
	for key, s := range b.sessions {
		if s.calls == 0 && time.Since(s.used) > idleTime {
			delete(b.sessions, key)
			out = append(out, s)
		}
	}
	return out
}

func closeAll(list []*session) {
	for _, s := range list {
		s.close()
	}
}

// drop ends a session that has failed, so that the next use begins a new one.
func (b *Bridge) drop(s *session) {
	b.mu.Lock()
	if b.sessions[s.key] == s {
		delete(b.sessions, s.key)
	}
	b.mu.Unlock()
	s.close()
}
