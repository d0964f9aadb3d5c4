package engine

import (
	"context"
	"maps"
	"slices"

	"interlock/internal/event"
)

// restingValue bounds the values that a resting thread keeps in memory, each. Larger ones
// are in the store alone until somebody needs them.
const restingValue = 64 << 10

// resting is a copy of the fold without its large values: only their references are left.
func (f *fold) resting() *fold {
	c := *f
	for name, v := range f.Facts {
		if v.Hash == "" || len(v.JSON) <= restingValue {
			continue
		}
		if !c.Slim {
			c.Slim, c.Facts, c.facts = true, maps.Clone(f.Facts), maps.Clone(f.facts)
		}
		c.Facts[name] = v.Ref()
		delete(c.facts, name)
	}
	c.Past = slices.Clone(f.Past)
	for i := range c.Past {
		c.Past[i].Lines = c.slimLines(c.Past[i].Lines)
	}
	if f.Turn != nil {
		t := *f.Turn
		t.Lines, t.told, t.opening = c.slimLines(t.Lines), nil, nil
		c.Turn = &t
	}
	return &c
}

func (f *fold) slimLines(lines []line) []line {
	large := func(l line) bool { return l.Result.Hash != "" && (len(l.Result.JSON) > restingValue || l.told != "") }
	if !slices.ContainsFunc(lines, large) {
		return lines
	}
	f.Slim = true
	lines = slices.Clone(lines)
	for i, l := range lines {
		if large(l) {
			lines[i].Result, lines[i].told = l.Result.Ref(), ""
		}
	}
	return lines
}

// whole is a copy of a resting fold with its values fetched. Large results of earlier
// turns stay references: tellPast has what a turn needs of them.
func (f *fold) whole(fetch func(event.Value) (event.Value, error)) (*fold, error) {
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
		if t.Lines, err = wholeLines(t.Lines, fetch); err != nil {
			return nil, err
		}
		c.Turn = &t
	}
	return &c, nil
}

func wholeLines(lines []line, fetch func(event.Value) (event.Value, error)) ([]line, error) {
	lines = slices.Clone(lines)
	for i := range lines {
		if err := lines[i].resolve(fetch); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// tellPast works out what the model may be told of earlier turns, one result at a time:
// of a large one only that text is kept.
func (t *turn) tellPast() error {
	large := func(l line) bool {
		return l.Result.Hash != "" && l.told == "" && (!l.Result.Resolved() || len(l.Result.JSON) > restingValue)
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
			past[i].Lines[j].told, past[i].Lines[j].Result = t.r.told(l), l.Result.Ref()
		}
	}
	t.f.Past = past
	return nil
}

// withValues gives a published thread with all its values. Those who ask at the same
// time share them.
func (e *Engine) withValues(ctx context.Context, p *published) (_ *published, release func(), err error) {
	if !p.f.Slim {
		return p, func() {}, nil
	}
	return e.wholes.Get(ctx, p.f.Thread+"@"+itoa(int(p.f.Seq)), func() (*published, error) {
		f, err := p.f.whole(func(v event.Value) (event.Value, error) { return e.fetch(ctx, v) })
		if err != nil {
			return nil, err
		}
		return &published{p.m, f}, nil
	})
}
