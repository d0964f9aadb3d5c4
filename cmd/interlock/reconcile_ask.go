package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/engine"
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
	for c.asked < askAtMost {
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
			if c.asked == 0 {
				fmt.Fprintln(c.out, "\nWhich rows belong together? Your answers teach the rules: y(es), n(o), s(kip) or e(nough).")
			}
			fresh++
			c.asked++
			c.showPair(c.asked, p)
			answer, ok := c.choose("Do these two rows belong together?", "y", "n", "skip", "enough")
			switch {
			case !ok && isTerminal(c.in):
				return errLeft
			case !ok || answer == "enough":
				return nil
			case answer == "y":
				labels.Confirmed = append(labels.Confirmed, p.Pair)
			case answer == "n":
				labels.Rejected = append(labels.Rejected, p.Pair)
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

// maxValue bounds a value of a pair on the terminal.
const maxValue = 200

// showPair prints two rows side by side, as far as they are compared.
func (c *reconciliation) showPair(n int, p recon.Proposal) {
	fmt.Fprintf(c.out, "\n%d. %s on the left and %s on the right: %s\n", n, oneLine(p.Pair.Left), oneLine(p.Pair.Right), likelihood(p.Chance))
	var rows [][]string
	for _, v := range p.Values {
		rows = append(rows, []string{v.Columns, cutText(v.Left, maxValue), cutText(v.Right, maxValue), v.Says})
	}
	writeWrapped(c.out, []string{"compared", "left", "right", "agreement"}, rows, terminalWidth(c.out))
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

// errLeft says that the person left with Ctrl-C or Ctrl-D instead of answering.
var errLeft = errors.New("the person left")

// choose asks until one of the answers is given: by its word, or by how it begins. False
// if there is nobody to answer, or if the person left.
func (c *reconciliation) choose(question string, answers ...string) (string, bool) {
	prompt := fmt.Sprintf("%s [%s] ", question, strings.Join(answers, "/"))
	for {
		if !isTerminal(c.in) {
			fmt.Fprint(c.errw, prompt)
		}
		line, ok := c.lines.readLine(prompt)
		if !isTerminal(c.in) {
			fmt.Fprintln(c.errw)
		}
		if !ok {
			return "", false
		}
		word := strings.ToLower(strings.Trim(line, " .!"))
		for _, answer := range answers {
			if word != "" && (strings.HasPrefix(answer, word) || engine.YesAndNo[word] == answer) {
				return answer, true
			}
		}
		fmt.Fprintf(c.errw, "Please answer %s or %s.\n", strings.Join(answers[:len(answers)-1], ", "), answers[len(answers)-1])
	}
}

// keepAnswers writes the pairs that the person decided about before leaving into the folder
// of the evidence, so that they need not be asked about again.
func (c *reconciliation) keepAnswers() error {
	labels := c.input.Labels
	if n := len(labels.Confirmed) + len(labels.Rejected); c.asked == 0 || n == 0 {
		return nil
	}
	if c.options.out == "" {
		fmt.Fprintln(c.errw, "Your answers are not kept; with --out FOLDER they are.")
		return nil
	}
	if err := os.MkdirAll(c.options.out, 0o750); err != nil {
		return fault.Wrap(err, fault.BadRequest, "The folder %s cannot be made: %v", c.options.out, err)
	}
	var flags []string
	for _, f := range []struct {
		flag, file string
		pairs      []recon.Pair
	}{{"--pairs", "confirmed_pairs.csv", labels.Confirmed}, {"--rejected", "rejected_pairs.csv", labels.Rejected}} {
		if len(f.pairs) == 0 {
			continue
		}
		path := filepath.Join(c.options.out, f.file)
		if err := writePairs(path, f.pairs); err != nil {
			return err
		}
		flags = append(flags, f.flag+" "+path)
	}
	fmt.Fprintf(c.errw, "Your answers are kept: go on with %s.\n", strings.Join(flags, " "))
	return nil
}

// writePairs writes pairs as readPairs reads them.
func writePairs(path string, pairs []recon.Pair) error {
	var b strings.Builder
	w := csv.NewWriter(&b)
	rows := [][]string{{"left", "right"}}
	for _, p := range pairs {
		rows = append(rows, []string{p.Left, p.Right})
	}
	if err := w.WriteAll(rows); err != nil {
		return fmt.Errorf("writing pairs: %w", err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return fault.Wrap(err, fault.BadRequest, "%s cannot be written: %v", path, err)
	}
	return nil
}
