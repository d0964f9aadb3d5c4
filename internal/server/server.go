// Package server is the HTTP face of Interlock: it turns requests into engine
// calls and events into server-sent events. It has no logic of its own and knows
// no machine by name; routes.go is the table of contents.
//
//	client -> request id, log -> host, origin -> limits -> token -> route -> engine
//
// Goroutines: those of net/http, one per request, and one heartbeat per open
// stream, which ends with its request. A client that goes away ends its request
// and never the turn.
package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"interlock/internal/engine"
	"interlock/internal/fault"
	"interlock/internal/machine"
)

// Config of a server. Engine, Index, Machines, Datasets and Machine are required; a part
// that is left nil takes its routes away.
type Config struct {
	Engine    Engine
	Index     Index
	Machines  Machines
	Datasets  Datasets
	Sources   Sources
	Artifacts Artifacts
	Results   Results
	Files     Files
	Meanings  Meanings
	Verified  Verified
	Documents Documents
	// Audit keeps who did what. Nil: nothing is recorded but what the engine's store records.
	Audit Audit
	// Overview lists the datasets with their tables, what is wrong with them, and the
	// files that the user may change; "" is the operator.
	Overview func(ctx context.Context, user string) (any, error)
	// Models shows the model that answers and chooses one on this machine. Nil: no such routes.
	Models Models
	// Refresh copies the database behind a dataset anew.
	Refresh func(ctx context.Context, dataset string) (any, error)
	// Profile describes the columns of a source.
	Profile func(ctx context.Context, alias string) (any, error)
	// Capsule makes the audit document of a run.
	Capsule func(ctx context.Context, run string) (any, error)
	// Prompt gives what a model saw in one call of a run; not_found if there is no such call.
	Prompt func(ctx context.Context, run, call string) (any, error)
	// CompareThreads says what two threads share and where they part.
	CompareThreads func(ctx context.Context, a, b string) (any, error)
	// Replay runs a run again from its recording and compares the logs.
	Replay func(ctx context.Context, run string) (any, error)
	// DeleteThread removes a thread for good; the server has checked whose it is.
	DeleteThread func(ctx context.Context, id string) error
	// Unready says why a machine cannot do all of its work here; none if it can.
	Unready func(*machine.Machine) []*fault.Fault
	// Ready reports the state of the parts for /readyz.
	Ready func(ctx context.Context) []Part
	// Metrics serves /metrics.
	Metrics http.Handler
	// Page holds index.html and the files it loads. One without an index.html was not
	// built: / then says how to build it.
	Page fs.FS
	// Extra are handlers of other faces by path ("/mcp"), behind the same guards.
	Extra map[string]http.Handler

	// Machine runs threads whose opener names none, and its `reply` is the shape of all
	// chat responses.
	Machine string
	// SessionMachine runs threads that /api/chat opens. Default Machine.
	SessionMachine string
	// Direct says which tool runs each type of a direct run; a type that is not there
	// cannot be run.
	Direct map[DirectType]DirectTool
	// Version stands in the API description. Default "dev".
	Version string

	// Listen is the address that Serve will be given. Default 127.0.0.1:8765. One that
	// is not loopback needs Users.
	Listen string
	// Hosts are names or addresses, beside the loopback ones and that of Listen, by
	// which the server may be called.
	Hosts []string
	// Origins are foreign pages that may call the API: "https://example.org".
	Origins []string
	// Users may call; without any, everybody on this machine is the admin Owner.
	Users []User
	// Owner is who calls a server without users. Default "local".
	Owner string

	// BodyBytes bounds a request body. Default 1 MiB.
	BodyBytes int64
	// UploadBytes bounds a body with files. Default 1 GiB.
	UploadBytes int64
	// BodyTimeout bounds the reading of a body, or each read of one with files;
	// WriteTimeout bounds each write of a response.
	// Default 30 seconds.
	BodyTimeout, WriteTimeout time.Duration
	// Rate and Burst bound the requests of one user per second. Default 500 and 1000.
	Rate, Burst float64
	// PerUser bounds the requests of one user that are under way, streams apart.
	// Without users it holds for each foreign address. Default 128.
	PerUser int
	// Concurrent bounds all requests under way, streams apart. Default 1024.
	Concurrent int
	// StreamsPerUser and Streams do the same for streams. Default 128 and 1024.
	StreamsPerUser, Streams int
	// Heartbeat is how often an idle stream gets a sign of life. Default 15 seconds.
	Heartbeat time.Duration

	Log *slog.Logger // default: none
}

// A Server answers requests. It is safe for concurrent use.
type Server struct {
	cfg     Config // fixed at creation, defaults filled in
	users   users
	gate    gate
	limits  *limits
	actions *actions
	handler http.Handler

	// encoded holds the events that streams are sending at this moment, as JSON.
	encoded engine.Shared[[]byte]

	readyMu sync.Mutex // one look at the parts at a time
	ready   readiness
	readyAt time.Time
}

// New checks the configuration and builds the routes. All that is wrong with it is reported at once.
func New(cfg Config) (*Server, error) {
	setDefaults(&cfg)
	users, err := newUsers(cfg.Users, cfg.Owner)
	faults := []error{err}
	for name, missing := range map[string]bool{
		"Engine": cfg.Engine == nil, "Index": cfg.Index == nil,
		"Machines": cfg.Machines == nil, "Datasets": cfg.Datasets == nil, "Machine": cfg.Machine == "",
	} {
		if missing {
			faults = append(faults, fmt.Errorf("Config.%s is required", name))
		}
	}
	host, _, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		faults = append(faults, fmt.Errorf("listen address %q: %w", cfg.Listen, err))
	} else if len(cfg.Users) == 0 && !isLoopback(host) {
		faults = append(faults, openListenError(cfg.Listen))
	}
	gate, err := newGate(host, cfg.Hosts, cfg.Origins)
	if err := errors.Join(append(faults, err)...); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s := &Server{cfg: cfg, users: users, gate: gate, limits: newLimits(cfg), actions: newActions(cfg.Audit)}
	if s.handler, err = s.build(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return s, nil
}

func setDefaults(cfg *Config) {
	orDefault(&cfg.SessionMachine, cfg.Machine)
	orDefault(&cfg.Version, "dev")
	orDefault(&cfg.Owner, "local")
	orDefault(&cfg.Listen, "127.0.0.1:8765")
	orDefault(&cfg.BodyBytes, 1<<20)
	orDefault(&cfg.UploadBytes, 1<<30)
	orDefault(&cfg.BodyTimeout, 30*time.Second)
	orDefault(&cfg.WriteTimeout, 30*time.Second)
	orDefault(&cfg.Rate, 500)
	orDefault(&cfg.Burst, 1000)
	orDefault(&cfg.PerUser, 128)
	orDefault(&cfg.Concurrent, 1024)
	orDefault(&cfg.StreamsPerUser, 128)
	orDefault(&cfg.Streams, 1024)
	orDefault(&cfg.Heartbeat, 15*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
}

func orDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

func openListenError(addr string) error {
	return fmt.Errorf("listening on %s would open Interlock to other machines without a token: set a token for each user, or listen on 127.0.0.1", addr)
}

// Handler is the whole server as one handler.
func (s *Server) Handler() http.Handler { return s.handler }

// errShuttingDown is why the requests that are under way end when the server does.
var errShuttingDown = errors.New("the server is shutting down")

// Serve answers on the listener until ctx ends; then open streams are ended,
// other requests have ten seconds, and nil is returned.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	if a, ok := ln.Addr().(*net.TCPAddr); ok && len(s.cfg.Users) == 0 && !a.IP.IsLoopback() {
		return fmt.Errorf("server: %w", openListenError(a.String()))
	}
	base, endStreams := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endStreams(nil)
	srv := &http.Server{
		Handler:           s.handler,
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelWarn),
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	select {
	case err := <-done:
		return fmt.Errorf("serving on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	endStreams(errShuttingDown)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := srv.Shutdown(grace)
	if err != nil {
		err = errors.Join(fmt.Errorf("shutting down: %w", err), srv.Close())
	}
	<-done
	return err
}
