package main

import (
	"context"
	"fmt"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/recon"
)

const (
	askAtOnce = 3  // pairs that are asked about between two rounds of training
	askAtMost = 15 // pairs in all
	sure      = 0.995
)

// learn makes a recipe. A person at the terminal is asked about pairs first.
func (c *reconciliation) learn(ctx context.Context) (*recon.Lesson, error) {
	if !c.options.yes && !c.json && (isTerminal(c.in) || c.options.pairs == "") {
		if err := c.askPairs(ctx); err != nil {
			return nil, err
		}
	}
	lesson, err := c.recon.Learn(ctx, c.input)
	c.bar.end()
	if err != nil {
		return nil, err
	}
	for _, p := range lesson.Problems {
		fmt.Fprintf(c.errw, "interlock: look again: %s\n", oneLine(p.Problem))
	}
	return lesson, nil
}

// askPairs shows pairs, those first whose answers teach most, until the person has had
// enough or the answers would teach nothing new.
func (c *reconciliation) askPairs(ctx context.Context) error {
	labels := &c.input.Labels
	skipped := map[recon.Pair]bool{}
	asked := 0
	for asked < askAtMost {
		proposals, err := c.recon.Proposals(ctx, c.input, askAtOnce+len(skipped))
		c.bar.end()
		if fault.Is(err, fault.CannotAnswer) {
			return nil
		}
		if err != nil {
			return err
		}
		fresh := 0
		for _, p := range proposals {
			if skipped[p.Pair] || len(labels.Confirmed) >= 3 && p.Chance >= sure {
				continue
			}
			if asked == 0 {
				fmt.Fprintln(c.out, "\nWhich rows belong together? Your answers teach the rules: y(es), n(o), s(kip) or e(nough).")
			}
			fresh++
			asked++
			c.showPair(asked, p)
			answer, ok := c.ask("Do these two rows belong together? [y/n/skip/enough] ")
			if !ok {
				return nil
			}
			switch answer {
			case "y", "yes":
				labels.Confirmed = append(labels.Confirmed, p.Pair)
			case "n", "no":
				labels.Rejected = append(labels.Rejected, p.Pair)
			case "e", "enough":
				return nil
			default:
				skipped[p.Pair] = true
			}
		}
		if fresh == 0 {
			return nil
		}
	}
	return nil
}

// showPair prints two rows side by side, as far as they are compared.
func (c *reconciliation) showPair(n int, p recon.Proposal) {
	fmt.Fprintf(c.out, "\n%d. %s on the left and %s on the right: %s\n", n, oneLine(p.Pair.Left), oneLine(p.Pair.Right), likelihood(p.Chance))
	var rows [][]string
	for _, v := range p.Values {
		rows = append(rows, []string{"  " + v.Columns, v.Says, cutText(oneLine(v.Left), 36), cutText(oneLine(v.Right), 36)})
	}
	writeTable(c.out, []string{"  compared", "agreement", "left", "right"}, rows, terminalWidth(c.out))
	fmt.Fprintf(c.out, "  %s\n", oneLine(p.Reason))
}

func likelihood(chance float64) string {
	switch {
	case chance >= 0.9:
		return "probably a match"
	case chance >= 0.5:
		return "perhaps a match"
	}
	return "probably none"
}

// ask reads an answer in small letters; false if there is nobody to answer.
func (c *reconciliation) ask(prompt string) (string, bool) {
	if !isTerminal(c.in) {
		fmt.Fprint(c.errw, prompt)
	}
	line, ok := c.lines.readLine(prompt)
	if !isTerminal(c.in) {
		fmt.Fprintln(c.errw)
	}
	return strings.ToLower(strings.TrimSpace(line)), ok
}
