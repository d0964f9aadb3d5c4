package retention_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock/internal/artifact"
	"interlock/internal/capsule"
	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/retention"
	"interlock/internal/store"
	"interlock/internal/tool"
)

const definition = `name: maker
title: Makes files
start: work
states:
  work: {kind: agent, terminal: true, prompt: work.md, tools: [make_file]}
policies: {inventory: true, duplicates: true}
`

const day = 24 * time.Hour

// deployment is an engine with its log, its artifacts and a clock that tests set.
type deployment struct {
	*testing.T
	dir       string
	store     store.Store
	artifacts *artifact.Store
	eng       *engine.Engine
	machine   *machine.Machine
	model     llm.Model
	tools     *tool.Set
	keeper    *retention.Keeper
	now       atomic.Int64 // nanoseconds
	made      atomic.Int64 // calls of make_file that ran
}

func (d *deployment) Get(string) (*machine.Machine, error) { return d.machine, nil }
func (d *deployment) Model(string) (llm.Model, error)      { return d.model, nil }
func (d *deployment) clock() time.Time                     { return time.Unix(0, d.now.Load()).UTC() }
func (d *deployment) wait(age time.Duration)               { d.now.Add(int64(age)) }

type file struct {
	ID   string `json:"id"`
	made event.ArtifactMade
}

func (f file) Made() []event.ArtifactMade { return []event.ArtifactMade{f.made} }

// deploy starts a deployment whose model makes a file of the person's text.
func deploy(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{T: t}
	d.now.Store(time.Now().UnixNano())
	dir := t.TempDir()
	d.dir = dir
	var err error
	check := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d.machine, err = machine.Parse(map[string]string{machine.File: definition, "work.md": "Make files."})
	check()
	d.store, err = store.Open(store.Config{DSN: filepath.Join(dir, "log.db")})
	check()
	t.Cleanup(func() { d.store.Close() })
	d.artifacts, err = artifact.New(artifact.Config{Dir: filepath.Join(dir, "artifacts")})
	check()
	type input struct {
		Text string `json:"text"`
	}
	d.tools = tool.NewSet(nil, tool.New(tool.Spec{Name: "make_file", Effect: tool.Writes}, func(ctx context.Context, in input) (file, error) {
		d.made.Add(1)
		c := tool.In(ctx)
		made, err := d.artifacts.Put(ctx, artifact.Put{Name: in.Text, Type: "txt", Producer: "python", Call: c.ID, Thread: c.Thread, Owner: c.Owner, Known: c.Artifacts},
			strings.NewReader(strings.Repeat(in.Text, 1000)))
		return file{made.ID, made}, err
	}))
	d.model = llm.ScriptFunc(func(r llm.Request) (llm.Reply, error) {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == llm.ToolRole {
			return llm.Reply{Text: "done"}, nil
		}
		return llm.Reply{Calls: []llm.Call{{ID: "c", Name: "make_file", Args: fmt.Sprintf(`{"text":%q}`, last.Text)}}}, nil
	})
	d.eng, err = engine.New(engine.Config{Store: d.store, Machines: d, Models: d, Tools: d.tools, Now: d.clock})
	check()
	t.Cleanup(func() { d.eng.Close() })
	d.keeper, err = retention.New(retention.Config{Store: d.store, Artifacts: d.artifacts, Threads: d.eng, Now: d.clock})
	check()
	return d
}

// ask sends a message, in a new thread for "", and waits for the answer.
func (d *deployment) ask(thread, text string) (string, string) {
	d.Helper()
	if thread == "" {
		var err error
		if thread, err = d.eng.Open(d.Context(), engine.Opening{Machine: "maker", Owner: "ann"}); err != nil {
			d.Fatal(err)
		}
	}
	run, err := d.eng.Send(d.Context(), thread, engine.Input{User: "ann", Text: text})
	if err != nil {
		d.Fatal(err)
	}
	if err := d.eng.Wait(d.Context(), thread); err != nil {
		d.Fatal(err)
	}
	return thread, run
}

func (d *deployment) view(thread string) engine.View {
	d.Helper()
	v, err := d.eng.View(d.Context(), thread)
	if err != nil {
		d.Fatal(err)
	}
	return v
}

// artifactOf returns the id of the only artifact of a thread.
func (d *deployment) artifactOf(thread string) string {
	d.Helper()
	made := d.view(thread).Artifacts
	if len(made) != 1 {
		d.Fatalf("the thread has %d artifacts", len(made))
	}
	return made[0].ID
}

// exists reports whether the content of an artifact can be read.
func (d *deployment) exists(id string) bool {
	f, _, err := d.artifacts.Open(d.Context(), "ann", id)
	if err != nil {
		return false
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	return err == nil && len(raw) > 0
}

func (d *deployment) plan(l retention.Limits) *retention.Plan {
	d.Helper()
	p, err := d.keeper.Plan(d.Context(), l)
	if err != nil {
		d.Fatal(err)
	}
	return p
}

func (d *deployment) apply(l retention.Limits) retention.Result {
	d.Helper()
	done, err := d.keeper.Apply(d.Context(), d.plan(l))
	if err != nil {
		d.Fatal(err)
	}
	return done
}

func (d *deployment) replays(run string) {
	d.Helper()
	r, err := capsule.ReplayRun(d.Context(), d.store, d.tools, run)
	if err != nil || !r.Same {
		d.Errorf("the run %s does not replay: %+v, %v", run, r, err)
	}
}

// Old threads go with their artifacts; what a kept run or a fork needs stays.
func TestThreadsByAge(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	old, _ := d.ask("", "old")
	kept, run := d.ask("", "kept")
	parent, _ := d.ask("", "parent")
	gone, survives := d.artifactOf(old), d.artifactOf(kept)
	shared := d.artifactOf(parent)
	if err := d.store.KeepRun(t.Context(), run, true); err != nil {
		t.Fatal(err)
	}
	d.wait(100 * day)
	fork, err := d.eng.Fork(t.Context(), parent, 0, "ann")
	if err != nil {
		t.Fatal(err)
	}
	d.ask(fork, "parent") // the same file: the parent's is used
	limits := retention.Limits{ThreadAge: 90 * day, ArtifactAge: 90 * day}
	p := d.plan(limits)
	if len(p.Threads) != 1 || p.Threads[0].ID != old || p.Threads[0].Reason != retention.TooOld || p.Threads[0].Bytes == 0 {
		t.Errorf("threads of the plan: %+v", p.Threads)
	}
	if len(p.Artifacts) != 1 || p.Artifacts[0].ID != gone || p.Artifacts[0].Reason != retention.WithThread || p.Artifacts[0].Bytes != 3000 {
		t.Errorf("artifacts of the plan: %+v", p.Artifacts)
	}
	why := fmt.Sprint(p.Kept)
	for _, want := range []string{kept, "the run " + run + " is kept", "the fork " + fork + " needs it", survives} {
		if !strings.Contains(why, want) {
			t.Errorf("the plan does not say %q: %s", want, why)
		}
	}
	if !d.exists(gone) {
		t.Error("a plan removed something")
	}
	if done := d.apply(limits); done.Threads != 1 || done.Artifacts != 1 {
		t.Errorf("removed %+v", done)
	}
	if _, err := d.eng.View(t.Context(), old); err == nil || d.exists(gone) {
		t.Errorf("the thread or its artifact is still there: %v", err)
	}
	if !d.exists(survives) || !d.exists(shared) || d.artifactOf(fork) != shared {
		t.Error("something that is needed is gone")
	}
	d.replays(run)
	if c, err := capsule.Build(t.Context(), d.store, run); err != nil || len(c.Artifacts) != 1 {
		t.Errorf("the kept capsule: %+v, %v", c, err)
	}
	if done := d.apply(limits); done != (retention.Result{}) {
		t.Errorf("a second time removed %+v", done)
	}
}

// The artifacts of an old thread go and the thread stays: its log says so, it is as old as it
// was, the same question makes the file again, and all its runs replay.
func TestArtifactsByAge(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	thread, first := d.ask("", "report")
	id := d.artifactOf(thread)
	if _, second := d.ask(thread, "report"); d.made.Load() != 1 {
		t.Fatalf("the run %s made the file again", second)
	}
	before := d.view(thread).Thread.Updated
	d.wait(40 * day)
	if done := d.apply(retention.Limits{ArtifactAge: 30 * day}); done.Artifacts != 1 || done.Bytes != 6000 {
		t.Fatalf("removed %+v", done)
	}
	v := d.view(thread)
	if _, _, err := d.artifacts.Open(t.Context(), "ann", id); err == nil || !strings.Contains(err.Error(), "nobody had used it for 30 days") {
		t.Errorf("a removed artifact says %v", err)
	}
	if d.exists(id) || len(v.Artifacts) != 0 || !v.Thread.Updated.Equal(before) {
		t.Errorf("the artifact is still there, or the thread seems new: %+v", v.Thread)
	}
	var last event.Body
	for ev, err := range d.store.Events(t.Context(), thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		last = ev.Body
	}
	if b, ok := last.(event.ArtifactsRemoved); !ok || !slices.Equal(b.Artifacts, []string{id}) {
		t.Errorf("the log ends with %+v", last)
	}
	_, third := d.ask(thread, "report")
	if made := d.view(thread).Artifacts; len(made) != 1 || made[0].Version != 2 {
		t.Errorf("made again as %+v", made)
	}
	if d.made.Load() != 2 || !d.exists(d.artifactOf(thread)) {
		t.Errorf("the file was made %d times", d.made.Load())
	}
	d.replays(first)
	d.replays(third)
}

// Beyond a size the oldest go first, and what somebody works with stays.
func TestBySize(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	var threads, artifacts []string
	for _, text := range []string{"1", "2", "3", "4"} {
		thread, _ := d.ask("", text)
		threads, artifacts = append(threads, thread), append(artifacts, d.artifactOf(thread))
		d.wait(2 * time.Hour)
	}
	d.apply(retention.Limits{ArtifactBytes: 2500})
	for i, id := range artifacts {
		if d.exists(id) != (i >= 2) {
			t.Errorf("artifact %d exists: %v", i, d.exists(id))
		}
	}
	p := d.plan(retention.Limits{ThreadBytes: 1})
	if len(p.Threads) != 4 || p.Threads[0].ID != threads[0] || p.Threads[0].Reason != retention.TooMuch {
		t.Fatalf("the plan is %+v", p.Threads)
	}
	d.ask(threads[1], "more") // after the plan was made
	done, err := d.keeper.Apply(t.Context(), p)
	if err != nil || done.Threads != 3 {
		t.Errorf("removed %+v, %v", done, err)
	}
	if d.view(threads[1]).Thread.ID == "" || d.exists(artifacts[2]) || d.exists(artifacts[3]) {
		t.Error("the wrong thread is gone")
	}
	if p := d.plan(retention.Limits{ThreadBytes: 1}); len(p.Threads) != 0 {
		t.Errorf("a thread that was just used would go: %+v", p.Threads)
	}
}

// What somebody needs since the plan was made stays: a fork, and a run that is kept.
func TestNeededSinceThePlan(t *testing.T) {
	for name, need := range map[string]func(*deployment, string, string) error{
		"fork": func(d *deployment, thread, _ string) error {
			_, err := d.eng.Fork(t.Context(), thread, 0, "ann")
			return err
		},
		"kept run": func(d *deployment, _, run string) error { return d.store.KeepRun(t.Context(), run, true) },
	} {
		d := deploy(t)
		thread, run := d.ask("", "report")
		id := d.artifactOf(thread)
		d.wait(40 * day)
		p := d.plan(retention.Limits{ArtifactAge: 30 * day})
		if err := need(d, thread, run); err != nil {
			t.Fatal(err)
		}
		if done, err := d.keeper.Apply(t.Context(), p); err != nil || done.Artifacts != 0 || !d.exists(id) {
			t.Errorf("%s: removed %+v: %v", name, done, err)
		}
	}
}

// A thread that a person deletes goes with its artifacts, but not with those that others
// name; whoever follows it is told.
func TestDeletedThread(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	parent, _ := d.ask("", "report")
	shared := d.artifactOf(parent)
	fork, err := d.eng.Fork(t.Context(), parent, 0, "ann")
	if err != nil {
		t.Fatal(err)
	}
	d.ask(fork, "more")
	var own string
	for _, a := range d.view(fork).Artifacts {
		if a.ID != shared {
			own = a.ID
		}
	}
	if err := d.keeper.RemoveThread(t.Context(), parent); !fault.Is(err, fault.Conflict) || !d.exists(shared) || !strings.Contains(err.Error(), "it has the fork "+fork) {
		t.Errorf("a thread with a fork was deleted: %v", err)
	}
	run := d.view(fork).Thread.Run
	for keep, want := range map[bool]string{true: "its run " + run + " is kept", false: "a turn runs in it"} {
		var lease store.Lease
		if !keep {
			if lease, err = d.store.Acquire(t.Context(), fork, "somebody", time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.store.KeepRun(t.Context(), run, keep); err != nil {
			t.Fatal(err)
		}
		if err := d.keeper.RemoveThread(t.Context(), fork); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), want) {
			t.Errorf("the refusal does not say that %s: %v", want, err)
		}
		if err := errors.Join(d.store.KeepRun(t.Context(), run, false), d.store.Release(t.Context(), lease)); err != nil {
			t.Fatal(err)
		}
	}
	other, _ := d.ask("", "report") // the usage that the keeper knows has grown
	followed := make(chan error, 1)
	following := make(chan struct{})
	go func() {
		var once sync.Once
		for _, err := range d.eng.Follow(t.Context(), fork, 0) {
			once.Do(func() { close(following) })
			if err != nil {
				followed <- err
				return
			}
		}
		followed <- nil
	}()
	<-following
	if err := d.keeper.RemoveThread(t.Context(), fork); err != nil {
		t.Fatal(err)
	}
	if err := <-followed; !fault.Is(err, fault.ThreadNotFound) {
		t.Errorf("the follower ends with %v", err)
	}
	if d.exists(own) || !d.exists(shared) {
		t.Errorf("the fork's artifact exists: %v, the parent's: %v", d.exists(own), d.exists(shared))
	}
	if err := d.keeper.RemoveThread(t.Context(), parent); err != nil || d.exists(shared) {
		t.Errorf("the parent's artifact is left: %v", err)
	}
	if err := d.keeper.RemoveThread(t.Context(), parent); !fault.Is(err, fault.ThreadNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if !d.exists(d.artifactOf(other)) {
		t.Error("an equal content of another thread is gone")
	}
}

// Artifacts that a fork shares go in the same pass as those that it does not.
func TestSharedAndOwnArtifacts(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	parent, _ := d.ask("", "shared")
	fork, err := d.eng.Fork(t.Context(), parent, 0, "ann")
	if err != nil {
		t.Fatal(err)
	}
	d.ask(parent, "own")
	d.ask(fork, "apart")
	d.wait(40 * day)
	if done := d.apply(retention.Limits{ArtifactAge: 30 * day}); done.Artifacts != 3 {
		t.Errorf("removed %+v, want 3 artifacts", done)
	}
	if left := len(d.view(parent).Artifacts) + len(d.view(fork).Artifacts); left != 0 {
		t.Errorf("%d artifacts are left", left)
	}
}

// Nothing is recorded in one thread while another one that names the artifact is busy.
func TestBusyForkKeepsTheArtifact(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	parent, _ := d.ask("", "report")
	id := d.artifactOf(parent)
	fork, err := d.eng.Fork(t.Context(), parent, 0, "ann")
	if err != nil {
		t.Fatal(err)
	}
	d.wait(40 * day)
	p := d.plan(retention.Limits{ArtifactAge: 30 * day})
	for _, busy := range []string{parent, fork} {
		lease, err := d.store.Acquire(t.Context(), busy, "another process", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if done, err := d.keeper.Apply(t.Context(), p); err != nil || done.Artifacts != 0 {
			t.Errorf("removed %+v, %v", done, err)
		}
		for _, thread := range []string{parent, fork} {
			if d.artifactOf(thread) != id || !d.exists(id) {
				t.Errorf("the thread %s has lost its artifact", thread)
			}
		}
		if err := d.store.Release(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
	}
	if done, err := d.keeper.Apply(t.Context(), p); err != nil || done.Artifacts != 1 || d.exists(id) {
		t.Errorf("removed %+v, %v", done, err)
	}
}

// A damaged document is named by the plan, and the rest is removed.
func TestDamagedDocumentIsNamed(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	thread, _ := d.ask("", "report")
	good, _ := d.ask("", "good")
	id := d.artifactOf(good)
	paths, err := filepath.Glob(filepath.Join(d.dir, "artifacts/meta/*/*/"+d.artifactOf(thread)[len("art_")+16:]+"/1.json"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	if err := os.WriteFile(paths[0], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.wait(40 * day)
	p := d.plan(retention.Limits{ArtifactAge: 30 * day})
	if len(p.Damaged) != 1 || p.Damaged[0].Path != paths[0] {
		t.Errorf("damaged: %+v", p.Damaged)
	}
	if done, err := d.keeper.Apply(t.Context(), p); err != nil || done.Artifacts != 1 || d.exists(id) {
		t.Errorf("removed %+v, %v", done, err)
	}
}

// Rows that a person exported belong to no thread: only their age and size count.
func TestExportsStay(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	made, err := d.artifacts.Put(t.Context(), artifact.Put{Name: "rows", Type: "csv", Producer: "sql", LogicalKey: "k", Thread: artifact.ExportThread("k"), Owner: "ann"},
		strings.NewReader("a"))
	if err != nil {
		t.Fatal(err)
	}
	if p := d.plan(retention.Limits{ThreadAge: 30 * day}); len(p.Artifacts) != 0 {
		t.Errorf("an export would go: %+v", p.Artifacts)
	}
	d.wait(40 * day)
	if done := d.apply(retention.Limits{ArtifactAge: 30 * day}); done.Artifacts != 1 || d.exists(made.ID) {
		t.Errorf("an old export stays: %+v", done)
	}
}
