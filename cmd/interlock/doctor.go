package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"interlock/internal/artifact"
	"interlock/internal/data"
	"interlock/internal/embed"
	"interlock/internal/fault"
	"interlock/internal/jail"
	"interlock/internal/llm"
	"interlock/internal/query"
	"interlock/internal/sandbox"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check what works on this machine, and say how to fix what does not", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context()) },
	}
}

// check is one thing that was looked at.
type check struct {
	Part   string `json:"part"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// doctor looks at every part. It exits with 1 where something that the settings
// demand does not work; parts that are merely missing are named with their fix.
func (a *app) doctor(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	state, end, err := a.borrowState()
	if err != nil {
		return err
	}
	defer end()
	checks := []check{state, a.checkModel(ctx)}
	checks = append(checks, a.checkArtifacts(ctx)...)
	checks = append(checks, a.checkData(ctx)...)
	found := embed.Describe()
	checks = append(checks, check{"embedding model", found.Model, found.Detail, found.Fix})
	for _, l := range jail.Probe().Layers {
		checks = append(checks, check{"layer: " + l.Name, l.OK, l.Detail, l.Fix})
	}
	checks = append(checks, a.checkPython(ctx)...)
	for _, p := range []struct{ name, what, fix string }{
		{"chromium", "browser tests", "apt-get install chromium"},
		{"psql", "tests against PostgreSQL", "apt-get install postgresql"},
		{"node", "wire tests of models", "install Node 20 or later"},
	} {
		path, err := exec.LookPath(p.name)
		c := check{"tool: " + p.name, err == nil, path, ""}
		if err != nil {
			c.Detail, c.Fix = "not found; only "+p.what+" need it", p.fix
		}
		checks = append(checks, c)
	}
	for _, c := range checks[:2] {
		if !c.OK {
			a.code = exitFailed
		}
	}
	if a.json {
		a.printJSON(checks)
		return nil
	}
	writeChecks(a.out, checks)
	return nil
}

// writeChecks prints each check whole: what to install must not be cut.
func writeChecks(w io.Writer, checks []check) {
	wide := 0
	for _, c := range checks {
		wide = max(wide, len(c.Part))
	}
	for _, c := range checks {
		state := "ok"
		if !c.OK {
			state = "no"
		}
		fmt.Fprintf(w, "%s  %-*s  %s\n", state, wide, oneLine(c.Part), oneLine(c.Detail))
		if c.Fix != "" {
			fmt.Fprintf(w, "%*s-> %s\n", wide+6, "", oneLine(c.Fix))
		}
	}
}

// borrowState looks at the state folder. Where there is none, the other checks get one
// that is removed at the end: to look must not make anything.
func (a *app) borrowState() (check, func(), error) {
	if _, err := os.Stat(a.cfg.State); !os.IsNotExist(err) {
		return a.checkState(), func() {}, nil
	}
	missing := check{Part: "state folder", OK: true, Detail: a.cfg.State + " does not exist; the first command that needs it makes it"}
	dir, err := os.MkdirTemp("", "interlock-doctor-")
	if err != nil {
		return missing, nil, fault.Wrap(err, fault.StoreFailed, "no folder can be made for the checks: %v", err).Suggest("Make room in the folder for temporary files, or set TMPDIR.")
	}
	a.cfg.State = dir
	return missing, func() { _ = os.RemoveAll(dir) }, nil
}

func (a *app) checkState() check {
	c := check{Part: "state folder", OK: true, Detail: a.cfg.State}
	probe, err := os.CreateTemp(a.cfg.State, ".probe-*")
	if err != nil {
		return check{c.Part, false, err.Error(), "make the folder writable, or choose another with --state"}
	}
	name := probe.Name()
	_ = probe.Close()
	if err := os.Remove(name); err != nil {
		return check{c.Part, false, err.Error(), "make the folder writable, or choose another with --state"}
	}
	if info, err := os.Stat(filepath.Join(a.cfg.State, "interlock.db")); err == nil {
		c.Detail += fmt.Sprintf(", log of %d KB", info.Size()>>10)
	}
	return c
}

// checkArtifacts names the documents of artifacts that are damaged, where there are artifacts.
func (a *app) checkArtifacts(ctx context.Context) []check {
	dir := a.statePath("artifacts")
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	const part = "artifacts"
	s, err := artifact.New(artifact.Config{Dir: dir})
	if err != nil {
		return []check{{part, false, fault.From(err).Message, fault.From(err).Suggestion}}
	}
	versions, damaged, err := s.All(ctx)
	if err != nil {
		return []check{{part, false, fault.From(err).Message, fault.From(err).Suggestion}}
	}
	c := check{Part: part, OK: len(damaged) == 0, Detail: fmt.Sprintf("%d stored versions", len(versions))}
	if !c.OK {
		var paths []string
		for _, d := range damaged[:min(10, len(damaged))] {
			paths = append(paths, d.Path)
		}
		c.Detail += fmt.Sprintf(", %d damaged documents: %s", len(damaged), strings.Join(paths, ", "))
		c.Fix = "restore these files from a backup, or remove them; what they describe can be made again"
	}
	return []check{c}
}

func (a *app) checkModel(ctx context.Context) check {
	first := a.cfg
	first.FallbackModel = "" // this looks at the first model only
	m, err := openModels(&first, (&system{log: a.logger()}).offline(), a.logger())
	if err != nil {
		f := fault.From(err)
		return check{"model", false, f.Message, f.Suggestion}
	}
	v, err := m.Models(ctx)
	if err != nil {
		f := fault.From(err)
		return check{"model", false, f.Message, f.Suggestion}
	}
	c := check{Part: "model", OK: true, Detail: v.Model}
	switch offer := m.localOffer(ctx); {
	case offer != "":
		c.Fix = "a stronger model is at hand. " + offer
	case v.BuiltIn:
		c.Fix = "for a stronger model set OPENAI_API_KEY or ANTHROPIC_API_KEY, or --openai-url, or start a model server on this machine (Ollama, LM Studio, llama.cpp)"
	case v.Agreed != nil && m.mayUseLocal():
		c.Detail += fmt.Sprintf(" at %s: %s", v.Agreed.URL, abilitiesText(v.Agreed.Abilities))
		if _, err := llm.ListLocal(ctx, v.Agreed.URL); err != nil {
			f := fault.From(err)
			c.OK, c.Detail, c.Fix = false, f.Message, "start it, or run `interlock model forget`"
		}
	}
	return c
}

func (a *app) checkData(ctx context.Context) []check {
	out := []check{}
	if missing := a.cfg.missingData(); len(missing) > 0 {
		f := a.cfg.missingFault(missing)
		out = append(out, check{"data folder", false, f.Message, f.Suggestion})
		a.code = exitFailed
		if a.cfg.requireData() != nil {
			return out
		}
	}
	s := &system{log: a.logger()}
	if err := s.openData(a.cfg); err != nil {
		return []check{{"query engine", false, err.Error(), "see the message"}}
	}
	defer s.close()
	list, err := s.catalog.List(ctx)
	if err != nil {
		return []check{{"datasets", false, err.Error(), "name a folder with --data"}}
	}
	if len(list) == 0 {
		out = append(out, check{"datasets", false, "there are none", "name a folder with --data, or make the demo with `interlock demo`"})
	}
	for _, d := range list {
		start := time.Now()
		full, err := s.catalog.Describe(ctx, d.ID)
		if err == nil {
			_, err = s.catalog.Query(ctx, d.ID, query.Request{SQL: "SELECT 1"})
		}
		if err != nil {
			out = append(out, check{"dataset " + d.ID, false, fault.From(err).Message, fault.From(err).Suggestion})
			continue
		}
		data.Meanings{Catalog: s.catalog}.AddProblems(ctx, &full)
		c := check{
			Part: "dataset " + d.ID, OK: len(full.Problems) == 0,
			Detail: fmt.Sprintf("%d tables, ready in %d ms, %d problems", len(full.Tables), time.Since(start).Milliseconds(), len(full.Problems)),
		}
		if !c.OK {
			c.Detail += "; the first: " + full.Problems[0].Message
		}
		out = append(out, c)
	}
	return out
}

// checkPython runs a job through the sandbox that the settings ask for and reports
// the level that was reached.
func (a *app) checkPython(ctx context.Context) []check {
	s := &system{log: a.logger()}
	cfg, err := s.sandboxConfig(a.cfg)
	if err != nil {
		return []check{{"python", false, fault.From(err).Message, fault.From(err).Suggestion}}
	}
	box, err := sandbox.Open(cfg)
	if err != nil {
		return []check{{"python", false, fault.From(err).Message, fault.From(err).Suggestion}}
	}
	defer box.Close()
	box.Warm()
	st := box.Status(ctx)
	c := check{Part: "python", OK: st.State == "ready", Detail: fmt.Sprintf("%s: %s by %s, isolation %s", st.State, st.Executor, st.Launcher, st.Level)}
	switch {
	case st.State == "off":
		c.OK, c.Detail = true, "switched off by --python=false"
	case st.State != "ready" && len(st.Versions) > 0:
		c.Detail, c.Fix = st.Why, "lower --python-min-level, or choose an executor that reaches it: microsandbox reaches machine"
	case st.State != "ready":
		c.Detail, c.Fix = st.Why, "apt-get install python3-pandas python3-matplotlib python3-openpyxl bubblewrap, or --python=false"
	}
	out := []check{c}
	for name, version := range st.Versions {
		out = append(out, check{Part: "python: " + name, OK: true, Detail: version})
	}
	for _, note := range st.Notes {
		out = append(out, check{Part: "python: note", OK: true, Detail: note})
	}
	slices.SortFunc(out[1:], func(a, b check) int { return strings.Compare(a.Part, b.Part) })
	return out
}
