package machine

import (
	"errors"
	"fmt"
	"math"
	"sync"
)

var errFuel = errors.New("the expression looks at too many items")

var frames = sync.Pool{New: func() any { return new(frame) }}

// Eval returns the value of an expression; a nil one gives nil. Numbers are float64.
// The value may share structure with the scope and must not be changed.
func (m *Machine) Eval(x *Expr, s *Scope) (any, error) {
	v, err := eval(x, s)
	if err != nil {
		return nil, fmt.Errorf("evaluating %s at %s: %w", x.Source, x.Pos, err)
	}
	return plainValue(v), nil
}

// Holds reports whether a guard is true. No guard holds always.
func (m *Machine) Holds(x *Expr, s *Scope) bool {
	if x == nil {
		return true
	}
	v, err := eval(x, s)
	return err == nil && isTrue(v)
}

// Value returns a fact by name, computed or stored.
func (m *Machine) Value(name string, s *Scope) any {
	f := m.facts[name]
	switch {
	case f == nil:
		return nil
	case f.Is != nil:
		v, _ := m.Eval(f.Is, s)
		return v
	}
	return plainValue(s.Facts[name])
}

// Int returns a number as an int, def where it is unset or no number.
func (m *Machine) Int(x *Expr, s *Scope, def int) int {
	v := m.Float(x, s, math.NaN())
	if math.IsNaN(v) || v > math.MaxInt32 || v < math.MinInt32 {
		return def
	}
	return int(v)
}

// Float returns a number, def where it is unset or no number.
func (m *Machine) Float(x *Expr, s *Scope, def float64) float64 {
	if x == nil {
		return def
	}
	if v, err := eval(x, s); err == nil {
		if n, ok := v.(float64); ok {
			return n
		}
	}
	return def
}

// GuardValues returns the names that a guard looks at and their values now, computed facts
// with the names beneath them, long values shortened: the reason as data.
func (m *Machine) GuardValues(x *Expr, s *Scope) map[string]any {
	seen := make(map[string]any)
	if x == nil || x.code == nil {
		return seen
	}
	visited := make(map[*Fact]bool)
	var look func(p *program)
	look = func(p *program) {
		for _, r := range p.refs {
			if _, ok := seen[r.name]; !ok {
				f := frame{scope: s, fuel: maxFuel}
				seen[r.name] = shortenValue(plainNumber(r.get(&f)))
			}
		}
		for _, f := range p.deps {
			if f.Is != nil && f.Is.code != nil && !visited[f] {
				visited[f] = true
				look(f.Is.code)
			}
		}
	}
	look(x.code)
	return seen
}

// shortenValue shortens a value for people.
func shortenValue(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) <= 5 && len(canonicalJSON(v)) <= 120 {
			return v
		}
		return fmt.Sprintf("list of %d", len(v))
	case map[string]any:
		if len(v) <= 8 && len(canonicalJSON(v)) <= 120 {
			return v
		}
		return fmt.Sprintf("record of %d fields", len(v))
	case string:
		if r := []rune(v); len(r) > 120 {
			return string(r[:120]) + "…"
		}
	}
	return v
}

func eval(x *Expr, s *Scope) (any, error) {
	if x == nil || x.code == nil {
		return nil, nil
	}
	f := frames.Get().(*frame)
	f.scope, f.fuel, f.depth, f.items = s, maxFuel, 0, f.items[:0]
	v := x.code.run(f)
	spent := f.fuel < 0
	f.scope = nil
	clear(f.memo) // a pooled frame holds on to nothing
	frames.Put(f)
	if spent {
		return nil, errFuel
	}
	return v, nil
}

func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}
