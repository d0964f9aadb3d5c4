package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// A table holds the results and compares each with its baseline: the case it names,
// else ours of as many steps.
type table struct{ lines []line }

type line struct {
	Case
	Result
	err error
}

func (t *table) add(c Case, r Result, err error) { t.lines = append(t.lines, line{c, r, err}) }

func (t *table) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "case\tof\ttime\tto baseline\tbytes\tto baseline\t")
	for _, l := range t.lines {
		if l.err != nil {
			continue
		}
		speed, size := "-", "-"
		if base, ok := t.base(l); ok {
			speed = ratio(l.micros(), base.micros())
			size = ratio(float64(l.Bytes), float64(base.Bytes))
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t\n", l.Name, l.amount(), l.time(), speed, count(l.Bytes), size)
	}
	tw.Flush()
	for _, l := range t.lines {
		if l.err != nil {
			fmt.Fprintf(w, "%s: %v\n", l.Name, l.err)
		}
	}
}

// base finds what a line is compared with.
func (t *table) base(l line) (Result, bool) {
	if l.Base == "" {
		if l.Ours || l.Steps == 0 {
			return Result{}, false
		}
		return t.ours(l.Steps)
	}
	for _, b := range t.lines {
		if b.Name == l.Base && b.err == nil {
			return b.Result, true
		}
	}
	return Result{}, false
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

// micros is what is compared: of a step, else of the whole.
func (r Result) micros() float64 {
	if r.Steps > 0 {
		return r.USPerStep
	}
	return float64(r.Took) / float64(time.Microsecond)
}

func (r Result) amount() string {
	switch {
	case r.Steps > 0:
		return fmt.Sprintf("%d steps", r.Steps)
	case r.Rows > 0:
		return fmt.Sprintf("%d rows", r.Rows)
	}
	return "-"
}

func (r Result) time() string {
	us := r.micros()
	switch {
	case r.Steps > 0:
		return fmt.Sprintf("%.1f µs a step", us)
	case us < 1e3:
		return fmt.Sprintf("%.1f µs", us)
	case us < 1e6:
		return fmt.Sprintf("%.1f ms", us/1e3)
	}
	return fmt.Sprintf("%.2f s", us/1e6)
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
