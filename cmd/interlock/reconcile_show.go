package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/recon"
)

// showRecipe says in plain sentences how rows will be matched.
func (c *reconciliation) showRecipe(recipe *recon.Recipe, lesson *recon.Lesson) {
	if c.json {
		return
	}
	sides := make([]string, 2)
	for i, s := range []recon.SourceReport{c.report.Left, c.report.Right} {
		sides[i] = fmt.Sprintf("%s (%s rows", oneLine(s.Name), thousands(s.Rows))
		if n := c.report.Carried[i]; n > 0 {
			sides[i] += fmt.Sprintf(", and %s carried over", thousands(n))
		}
	}
	fmt.Fprintf(c.out, "\n%s) and %s):\n", sides[0], sides[1])
	for i, sentence := range recipe.Sentences() {
		fmt.Fprintf(c.out, "  %d. %s\n", i+1, oneLine(sentence))
	}
	if lesson != nil {
		fmt.Fprintf(c.out, "  %s\n", oneLine(lesson.Note))
	}
	fmt.Fprintln(c.out)
}

// showProblems lists every problem of a recipe with its place.
func (c *reconciliation) showProblems(err error) {
	problems, _ := fault.From(err).Details.([]recon.Problem)
	for _, p := range problems {
		fmt.Fprintf(c.errw, "interlock: %s%s: %s\n", oneLine(cmp.Or(c.options.recipe, c.options.previous)), oneLine(p.Pointer), oneLine(p.Message))
	}
}

// showOutcome prints what a run found.
func (c *reconciliation) showOutcome(ctx context.Context, r reconcileResult) error {
	o := r.Outcome
	rows := [][]string{
		{"rows", thousands(o.LeftRows), thousands(o.RightRows)},
		{"matched", thousands(o.LeftRows - o.UnmatchedLeft), thousands(o.RightRows - o.UnmatchedRight)},
		{"open", thousands(o.UnmatchedLeft), thousands(o.UnmatchedRight)},
	}
	if r.Report.Recipe.Groups != nil {
		rows = append(rows,
			[]string{"amount", money(o.AmountMatched + o.AmountOpen), money(o.MatchedRight + o.AmountOpenRight)},
			[]string{"amount matched", money(o.AmountMatched), money(o.MatchedRight)},
			[]string{"amount open", money(o.AmountOpen), money(o.AmountOpenRight)})
	}
	writeTable(c.out, []string{"", "left", "right"}, rows, 0)
	fmt.Fprintln(c.out)
	rows = nil
	for _, rule := range o.Rules {
		rows = append(rows, []string{rule.Rule, thousands(rule.Pairs), rule.Sentence})
	}
	writeWrapped(c.out, []string{"rule", "pairs", "in words"}, rows, terminalWidth(c.out))
	fmt.Fprintln(c.out)
	c.showReasons(o, r.Report.Recipe.Groups != nil)
	for _, line := range []struct {
		n    int64
		text string
	}{
		{o.Suggested, "less certain pairs, to be looked at (status suggested)"},
		{o.Groups, "sums of several rows"},
	} {
		if line.n > 0 {
			fmt.Fprintf(c.out, "%s: %s\n", line.text, thousands(line.n))
		}
	}
	for _, k := range o.Skewed {
		fmt.Fprintf(c.out, "%s values that very many rows share were not looked up.\n", thousands(k.Values))
	}
	if err := c.showOpen(ctx); err != nil {
		return err
	}
	c.showDrift(r.Report)
	if r.Score != nil {
		fmt.Fprintf(c.out, "\nAgainst the truth: precision %.4f, recall %.4f, F1 %.4f (%s of %s true pairs found, %s matches).\n", r.Score.Precision, r.Score.Recall, r.Score.F1, thousands(r.Right), thousands(r.True), thousands(r.Found))
	}
	if c.options.out != "" {
		fmt.Fprintf(c.out, "\nThe evidence is in %s: %s.\n", c.options.out, strings.Join(r.Files, ", "))
	} else {
		fmt.Fprintln(c.out, "\n--out FOLDER writes the evidence: CSV, Parquet, a workbook to sign, and the recipe for next month.")
	}
	return nil
}

// showReasons prints why rows are open, how many, and with which amounts.
func (c *reconciliation) showReasons(o *recon.Outcome, amounts bool) {
	if len(o.Open) == 0 {
		return
	}
	head := []string{"open because", "left", "right"}
	if amounts {
		head = append(head, "left amount", "right amount")
	}
	var rows [][]string
	for _, x := range o.Open {
		row := []string{recon.ReasonInWords(x.Reason), thousands(x.Left), thousands(x.Right)}
		if amounts {
			row = append(row, money(x.LeftAmount), money(x.RightAmount))
		}
		rows = append(rows, row)
	}
	writeWrapped(c.out, head, rows, terminalWidth(c.out))
	fmt.Fprintln(c.out)
}

// showOpen prints the first open rows with reason and nearest miss.
func (c *reconciliation) showOpen(ctx context.Context) error {
	open, err := c.recon.FirstOpen(ctx, 5)
	if err != nil || len(open) == 0 {
		return err
	}
	var rows [][]string
	for _, x := range open {
		rows = append(rows, []string{x.Side, x.Key, recon.ReasonInWords(x.Reason), x.Nearest, x.Missing})
	}
	fmt.Fprintln(c.out, "\nThe first open rows:")
	writeWrapped(c.out, []string{"side", "key", "why", "nearest", "what was missing"}, rows, terminalWidth(c.out))
	return nil
}

func (c *reconciliation) showDrift(rep *recon.Report) {
	if rep.Drift == nil {
		return
	}
	fmt.Fprintf(c.out, "\nSince the run before: %.1f %% of the new left rows are matched, %.1f %% then.\n", 100*rep.Drift.RateNow, 100*rep.Drift.RateBefore)
	if carried := rep.Outcome.Carried; carried != nil {
		fmt.Fprintf(c.out, "Of the rows carried over, %s of %s left ones and %s of %s right ones are matched now.\n",
			thousands(carried.Left-carried.OpenLeft), thousands(carried.Left), thousands(carried.Right-carried.OpenRight), thousands(carried.Right))
	}
	for _, finding := range rep.Drift.Findings {
		fmt.Fprintf(c.out, "  %s\n", oneLine(finding))
	}
}

// thousands writes a whole number with separators.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func money(f float64) string {
	whole, cents, _ := strings.Cut(strconv.FormatFloat(f, 'f', 2, 64), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
	sign := ""
	if n == 0 && f < 0 {
		sign = "-"
	}
	return sign + thousands(n) + "." + cents
}
