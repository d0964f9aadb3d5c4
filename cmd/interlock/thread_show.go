package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"interlock/internal/engine"
	"interlock/internal/event"
)

// printThread prints a thread for a person: each message, under a question the results
// that the person saw, the open question, and the facts.
func (a *app) printThread(v engine.View, log []event.Event) {
	t := v.Thread
	fmt.Fprintf(a.out, "%s  %s  %s in %s  %s\n", t.ID, oneLine(t.Machine), t.Status, oneLine(t.State), formatTime(t.Updated))
	results := a.visibleResults(log)
	for _, m := range v.Messages {
		fmt.Fprintf(a.out, "\n%s:\n%s\n", m.Role, printable(m.Content))
		if m.Role == "user" {
			fmt.Fprint(a.out, results[m.RunID])
		}
	}
	if v.Card != nil {
		fmt.Fprintf(a.out, "\nwaits for an answer: %s\n", oneLine(v.Card.Title))
	}
	a.printFacts(v.Facts)
}

// visibleResults returns, by run, what the tools returned to the person, as printed, or
// why they returned nothing.
func (a *app) visibleResults(log []event.Event) map[string]string {
	results, run := map[string]string{}, ""
	for _, e := range log {
		var text strings.Builder
		switch b := e.Body.(type) {
		case event.TurnStarted:
			run = b.Run
		case event.ToolReturned:
			if b.Person.All || len(b.Person.Fields) > 0 {
				printer := *a
				printer.out, printer.errw = &text, &text
				(&chat{app: &printer}).printResult(engine.VisibleFields(b.Result.JSON, b.Person))
			}
		case event.ToolFailed:
			fmt.Fprintf(&text, "%s failed: %s (%s)\n", oneLine(b.Tool), oneLine(b.Message), b.Code)
		case event.ToolRefused:
			fmt.Fprintf(&text, "%s refused: %s (%s)\n", oneLine(b.Tool), oneLine(b.Message), b.Code)
		}
		if text.Len() > 0 {
			results[run] += "\n" + text.String()
		}
	}
	return results
}

// maxFact bounds the value of a fact on the terminal; --json prints it whole.
const maxFact = 100

// printFacts prints the facts of a thread by name.
func (a *app) printFacts(facts map[string]any) {
	if len(facts) == 0 {
		return
	}
	wide := 0
	for name := range facts {
		wide = max(wide, len(name))
	}
	fmt.Fprintln(a.out, "\nfacts:")
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		text, ok := facts[name].(string)
		if !ok {
			raw, err := json.Marshal(facts[name])
			if err != nil {
				raw = []byte(err.Error())
			}
			text = string(raw)
		}
		fmt.Fprintf(a.out, "%-*s  %s\n", wide, oneLine(name), cutText(oneLine(text), maxFact))
	}
}
