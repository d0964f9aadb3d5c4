package main

import (
	"context"
	"fmt"
	"strings"

	"interlock/internal/event"
)

// printDraftNote says, before another text is printed, that the one above was not the answer:
// after it the machine moved on and the model writes anew.
func (c *chat) printDraftNote() {
	if c.draft {
		fmt.Fprintln(c.errw, "· the text above is not the answer: the machine went on, the model writes again")
	}
	c.draft = false
}

// adviceFor is what to do about how a turn ended, unless its text says so already: the
// general advice of a code may contradict the repair of this failure.
func (c *chat) adviceFor(b event.TurnEnded) string {
	if c.repair != "" && strings.Contains(b.Text, c.repair) {
		return ""
	}
	return b.Code.Entry().Advice
}

// nextCommand is the command that goes on with the thread, with the folders that it needs.
func (c *chat) nextCommand() string {
	words := []string{"interlock chat --thread", c.thread}
	for _, dir := range c.cfg.Data {
		words = append(words, "--data", shellWord(dir))
	}
	if c.cfg.State != defaultState() {
		words = append(words, "--state", shellWord(c.cfg.State))
	}
	return strings.Join(words, " ")
}

// printEnd closes a turn: the whole reply as JSON, or the answer if it was not printed while
// it was streamed, and how the run ended unless it was answered.
func (c *chat) printEnd(ctx context.Context, run string, b event.TurnEnded, printed string) error {
	c.code = outcomeCode(b.Status)
	if c.json {
		r, err := c.s.engine.Reply(ctx, run)
		if err != nil {
			return err
		}
		c.printJSON(map[string]any{"run_id": run, "thread_id": c.thread, "outcome": r.Outcome, "code": r.Code, "assistant_message": r.Text, "reply": r.Fields, "figures": r.Figures})
		return nil
	}
	if b.Text != "" && b.Text != printed {
		fmt.Fprintln(c.out, printable(b.Text))
	}
	switch {
	case b.Code != "":
		fmt.Fprintln(c.errw, strings.TrimRight(fmt.Sprintf("[%s: %s] %s", b.Status, b.Code, c.adviceFor(b)), " "))
	case b.Status != event.Answered:
		fmt.Fprintf(c.errw, "[%s]\n", b.Status)
	}
	return nil
}

// outcomeCode is the exit code for how a run ended.
func outcomeCode(o event.Outcome) int {
	switch o {
	case event.Answered:
		return exitDone
	case event.Asked:
		return exitNeedsAnswer
	case event.Declined:
		return exitDeclined
	case event.Refused:
		return exitRefused
	case event.Limited:
		return exitLimit
	}
	return exitFailed
}
