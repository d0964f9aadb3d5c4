package engine_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"interlock/internal/engine"
	"interlock/internal/llm"
	"interlock/internal/racetest"
	"interlock/internal/tool"
)

// noisy is a tool whose results have so many bytes that do not shrink much, other ones
// with every call.
func noisy(name string, n int) tool.Tool {
	rng := rand.New(rand.NewPCG(5, 6))
	return tool.New(tool.Spec{Name: name, Effect: tool.Reads}, func(context.Context, struct{}) (named, error) {
		raw := make([]byte, 0, n)
		for len(raw) < n*3/4+8 {
			raw = binary.LittleEndian.AppendUint64(raw, rng.Uint64())
		}
		return named{base64.StdEncoding.EncodeToString(raw)}, nil
	})
}

// A large result that becomes a fact and a part of the reply is stored once, not three
// times.
func TestALargeResultIsStoredOnce(t *testing.T) {
	racetest.Skip(t, "measures bytes")
	const size = 26 << 20
	bytesOfTurn := func(size int) int64 {
		r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), noisy("look", size), newGate().tool("make", tool.Writes))
		thread := r.open()
		run := r.send(thread, "go")
		r.wait(thread)
		rep := r.reply(run)
		if rep.Text != "done" || len(rep.Fields["seen"]) < size || len(rep.Shown) != 1 || len(rep.Shown[0].Output) < size {
			t.Fatalf("%s: %q, %d bytes in the reply", rep.Outcome, rep.Text, len(rep.Fields["seen"]))
		}
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(r.path)
		if err != nil {
			t.Fatal(err)
		}
		r.start()
		return info.Size()
	}
	stored := bytesOfTurn(size)
	t.Logf("a turn with a result of %d MB takes %d MB", size>>20, stored>>20)
	if stored > size+size/10 {
		t.Errorf("a result of %d MB that is also a fact and a reply takes %d MB", size>>20, stored>>20)
	}
}

// Five hundred threads with large results hold little memory while they rest. Each still
// shows its facts, and goes on.
func TestRestingThreadsHoldReferences(t *testing.T) {
	racetest.Skip(t, "measures memory")
	const size, threads, most = 96 << 10, 500, 16 << 20
	model := llm.ScriptFunc(func(q llm.Request) (llm.Reply, error) {
		if q.Tag.Number == 1 {
			return llm.Reply{Calls: []llm.Call{{Name: "look", Args: "{}"}}}, nil
		}
		return llm.Reply{Text: "done"}, nil
	}).Forget()
	r := newRig(t, model, noisy("look", size), newGate().tool("make", tool.Writes))
	before := heap()
	var ids []string
	for range threads {
		id := r.open()
		r.send(id, "go")
		r.wait(id)
		ids = append(ids, id)
	}
	grown := heap() - before
	t.Logf("%d threads with results of %d KB hold %d KB", threads, size>>10, grown>>10)
	if grown > most {
		t.Errorf("%d threads with results of %d KB hold %d MB; %d are allowed", threads, size>>10, grown>>20, most>>20)
	}
	seen := func(v engine.View, n int) string {
		list, _ := v.Facts["seen"].([]any)
		if len(list) != n || len(fmt.Sprint(list[0])) < size {
			t.Fatalf("the view has %d of %d results", len(list), n)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	view := func(n int) string {
		v, err := r.eng.View(t.Context(), ids[0])
		if err != nil {
			t.Fatal(err)
		}
		return seen(v, n)
	}
	view(1)
	r.send(ids[0], "and again")
	r.wait(ids[0])
	inMemory := view(2)
	r.stop()
	r.start()
	if fromLog := view(2); fromLog != inMemory {
		t.Error("the thread differs between memory and log")
	}
	if grown := heap() - before; grown > most {
		t.Errorf("after all the heap has grown by %d MB", grown>>20)
	}
}

// A turn holds what the model is told of earlier results, not the results: the model
// reads the same whether they were in memory or come from the log.
func TestRunningTurnsHoldTextsOfThePast(t *testing.T) {
	racetest.Skip(t, "measures memory")
	const size, turns, most = 4 << 20, 8, 8 << 20
	g := newGate()
	var histories []string
	model := llm.ScriptFunc(func(q llm.Request) (llm.Reply, error) {
		if q.Tag.Number > 1 {
			return llm.Reply{Text: "done"}, nil
		}
		if asked := q.Messages[len(q.Messages)-1].Text; asked != "wait" {
			return llm.Reply{Calls: []llm.Call{{Name: "make", Args: "{}"}}}, nil
		}
		text := ""
		for _, m := range q.History {
			text += fmt.Sprintln(m.Role, len(m.Text), m.Text[max(0, len(m.Text)-60):])
		}
		histories = append(histories, text)
		return llm.Reply{Calls: []llm.Call{{Name: "look", Args: "{}"}}}, nil
	}).Forget()
	r := newRig(t, model, noisy("make", size), g.tool("look", tool.Reads))
	before := heap()
	thread := r.open()
	for range turns {
		r.send(thread, "make one")
		r.wait(thread)
	}
	fork, err := r.eng.Fork(t.Context(), thread, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	wait := func(thread, where string) {
		t.Helper()
		r.send(thread, "wait")
		<-g.reached
		grown := heap() - before
		t.Logf("%s: a turn after %d results of %d MB holds %d KB", where, turns, size>>20, grown>>10)
		if grown > most {
			t.Errorf("%s: a turn after %d results of %d MB holds %d MB", where, turns, size>>20, grown>>20)
		}
		g.open <- struct{}{}
		r.wait(thread)
	}
	wait(thread, "in memory")
	r.stop()
	r.start()
	wait(fork, "from the log")
	if len(histories) != 2 || histories[0] != histories[1] || !strings.Contains(histories[0], "bytes shown; ask for less") {
		t.Errorf("the model was told\n%s", strings.Join(histories, "\nand then\n"))
	}
}
