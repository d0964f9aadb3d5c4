package main

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/server"
)

// models finds the model of a state: the configured one, or one that a definition names
// for itself. It also keeps which model server on this machine a person agreed to use.
type models struct {
	file  string // of what is kept about models on this machine
	ports []int  // where servers are looked for

	mu     sync.Mutex
	base   llm.Config
	main   llm.Model
	byName map[string]llm.Model // of states, opened when first asked for
}

// openModels opens the configured model over the offline one.
func openModels(cfg *config, offline llm.Model, log *slog.Logger) (*models, error) {
	m := &models{file: cfg.localModelsFile(), base: cfg.models(offline)}
	m.base.Log = log
	var err error
	if m.ports, err = llm.ParsePorts(cfg.ModelPorts); err != nil {
		return nil, err
	}
	kept, err := llm.ReadLocalModels(m.file)
	if err != nil {
		return nil, err
	}
	return m, m.reopen(kept.Use)
}

// reopen opens the main model anew, with the model on this machine that may be used.
func (m *models) reopen(local *llm.LocalModel) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.base
	c.Local = local
	main, err := llm.Open(c)
	if err != nil {
		return err
	}
	m.base, m.main, m.byName = c, main, map[string]llm.Model{}
	return nil
}

// Model implements engine.Models.
func (m *models) Model(name string) (llm.Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if name == "" {
		return m.main, nil
	}
	if own := m.byName[name]; own != nil {
		return own, nil
	}
	c := m.base
	c.Provider, c.Model = splitModel(name)
	own, err := llm.Open(c)
	if err != nil {
		return nil, err
	}
	m.byName[name] = own
	return own, nil
}

// name is that of the model that answers.
func (m *models) name() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.main.Name()
}

// splitModel reads provider/model; a bare name leaves the provider to `auto`.
func splitModel(text string) (provider, name string) {
	for _, p := range llm.Providers {
		if text == p {
			return p, ""
		}
		if len(text) > len(p)+1 && text[:len(p)+1] == p+"/" {
			return p, text[len(p)+1:]
		}
	}
	return llm.Auto, text
}

// mayUseLocal reports whether a model on this machine would answer if somebody agreed: no
// key and no address leads to another one.
func (m *models) mayUseLocal() bool {
	m.mu.Lock()
	c := m.base
	m.mu.Unlock()
	c.Local = nil
	return (c.Provider == "" || c.Provider == llm.Auto || c.Provider == llm.Local) && !c.ReachesModel()
}

// findLocal looks for model servers on this machine, where one could be used.
func (m *models) findLocal(ctx context.Context) []llm.LocalServer {
	if !m.mayUseLocal() {
		return nil
	}
	return llm.FindLocal(ctx, m.ports)
}

// Models implements server.Models.
func (m *models) Models(ctx context.Context) (server.ModelsView, error) {
	found := m.findLocal(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	return server.ModelsView{Model: m.main.Name(), BuiltIn: m.main.Name() == llm.Offline, Agreed: m.base.Local, Found: found}, nil
}

// UseLocal implements server.Models: over HTTP only a server that was found can be chosen.
func (m *models) UseLocal(ctx context.Context, by, url, model string) error {
	if !m.mayUseLocal() {
		return fault.New(fault.BadRequest, "a model is configured by its key or address, and goes before one on this machine").
			Suggest("Start the server without the key and without --openai-url, or with --provider local.")
	}
	at := slices.IndexFunc(llm.FindLocal(ctx, m.ports), func(s llm.LocalServer) bool { return s.URL == url })
	if at < 0 {
		return fault.New(fault.BadRequest, "no model server answers at %q", url).Suggest("Start it, then choose one of the servers that are found.")
	}
	_, err := m.agree(ctx, llm.LocalModel{URL: url, Model: model, AgreedBy: by})
	return err
}

// probeTime bounds finding out what a model can do; it may have to be loaded first.
const probeTime = 4 * time.Minute

// agree finds out what a model can do, keeps that it may be used, and uses it.
func (m *models) agree(ctx context.Context, choice llm.LocalModel) (llm.LocalModel, error) {
	names, err := llm.ListLocal(ctx, choice.URL)
	if err != nil {
		return choice, err
	}
	if !slices.Contains(names, choice.Model) {
		near := fault.Nearest(choice.Model, names)
		return choice, fault.New(fault.BadRequest, "the server at %s has no model %q", choice.URL, choice.Model).Suggest("It has %s.", joinSome(near, len(names)))
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	able, err := llm.ProbeAbilities(ctx, llm.Config{Model: choice.Model, OpenAIBaseURL: choice.URL})
	if err != nil {
		return choice, err
	}
	choice.Abilities, choice.AgreedAt = &able, cmp.Or(choice.AgreedAt, time.Now().UTC().Truncate(time.Second))
	kept, err := llm.ReadLocalModels(m.file)
	if err != nil {
		return choice, err
	}
	kept.Choose(choice)
	if err := kept.Write(m.file); err != nil {
		return choice, fault.Wrap(err, fault.StoreFailed, "what was agreed cannot be kept in %s: %v", m.file, err)
	}
	return choice, m.reopen(&choice)
}

// ForgetLocal implements server.Models.
func (m *models) ForgetLocal(context.Context) error {
	kept, err := llm.ReadLocalModels(m.file)
	if err != nil {
		return err
	}
	if kept.Use != nil {
		kept.Use = nil
		if err := kept.Write(m.file); err != nil {
			return fault.Wrap(err, fault.StoreFailed, "the file %s cannot be written: %v", m.file, err)
		}
	}
	return m.reopen(nil)
}
