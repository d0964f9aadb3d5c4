package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/capsule"
	"interlock/internal/engine/enginetest"
	"interlock/internal/event"
	"interlock/internal/tool"
)

// desk is a machine of a user: an approval, a question, and a step with a tool that
// writes.
var desk = map[string]string{
	"machines/desk/machine.yaml": `
name: desk
title: Ask before anything runs or leaves
facts:
  found:    {type: json, for: turn}
  approved: {type: bool, for: turn, by: person, default: false}
start: looking
states:
  looking:
    kind: agent
    prompt: looking.md
    tools: [get_dataset_schema, {name: execute_sql, approve: always}]
    go:
      - {on: final, when: found != nil, to: asking}
      - {on: final, to: done}
  asking:
    kind: ask
    requires: [found]
    card: hand_over
    in: {question: turn.text}
    go:
      - {when: approved, to: writing}
      - {to: done}
  writing:
    kind: step
    requires: [found, approved == true]
    run: [{tool: write_report, in: {title: turn.text, markdown: '"Rows: " + string(found.rows)', format: '"html"'}}]
    go: [{on: failed, to: done}, {to: done}]
  done: {kind: final}
tools:   {execute_sql: {in: {max_rows: 10}}}
effects: [{on: returned, tool: execute_sql, set: {found: event.result}}]
cards:
  hand_over:
    title: Write this up as a report?
    content: {question: string}
    answers: {"yes": {label: Write it, key: y, set: {approved: true}}, "no": {label: Leave it, key: n}}
`,
	"machines/desk/looking.md": "Look, then answer.\n",
}

// slow is a statement that takes long enough to be killed in.
const slow = "SELECT count(*) AS n FROM orders a, orders b, orders c, orders d, orders e, orders f, orders g, orders h, orders i, orders j WHERE a.amount + b.amount + c.amount + d.amount + e.amount > f.amount + g.amount + h.amount + i.amount + j.amount"

// A play is a turn that is killed at every event of its log.
type play struct {
	machine string
	lines   func(user string, results int) line // nil: the offline model
	message string
	answers map[string]string // to cards, by name
	final   string            // part of the answer
	ends    string            // the state in which the turn ends; "" for any
	files   map[string]string // beside those of the shop
	set     map[string]any    // settings of the machine
	// long turns are killed at boundaries only, again and again on the way.
	long bool
}

var plays = map[string]play{
	"analyst": {
		machine: "analyst", message: "How many?", final: "There are 5 orders.",
		lines: func(_ string, results int) line {
			switch results {
			case 0:
				return line{"Let me look.", []lineCall{{"get_dataset_schema", `{"dataset_id":"shop"}`}, {"execute_sql", toJSON(map[string]string{"dataset_id": "shop", "sql": slow})}}}
			case 2:
				return line{"", []lineCall{{"execute_sql", `{"dataset_id":"shop","sql":"SELECT nothing FROM orders"}`}, {"execute_python_3", `{}`}}}
			case 4:
				return line{"", []lineCall{{"execute_sql", `{"dataset_id":"shop","sql":"SELECT count(*) AS n FROM orders"}`}}}
			}
			return line{text: "There are 5 orders."}
		},
	},
	"desk": {
		machine: "desk", message: "How many?", final: "", answers: map[string]string{"approval": "allow_once", "hand_over": "yes"},
		lines: func(_ string, results int) line {
			if results == 0 {
				return line{"", []lineCall{{"execute_sql", toJSON(map[string]string{"dataset_id": "shop", "sql": slow})}}}
			}
			return line{text: "Counted."}
		},
	},
	"reconcile": {
		machine: "reconcile", message: "Match the ledger with the bank.", final: "All is matched.", ends: "execution", files: books(), set: map[string]any{"pairs_needed": 1}, long: true,
		answers: map[string]string{"match": "confirm", "validation": "approve"},
		lines: func(_ string, results int) line {
			said := map[int]line{0: toIntent, 1: toScoping, 3: toPairs, 5: onePair, 6: learn, 7: build, 8: trySample, 10: runItInFull}
			if l, ok := said[results]; ok {
				return l
			}
			return line{text: "All is matched."}
		},
	},
	"pipeline": {machine: "pipeline", message: "How many orders are there?", final: "5"},
}

func toJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// TestKill kills the server with SIGKILL when event k of a turn has been stored, for
// every k, and starts it again on the same state. Whatever k is, the log must come out
// as if nothing had happened, and clients that reconnect must see all of it once.
func TestKill(t *testing.T) {
	for name, pl := range plays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, pl)
			whole := s.perform(never)
			if !strings.Contains(whole.answer, pl.final) {
				t.Fatalf("the answer is %q:\n%s", whole.answer, strings.Join(whole.log, "\n"))
			}
			if end, ok := whole.events[len(whole.events)-1].Body.(event.TurnEnded); pl.ends != "" && (!ok || end.State != pl.ends) {
				t.Fatalf("the turn does not end in %s:\n%s", pl.ends, strings.Join(whole.log, "\n"))
			}
			t.Logf("uninterrupted: %d events, %d requests to the model:\n%s", len(whole.events), whole.asked, strings.Join(whole.log, "\n"))
			landed := map[string]int{}
			for _, k := range s.kills(whole) {
				got := s.perform(k)
				s.compare(k, whole, got)
				for _, at := range got.landed {
					landed[at]++
				}
				if t.Failed() {
					t.FailNow()
				}
			}
			t.Logf("killed after: %v", landed)
			s.covered(whole, landed)
		})
	}
}

// kills lists the events at which a turn is killed, each time from its beginning: those
// that can be the last of a batch. A long turn is played once more and loses its process at
// the half of its boundaries that a dice chooses.
func (s *stage) kills(whole performance) (out []int64) {
	if s.play.long {
		out = append(out, -1-rand.Int64N(3))
	}
	for _, ev := range whole.events {
		call, ok := ev.Body.(event.ToolStarted)
		switch {
		case s.play.long && !(ok && s.writes(call.Tool)):
		case !boundary(ev.Body): // stored in one batch with a later event: the kill is the same
		default:
			out = append(out, ev.Seq)
		}
	}
	return out
}

// boundary says that an event can be the last of a batch, with what follows from it.
func boundary(b event.Body) bool {
	switch b.(type) {
	case event.ThreadOpened, event.TurnStarted, event.ModelCalled, event.ToolStarted, event.CardRaised, event.CardAnswered, event.TurnEnded:
		return true
	}
	return false
}

// compare holds an interrupted performance against the whole one.
func (s *stage) compare(k int64, whole, got performance) {
	t := s.t
	t.Helper()
	interrupted := 0
	started, ended := map[string]int{}, map[string]int{}
	unknown := false
	for _, ev := range got.events {
		switch b := ev.Body.(type) {
		case event.TurnInterrupted:
			interrupted++
		case event.ToolStarted:
			started[b.Call]++
		case event.ToolReturned:
			ended[b.Call]++
		case event.ToolFailed:
			ended[b.Call]++
			unknown = unknown || b.Code == "outcome_unknown" && s.writes(b.Tool)
		case event.ToolRefused:
			ended[b.Call]++
		}
	}
	where := fmt.Sprintf("killed at event %d, landed after %q", k, got.landed)
	kills := len(got.landed)
	if err := enginetest.Audit(s.m, got.events); err != nil {
		t.Errorf("%s: %v", where, err)
	}
	if interrupted > kills {
		t.Errorf("%s: interrupted %d times", where, interrupted)
	}
	for call, n := range ended {
		if n != 1 || started[call] > 1 {
			t.Errorf("%s: the call %s started %d times and ended %d times", where, call, started[call], n)
		}
	}
	if r, err := capsule.ReplayRun(t.Context(), s.store, s.tools, got.run); err != nil {
		t.Errorf("%s: replay: %v", where, err)
	} else if !r.Same {
		t.Errorf("%s: the replay differs at %d:\nrecorded %s\nreplayed %s", where, r.Diff.Seq, r.Diff.Recorded, r.Diff.Replayed)
	}
	if unknown { // a tool that writes is not run again: the model is told that nobody knows
		return
	}
	if diff := cmp.Diff(whole.log, got.log); diff != "" {
		t.Errorf("%s: the log differs: %s", where, diff)
	}
	if diff := cmp.Diff(whole.told, got.told); diff != "" {
		t.Errorf("%s: other messages were told: %s", where, diff)
	}
	if got.answer != whole.answer {
		t.Errorf("%s: the answer is %q, not %q", where, got.answer, whole.answer)
	}
	if got.asked > whole.asked+kills || got.same > 2 {
		t.Errorf("%s: the model was asked %d times, %d times the same; %d without a kill", where, got.asked, got.same, whole.asked)
	}
}

// writes says whether a tool makes something, so that an unfinished call is not run again.
func (s *stage) writes(name string) bool {
	t, err := s.tools.Get(name)
	return err == nil && t.Spec().Effect == tool.Writes
}

// covered wants a kill at every place where the process waited for the world: those
// cannot be missed.
func (s *stage) covered(whole performance, landed map[string]int) {
	s.t.Helper()
	var missed []string
	for _, ev := range whole.events {
		b, slowCall := ev.Body.(event.ToolStarted)
		slowCall = slowCall && strings.Contains(string(b.Args.JSON), "orders j")
		if at := fmt.Sprintf("%d %s", ev.Seq, ev.Body.Kind()); !s.play.long && landed[at] == 0 && (slowCall || ev.Body.Kind() == event.KindModelCalled) {
			missed = append(missed, at)
		}
	}
	if missed != nil {
		s.t.Errorf("no kill landed after %q; landed: %v", missed, slices.Sorted(maps.Keys(landed)))
	}
}

// moving are the parts of events that differ between two runs of the same turn.
var moving = regexp.MustCompile(`\\?"(?:ms|at_ms|exec_time_ms|execution_time_ms|elapsed_ms|total_ms)\\?":(?:\d+|null),?|"(?:start_time|time|created_at)":"[^"]*",?`)

// artifactID names the thread, too.
var artifactID = regexp.MustCompile(`\bart_[0-9a-f]+`)

// withoutMoment is an event without what depends on the moment at which evidence is made:
// its size, and the hash of a prompt that lists artifacts by id and size.
func withoutMoment(ev event.Event, before []event.Event) event.Event {
	switch b := ev.Body.(type) {
	case event.ArtifactMade:
		b.Bytes = 0
		ev.Body = b
	case event.ModelCalled:
		if slices.ContainsFunc(before, func(e event.Event) bool { return e.Body.Kind() == event.KindArtifactMade }) {
			b.System = ""
			ev.Body = b
		}
	}
	return ev
}

// plain is an event as text, without what may differ: ids, times and durations.
func plain(t *testing.T, ev event.Event, thread, run string) string {
	t.Helper()
	raw, err := json.Marshal(event.Inline(ev.Body))
	if err != nil {
		t.Fatal(errors.Join(err, errors.New("an event cannot be shown")))
	}
	text := artifactID.ReplaceAllString(moving.ReplaceAllString(string(raw), ""), "ART")
	text = strings.NewReplacer(run, "RUN", thread, "THREAD").Replace(text)
	return fmt.Sprintf("%s %s", ev.Body.Kind(), text)
}
