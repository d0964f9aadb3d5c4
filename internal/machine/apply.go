package machine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// A Change is what writes did to the facts.
type Change struct {
	Set     map[string]any // whole new values, by fact
	Dropped []string       // facts back at their default
	// Problems are writes that did not fit the fact's type and were left out.
	Problems []string
}

// Empty reports whether nothing changed.
func (c Change) Empty() bool { return len(c.Set) == 0 && len(c.Dropped) == 0 }

// Defaults returns the facts of a new thread.
func (m *Machine) Defaults() map[string]any {
	facts := make(map[string]any, len(m.Facts))
	for _, f := range m.Facts {
		if f.Is == nil && f.Default != nil {
			facts[f.Name] = f.Default
		}
	}
	return facts
}

// NewTurn returns the change that takes the facts of a turn back to their defaults.
func (m *Machine) NewTurn(s *Scope) Change {
	var c Change
	for _, f := range m.Facts {
		if f.Turn && f.Is == nil && !equal(s.Facts[f.Name], f.Default) {
			c.Dropped = append(c.Dropped, f.Name)
			m.dropFact(f, s)
		}
	}
	return c
}

// Apply carries out writes on s.Facts, which must be the caller's own map; the
// values in it are never changed in place. Order: drop, keep, set, append, increment.
func (m *Machine) Apply(w *Writes, s *Scope) Change {
	c := Change{}
	put := func(path string, v any) { m.setFact(&c, s, path, v) }
	for _, name := range w.Drop {
		if f := m.facts[name]; f != nil && f.Is == nil {
			m.dropFact(f, s)
			delete(c.Set, name)
			c.Dropped = append(c.Dropped, name)
		}
	}
	for _, a := range w.Keep {
		list, _ := m.factAt(s, a.Name).([]any)
		kept := make([]any, 0, len(list))
		for _, item := range list {
			s.Item = item
			if m.Holds(a.Expr, s) {
				kept = append(kept, item)
			}
		}
		s.Item = nil
		if len(kept) != len(list) {
			put(a.Name, kept)
		}
	}
	for _, a := range w.Set {
		v, err := m.Eval(a.Expr, s)
		if err != nil {
			c.Problems = append(c.Problems, fmt.Sprintf("set %s: %v", a.Name, err))
			continue
		}
		put(a.Name, v)
	}
	for _, a := range w.Append {
		v, err := m.Eval(a.Expr, s)
		if err != nil || v == nil {
			c.Problems = append(c.Problems, fmt.Sprintf("append %s: nothing to append", a.Name))
			continue
		}
		list, _ := m.factAt(s, a.Name).([]any)
		put(a.Name, append(slices.Clone(list), v))
	}
	for _, a := range w.Increment {
		v, err := m.Eval(a.Expr, s)
		by, ok := number(v)
		if err != nil || !ok {
			c.Problems = append(c.Problems, fmt.Sprintf("increment %s: no number", a.Name))
			continue
		}
		old, _ := number(m.factAt(s, a.Name))
		put(a.Name, old+by)
	}
	return c
}

// Output writes the mapped parts of a result to facts: what `out` does. A part
// that does not fit its fact is a problem, and nothing at all is written then.
func (m *Machine) Output(out []Out, result any, s *Scope) Change {
	before := maps.Clone(s.Facts)
	c := Change{}
	for _, o := range out {
		m.setFact(&c, s, o.Fact, ValueAt(result, o.From))
	}
	if len(c.Problems) > 0 {
		s.Facts = before
		return Change{Problems: c.Problems}
	}
	return c
}

// dropFact takes a fact back to its default.
func (m *Machine) dropFact(f *Fact, s *Scope) {
	if f.Default == nil {
		delete(s.Facts, f.Name)
		return
	}
	s.Facts[f.Name] = f.Default
}

// setFact sets a fact or a field of a record fact, and notes it in c.
func (m *Machine) setFact(c *Change, s *Scope, path string, v any) {
	name, field, nested := strings.Cut(path, ".")
	f := m.facts[name]
	if f == nil || f.Is != nil {
		c.Problems = append(c.Problems, fmt.Sprintf("%s is no fact that can be written", name))
		return
	}
	if nested {
		v = withField(s.Facts[name], strings.Split(field, "."), v)
	}
	v, err := Conform(f.Type, v)
	if err != nil {
		c.Problems = append(c.Problems, fmt.Sprintf("%s: %v", path, err))
		return
	}
	if list, ok := v.([]any); ok && f.Max > 0 && len(list) > f.Max {
		v = slices.Clone(list[len(list)-f.Max:])
	}
	if i := slices.Index(c.Dropped, name); i >= 0 {
		c.Dropped = slices.Delete(c.Dropped, i, i+1)
	}
	if c.Set == nil {
		c.Set = map[string]any{}
	}
	c.Set[name] = v
	if v == nil {
		delete(s.Facts, name)
		return
	}
	s.Facts[name] = v
}

// factAt returns the value at a dotted path of facts.
func (m *Machine) factAt(s *Scope, path string) any {
	name, field, nested := strings.Cut(path, ".")
	v := s.Facts[name]
	if nested {
		return ValueAt(v, field)
	}
	return v
}

// withField returns a copy of a record with one field set, however deep.
func withField(rec any, path []string, v any) any {
	old, _ := rec.(map[string]any)
	out := make(map[string]any, len(old)+1)
	maps.Copy(out, old)
	if len(path) > 1 {
		v = withField(out[path[0]], path[1:], v)
	}
	out[path[0]] = v
	return out
}

// ValueAt returns the value at a dotted path inside a plain value. The empty path is the value
// itself.
func ValueAt(v any, path string) any {
	for path != "" {
		var key string
		key, path, _ = strings.Cut(path, ".")
		rec, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = rec[key]
	}
	return v
}

// Conform fits a plain value to a type: whole numbers for int, members of an enum,
// declared fields only of a record. Unset fits every type.
func Conform(t *Type, v any) (any, error) {
	if v == nil || t == nil {
		return nil, nil
	}
	switch t.Kind {
	case JSON:
		return v, nil
	case String:
		if _, ok := v.(string); ok {
			return v, nil
		}
	case Bool:
		if _, ok := v.(bool); ok {
			return v, nil
		}
	case Float:
		if n, ok := number(v); ok {
			return n, nil
		}
	case Int:
		if n, ok := number(v); ok && n == math.Trunc(n) {
			return n, nil
		}
	case Time:
		if text, ok := v.(string); ok {
			if _, err := time.Parse(time.RFC3339Nano, text); err == nil {
				return v, nil
			}
		}
	case Enum:
		if text, ok := v.(string); ok && slices.Contains(t.Values, text) {
			return v, nil
		}
		return nil, fmt.Errorf("%v is none of %s", v, strings.Join(t.Values, ", "))
	case List:
		return conformList(t, v)
	case Record:
		return conformRecord(t, v)
	}
	return nil, fmt.Errorf("want %s, got %s", t.Kind, kindOf(v))
}

// MissingField returns the name of the first field that a value of a type leaves out or leaves null, or "".
// Facts may be unset; what is asked for in a form may not.
func MissingField(t *Type, v any) string {
	switch {
	case t == nil || t.Kind == JSON:
		return ""
	case v == nil:
		return "the answer"
	}
	return findMissingField(t, v, "")
}

func findMissingField(t *Type, v any, at string) string {
	switch {
	case t == nil || t.Kind == JSON:
		return ""
	case v == nil:
		return at
	case t.Kind == Record:
		rec, _ := v.(map[string]any)
		for _, name := range t.Order {
			if missing := findMissingField(t.Fields[name], rec[name], strings.TrimPrefix(at+"."+name, ".")); missing != "" {
				return missing
			}
		}
	case t.Kind == List:
		list, _ := v.([]any)
		for i, item := range list {
			if missing := findMissingField(t.Of, item, fmt.Sprintf("%s[%d]", at, i)); missing != "" {
				return missing
			}
		}
	}
	return ""
}

func conformList(t *Type, v any) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("want a list, got %s", kindOf(v))
	}
	if t.Of == nil || t.Of.Kind == JSON {
		return list, nil
	}
	out := make([]any, len(list))
	for i, item := range list {
		fit, err := Conform(t.Of, item)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		out[i] = fit
	}
	return out, nil
}

func conformRecord(t *Type, v any) (any, error) {
	rec, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("want a record, got %s", kindOf(v))
	}
	out := make(map[string]any, len(t.Fields))
	for name, ft := range t.Fields {
		val, ok := rec[name]
		if !ok {
			continue
		}
		fit, err := Conform(ft, val)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", name, err)
		}
		out[name] = fit
	}
	return out, nil
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "a record"
	}
	return "a number"
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, !math.IsNaN(n)
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	}
	return 0, false
}

// equal compares plain values.
func equal(a, b any) bool {
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equal)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, equal)
	}
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	return a == b
}
