package main

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/server"
)

// models finds the model of a state: the configured one, or one that a definition names
// for itself. It also keeps what people chose: the key of a provider, a model on this machine.
type models struct {
	file  string     // of what people chose
	ports []int      // where servers are looked for
	base  llm.Config // as the settings have it

	keeping sync.Mutex // held while the file is changed

	mu     sync.Mutex
	read   os.FileInfo   // the file as it was read last; nil if there was none
	key    *llm.GivenKey // that a person gave
	used   llm.Config    // base with what people chose
	main   llm.Model
	byName map[string]llm.Model // of states, opened when first asked for
}

// openModels opens the configured model over the offline one.
func openModels(cfg *config, offline llm.Model, log *slog.Logger) (*models, error) {
	m := &models{file: cfg.chosenModelsFile(), base: cfg.models(offline)}
	m.base.Log = log
	var err error
	if m.ports, err = llm.ParsePorts(cfg.ModelPorts); err != nil {
		return nil, err
	}
	if err := m.refresh(); err != nil {
		return nil, err
	}
	if r, ok := m.main.(refusedModel); ok {
		return nil, r.err
	}
	return m, nil
}

// A refusedModel stands for the main one where the settings allow none.
type refusedModel struct{ err error }

func (refusedModel) Name() string { return "none" }

func (r refusedModel) Reply(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{}, r.err) }
}

// refresh opens the models anew if what people agreed to has changed, which another process
// may have done: a model that was taken back gets no further request.
func (m *models) refresh() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.fileState()
	if m.main != nil && sameFile(now, m.read) {
		return nil
	}
	c := m.base
	kept, err := llm.ReadChosenModels(m.file)
	if err != nil {
		return err
	}
	c.Local = kept.Use
	if kept.Key != nil && m.takesKey() {
		c = kept.Key.Apply(c)
	}
	// What was written meanwhile may have taken the model back.
	c.StillAgreed = func() bool { return sameFile(now, m.fileState()) }
	main, err := llm.Open(c)
	if err != nil {
		main = refusedModel{err}
	}
	m.key, m.used, m.main, m.byName, m.read = kept.Key, c, main, map[string]llm.Model{}, now
	return nil
}

// fileState returns the file as it is now; nil if there is none.
func (m *models) fileState() os.FileInfo {
	info, err := os.Stat(m.file)
	if err != nil {
		return nil
	}
	return info
}

// sameFile reports whether nothing was written between two looks at the file; each change
// makes a new one.
func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// Model implements engine.Models.
func (m *models) Model(name string) (llm.Model, error) {
	if m.file != "" {
		if err := m.refresh(); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if name == "" {
		return m.main, nil
	}
	if own := m.byName[name]; own != nil {
		return own, nil
	}
	c := m.used
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
	c := m.used
	m.mu.Unlock()
	c.Local = nil
	return (c.Provider == "" || c.Provider == llm.Auto || c.Provider == llm.Local) && !c.ReachesModel()
}

// takesKey reports whether a key that a person gives would be used: the settings name no
// provider, and no key and no address leads to another model.
func (m *models) takesKey() bool {
	return (m.base.Provider == "" || m.base.Provider == llm.Auto) && !m.base.ReachesModel()
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
	if err := m.refresh(); err != nil {
		return server.ModelsView{}, err
	}
	found := m.findLocal(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	v := server.ModelsView{Model: m.main.Name(), BuiltIn: m.main.Name() == llm.Offline, Agreed: m.used.Local, Found: found, TakesKey: m.takesKey()}
	if m.key != nil && v.TakesKey {
		v.Key = &server.KeyView{Provider: m.key.Provider, Model: m.key.Model, End: m.key.End(), GivenBy: m.key.GivenBy, GivenAt: m.key.GivenAt}
	}
	return v, nil
}

// UseLocal implements server.Models: over HTTP only a server that was found can be chosen.
func (m *models) UseLocal(ctx context.Context, by, url, model string) error {
	if !m.mayUseLocal() {
		return fault.New(fault.BadRequest, "a model is configured by its key or address, and goes before one on this machine").
			Suggest("Take back the key that was given, or start the server without a key and without --openai-url, or with --provider local.")
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

// agree finds out what a model can do, keeps that it may be used, and uses it. Whoever
// takes models back or agrees to another one meanwhile wins.
func (m *models) agree(ctx context.Context, choice llm.LocalModel) (llm.LocalModel, error) {
	before := m.fileState()
	names, err := llm.ListLocal(ctx, choice.URL)
	if err != nil {
		return choice, err
	}
	if !slices.Contains(names, choice.Model) {
		missing := fault.New(fault.BadRequest, "the server at %s has no model %q", choice.URL, choice.Model)
		if len(names) == 0 {
			return choice, missing.Suggest("It names no model that can be used; load one there first.")
		}
		return choice, missing.Suggest("It has %s.", joinSome(fault.Nearest(choice.Model, names), len(names)))
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	able, err := llm.ProbeAbilities(ctx, llm.Config{Model: choice.Model, OpenAIBaseURL: choice.URL})
	if err != nil {
		return choice, err
	}
	choice.Abilities, choice.AgreedAt = &able, cmp.Or(choice.AgreedAt, time.Now().UTC().Truncate(time.Second))
	m.keeping.Lock()
	defer m.keeping.Unlock()
	if !sameFile(before, m.fileState()) {
		return choice, fault.New(fault.BadRequest, "what was agreed on models has changed while %s was asked what it can do", choice.Model).Suggest("Look at `interlock model list`, then choose it again.")
	}
	return choice, m.keep(func(kept *llm.ChosenModels) { kept.Choose(choice) })
}

// keep changes what is kept of people's choices, and uses it. The caller holds keeping.
func (m *models) keep(change func(*llm.ChosenModels)) error {
	kept, err := llm.ReadChosenModels(m.file)
	if err != nil {
		return err
	}
	change(&kept)
	if err := kept.Write(m.file); err != nil {
		return fault.Wrap(err, fault.StoreFailed, "what was chosen cannot be kept in %s: %v", m.file, err)
	}
	return m.refresh()
}

// GiveKey implements server.Models: the provider is asked with the key first.
func (m *models) GiveKey(ctx context.Context, key llm.GivenKey) error {
	if !m.takesKey() {
		return fault.New(fault.BadRequest, "the settings of the server name the model, and go before a key that is given here").
			Suggest("Start the server without --provider, without a key in its environment and without --openai-url.")
	}
	if err := key.Check(ctx, m.base); err != nil {
		return err
	}
	key.GivenAt = time.Now().UTC().Truncate(time.Second)
	m.keeping.Lock()
	defer m.keeping.Unlock()
	return m.keep(func(kept *llm.ChosenModels) { kept.Key, kept.Use = &key, nil })
}

// ForgetKey implements server.Models.
func (m *models) ForgetKey(context.Context) error {
	m.keeping.Lock()
	defer m.keeping.Unlock()
	return m.keep(func(kept *llm.ChosenModels) { kept.Key = nil })
}

// ForgetLocal implements server.Models. The file is written even if it names no model: that
// stops an agreement which is on its way.
func (m *models) ForgetLocal(context.Context) error {
	m.keeping.Lock()
	defer m.keeping.Unlock()
	kept, err := llm.ReadChosenModels(m.file)
	if err != nil {
		return err
	}
	agreed := kept.Use != nil
	kept.Use = nil
	if err := kept.Write(m.file); err != nil && (agreed || !errors.Is(err, os.ErrNotExist)) {
		return fault.Wrap(err, fault.StoreFailed, "the file %s cannot be written: %v", m.file, err)
	}
	return m.refresh()
}
