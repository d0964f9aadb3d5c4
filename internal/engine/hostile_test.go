package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"interlock/internal/engine"
	"interlock/internal/engine/enginetest"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/racetest"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// TestHostileModels drives random definitions with random and malformed model
// output, answers and commands, and audits every log: no tool outside the state's
// set, no state without its facts, no undeclared move, one result a call, limits
// kept, nothing decided that only a person may decide, and the same facts from the
// log alone. INTERLOCK_TURNS sets how many turns; INTERLOCK_SEED repeats a run.
func TestHostileModels(t *testing.T) {
	turns, seed := 100_000, rand.Uint64()
	if racetest.On {
		turns = 1_000 // each takes ten times as long; `make test` plays the whole number without the detector
	}
	if n, err := strconv.Atoi(os.Getenv("INTERLOCK_TURNS")); err == nil {
		turns = n
	}
	if n, err := strconv.ParseUint(os.Getenv("INTERLOCK_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("%d turns, INTERLOCK_SEED=%d", turns, seed)
	var mu sync.Mutex
	counts := map[string]int{}
	t.Run("play", func(t *testing.T) {
		workers := runtime.GOMAXPROCS(0)
		for w := range workers {
			t.Run(strconv.Itoa(w), func(t *testing.T) {
				t.Parallel()
				mine := playMany(t, rand.New(rand.NewPCG(seed, uint64(w)+1)), turns/workers)
				mu.Lock()
				defer mu.Unlock()
				for kind, n := range mine {
					counts[kind] += n
				}
			})
		}
	})
	for _, what := range []string{"tool_started", "tool_refused", "tool_failed", "card_raised", "card_answered", "limit_reached", "model_failed", "state_entered"} {
		if counts[what] == 0 {
			t.Errorf("in %d turns no event %s happened: the test does not reach it", turns, what)
		}
	}
	t.Logf("events: %v", counts)
}

// playMany plays random machines until so many turns were taken.
func playMany(t *testing.T, rng *rand.Rand, turns int) map[string]int {
	s, err := store.Open(store.Config{DSN: filepath.Join(t.TempDir(), "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	counts := map[string]int{}
	for played := 0; played < turns; {
		m := randomMachine(t, rng)
		n := 100 + rng.IntN(200)
		playHostile(t, s, m, rng, n, counts)
		played += n
	}
	return counts
}

func playHostile(t *testing.T, s store.Store, m *machine.Machine, rng *rand.Rand, turns int, counts map[string]int) {
	t.Helper()
	h := &hostile{rng: rand.New(rand.NewPCG(rng.Uint64(), 2)), m: m}
	eng, err := engine.New(engine.Config{Store: s, Machines: h, Models: h, Tools: h.tools(), SnapshotEvery: 40})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	ctx := t.Context()
	thread, err := eng.Open(ctx, engine.Opening{Machine: m.Name, Owner: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	for range turns {
		if _, err := eng.Send(ctx, thread, h.input(ctx, eng, thread)); err != nil {
			if f := fault.From(err); f.Code == fault.Internal || f.Code == fault.StoreFailed {
				t.Fatalf("the engine failed on an input: %v", err)
			}
			continue
		}
		if err := eng.Wait(ctx, thread); err != nil {
			t.Fatal(err)
		}
	}
	var events []event.Event
	for e, err := range eng.Events(ctx, thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
		counts[string(e.Body.Kind())]++
	}
	if err := enginetest.Audit(m, events); err != nil {
		t.Fatalf("%v\n\nmachine:\n%s\n\nlog:\n%s", err, m.Files["machine.yaml"], tail(events, 60))
	}
	view, err := eng.View(ctx, thread)
	if err != nil {
		t.Fatal(err)
	}
	want := enginetest.Facts(m, events)
	for name, v := range want {
		if v != nil && !reflect.DeepEqual(v, view.Facts[name]) {
			t.Fatalf("the log says %s = %v, the engine %v", name, v, view.Facts[name])
		}
	}
}

func tail(events []event.Event, n int) string {
	var b strings.Builder
	for _, e := range events[max(0, len(events)-n):] {
		fmt.Fprintf(&b, "%d %s\n", e.Seq, enginetest.Line(e.Body))
	}
	return b.String()
}

// hostile is a model, a person and tools that do whatever comes to mind.
type hostile struct {
	rng *rand.Rand
	m   *machine.Machine
}

func (h *hostile) Get(string) (*machine.Machine, error) { return h.m, nil }

func (h *hostile) Model(string) (llm.Model, error) {
	return llm.ScriptFunc(h.reply).Forget(), nil
}

var toolNames = []string{"t1", "t2", "t3", "t4", "run", "out"}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func (h *hostile) reply(req llm.Request) (llm.Reply, error) {
	r := llm.Reply{Usage: event.Usage{Input: h.rng.IntN(50), Output: h.rng.IntN(50)}}
	if req.Output != nil {
		r.Text = pick(h.rng, `{"x": 3, "y": "high"}`, `{"x": 1, "y": "none"}`, `{"x": "text"}`, `not json`, `null`, `{"x": 4, "y": "low", "p": true}`)
		return r, nil
	}
	switch h.rng.IntN(12) {
	case 0:
		return r, fault.New(pick(h.rng, fault.ModelFailed, fault.ModelTimeout), "out of order")
	case 1, 2, 3:
		r.Text = pick(h.rng, "", "done", "I approve everything.", "```python\nprint(1)\n```", strings.Repeat("x", 5000))
		return r, nil
	}
	r.Text = pick(h.rng, "", "", "a plan")
	for range 1 + h.rng.IntN(4) {
		r.Calls = append(r.Calls, llm.Call{
			ID:   pick(h.rng, "", "a", "a", "b"),
			Name: pick(h.rng, append([]string{"", "t9", "T1", "approval", "../t1", "t1\x00"}, append(toolNames, toolNames...)...)...),
			Args: pick(h.rng, `{}`, `{"v": 1}`, `{"v": 2}`, `{"v": "3"}`, `{"arguments": {"v": 4}}`, `"{\"v\": 5}"`, `{"v": 1, "bound": 9}`, `{"code": "x"}`, `{"script": "y"}`,
				`{"code": ""}`, ``, `null`, `[]`, `{"v"`, `{"v": {"v": 1}}`, "print(1)", `{"extra": true}`,
				`{"code": "a < b && c > d"}`, `"x < y"`, `{"code": "`+strings.Repeat("z < ", 800)+`"}`),
		})
	}
	return r, nil
}

// input is a message, an answer to the card if one is open, or a command.
func (h *hostile) input(ctx context.Context, eng *engine.Engine, thread string) engine.Input {
	view, err := eng.View(ctx, thread)
	in := engine.Input{User: "ann", Text: pick(h.rng, "go on", "again please", "RUN: x", "stop")}
	if err != nil {
		return in
	}
	if view.Card != nil && h.rng.IntN(4) > 0 {
		a := engine.CardAnswer{Card: view.Card.Card, Answer: pick(h.rng, view.Card.Answers...).Name}
		if h.rng.IntN(2) == 0 {
			a.Fields = map[string]any{"text": "an answer"}
		}
		if h.rng.IntN(8) == 0 {
			a.Card = "another"
		}
		return engine.Input{User: "ann", Card: &a}
	}
	if h.rng.IntN(6) == 0 {
		return engine.Input{User: "ann", Command: &engine.Command{Name: pick(h.rng, "back", "nothing")}}
	}
	return in
}

func (h *hostile) tools() *tool.Set {
	var tools []tool.Tool
	for _, name := range toolNames {
		spec := tool.Spec{
			Name: name, Effect: pick(h.rng, tool.Reads, tool.Computes, tool.Writes), Taints: h.rng.IntN(2) == 0, Reaches: name == "out",
			Input: json.RawMessage(`{"type":"object","properties":{"v":{"type":"integer"},"bound":{"type":"integer"}}}`), Output: json.RawMessage(`{}`),
		}
		if name == "run" {
			spec.Main = "code"
			spec.Input = json.RawMessage(`{"type":"object","properties":{"code":{"type":"string"}},"required":["code"]}`)
		}
		tools = append(tools, &wild{spec, h.rng})
	}
	return tool.NewSet(nil, tools...)
}

// wild is a tool that returns, fails, panics or gives what nobody asked for.
type wild struct {
	spec tool.Spec
	rng  *rand.Rand
}

func (w *wild) Spec() tool.Spec { return w.spec }

func (w *wild) Call(context.Context, json.RawMessage) (tool.Result, error) {
	switch w.rng.IntN(10) {
	case 0:
		return tool.Result{}, fault.New(fault.SQLError, "no")
	case 1:
		panic("a tool breaks down")
	case 2:
		return tool.Result{JSON: json.RawMessage(`not json`)}, nil
	}
	return tool.Result{JSON: json.RawMessage(pick(w.rng, `{"text":"found"}`, `{"text":7}`, `null`, `[1,2]`, `{"text":"`+strings.Repeat("y", 3000)+`"}`, `{"ok":true,"text":"b"}`, `{"text":"<b> & \u003cc\u003e"}`))}, nil
}
