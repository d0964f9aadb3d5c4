package enginetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"interlock/internal/event"
)

// Line renders an event for a golden log: what matters, in one line.
func Line(b event.Body) string {
	switch e := b.(type) {
	case event.ThreadOpened:
		return fmt.Sprintf("opened %s for %s%s", e.Machine, e.Owner, brackets(e.Settings))
	case event.TurnStarted:
		text := fmt.Sprintf("turn %s %q", e.Run, e.Text)
		if e.Rerun {
			text += " rerun"
		}
		return text
	case event.PersonCalled:
		text := fmt.Sprintf("called %s %s %s", e.By, e.Tool, short(e.Args.JSON))
		if e.Denied != nil {
			text += " denied: " + e.Denied.When
		}
		return text
	case event.CommandGiven:
		return fmt.Sprintf("command %s dropped %v", e.Command, e.Dropped)
	case event.FactsChanged:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(e.Set)) {
			parts = append(parts, name+"="+short(e.Set[name].JSON))
		}
		for _, name := range e.Dropped {
			parts = append(parts, "-"+name)
		}
		for _, p := range e.Problems {
			parts = append(parts, "PROBLEM "+p)
		}
		return fmt.Sprintf("  facts (%s) %s", e.Cause, strings.Join(parts, " "))
	case event.StateEntered:
		text := fmt.Sprintf("state %s -> %s (%s)", orDash(e.From), e.To, e.Cause)
		if e.When != "" {
			text += " when " + e.When
		}
		if e.Rest {
			text += " rest"
		}
		return text
	case event.ModelCalled:
		text := fmt.Sprintf("model asked in %s, offered %v", e.State, e.Offered)
		for _, d := range e.Denied {
			text += fmt.Sprintf(" -%s:%s", d.Tool, d.Code)
		}
		return text
	case event.ModelReplied:
		text := fmt.Sprintf("model said %q", clip(e.Text, 100))
		for _, c := range e.Calls {
			text += fmt.Sprintf(" %s=%s(%s)", c.ID, c.Name, short(c.Args.JSON))
		}
		return text
	case event.ModelFailed:
		return fmt.Sprintf("model failed %s: %s", e.Code, clip(e.Message, 100))
	case event.ToolStarted:
		return fmt.Sprintf("  start %s %s(%s) by %s%s", e.Call, e.Tool, short(e.Args.JSON), e.By, list(" rescued", e.Rescued))
	case event.ToolReturned:
		text := fmt.Sprintf("  return %s %s %s", e.Call, e.Tool, short(e.Result.JSON))
		if e.Duplicate != "" {
			text += " duplicate of " + e.Duplicate
		}
		return text
	case event.ToolFailed:
		return fmt.Sprintf("  fail %s %s %s: %s, %d left", e.Call, e.Tool, e.Code, clip(e.Message, 120), e.TriesLeft)
	case event.ToolRefused:
		return fmt.Sprintf("  refuse %s %s %s: %s", e.Call, e.Tool, e.Code, clip(e.Message, 120))
	case event.CardRaised:
		var answers []string
		for _, a := range e.Answers {
			answers = append(answers, a.Name)
		}
		return fmt.Sprintf("card %s %s %s %v", e.Card, e.Name, short(e.Content.JSON), answers)
	case event.CardAnswered:
		return fmt.Sprintf("answered %s %s%s note=%q", e.Card, e.Answer, brackets(e.Fields), e.Note)
	case event.CardClosed:
		return fmt.Sprintf("closed %s: %s", e.Card, e.Cause)
	case event.StepDone:
		return fmt.Sprintf("  done %s stopped=%v", e.State, e.Stopped)
	case event.LimitReached:
		return fmt.Sprintf("limit %s %v of %v", e.Code, e.Used, e.Limit)
	case event.FiguresTraced:
		text := "figures"
		for _, f := range e.Figures {
			text += fmt.Sprintf(" %q %s", f.Text, f.Support)
			switch {
			case f.Formula != "":
				text += " " + f.Formula
			case len(f.Cells) > 0:
				text += fmt.Sprintf(" %s.%s[%d]", f.Cells[0].Table, f.Cells[0].Column, f.Cells[0].Row+1)
			case f.Source != "":
				text += " " + f.Source
			}
			text += ";"
		}
		return clip(text, 300)
	case event.TurnEnded:
		return fmt.Sprintf("end %s %s%s in %s %q %s", e.Run, e.Status, dash(string(e.Code)), e.State, clip(e.Text, 100), short(e.Reply.JSON))
	}
	raw, _ := json.Marshal(b) // bodies are plain data
	return string(b.Kind()) + " " + short(raw)
}

func short(raw json.RawMessage) string { return clip(string(raw), 140) }

func clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n]) + "…"
	}
	return text
}

func brackets(m map[string]any) string {
	if len(m) == 0 {
		return ""
	}
	raw, _ := json.Marshal(m) // plain data
	return " " + short(raw)
}

func list(label string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return label + " " + strings.Join(items, ",")
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func dash(text string) string {
	if text == "" {
		return ""
	}
	return "/" + text
}
