package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"interlock/internal/event"
	"interlock/internal/store"
)

// scriptedSitting is a session with a model that says these lines: the first that it has
// not said yet, whatever it hears.
func scriptedSitting(t *testing.T, lines ...line) *sitting {
	t.Helper()
	said := 0
	a := newActor(t, func(string, int) line {
		if said == len(lines) {
			return line{text: "That is all."}
		}
		said++
		return lines[said-1]
	})
	return newSitting(t, a.flags()...)
}

func calls(pairs ...string) line {
	var l line
	for i := 0; i+1 < len(pairs); i += 2 {
		l.calls = append(l.calls, lineCall{pairs[i], pairs[i+1]})
	}
	return l
}

// The ways to each phase for a model that does its work.
var (
	toIntent    = calls("list_sources", `{}`)
	toScoping   = calls("get_source_preview", `{"alias":"ledger"}`, "get_source_preview", `{"alias":"bank"}`)
	toPairs     = calls("load_scoped", `{"alias":"ledger","conditions":[]}`, "load_scoped", `{"alias":"bank","conditions":[]}`)
	onePair     = calls("propose_match", `{}`)
	learn       = calls("infer_rules", `{}`)
	build       = calls("build_recipe", `{"rules":[]}`)
	trySample   = calls("validate_recipe", `{}`, "run_sample", `{}`)
	runItInFull = calls("run_full", `{}`)
)

// oneIsEnough has the rules learned from one confirmed pair: each further one is trained on
// anew.
var oneIsEnough = map[string]any{"pairs_needed": 1}

// ended lists how calls of a tool ended, by state and code.
func ended(evs []event.Event, name string) (out []string) {
	for _, ev := range evs {
		switch b := ev.Body.(type) {
		case event.ToolRefused:
			if b.Tool == name {
				out = append(out, b.State+" "+string(b.Code))
			}
		case event.ToolFailed:
			if b.Tool == name {
				out = append(out, string(b.Code))
			}
		case event.ToolReturned:
			if b.Tool == name {
				out = append(out, "returned")
			}
		}
	}
	return out
}

// A model that calls for the full run in every phase, skips phases and tries to decide in
// the person's place is refused by the machine each time; what the person decides stands.
func TestReconcileRefuses(t *testing.T) {
	t.Parallel()
	early := lineCall{"run_full", `{"approved":true}`}
	with := func(l line) line { l.calls = append([]lineCall{early}, l.calls...); return l }
	s := scriptedSitting(t, with(toIntent), with(toScoping), with(toPairs),
		with(calls("infer_rules", `{}`, "confirm_match", `{"answer":"confirm"}`, "propose_match", `{"left_key":"INV-20170","right_key":"910","reason":"same number","confirmed":[{"left_key":"x"}]}`)),
		with(calls("propose_match", `{"left_key":"INV-20170","right_key":"910","reason":"again"}`)),
		with(learn), with(build), with(trySample), runItInFull)
	s.begin("Match the ledger with the bank; I approve everything in advance.", oneIsEnough)
	for s.card().Name == "match" {
		s.decideAnywhere()
	}
	if s.last.Phase != "validation" {
		t.Fatalf("it is in %s: %s", s.last.Phase, s.text())
	}
	evs := s.events()
	for _, phase := range []string{"greeting", "intent", "scoping", "demonstration", "inference", "validation"} {
		if !slices.Contains(ended(evs, "run_full"), phase+" tool_not_allowed") {
			t.Errorf("in %s: %v", phase, ended(evs, "run_full"))
		}
	}
	for _, ev := range evs {
		if b, ok := ev.Body.(event.FactsChanged); ok && !strings.HasPrefix(b.Cause, "answered ") {
			for _, fact := range []string{"validation_approved", "confirmed_pairs", "rejected_pairs"} {
				if v, set := b.Set[fact]; set && string(v.JSON) != "[]" {
					t.Errorf("%s set %s to %s", b.Cause, fact, v.JSON)
				}
			}
		}
	}
	s.answer("execution", "validation", "approve")
	if s.last.Status != "complete" {
		t.Errorf("it is %s: %s", s.last.Status, s.text())
	}
	s.checkPrompts(evs)
}

// checkPrompts holds the requests to the model, as they were recorded, to their sizes:
// sources, schemas, pairs and recipe whole, and of a sample at most 20 rows with a line that
// says how many there are and what shows the others.
func (s *sitting) checkPrompts(evs []event.Event) {
	t := s.t
	t.Helper()
	log, err := store.Open(store.Config{DSN: s.path("state/interlock.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	sections := map[string]string{} // the last of each phase and title, as "phase title"
	for _, ev := range evs {
		if b, ok := ev.Body.(event.ModelCalled); ok {
			system, err := log.Blob(t.Context(), b.System)
			if err != nil {
				t.Fatal(err)
			}
			for _, section := range strings.Split(string(system), "\n\n") {
				if title, body, ok := strings.Cut(strings.TrimPrefix(section, "## "), "\n"); ok && strings.HasPrefix(section, "## ") {
					sections[b.State+" "+title] = body
				}
			}
		}
	}
	for title, total := range map[string]string{"Left sample": "24", "Right sample": "22"} {
		lines := strings.Split(sections["demonstration "+title], "\n")
		if last := lines[len(lines)-1]; len(lines) != 21 || last != "20 of "+total+" shown; get_source_preview shows the rest" {
			t.Errorf("%s has %d lines and ends with %q", title, len(lines), last)
		}
	}
	for section, parts := range map[string][]string{
		"intent Sources":             {`"ledger"`, `"bank"`},
		"scoping Left source":        {"invoice_no", "customer", "issued", "total"},
		"demonstration Right source": {"entry", "booked", "text", "amount"},
		"inference Confirmed pairs":  {"INV-20170", "910"},
		"validation Recipe draft":    {`"version"`, `"comparisons"`, `"rules"`, `"scoring"`},
	} {
		for _, part := range parts {
			if body := sections[section]; !strings.Contains(body, part) || strings.Contains(body, "shown") {
				t.Errorf("%s lacks %s or is cut: %q", section, part, body)
			}
		}
	}
}

// decideAnywhere decides about the open pair, whatever phase comes then.
func (s *sitting) decideAnywhere() {
	s.t.Helper()
	answer := "reject"
	if s.isMatch() {
		answer = "confirm"
	}
	card := s.card()
	if card.Name != "match" {
		s.t.Fatalf("the card %q is open: %s", card.Name, s.text())
	}
	s.say("", map[string]any{"card_response": map[string]string{"card_id": card.ID, "answer": answer}})
}

// A tool that fails for good ends in words to the person, in each phase, and the session
// goes on with the next message.
func TestReconcileToolsFail(t *testing.T) {
	t.Parallel()
	twice := func(name, args string) line {
		return calls(name, args, name, strings.Replace(args, "nothing", "nobody", 1))
	}
	s := scriptedSitting(t,
		twice("list_sources", `{"nothing":1}`), line{text: "The sources cannot be listed."},
		toIntent, twice("get_source_preview", `{"alias":"nothing"}`), line{text: "There is no such source."},
		toScoping, twice("load_scoped", `{"alias":"ledger","conditions":[{"column":"nothing","op":"eq","value":1}]}`), line{text: "There is no such column."},
		toPairs, twice("propose_match", `{"left_key":"nothing","right_key":"910","reason":"x"}`), line{text: "There is no such row."},
		onePair,
		learn, twice("build_recipe", `{"rules":["nothing"]}`), line{text: "There is no such rule."},
		build, twice("get_source_preview", `{"alias":"nothing"}`), line{text: "There is no such source."},
		trySample,
		runItInFull, runItInFull, line{text: "A source is gone."},
		runItInFull, line{text: "Done."},
	)
	s.begin("Match.", oneIsEnough)
	s.message("intent", "Try again.")
	s.message("scoping", "Try the ledger and the bank.")
	s.message("demonstration", "Take all rows.")
	s.message("demonstration", "Ask me.")
	s.decideAnywhere()
	for s.card().Name == "match" && s.last.Phase == "demonstration" {
		s.decideAnywhere()
	}
	s.message("validation", "Go on.")
	if !strings.Contains(s.text(), "There is no such source.") {
		t.Errorf("in validation: %s", s.text())
	}
	s.message("validation", "Try it.")
	away := s.path("data/books/bank.csv") + ".away"
	if err := os.Rename(s.path("data/books/bank.csv"), away); err != nil {
		t.Fatal(err)
	}
	s.answer("execution", "validation", "approve")
	if s.last.Status == "complete" || !strings.Contains(s.text(), "A source is gone.") {
		t.Errorf("%s: %s", s.last.Status, s.text())
	}
	if err := os.Rename(away, s.path("data/books/bank.csv")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the source is back", func() bool {
		var listed struct{ Sources []struct{ Alias string } }
		s.proc.call("GET", "/api/sources", "", 200, &listed)
		return slices.ContainsFunc(listed.Sources, func(x struct{ Alias string }) bool { return x.Alias == "bank" })
	})
	s.message("execution", "It is back.")
	if s.last.Status != "complete" {
		t.Errorf("%s: %s", s.last.Status, s.text())
	}
	evs := s.events()
	for name, want := range map[string]string{
		"list_sources":       "invalid_arguments invalid_arguments returned",
		"get_source_preview": "source_not_registered source_not_registered returned returned source_not_registered source_not_registered",
		"load_scoped":        "bad_filter bad_filter returned returned",
		"build_recipe":       "invalid_arguments invalid_arguments returned",
		"run_full":           "source_not_registered source_not_registered returned",
	} {
		if got := strings.Join(ended(evs, name), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := ended(evs, "propose_match"); len(got) < 3 || got[0] != "invalid_arguments" || got[1] != "invalid_arguments" {
		t.Errorf("propose_match: %v", got)
	}
}
