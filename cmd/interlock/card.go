package main

import (
	"context"
	"fmt"
	"strings"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
)

// answerCards asks the person what the thread waits for. Without a person to ask the
// command ends with the exit code for it.
func (c *chat) answerCards(ctx context.Context, more bool) error {
	for {
		v, err := c.s.engine.View(ctx, c.thread)
		if err != nil || v.Card == nil {
			return err
		}
		card := *v.Card
		c.showCard(card)
		if !more && !isTerminal(c.in) {
			c.code = exitNeedsAnswer
			fmt.Fprintf(c.errw, "The thread %s waits for an answer. Go on with: interlock chat --thread %s\n", c.thread, c.thread)
			return nil
		}
		line, ok := c.readLine("answer> ")
		if !ok {
			c.code = exitNeedsAnswer
			return nil
		}
		in := engine.Input{User: c.cfg.Owner, Text: line, Dataset: c.dataset, OpenCard: card.Card}
		if strings.HasPrefix(line, "/") {
			cmd, done := c.runSlashCommand(ctx, line)
			if done {
				continue
			}
			in = engine.Input{User: c.cfg.Owner, Command: cmd}
		} else if a, ok := engine.ParseChoice(card, line); ok {
			in = engine.Input{User: c.cfg.Owner, Card: &a}
		} else if card.Message == "" {
			fmt.Fprintln(c.errw, "Choose one of the answers by number, name or key; a note may follow it. /help lists commands.")
			continue
		}
		if err := c.runTurn(ctx, in); err != nil {
			if fault.Is(err, fault.BadAnswer) || fault.Is(err, fault.CardClosed) || in.Command != nil { // it is asked again, or somebody has answered it
				c.printFailure(err)
				c.code = exitDone
				continue
			}
			return err
		}
	}
}

func (c *chat) showCard(card event.CardRaised) {
	fmt.Fprintf(c.out, "\n%s\n", oneLine(card.Title))
	if content, ok := card.Content.Decode().(map[string]any); ok {
		c.showContent(content)
	}
	if len(card.Answers) == 1 && len(card.Answers[0].Fields) == 1 {
		return // any line is the answer
	}
	for i, a := range card.Answers {
		key := ""
		if a.Key != "" {
			key = " [" + a.Key + "]"
		}
		fmt.Fprintf(c.out, "  %d) %s%s\n", i+1, oneLine(a.Label), oneLine(key))
	}
}
