package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"interlock/internal/artifact"
	"interlock/internal/catalog"
	"interlock/internal/data"
	"interlock/internal/engine"
	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/internal/mcpbridge"
	"interlock/internal/query"
	"interlock/internal/retrieve"
	"interlock/internal/sandbox"
	"interlock/internal/store"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
	"interlock/machines"
)

// system is a running Interlock: every part, wired. It is the one place that knows
// them all.
type system struct {
	log       *slog.Logger
	state     string // its folder
	store     store.Store
	artifacts *artifact.Store
	query     *query.Engine
	catalog   *catalog.Catalog
	tools     *tool.Set
	mcp       *mcpbridge.Bridge // the MCP servers of users
	knowledge *toolbox.Knowledge
	documents *retrieve.Index
	search    *data.Search
	sandbox   sandbox.Executor // nil where Python is off
	machines  *machine.Library
	models    *models
	metrics   *metrics
	engine    *engine.Engine

	closers []func() error // in the order of opening
}

// openSystem builds the system. What fails is named with its place; what was opened before
// is closed.
func (a *app) openSystem(ctx context.Context) (*system, error) {
	a.warnMissingData()
	s := &system{log: a.logger(), state: a.cfg.State, metrics: newMetrics()}
	if err := s.wire(ctx, a.cfg); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// wire opens the parts in the order in which they stand on each other.
func (s *system) wire(ctx context.Context, cfg config) (err error) {
	if err := os.MkdirAll(cfg.State, 0o700); err != nil {
		return fault.Wrap(err, fault.StoreFailed, "the state folder %s cannot be made: %v", cfg.State, err)
	}
	if s.store, err = store.Open(store.Config{DSN: filepath.Join(cfg.State, "interlock.db"), PowerSafe: cfg.PowerSafe, Log: s.log}); err != nil {
		return err
	}
	s.onClose(s.store.Close)
	if s.artifacts, err = artifact.New(artifact.Config{Dir: filepath.Join(cfg.State, "artifacts")}); err != nil {
		return err
	}
	if err := s.openData(cfg); err != nil {
		return err
	}
	results := data.StepResults{Artifacts: s.artifacts}
	python, err := s.openPython(cfg, results)
	if err != nil {
		return err
	}
	if s.documents, err = openDocuments(cfg); err != nil {
		return err
	}
	s.onClose(s.documents.Close)
	s.search = data.NewSearch(data.SearchConfig{Catalog: s.catalog, Index: s.documents, Log: s.log})
	datasets := data.Datasets{Catalog: s.catalog, Results: results}
	s.knowledge = toolbox.NewKnowledge(datasets)
	if s.mcp, err = s.openMCP(cfg); err != nil {
		return err
	}
	sessions := toolbox.NewSessions(toolbox.SessionsConfig{Max: s.query.MaxWorkspaces() - 1})
	s.onClose(sessions.Close)
	choices, err := newChoiceKeeper(cfg, s.catalog)
	if err != nil {
		return err
	}
	s.tools = tool.NewSet(s.mcp, toolbox.Tools(toolbox.Config{
		Data: datasets, Check: datasets, Knowledge: s.knowledge, Python: python, Results: results, Sources: data.Sources{Catalog: s.catalog},
		Files:      data.Files{Artifacts: s.artifacts, Results: results, Catalog: s.catalog, Query: s.query, Dir: s.stateDir(cfg, "results")},
		Workspaces: data.Workspaces{Catalog: s.catalog, Query: s.query, Artifacts: s.artifacts, Dir: s.stateDir(cfg, "results")},
		Sessions:   sessions,
		Documents:  s.search, Tables: s.search, PromptTables: cfg.PromptTables, MCP: s.mcp,
		Choices: choices,
	})...)
	types, err := toolTypes(s.tools)
	if err != nil {
		return err
	}
	s.machines = machine.Open(machine.LibraryConfig{Shipped: machines.All(), Folders: cfg.Machines, Tools: types})
	if s.models, err = openModels(&cfg, s.offline(), s.log); err != nil {
		return err
	}
	known := func(name string) bool { _, err := s.tools.Get(name); return err == nil }
	s.engine, err = engine.New(engine.Config{
		Store: s.store, Machines: s.machines, Models: s.models, Tools: s.tools, MaxRunning: cfg.MaxRunning, RestingBytes: cfg.RestingMemory << 20,
		MaxInterruptions: cfg.MaxInterruptions, Lease: cfg.Lease,
		Count: s.metrics.count(known), Log: s.log,
	})
	if err != nil {
		return err
	}
	s.onClose(s.engine.Close)
	return nil
}

// openData starts the query engine and the catalog over it.
func (s *system) openData(c config) error {
	var err error
	s.query, err = query.New(query.Config{
		Dir: s.stateDir(c, "tmp"), Workers: c.SQLWorkers, MemoryMB: c.SQLMemory, Timeout: c.SQLTimeout, MaxRows: 100_000, MaxImport: int64(c.DatasetDisk) << 20, ImportTime: c.ImportTime, Log: s.log,
	})
	if err != nil {
		return err
	}
	s.onClose(s.query.Close)
	s.catalog, err = catalog.New(catalog.Config{
		Roots: c.Data, Dir: s.stateDir(c, "datasets"), State: c.State, SourceFolders: c.SourceFolders,
		MaxDisk: int64(c.DatasetDisk) << 20, MaxTotalDisk: int64(c.DatasetsDisk) << 20, Engine: s.query, Policy: s.query, Snapshot: c.CopyAge, Log: s.log,
	})
	if err == nil {
		s.onClose(s.catalog.Close)
	}
	return err
}

// stateDir returns a folder inside the state folder and creates it if it is missing.
func (s *system) stateDir(c config, name string) string {
	path := filepath.Join(c.State, name)
	_ = os.MkdirAll(path, 0o700) // whoever uses it says what is wrong with it
	return path
}

func (s *system) onClose(f func() error) { s.closers = append(s.closers, f) }

// close ends everything, the last opened first.
func (s *system) close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// logger makes the program's one logger.
func (a *app) logger() *slog.Logger {
	level := slog.LevelWarn
	if a.cfg.LogLevel != "" {
		_ = level.UnmarshalText([]byte(a.cfg.LogLevel)) // checked when the settings were read
	}
	opts := &slog.HandlerOptions{Level: level}
	if a.cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(a.errw, opts))
	}
	return slog.New(slog.NewTextHandler(a.errw, opts))
}

// toolTypes are the types against which machines are proved.
func toolTypes(set *tool.Set) (machine.ToolTypes, error) {
	types := machine.ToolTypes{}
	for _, name := range set.Names() {
		t, err := set.Get(name)
		if err != nil {
			return nil, err
		}
		in, required, err := machine.TypeOfSchema(t.Spec().Input)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", name, err)
		}
		out, always, err := machine.TypeOfSchema(t.Spec().Output)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", name, err)
		}
		types[name] = machine.ToolType{In: in, Out: out, Required: required, Always: always}
	}
	return types, nil
}
