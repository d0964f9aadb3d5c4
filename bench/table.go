package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// A table holds the results and compares them with ours of as many steps.
type table struct{ lines []line }

type line struct {
	Case
	Result
	err error
}

func (t *table) add(c Case, r Result, err error) { t.lines = append(t.lines, line{c, r, err}) }

func (t *table) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "case\tsteps\tµs a step\tto ours\tbytes stored\tto ours\t")
	for _, l := range t.lines {
		if l.err != nil {
			continue
		}
		speed, size := "-", "-"
		if ours, ok := t.ours(l.Steps); ok && !l.Ours {
			speed = ratio(l.USPerStep, ours.USPerStep)
			size = ratio(float64(l.Bytes), float64(ours.Bytes))
		}
		fmt.Fprintf(tw, "%s\t%d\t%.1f\t%s\t%s\t%s\t\n", l.Name, l.Steps, l.USPerStep, speed, count(l.Bytes), size)
	}
	tw.Flush()
	for _, l := range t.lines {
		if l.err != nil {
			fmt.Fprintf(w, "%s: %v\n", l.Name, l.err)
		}
	}
}

// ours finds our first result of so many steps, else our first result.
func (t *table) ours(steps int) (found Result, ok bool) {
	for _, l := range t.lines {
		if !l.Ours || l.err != nil {
			continue
		}
		if l.Steps == steps {
			return l.Result, true
		}
		if !ok {
			found, ok = l.Result, true
		}
	}
	return found, ok
}

func ratio(theirs, ours float64) string {
	if theirs == 0 || ours == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2fx", theirs/ours)
}

func count(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
