package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"interlock/internal/artifact"
	"interlock/internal/document"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/jail"
	"interlock/internal/retention"
	"interlock/internal/schema"
	"interlock/internal/server"
	"interlock/web"
)

var serveAddr = flag.String("serve", "", "serve the page with a scripted model on this address instead of testing")

func TestMain(m *testing.M) {
	jail.Main()
	document.Main()
	flag.Parse()
	if *serveAddr != "" {
		if err := demonstrate(*serveAddr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("interlock/internal/jail.init.func1.1"), goleak.IgnoreAnyFunction("database/sql.(*DB).connectionOpener"))
}

// demonstrate shows the page with a scripted model, until interrupted.
func demonstrate(addr string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "interlock-page-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	e, err := openDesk(dir, 40*time.Millisecond)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	cfg := config(e)
	cfg.Page, cfg.Listen, cfg.Log = web.Files(), addr, slog.New(slog.NewTextHandler(os.Stderr, nil))
	s, err := server.New(cfg)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return s.Serve(ctx, ln)
}

// builtPage stands for the page, so that these tests need no Node.
var builtPage = fstest.MapFS{
	"index.html":       {Data: []byte("<!doctype html><title>Interlock</title>")},
	"icon.svg":         {Data: []byte("<svg/>")},
	"assets/main-1.js": {Data: []byte(strings.Repeat("let x = 1;", 500))},
}

func config(e runningEngine) server.Config {
	return server.Config{
		Machine: "desk", SessionMachine: "sessions", Direct: directTools,
		Engine: e, Index: e.store, Machines: library(), Datasets: data{}, Sources: data{}, Artifacts: data{}, Page: builtPage,
		Overview: func(ctx context.Context, _ string) (any, error) { return data{}.Datasets(ctx) },
		Capsule: func(_ context.Context, run string) (any, error) {
			return map[string]any{"run_id": run, "question": "?"}, nil
		},
		DeleteThread: func(ctx context.Context, id string) error {
			artifacts, err := artifact.New(artifact.Config{Dir: e.artifacts})
			if err != nil {
				return err
			}
			keeper, err := retention.New(retention.Config{Store: e.store, Artifacts: artifacts, Threads: e.Engine})
			if err != nil {
				return err
			}
			return keeper.RemoveThread(ctx, id)
		},
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "interlock_up 1\n") }),
		Ready:   func(context.Context) []server.Part { return []server.Part{{Name: "store", Status: "ok"}} },
	}
}

var directTools = map[server.DirectType]server.DirectTool{
	server.DirectSQL:    {Tool: "execute_sql", Query: "sql", Dataset: "dataset_id"},
	server.DirectPlan:   {Tool: "execute_query_plan", Query: "plan", Dataset: "dataset_id"},
	server.DirectPython: {Tool: "execute_python", Query: "python_code", Dataset: "dataset_id"},
}

// A rig is a server on a real port.
type rig struct {
	engine runningEngine
	url    string
	log    *logBuffer
	addr   string
}

// start serves the desk.
func start(t *testing.T, change func(*server.Config)) *rig {
	t.Helper()
	return serve(t, newDesk(t, 0), change)
}

// serve opens an engine to clients, until the test ends.
func serve(t *testing.T, e runningEngine, change func(*server.Config)) *rig {
	t.Helper()
	r := &rig{engine: e, log: &logBuffer{}}
	cfg := config(e)
	cfg.Log = slog.New(slog.NewJSONHandler(r.log, nil))
	if change != nil {
		change(&cfg)
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	r.addr = ln.Addr().String()
	r.url = "http://" + r.addr
	return r
}

// do sends a request; header lines are "Name: value".
func (r *rig) do(t *testing.T, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		if k == "Host" {
			req.Host = v
		} else {
			req.Header.Set(k, v)
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// get decodes the JSON answer to a request that must succeed.
func get[T any](t *testing.T, r *rig, method, path, body string, headers ...string) T {
	t.Helper()
	res, text := r.do(t, method, path, body, headers...)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, text)
	}
	return v
}

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const localUser = "local"

// data is a catalog with one dataset, one source and one artifact.
type data struct{}

func (data) Datasets(context.Context) ([]server.Dataset, error) {
	return []server.Dataset{{ID: "shop", Name: "Shop", Description: "Orders and customers", Prompts: []string{"Revenue by region this year"}, VersionHash: "abc"}}, nil
}

func (data) Schema(_ context.Context, id string) (any, error) {
	if id != "shop" {
		return nil, fault.New(fault.DatasetNotFound, "there is no dataset %q", id)
	}
	return map[string]any{"dataset_id": id, "tables": []any{}}, nil
}

func (data) Sources(context.Context) (any, error) {
	return []map[string]any{{"alias": "orders"}}, nil
}

func (data) Add(_ context.Context, s server.SourceSpec) (any, error) {
	return map[string]any{"alias": s.Alias}, nil
}

func (data) Remove(_ context.Context, alias string) error {
	if alias != "orders" {
		return fault.New(fault.SourceNotRegistered, "no source has the alias %q", alias)
	}
	return nil
}

func (data) Preview(_ context.Context, alias string, offset, limit int) (any, error) {
	return map[string]any{"alias": alias, "offset": offset, "limit": limit}, nil
}

func (data) LoadScoped(_ context.Context, alias string, conditions []schema.Condition, limit int) (any, error) {
	if slices.ContainsFunc(conditions, func(c schema.Condition) bool { return c.Column == "nope" }) {
		return nil, fault.New(fault.BadFilter, "there is no column nope").With([]string{"region"})
	}
	return map[string]any{"alias": alias, "conditions": conditions, "columns": []string{"id"}, "rows": [][]any{{1}}, "total_rows": 1, "preview_rows": min(limit, 1)}, nil
}

type seekCloser struct{ io.ReadSeeker }

func (seekCloser) Close() error { return nil }

func (data) List(_ context.Context, owner, thread string) ([]artifact.Meta, error) {
	all := []artifact.Meta{
		{ArtifactMade: event.ArtifactMade{ID: "a_1", Name: "revenue by region.csv", Version: 2}, Owner: owner, Thread: "t_1"},
		{ArtifactMade: event.ArtifactMade{ID: "a_1", Name: "revenue by region.csv", Version: 1}, Owner: owner, Thread: "t_1"},
		{ArtifactMade: event.ArtifactMade{ID: "a_html", Name: "Report.html", Version: 1}, Owner: owner, Thread: "t_2"},
	}
	return slices.DeleteFunc(all, func(m artifact.Meta) bool { return owner != localUser || thread != "" && m.Thread != thread }), nil
}

func (data) Open(_ context.Context, owner, id string) (io.ReadSeekCloser, artifact.Meta, error) {
	made := map[string]struct{ owner, name, mime, content string }{
		"a_1":     {localUser, "revenue by region.csv", "text/csv", "a,b\n1,2\n"},
		"a_html":  {localUser, "../../\"x\r\n.html", "text/html", "<script>"},
		"a_alice": {"alice", "x.csv", "text/csv", "secret"},
	}[id]
	if made.owner != owner {
		return nil, artifact.Meta{}, fault.New(fault.NotFound, "there is no artifact %q", id)
	}
	return seekCloser{strings.NewReader(made.content)}, artifact.Meta{
		ArtifactMade: event.ArtifactMade{ID: id, Name: made.name, MIME: made.mime}, Hash: id, Owner: owner,
	}, nil
}
