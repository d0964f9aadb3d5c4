package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"interlock/internal/artifact"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/internal/server"
	"interlock/web"
)

var serveAddr = flag.String("serve", "", "serve the page with the scripted engine on this address instead of testing")

func TestMain(m *testing.M) {
	flag.Parse()
	if *serveAddr != "" {
		demonstrate(*serveAddr)
		return
	}
	goleak.VerifyTestMain(m)
}

// demonstrate shows the page on a scripted engine, until interrupted.
func demonstrate(addr string) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	f := newFake()
	f.pace = 40 * time.Millisecond
	cfg := config(f)
	cfg.Listen, cfg.Log = addr, slog.New(slog.NewTextHandler(os.Stderr, nil))
	s, err := server.New(cfg)
	if err == nil {
		var ln net.Listener
		if ln, err = net.Listen("tcp", addr); err == nil {
			err = s.Serve(ctx, ln)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func config(f *fake) server.Config {
	return server.Config{
		Engine: f, Index: f, Machines: machines{}, Datasets: data{}, Sources: data{}, Artifacts: data{}, Page: web.Files(),
		Capsule: func(_ context.Context, run string) (any, error) {
			return map[string]any{"run_id": run, "question": "?"}, nil
		},
		Graph: func(*machine.Machine) (string, string) {
			return "stateDiagram-v2", `<svg xmlns="http://www.w3.org/2000/svg"/>`
		},
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "interlock_up 1\n") }),
		Ready:   func(context.Context) []server.Part { return []server.Part{{Name: "store", Status: "ok"}} },
	}
}

// A rig is a server on a real port.
type rig struct {
	*fake
	url  string
	log  *logBuffer
	addr string
}

func start(t *testing.T, change func(*server.Config)) *rig {
	t.Helper()
	f := newFake()
	r := &rig{fake: f, log: &logBuffer{}}
	cfg := config(f)
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
		f.mu.Lock()
		for _, th := range f.threads {
			if th.stop != nil {
				th.stop()
			}
		}
		f.mu.Unlock()
		stop()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		f.wg.Wait()
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

// machines is a library of two machines.
type machines struct{}

func (machines) Get(name string) (*machine.Machine, error) {
	for _, m := range (machines{}).List() {
		if m.Name == name {
			return m, nil
		}
	}
	return nil, fault.New(fault.MachineNotFound, "there is no machine %q", name)
}

func (machines) List() []*machine.Machine {
	one, most, step := 1.0, 10000.0, 1.0
	zero, unit, fine := 0.0, 1.0, 0.05
	return []*machine.Machine{
		{
			Name: "analyst", Title: "Ask, look, query again, answer", Hash: "h1",
			Settings: []*machine.Setting{
				{Name: "python", Label: "Allow Python", Type: &machine.Type{Kind: machine.Bool}, Default: true},
				{Name: "max_rows", Label: "Rows a query may return", Type: &machine.Type{Kind: machine.Int}, Default: 200, Min: &one, Max: &most, Step: &step},
				{Name: "relevancy", Label: "Excerpts from this relevancy on", Type: &machine.Type{Kind: machine.Float}, Default: 0.3, Min: &zero, Max: &unit, Step: &fine},
				{Name: "form", Label: "Form of the answer", Type: &machine.Type{Kind: machine.Enum, Values: []string{"none", "table", "report"}}, Default: "none"},
			},
			States: []*machine.State{{Name: "answering", Kind: machine.Agent, Terminal: true, Offers: []*machine.Offer{{Tool: "execute_sql"}}}},
			Short:  []*machine.Shortcut{{Prefix: "SQL:"}},
		},
		{
			Name: "reconcile", Title: "Match two sources", Hash: "h2",
			States: []*machine.State{
				{Name: "demonstration", Kind: machine.Agent, Go: []*machine.Transition{{To: []string{"inference"}}}},
				{Name: "inference", Kind: machine.Agent, Requires: []machine.Predicate{{Fact: "pairs", Len: 1, Source: "len(pairs) >= 1"}}},
			},
			Commands: []*machine.Command{{Name: "other_scope", Label: "Choose another scope"}},
		},
	}
}

func (machines) Broken() map[string]error {
	return map[string]error{"mine": fault.New(fault.MachineInvalid, "machine.yaml:3: unknown key")}
}

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

func (data) LoadScoped(_ context.Context, alias string, conditions json.RawMessage, limit int) (any, error) {
	if strings.Contains(string(conditions), "nope") {
		return nil, fault.New(fault.BadFilter, "there is no column nope").With([]string{"region"})
	}
	return map[string]any{"alias": alias, "columns": []string{"id"}, "rows": [][]any{{1}}, "total_rows": 1, "preview_rows": min(limit, 1)}, nil
}

type seekCloser struct{ io.ReadSeeker }

func (seekCloser) Close() error { return nil }

func (data) Open(_ context.Context, owner, id string) (io.ReadSeekCloser, artifact.Meta, error) {
	made := map[string]struct{ owner, name, mime, content string }{
		"a_1":     {server.LocalUser, "revenue by region.csv", "text/csv", "a,b\n1,2\n"},
		"a_html":  {server.LocalUser, "../../\"x\r\n.html", "text/html", "<script>"},
		"a_alice": {"alice", "x.csv", "text/csv", "secret"},
	}[id]
	if made.owner != owner {
		return nil, artifact.Meta{}, fault.New(fault.NotFound, "there is no artifact %q", id)
	}
	return seekCloser{strings.NewReader(made.content)}, artifact.Meta{
		ArtifactMade: event.ArtifactMade{ID: id, Name: made.name, MIME: made.mime}, Hash: id, Owner: owner,
	}, nil
}
