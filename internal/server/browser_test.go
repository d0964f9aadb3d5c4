package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/server"
	"interlock/internal/store"
	"interlock/web"
	"interlock/web/e2e"
)

// TestPageInBrowser drives the page in Chromium, with a scripted model. A request to /resume
// lets the model go on with an answer in whose middle it waits; /disk fills and empties the
// disk of the log; /cut breaks all connections, and refuses the next ones.
func TestPageInBrowser(t *testing.T) {
	c := &clerk{resume: make(chan struct{})}
	dir := t.TempDir()
	st, err := store.Open(store.Config{DSN: filepath.Join(dir, "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	disk := &fullDisk{Store: st}
	e, err := engineOn(disk, dir, library(), c, c.query)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	line := &relay{}
	resume := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case c.resume <- struct{}{}:
		case <-r.Context().Done():
		}
	})
	fill := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { disk.full.Store(r.URL.Query().Get("full") == "true") })
	cut := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		line.cut(2)
	})
	r := serve(t, e, func(cfg *server.Config) {
		cfg.Models = &localModels{}
		cfg.Page, cfg.Extra = web.Files(), map[string]http.Handler{"/resume": resume, "/disk": fill, "/cut": cut}
	})
	e2e.Run(t, line.start(t, r.addr), "page.test.js")
}

// A fullDisk is a store that cannot write while it is full.
type fullDisk struct {
	store.Store
	full atomic.Bool
}

func (d *fullDisk) Append(ctx context.Context, b store.Batch) error {
	if d.full.Load() {
		return fault.Wrap(syscall.ENOSPC, fault.StoreFailed, "cannot write the log: the disk is full").Suggest("Free some space; nothing was half-written, and the same can be tried again.")
	}
	return d.Store.Append(ctx, b)
}

// A relay is the line between the browser and the server, which can be cut.
type relay struct {
	mu     sync.Mutex
	open   map[net.Conn]bool
	refuse int // how many connections are still refused
}

func (l *relay) start(t *testing.T, to string) string {
	t.Helper()
	l.open = map[net.Conn]bool{}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = ln.Close()
		l.cut(0)
	})
	go func() {
		for {
			here, err := ln.Accept()
			if err != nil {
				return
			}
			go l.carry(here, to)
		}
	}()
	return "http://" + ln.Addr().String()
}

// carry takes bytes both ways until one end closes.
func (l *relay) carry(here net.Conn, to string) {
	there, err := net.Dial("tcp", to)
	if err != nil {
		_ = here.Close()
		return
	}
	l.mu.Lock()
	refused := l.refuse > 0
	if refused {
		l.refuse--
	}
	l.open[here], l.open[there] = !refused, !refused
	l.mu.Unlock()
	done := func() {
		_, _ = here.Close(), there.Close()
		l.mu.Lock()
		delete(l.open, here)
		delete(l.open, there)
		l.mu.Unlock()
	}
	defer done()
	if refused {
		return
	}
	go func() {
		defer done()
		_, _ = io.Copy(there, here)
	}()
	_, _ = io.Copy(here, there)
}

// cut closes all connections, and refuses the next ones.
func (l *relay) cut(refuse int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuse = refuse
	for c := range l.open {
		_ = c.Close()
	}
}

// localModels knows a model server on this machine, which nobody has agreed to use yet.
type localModels struct {
	mu     sync.Mutex
	agreed *llm.LocalModel
	key    *llm.GivenKey
}

func (m *localModels) Models(context.Context) (server.ModelsView, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.key != nil {
		return server.ModelsView{Model: m.key.Provider + "/large", TakesKey: true, Key: &server.KeyView{Provider: m.key.Provider, End: m.key.End(), GivenBy: m.key.GivenBy, GivenAt: m.key.GivenAt}}, nil
	}
	if m.agreed != nil {
		return server.ModelsView{Model: "openai/" + m.agreed.Model, Agreed: m.agreed}, nil
	}
	return server.ModelsView{Model: "offline", BuiltIn: true, TakesKey: true, Found: []llm.LocalServer{{Program: "Ollama", URL: "http://127.0.0.1:11434/v1", Models: []string{"small", "large"}}}}, nil
}

func (m *localModels) UseLocal(_ context.Context, by, url, model string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.agreed = &llm.LocalModel{URL: url, Model: model, AgreedBy: by, AgreedAt: time.Now()}
	return nil
}

func (m *localModels) ForgetLocal(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.agreed = nil
	return nil
}

// GiveKey accepts keys that begin as those of providers do.
func (m *localModels) GiveKey(_ context.Context, key llm.GivenKey) error {
	if !strings.HasPrefix(key.Key, "sk-") {
		return fault.New(fault.BadRequest, "%s does not accept this key (HTTP 401)", key.Provider).Suggest("Copy it again from the console of the provider. It was not kept.")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.key = &key
	return nil
}

func (m *localModels) ForgetKey(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.key = nil
	return nil
}
