// Package enginetest plays transcripts: a definition, a scripted model, scripted
// tools and what a person says go in, the log of the thread comes out and is held
// against a golden text.
package enginetest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"golang.org/x/tools/txtar"

	"interlock/internal/capsule"
	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

var update = flag.Bool("update", false, "write the golden logs anew")

// setup is the section of that name.
type setup struct {
	Machine  string           `yaml:"machine"`
	Settings map[string]any   `yaml:"settings"`
	Dataset  string           `yaml:"dataset"`
	Tools    map[string][]any `yaml:"tools"` // results in order; the last repeats
	Found    map[string][]any `yaml:"found"` // results of tools that are found at run time
}

// move is one line of the play.
type move struct {
	Person   string             `yaml:"person"`
	Dataset  string             `yaml:"dataset"`  // with what the person says
	Settings map[string]any     `yaml:"settings"` // with what the person says
	Model    *reply             `yaml:"model"`
	Answer   *engine.CardAnswer `yaml:"answer"`
	Command  *engine.Command    `yaml:"command"`
	Restart  bool               `yaml:"restart"`
	Fork     int64              `yaml:"fork"`
}

type reply struct {
	Text  string `yaml:"text"`
	Calls []struct {
		Name string `yaml:"name"`
		Args any    `yaml:"args"` // text is sent as it is
	} `yaml:"calls"`
	Fault string      `yaml:"fault"`
	JSON  any         `yaml:"json"` // the text of a model step
	Usage event.Usage `yaml:"usage"`
}

// Play runs every transcript that matches the pattern. specs declares the tools by
// name; load finds a machine that the transcript only names.
func Play(t *testing.T, pattern string, specs map[string]tool.Spec, load func(name string) (*machine.Machine, error)) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts match %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { play(t, file, specs, load) })
	}
}

func play(t *testing.T, file string, specs map[string]tool.Spec, load func(string) (*machine.Machine, error)) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files, sections := map[string]string{}, map[string]string{}
	for _, f := range ar.Files {
		if name, ok := strings.CutPrefix(f.Name, "machine/"); ok {
			files[name] = string(f.Data)
			continue
		}
		sections[f.Name] = string(f.Data)
	}
	var s setup
	decode(t, file, sections["setup"], &s)
	var moves []move
	decode(t, file, sections["play"], &moves)

	b := &bench{t: t, dir: t.TempDir(), setup: s, specs: specs}
	if len(files) > 0 {
		b.m, err = machine.Parse(files)
	} else {
		b.m, err = load(s.Machine)
	}
	if err != nil {
		t.Fatalf("the machine does not load: %v", err)
	}
	var lines []llm.Line
	for _, mv := range moves {
		if mv.Model != nil {
			lines = append(lines, mv.Model.line(t))
		}
	}
	b.model = llm.Script(lines...)
	b.tools = scripted(t, specs, s)
	b.open()
	b.perform(moves)
	got := b.log() + b.replay()
	b.close()
	if n := b.model.Left(); n > 0 {
		t.Errorf("%d lines of the model were not spoken", n)
	}
	if *update {
		for i, f := range ar.Files {
			if f.Name == "log" {
				ar.Files = append(ar.Files[:i], ar.Files[i+1:]...)
				break
			}
		}
		ar.Files = append(ar.Files, txtar.File{Name: "log", Data: []byte(got)})
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := sections["log"]; want != got {
		t.Errorf("the log differs (run with -update to accept):\n%s", firstDifference(want, got))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n want %s\n  got %s\n\nwhole log:\n%s", i+1, a, b, got)
		}
	}
	return ""
}

func decode(t *testing.T, file, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalWithOptions([]byte(text), into, yaml.Strict(), yaml.UseJSONUnmarshaler()); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func (r *reply) line(t *testing.T) llm.Line {
	l := llm.Line{Usage: r.Usage}
	if r.Text != "" {
		l.Text = []string{r.Text}
	}
	if r.JSON != nil {
		l.Text = []string{toJSON(t, r.JSON)}
	}
	for _, c := range r.Calls {
		args, ok := c.Args.(string)
		if !ok && c.Args != nil {
			args = toJSON(t, c.Args)
		}
		l.Calls = append(l.Calls, llm.Call{Name: c.Name, Args: args})
	}
	if r.Fault != "" {
		l.Fault = fault.New(fault.Code(r.Fault), "the scripted model failed")
	}
	return l
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// scripted makes tools that give their results in order.
func scripted(t *testing.T, specs map[string]tool.Spec, s setup) *tool.Set {
	var tools []tool.Tool
	for name, spec := range specs {
		spec.Name = name
		tools = append(tools, &script{spec: spec, results: s.Tools[name], t: t})
	}
	for name := range s.Tools {
		if _, ok := specs[name]; !ok {
			t.Fatalf("the transcript scripts the tool %q, which is not declared", name)
		}
	}
	found := foundScripts{}
	for name, results := range s.Found {
		found[name] = &script{spec: tool.Spec{Name: name}, results: results, t: t}
	}
	return tool.NewSet(found, tools...)
}

// foundScripts are the scripts of tools that are found at run time.
type foundScripts map[string]*script

func (f foundScripts) CallFound(ctx context.Context, decl tool.Found, args json.RawMessage) (tool.Result, error) {
	if f[decl.Name] == nil {
		return tool.Result{}, fault.New(fault.UnknownTool, "the transcript has no tool %q", decl.Name)
	}
	return f[decl.Name].Call(ctx, args)
}

type script struct {
	spec    tool.Spec
	t       *testing.T
	mu      sync.Mutex
	results []any
}

func (s *script) Spec() tool.Spec { return s.spec }

func (s *script) Call(context.Context, json.RawMessage) (tool.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.results) == 0 {
		return tool.Result{}, fault.New(fault.ToolFailed, "the transcript gives no result for %s", s.spec.Name)
	}
	r := s.results[0]
	if len(s.results) > 1 {
		s.results = s.results[1:]
	}
	if rec, ok := r.(map[string]any); ok && rec["fails"] != nil {
		f := fault.New(fault.Code(fmt.Sprint(rec["fails"])), "%v", rec["message"])
		if rec["details"] != nil {
			f.Details = rec["details"]
		}
		return tool.Result{}, f
	}
	return tool.Result{JSON: json.RawMessage(toJSON(s.t, r))}, nil
}

// bench is one transcript being played.
type bench struct {
	t      *testing.T
	dir    string
	setup  setup
	specs  map[string]tool.Spec
	m      *machine.Machine
	model  *llm.Scripted
	tools  *tool.Set
	store  store.Store
	eng    *engine.Engine
	thread string
	clock  time.Time
	ids    int
	mu     sync.Mutex
}

// Get and Model let the bench stand for all machines and models.
func (b *bench) Get(string) (*machine.Machine, error) { return b.m, nil }
func (b *bench) Model(string) (llm.Model, error)      { return b.model, nil }

func (b *bench) open() {
	b.t.Helper()
	s, err := store.Open(store.Config{DSN: filepath.Join(b.dir, "log.db")})
	if err != nil {
		b.t.Fatal(err)
	}
	b.store = s
	b.eng, err = engine.New(engine.Config{
		Store: s, Machines: b, Models: b, Tools: b.tools,
		Now: func() time.Time {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.clock.IsZero() {
				b.clock = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			}
			b.clock = b.clock.Add(time.Millisecond)
			return b.clock
		},
		NewID: func(prefix string) string {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.ids++
			return fmt.Sprintf("%s%d", prefix, b.ids)
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if b.thread == "" {
		b.thread, err = b.eng.Open(b.t.Context(), engine.Opening{Machine: b.setup.Machine, Owner: "ann", Dataset: b.setup.Dataset, Settings: plainMap(b.t, b.setup.Settings)})
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// plainMap makes YAML values plain JSON ones.
func plainMap(t *testing.T, m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(toJSON(t, m)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (b *bench) close() {
	if err := b.eng.Close(); err != nil {
		b.t.Error(err)
	}
	if err := b.store.Close(); err != nil {
		b.t.Error(err)
	}
}

func (b *bench) perform(moves []move) {
	b.t.Helper()
	ctx := b.t.Context()
	for _, mv := range moves {
		var in engine.Input
		switch {
		case mv.Person != "":
			in = engine.Input{User: "ann", Text: mv.Person, Dataset: mv.Dataset, Settings: plainMap(b.t, mv.Settings)}
		case mv.Answer != nil:
			v, err := b.eng.View(ctx, b.thread)
			if err != nil || v.Card == nil {
				b.t.Fatalf("no card is open to answer: %v\n%s", err, b.log())
			}
			a := *mv.Answer
			a.Card, a.Fields = v.Card.Card, plainMap(b.t, a.Fields)
			in = engine.Input{User: "ann", Card: &a}
		case mv.Command != nil:
			in = engine.Input{User: "ann", Command: &engine.Command{Name: mv.Command.Name, Fields: plainMap(b.t, mv.Command.Fields)}}
		case mv.Restart:
			b.close()
			b.open()
			continue
		case mv.Fork > 0:
			id, err := b.eng.Fork(ctx, b.thread, mv.Fork, "ann")
			if err != nil {
				b.t.Fatal(err)
			}
			b.thread = id
			continue
		default:
			continue
		}
		if _, err := b.eng.Send(ctx, b.thread, in); err != nil {
			b.t.Fatalf("the engine did not take %+v: %v", mv, err)
		}
		if err := b.eng.Wait(ctx, b.thread); err != nil {
			b.t.Fatal(err)
		}
	}
}

// log renders the thread's events and holds them against what must always hold.
func (b *bench) log() string {
	var out strings.Builder
	var events []event.Event
	for e, err := range b.eng.Events(b.t.Context(), b.thread, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		fmt.Fprintf(&out, "%3d %s\n", e.Seq, Line(e.Body))
		events = append(events, e)
	}
	if err := Audit(b.m, events); err != nil {
		b.t.Errorf("the log breaks what must always hold: %v", err)
	}
	return out.String()
}

// replay drives every run again from its recording.
func (b *bench) replay() string {
	runs, err := b.store.Runs(b.t.Context(), store.Query{Thread: b.thread})
	if err != nil {
		b.t.Fatal(err)
	}
	n := 0
	for _, r := range runs {
		rep, err := capsule.ReplayRun(b.t.Context(), b.store, b.tools, r.ID)
		if err != nil {
			b.t.Errorf("replaying %s: %v", r.ID, err)
			continue
		}
		if !rep.Same {
			b.t.Errorf("the replay of %s differs at %d:\nrecorded %s\nreplayed %s", r.ID, rep.Diff.Seq, rep.Diff.Recorded, rep.Diff.Replayed)
		}
		n++
	}
	return fmt.Sprintf("%d runs replayed byte for byte\n", n)
}
