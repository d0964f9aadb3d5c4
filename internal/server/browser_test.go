package server_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"interlock/internal/llm"
	"interlock/internal/server"
	"interlock/web"
	"interlock/web/e2e"
)

// TestPageInBrowser drives the page in Chromium, with a scripted model. A request to /resume
// lets the model go on with an answer in whose middle it waits.
func TestPageInBrowser(t *testing.T) {
	c := &clerk{resume: make(chan struct{})}
	resume := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case c.resume <- struct{}{}:
		case <-r.Context().Done():
		}
	})
	r := serve(t, newEngine(t, library(), c, c.query), func(cfg *server.Config) {
		cfg.Models = &localModels{}
		cfg.Page, cfg.Extra = web.Files(), map[string]http.Handler{"/resume": resume}
	})
	e2e.Run(t, r.url, "page.test.js")
}

// localModels knows a model server on this machine, which nobody has agreed to use yet.
type localModels struct {
	mu     sync.Mutex
	agreed *llm.LocalModel
}

func (m *localModels) Models(context.Context) (server.ModelsView, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.agreed != nil {
		return server.ModelsView{Model: "openai/" + m.agreed.Model, Agreed: m.agreed}, nil
	}
	return server.ModelsView{Model: "offline", BuiltIn: true, Found: []llm.LocalServer{{Program: "Ollama", URL: "http://127.0.0.1:11434/v1", Models: []string{"small", "large"}}}}, nil
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
