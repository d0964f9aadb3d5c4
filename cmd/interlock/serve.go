package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"interlock/internal/capsule"
	"interlock/internal/data"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/server"
	"interlock/web"
)

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "serve",
		Short:   "Serve the page and the HTTP API",
		Example: "  interlock serve --data ./data --state ./state",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
}

// serve runs until the context ends, then lets running steps finish their batch.
func (a *app) serve(ctx context.Context) error {
	a.cfg.LogLevel = cmp.Or(a.cfg.LogLevel, "info")
	if err := a.cfg.requireData(); err != nil {
		return err
	}
	s, err := a.openSystem(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err := s.close(); err != nil {
			s.log.Error("closing", "err", err)
		}
	}()
	users, err := readUsers(a.cfg.Tokens)
	if err != nil {
		return err
	}
	documents := data.NewDocuments(data.DocumentsConfig{Index: s.documents, Dir: s.stateDir(a.cfg, "documents"), Log: s.log})
	s.onClose(documents.Close)
	mcpRoutes, err := s.mcpHandlers()
	if err != nil {
		return err
	}
	keeper, err := s.keeper()
	if err != nil {
		return err
	}
	datasets := data.ServedDatasets{Catalog: s.catalog, Starters: data.NewStarters(ctx, data.StartersConfig{Knowledge: s.knowledge, KeepDeclared: s.models.main.Name() != llm.Offline})}
	srv, err := server.New(server.Config{
		Engine: s.engine, Index: s.store, Machines: library{s.machines}, Datasets: datasets, Sources: data.ServedSources{Catalog: s.catalog}, Artifacts: s.artifacts,
		Results: data.NewResults(data.ResultsConfig{Catalog: s.catalog, Query: s.query, Artifacts: s.artifacts, Store: s.store, Dir: s.stateDir(a.cfg, "results")}),
		Files:   data.ServedFiles{Catalog: s.catalog}, Meanings: data.Meanings{Catalog: s.catalog}, Verified: data.Meanings{Catalog: s.catalog}, Documents: documents, Audit: s.store,
		Overview: datasets.Overview,
		Refresh:  func(ctx context.Context, id string) (any, error) { return s.catalog.Refresh(ctx, id) },
		Profile:  func(ctx context.Context, alias string) (any, error) { return s.catalog.Profile(ctx, alias) },
		Models:   s.models,
		Unready:  s.models.unreadyReason,
		Extra:    mcpRoutes,
		Capsule:  func(ctx context.Context, run string) (any, error) { return capsule.Build(ctx, s.store, run) },
		Prompt: func(ctx context.Context, run, call string) (any, error) {
			return capsule.LoadPrompt(ctx, s.store, run, call)
		},
		Replay: func(ctx context.Context, run string) (any, error) {
			return capsule.ReplayRun(ctx, s.store, s.tools, run)
		},
		CompareThreads: func(ctx context.Context, one, other string) (any, error) {
			return capsule.CompareThreads(ctx, s.store, one, other)
		},
		DeleteThread: keeper.RemoveThread,
		Machine:      "analyst", SessionMachine: "reconcile", Direct: directTools,
		Ready: s.readiness, Metrics: s.metrics.handler(), Page: web.Files(), Version: version(),
		Listen: a.cfg.Listen, Hosts: a.cfg.Hosts, Origins: a.cfg.Origins, Users: users, Owner: a.cfg.Owner, Log: s.log,
		Concurrent: a.cfg.Requests, PerUser: a.cfg.RequestsPerUser, Streams: a.cfg.Streams, StreamsPerUser: a.cfg.StreamsPerUser,
	})
	if err != nil {
		return fault.Wrap(err, fault.BadSetting, "%v", err).Suggest("Correct the settings; `interlock config` shows where each comes from.")
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.Listen)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "cannot listen on %s: %v", a.cfg.Listen, err).Suggest("Stop what uses the address, or choose another with --listen.")
	}
	resumed, err := s.engine.Resume(ctx)
	if err != nil {
		return err
	}
	if resumed > 0 {
		s.log.Info("resumed turns that a process left unfinished", "turns", resumed)
	}
	for _, r := range s.machines.Broken() {
		s.log.Warn("a machine did not load", "machine", r.Name, "dir", r.Dir, "findings", len(r.Findings))
	}
	go s.engine.TakeOver(ctx)
	go s.importInBackground(ctx)
	if a.cfg.PythonWarm && s.sandbox != nil {
		s.sandbox.Warm()
	}
	if limits := a.cfg.retention(); !limits.IsZero() {
		go s.retainRegularly(ctx, keeper, limits)
	}
	fmt.Fprintf(a.out, "Interlock is ready: http://%s\n", l.Addr())
	if err := srv.Serve(ctx, l); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// importInBackground imports the datasets and indexes their tables in the background, so that the
// first question need not wait.
func (s *system) importInBackground(ctx context.Context) {
	list, err := s.catalog.List(ctx)
	if err != nil {
		s.log.Warn("the datasets cannot be listed", "err", err)
	}
	for _, d := range list {
		if ctx.Err() != nil {
			return
		}
		full, err := s.catalog.Describe(ctx, d.ID)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("a dataset cannot be read", "dataset", d.ID, "err", err)
		}
		if err == nil {
			before := len(full.Problems)
			if (data.Meanings{Catalog: s.catalog}).AddProblems(ctx, &full); len(full.Problems) > before {
				_, _ = data.Datasets{Catalog: s.catalog}.Schema(ctx, d.ID) // logs them, once a version
			}
		}
	}
	if err := s.search.SyncTables(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("the tables cannot be searched", "err", err)
	}
}

// readiness returns the state of each part for /readyz.
func (s *system) readiness(ctx context.Context) []server.Part {
	parts := []server.Part{s.storePart()}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	bad := 0
	list, err := s.catalog.List(ctx)
	for _, d := range list {
		bad += len(d.Problems)
	}
	data := server.Part{Name: "datasets", Status: "ok", Detail: fmt.Sprintf("%d datasets", len(list))}
	if err != nil {
		data.Status, data.Detail = "failed", "the data folder cannot be read"
	} else if bad > 0 {
		data.Status, data.Detail = "degraded", fmt.Sprintf("%d datasets, %d files cannot be read", len(list), bad)
	}
	parts = append(parts, data, server.Part{Name: "model", Status: "ok", Detail: s.models.name()}, s.pythonPart())
	if broken := s.machines.Broken(); len(broken) > 0 {
		parts = append(parts, server.Part{Name: "machines", Status: "degraded", Detail: fmt.Sprintf("%d definitions did not load", len(broken))})
	}
	return parts
}

// probeBytes is what must fit on the disk for the store to count as working.
const probeBytes = 1 << 20

// storePart says whether the log can be written: no turn waits for that, and the
// state folder has room.
func (s *system) storePart() server.Part {
	part := server.Part{Name: "store", Status: "ok"}
	err := s.engine.Stalled()
	if err == nil {
		err = probeWrite(s.state)
	}
	if err != nil {
		s.log.Error("the state cannot be written", "err", err)
		part.Status, part.Detail = "failed", "the state folder cannot be written: free some space on its disk, or let the server's user write there"
	}
	return part
}

// probeWrite checks that a folder can be written.
func probeWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, probeBytes))
	return errors.Join(err, f.Close())
}

// library shows machines to the server, freshly read where a folder changed.
type library struct{ *machine.Library }

func (l library) List() []*machine.Machine {
	l.Reload()
	return l.Library.List()
}

// maxUsersFile bounds the file of users.
const maxUsersFile = 1 << 20

// readUsers reads the file of users: "name role token" a line, # begins a comment.
func readUsers(path string) ([]server.User, error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.BadSetting, "the file of users %s cannot be read: %v", path, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxUsersFile {
		return nil, fault.New(fault.BadSetting, "the file of users %s is not a file of up to %d bytes", path, maxUsersFile)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fault.New(fault.BadSetting, "the file of users %s can be read by others", path).Suggest("Run: chmod 600 %s", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.BadSetting, "the file of users %s cannot be read: %v", path, err)
	}
	var users []server.User
	for i, line := range strings.Split(string(raw), "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 {
			return nil, fault.New(fault.BadSetting, "%s:%d: want 'name role token'", path, i+1)
		}
		users = append(users, server.User{Name: fields[0], Role: server.Role(fields[1]), Token: fields[2]})
	}
	return users, nil
}

// directTools run the queries of POST /runs.
var directTools = map[server.DirectType]server.DirectTool{
	server.DirectSQL:    {Tool: "execute_sql", Query: "sql", Dataset: "dataset_id"},
	server.DirectPlan:   {Tool: "execute_query_plan", Query: "plan", Dataset: "dataset_id"},
	server.DirectPython: {Tool: "execute_python", Query: "python_code", Dataset: "dataset_id"},
}
