package storetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"interlock/internal/audit"
	"interlock/internal/event"
	"interlock/internal/store"
)

// testAudit holds that people's deeds in threads are recorded with them, whole or not at all,
// and that the entries outlive the threads.
func testAudit(t *testing.T, f *fixture) {
	s := f.store(t)
	ctx := audit.WithActor(t.Context(), audit.Actor{User: "eve", Via: "http", Request: "q_1"})
	say := func(thread string, after int64, parent string, bodies ...event.Body) error {
		b := batch(thread, after, len(bodies))
		for i, body := range bodies {
			b.Events[i].Body = body
		}
		b.Parent, b.Head.Status, b.Head.Run = parent, store.Idle, "r_"+thread
		return s.Append(ctx, b)
	}
	for _, err := range []error{
		say("t1", 0, "", event.ThreadOpened{Owner: "ann"}, event.TurnStarted{Run: "r_t1", User: "ann", Text: "secret?", Dataset: "shop", Settings: map[string]any{"b": 1, "a": 2}}, event.StepDone{}),
		say("t1", 3, "", event.CardAnswered{Card: "c1", Answer: "allow_once", Note: "secret"}),
		say("t1", 4, "", event.CommandGiven{Command: "again", User: "bob"}),
		say("t1", 5, "", event.ThreadRenamed{Title: "secret", User: "ann"}),
		say("t2", 0, "t1", event.ThreadOpened{Owner: "ann"}, event.TurnStarted{Run: "r_t1", User: "ann"}),
		s.RecordAction(ctx, audit.Entry{Action: "add a source", Object: "shop"}),
		s.RecordAction(t.Context(), audit.Entry{Action: "clean up"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := say("t1", 3, "", event.TurnStarted{Run: "r_late"}); err == nil {
		t.Error("no conflict")
	}
	if _, err := s.RemoveThreads(ctx, usage(t, s), []string{"t2", "t1"}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ann http q_1 begin a turn|shop|t1|r_t1|with the settings a, b",
		"ann http q_1 answer a card|c1|t1|r_t1|allow_once",
		"bob http q_1 give a command|again|t1|r_t1|",
		"ann http q_1 rename a thread||t1||",
		"ann http q_1 fork a thread|t1|t2||",
		"eve http q_1 add a source|shop|||",
		"   clean up||||",
		"eve http q_1 remove a thread||t2||",
		"eve http q_1 remove a thread||t1||",
	}
	var got []string
	for r, err := range s.Actions(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := r.Entry()
		if err != nil || e.Seq != r.Seq || e.Time.IsZero() || strings.Contains(r.Body, "secret") {
			t.Errorf("%s: %v", r.Body, err)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s|%s|%s|%s|%s", e.User, e.Via, e.Request, e.Action, e.Object, e.Thread, e.Run, e.Detail))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	last, err := s.LastActions(t.Context(), 9, 2)
	if err != nil || len(last) != 2 || last[0].Seq != 8 || last[1].Seq != 7 {
		t.Errorf("%v %v", last, err)
	}
	mustBeIntact(t, s, len(want))
}

func mustBeIntact(t *testing.T, s store.Store, entries int) {
	t.Helper()
	report, err := s.VerifyActions(t.Context())
	if err != nil || !report.Intact || entries >= 0 && report.Entries != entries {
		t.Errorf("%+v %v, want %d entries", report, err, entries)
	}
}

// testAuditRivals lets two openings of one store record at once: they make one chain.
func testAuditRivals(t *testing.T, f *fixture) {
	const each = 50
	stores := []store.Store{f.store(t), f.store(t)}
	var wg sync.WaitGroup
	for i, s := range stores {
		for part := range 2 {
			wg.Go(func() {
				for n := range each {
					if err := s.RecordAction(t.Context(), audit.Entry{Action: fmt.Sprint(i, part, n)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	mustBeIntact(t, stores[0], 4*each)
}
