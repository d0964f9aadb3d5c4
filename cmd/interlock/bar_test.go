package main

import (
	"testing"
	"time"
)

// A bar says how far a step is: in seconds where the end is not known, in numbers and the
// time that is left where things are counted.
func TestProgressLine(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]struct {
		progress
		took time.Duration
	}{
		"░░░░░░░░░░░░░░░░░░░░ reading a.csv":                    {progress{step: "reading a.csv"}, 0},
		"██████████░░░░░░░░░░ training (3 s)":                   {progress{step: "training", done: 5, total: 10}, 3 * time.Second},
		"█████░░░░░░░░░░░░░░░ reading 10 of 40, 9s left  a.pdf": {progress{step: "reading", done: 10, total: 40, item: "a.pdf"}, 3 * time.Second},
		"████████████████████ reading 40 of 40  b c.pdf":        {progress{step: "reading", done: 40, total: 40, item: "b\nc.pdf"}, 9 * time.Second},
	} {
		if got := p.line(p.took); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
