package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// A pair is two servers on one state folder, the model that both ask, and the log.
type pair struct {
	*world
	a, b  *process
	actor *actor
	store store.Store
}

func newPair(t *testing.T, lines func(user string, results int) line) *pair {
	t.Helper()
	p := &pair{world: newWorld(t), actor: newActor(t, lines)}
	p.flags = append(append(p.flags, p.actor.flags()...), "--lease", "3s")
	p.a, p.b = p.serve(), p.serve()
	var err error
	if p.store, err = store.Open(store.Config{DSN: p.path("state/interlock.db")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// begin asks a question of the server in the background. The channel gives what came
// of the request: its text, or the error of a connection that broke.
func (p *pair) begin(server *process, question string) <-chan string {
	ended := make(chan string, 1)
	go func() {
		res, err := server.request("POST", "/chat", toJSON(map[string]string{"message": question, "machine": "analyst", "dataset_id": "shop"}))
		if err != nil {
			ended <- err.Error()
			return
		}
		defer res.Body.Close()
		raw, _ := io.ReadAll(res.Body)
		ended <- res.Status + " " + string(raw)
	}()
	return ended
}

// thread waits until the only thread's last event asks the model or, if a tool is named,
// starts that tool.
func (p *pair) thread(tool string) string {
	p.t.Helper()
	var id string
	eventually(p.t, "the log reaches the model or the tool "+tool, func() bool {
		rows, err := p.store.Threads(p.t.Context(), store.Query{})
		if err != nil || len(rows) != 1 {
			return false
		}
		id = rows[0].ID
		events := p.events(id)
		if len(events) == 0 {
			return false
		}
		switch b := events[len(events)-1].Body.(type) {
		case event.ModelCalled:
			return tool == ""
		case event.ToolStarted:
			return b.Tool == tool
		}
		return false
	})
	return id
}

func (p *pair) events(thread string) []event.Event {
	p.t.Helper()
	var all []event.Event
	for e, err := range engine.Resolved(p.t.Context(), p.store, thread, 0) {
		if err != nil {
			p.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func (p *pair) rests(thread string) {
	p.t.Helper()
	eventually(p.t, "the thread rests", func() bool {
		row, err := p.store.Thread(p.t.Context(), thread)
		return err == nil && row.Status != store.Running
	})
}

// holdFirst makes the model keep its first reply to itself until the test is over. The
// channel is closed when that request has come.
func (p *pair) holdFirst() (came <-chan struct{}) {
	first, over := make(chan struct{}), make(chan struct{})
	var asked atomic.Int32
	p.actor.before = func(r *http.Request) {
		if asked.Add(1) > 1 {
			return
		}
		close(first)
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}
	p.t.Cleanup(func() { close(over) })
	return first
}

// TestTakeOver ends one of two servers in the middle of a turn: by kill -9, or by
// stopping it for longer than its lease and letting it continue. The other server takes
// the turn over; the late one is fenced off; what writes is not run a second time.
func TestTakeOver(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers and waits for leases to end")
	}
	python := toJSON(map[string]string{"dataset_id": "shop", "python_code": "n = 0\nwhile n < 10**9: n += 1"})
	for _, tt := range []struct {
		during string
		call   *lineCall  // nil: the model is asked
		want   fault.Code // of the call that was under way; "": it is run again
	}{
		{"model", nil, ""},
		{"statement", &lineCall{"execute_sql", toJSON(map[string]string{"dataset_id": "shop", "sql": slow})}, ""},
		{"python", &lineCall{"execute_python", python}, fault.OutcomeUnknown},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
			t.Run(fmt.Sprintf("%s/%s", tt.during, signal), func(t *testing.T) {
				t.Parallel()
				p := newPair(t, func(_ string, results int) line {
					if tt.call != nil && results == 0 {
						return line{"", []lineCall{*tt.call}}
					}
					return line{text: "Finished."}
				})
				var ended <-chan string
				if tt.call == nil {
					came := p.holdFirst()
					ended = p.begin(p.a, "How many?")
					<-came
				} else {
					ended = p.begin(p.a, "How many?")
				}
				var tool string
				if tt.call != nil {
					tool = tt.call.name
				}
				thread := p.thread(tool)
				if err := p.a.cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				p.rests(thread)
				if signal == syscall.SIGSTOP {
					before := p.events(thread)
					if err := p.a.cmd.Process.Signal(syscall.SIGCONT); err != nil {
						t.Fatal(err)
					}
					<-ended
					if after := p.events(thread); len(after) != len(before) {
						t.Errorf("the late server wrote %d events after it had lost the thread", len(after)-len(before))
					}
				}
				p.checkTakenOver(thread, tool, tt.want)
				// Whoever is asked next finds the thread as it is.
				var next chatResponse
				p.b.call("POST", "/chat", toJSON(map[string]string{"message": "SQL: SELECT count(*) AS n FROM orders", "thread_id": thread, "dataset_id": "shop"}), 200, &next)
				if len(next.Result.Rows) != 1 {
					t.Errorf("the next turn gave %+v", next)
				}
			})
		}
	}
}

// checkTakenOver holds the log to what a take-over promises of the call of a tool that was
// under way.
func (p *pair) checkTakenOver(thread, tool string, unknown fault.Code) {
	t := p.t
	t.Helper()
	started := map[string]int{}
	var kinds []event.Kind
	var run, answer string
	var failed fault.Code
	for _, e := range p.events(thread) {
		kinds = append(kinds, e.Body.Kind())
		switch b := e.Body.(type) {
		case event.TurnStarted:
			run = b.Run
		case event.ToolStarted:
			started[b.Call]++
		case event.ToolFailed:
			if b.Tool == tool {
				failed = b.Code
			}
		case event.ModelReplied:
			answer = b.Text
		}
	}
	if !slices.Contains(kinds, event.KindTurnInterrupted) || kinds[len(kinds)-1] != event.KindTurnEnded || answer != "Finished." {
		t.Errorf("the other server did not take the turn over and end it with %q: %v", answer, kinds)
	}
	if failed != unknown {
		t.Errorf("the call that was under way ended with %q, want %q", failed, unknown)
	}
	for call, n := range started {
		if unknown != "" && n > 1 {
			t.Errorf("%s, which writes, was started %d times", call, n)
		}
	}
	out, errs, code := p.run("replay", run)
	if code != 0 {
		t.Errorf("the run does not replay: %s%s", out, errs)
	}
}

// A message after a process was killed has the killed turn finished first, and then gets an
// answer of its own, at once.
func TestChatAfterAKilledServer(t *testing.T) {
	p := newPair(t, func(string, int) line { return line{text: "Finished."} })
	kill := func(server *process) {
		if err := server.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-server.exited
	}
	kill(p.b) // it would take the turn over
	came := p.holdFirst()
	ended := p.begin(p.a, "wait for me")
	<-came
	thread := p.thread("")
	kill(p.a)
	<-ended
	out, errs, code := p.run("chat", "--thread", thread, "--dataset", "shop", "SQL: SELECT 41 + 1 AS answer FROM orders LIMIT 1")
	if code != 0 || !strings.Contains(out, "Finished.") || !strings.Contains(out, "42") {
		t.Errorf("the chat after the kill ended with %d: %s%s", code, out, errs)
	}
	if !strings.Contains(errs, "It goes on.") || strings.Contains(errs, "another process") {
		t.Errorf("the person is told %s", errs)
	}
}

// TestBesideServer: while a server runs a turn, other processes on the same state work
// in threads of their own, follow the turn, are told that it is under way, and can stop
// it. None of them runs a step of it.
func TestBesideServer(t *testing.T) {
	p := newPair(t, func(user string, _ int) line { return line{text: "Said to " + strings.Trim(user, `"`)} })
	came := p.holdFirst()
	ended := p.begin(p.a, "wait for me")
	<-came
	thread := p.thread("")

	var followed []string
	var following sync.WaitGroup
	following.Go(func() {
		res, err := p.b.request("GET", "/api/threads/"+thread+"/events", "")
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		for ev := range sentEvents(res.Body) {
			if ev.id != "" {
				followed = append(followed, ev.id)
			}
			if ev.name == string(event.KindTurnEnded) {
				return
			}
		}
	})

	for _, args := range [][]string{{"chat", "--dataset", "shop", "another thread"}, {"thread", "list"}, {"run", "list"}} {
		if out, errs, code := p.run(args...); code != 0 {
			t.Errorf("interlock %s beside the server: %d %s%s", strings.Join(args, " "), code, out, errs)
		}
	}
	out, errs, code := p.run("chat", "--thread", thread, "and me?")
	if code == 0 || !strings.Contains(errs, "runs") && !strings.Contains(errs, "busy") {
		t.Errorf("a chat in the thread that a server runs: %d %s%s", code, out, errs)
	}
	res, err := p.b.request("POST", "/chat", toJSON(map[string]string{"message": "and me?", "thread_id": thread}))
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusConflict {
		t.Errorf("the other server answered %s %s", res.Status, raw)
	}

	if !strings.Contains(errs, "interlock thread stop "+thread) {
		t.Errorf("the refusal does not say how to stop the turn: %s", errs)
	}
	if out, errs, code := p.run("thread", "stop", thread); code != 0 || !strings.Contains(out, "the turn is stopped") {
		t.Errorf("stopping the turn of the server from a third process: %d %s%s", code, out, errs)
	}
	p.rests(thread)
	p.b.call("POST", "/api/threads/"+thread+"/stop", "{}", http.StatusOK, nil) // a second stop does nothing
	if told := <-ended; !strings.Contains(told, "stopped") {
		t.Errorf("whoever waited at the first server was told %s", told)
	}
	following.Wait()
	events := p.events(thread)
	if len(followed) != len(events) {
		t.Errorf("a follower at the other server saw %d of %d events: %v", len(followed), len(events), followed)
	}
	if last, ok := events[len(events)-1].Body.(event.TurnEnded); !ok || last.Status != event.Stopped {
		raw, _ := json.Marshal(events[len(events)-1])
		t.Errorf("the turn ended with %s", raw)
	}
	if _, same := p.actor.counts(); same != 1 {
		t.Errorf("a request went to the model %d times", same)
	}
}
