package engine

import (
	"maps"
	"slices"

	"interlock/internal/event"
)

// restingValue bounds each value that a resting thread keeps in memory. Larger ones are
// loaded from the store when they are needed.
const restingValue = 64 << 10

// withoutLargeValues returns a copy of the fold in which large values are references.
func (f *fold) withoutLargeValues() *fold {
	c := *f
	for name, v := range f.Facts {
		if v.Hash == "" || len(v.JSON) <= restingValue {
			continue
		}
		if !c.Slim {
			c.Slim, c.Facts, c.facts = true, maps.Clone(f.Facts), maps.Clone(f.facts)
		}
		c.Facts[name] = v.WithoutBytes()
		delete(c.facts, name)
	}
	c.Past = slices.Clone(f.Past)
	for i := range c.Past {
		c.Past[i].Lines = c.dropLargeResults(c.Past[i].Lines)
	}
	if f.Turn != nil {
		t := *f.Turn
		t.Lines, t.sentMessages, t.firstMessage = c.dropLargeResults(t.Lines), nil, nil
		c.Turn = &t
	}
	return &c
}

// dropLargeResults returns the lines with references in place of large results.
func (f *fold) dropLargeResults(lines []line) []line {
	large := func(l line) bool {
		return l.Result.Hash != "" && (len(l.Result.JSON) > restingValue || l.sentText != "")
	}
	if !slices.ContainsFunc(lines, large) {
		return lines
	}
	f.Slim = true
	lines = slices.Clone(lines)
	for i, l := range lines {
		if large(l) {
			lines[i].Result, lines[i].sentText = l.Result.WithoutBytes(), ""
		}
	}
	return lines
}

// withLargeValues returns a copy of a resting fold with its large values loaded. Large
// results of earlier turns stay references: preparePastResults loads what a turn needs.
func (f *fold) withLargeValues(fetch func(event.Value) (event.Value, error)) (*fold, error) {
	c := *f
	c.Slim, c.Facts, c.facts = false, maps.Clone(f.Facts), maps.Clone(f.facts)
	for name, v := range f.Facts {
		if v.Resolved() {
			continue
		}
		v, err := fetch(v)
		if err != nil {
			return nil, err
		}
		c.Facts[name], c.facts[name] = v, v.Decode()
	}
	if f.Turn != nil {
		t := *f.Turn
		var err error
		if t.Lines, err = resolveLines(t.Lines, fetch); err != nil {
			return nil, err
		}
		c.Turn = &t
	}
	return &c, nil
}

func resolveLines(lines []line, fetch func(event.Value) (event.Value, error)) ([]line, error) {
	lines = slices.Clone(lines)
	for i := range lines {
		if err := lines[i].resolve(fetch); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// preparePastResults computes the text that the model is sent of each large result of
// earlier turns, one at a time, and keeps only that text in memory.
func (t *turn) preparePastResults() error {
	large := func(l line) bool {
		return l.Result.Hash != "" && l.sentText == "" && (!l.Result.Resolved() || len(l.Result.JSON) > restingValue)
	}
	past := slices.Clone(t.f.Past)
	for i, p := range past {
		if !slices.ContainsFunc(p.Lines, large) {
			continue
		}
		past[i].Lines = slices.Clone(p.Lines)
		for j, l := range past[i].Lines {
			if !large(l) {
				continue
			}
			var err error
			if l.Result, err = t.fetch(l.Result); err != nil {
				return err
			}
			past[i].Lines[j].sentText, past[i].Lines[j].Result = t.r.resultText(l), l.Result.WithoutBytes()
		}
	}
	t.f.Past = past
	return nil
}
