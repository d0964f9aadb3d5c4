package machine

import (
	"maps"
	"slices"
	"strings"
)

// What may not write a person's fact: the code of the finding, "" where it may.
const (
	personEffect = "person-effect"
	personEdge   = "person-edge"
)

// unlessPerson returns the code unless every event is caused by a person.
func unlessPerson(on []string, code string) string {
	if len(on) == 0 {
		return code
	}
	for _, e := range on {
		if e != OnAnswered && e != OnCommand {
			return code
		}
	}
	return ""
}

// checkWrites checks the facts that are written, their types, and who writes them.
func (c *checker) checkWrites(w *Writes, ev *Type, person string) {
	for _, name := range w.Drop {
		if f := c.m.facts[name]; f == nil || f.Is != nil {
			c.reportBadWrite(name, f, c.dropPos(w, name))
		}
	}
	for _, a := range w.Keep {
		t := c.writeTarget(a.Name, a.Pos)
		if t == nil {
			continue
		}
		item := anyType
		switch {
		case t.Kind == List:
			item = t.Of
		case t.Kind != JSON:
			c.report("append-no-list", a.Pos, "use a fact of type list", "`keep` needs a list, but %s is %s", a.Name, t)
		}
		c.checkGuard(a.Expr, ev, item)
	}
	for _, a := range w.Set {
		if t := c.writeTarget(a.Name, a.Pos); t != nil {
			c.checkWrittenByPerson(a.Name, a.Pos, person)
			c.checkFits(a.Expr, ev, t, a.Name)
		}
	}
	for _, a := range w.Append {
		t := c.writeTarget(a.Name, a.Pos)
		if t == nil {
			continue
		}
		c.checkWrittenByPerson(a.Name, a.Pos, person)
		switch t.Kind {
		case List:
			c.checkFits(a.Expr, ev, t.Of, a.Name)
		case JSON:
			c.typeOfExpr(a.Expr, ev, nil)
		default:
			c.report("append-no-list", a.Pos, "use `set`, or make the fact a list", "`append` needs a list, but %s is %s", a.Name, t)
		}
	}
	for _, a := range w.Increment {
		t := c.writeTarget(a.Name, a.Pos)
		if t == nil {
			continue
		}
		c.checkWrittenByPerson(a.Name, a.Pos, person)
		if !isNumeric(t) && t.Kind != JSON {
			c.report("append-no-list", a.Pos, "use a fact of type int or float", "`increment` needs a number, but %s is %s", a.Name, t)
			continue
		}
		c.checkFits(a.Expr, ev, t, a.Name)
	}
}

// writeTarget returns the type of the fact or field that a path names, nil if it cannot
// be written.
func (c *checker) writeTarget(path string, pos Pos) *Type {
	name, rest, nested := strings.Cut(path, ".")
	f := c.m.facts[name]
	if f == nil || f.Is != nil {
		c.reportBadWrite(name, f, pos)
		return nil
	}
	c.written[name] = true
	t := f.Type
	for nested {
		var field string
		field, rest, nested = strings.Cut(rest, ".")
		switch {
		case t.Kind == JSON:
			return anyType
		case t.Kind != Record:
			c.report("type-mismatch", pos, "only records have fields", "%s has no field %q: it is %s", path, field, t)
			return nil
		case t.Fields[field] == nil:
			known := slices.Sorted(maps.Keys(t.Fields))
			c.report("unknown-field", pos, "use one of "+quoteNames(known), "%s has no field %q%s", name, field, suggestName(field, known))
			return nil
		}
		t = t.Fields[field]
	}
	return t
}

func (c *checker) reportBadWrite(name string, f *Fact, pos Pos) {
	if f != nil {
		c.report("bad-write", pos, "write the facts that it is computed from", "%s is computed and cannot be written", name)
		return
	}
	c.report("bad-write", pos, "declare it under `facts`, or use one that exists", "unknown fact %q is written%s", name, suggestName(name, slices.Sorted(maps.Keys(c.m.facts))))
}

func (c *checker) checkWrittenByPerson(path string, pos Pos, code string) {
	name, _, _ := strings.Cut(path, ".")
	f := c.m.facts[name]
	if code == "" || f == nil || !f.Person {
		return
	}
	what := "an effect of something that no person did"
	if code == personEdge {
		what = "something that no person did"
	}
	c.report(code, pos, "write it in a card's answer or a command, or take `by: person` away", "%s is written by %s, but only a person may write it", name, what)
}

// checkPersonOutput reports a person's fact among the outputs of a step.
func (c *checker) checkPersonOutput(outs []Out) {
	for _, o := range outs {
		c.checkWrittenByPerson(o.Fact, o.Pos, personEdge)
	}
}

// dropPos returns the position of the writes; a dropped name has none of its own.
func (c *checker) dropPos(w *Writes, name string) Pos {
	if p, ok := w.dropAt[name]; ok {
		return p
	}
	return Pos{File: File, Line: 1}
}

// checkStepExprs checks a step of a state or of discover.
func (c *checker) checkStepExprs(s *Step, ev *Type) {
	c.checkGuard(s.When, ev, nil)
	if s.Model != nil {
		for _, a := range s.In {
			c.typeOfExpr(a.Expr, ev, nil)
		}
		c.checkTemplate(s.Model.Prompt, ev)
		c.checkOutputs(s.Out, s.Model.Output, "the output of the model step")
	} else {
		c.checkArguments(s.Tool, s.In, ev, s.Pos, true)
		c.checkOutputs(s.Out, c.tools[s.Tool].Out, "the result of "+s.Tool)
	}
	c.checkGuard(s.Stop, ev, nil)
}

// checkOutputs checks that the parts of a result exist and fit their facts.
func (c *checker) checkOutputs(outs []Out, result *Type, what string) {
	for _, o := range outs {
		to := c.writeTarget(o.Fact, o.Pos)
		t := result
		for name := range strings.SplitSeq(o.From, ".") {
			if t == nil || t.Kind != Record {
				t = nil
				break
			}
			if t.Fields[name] == nil {
				known := slices.Sorted(maps.Keys(t.Fields))
				c.report("unknown-field", o.Pos, "use one of "+quoteNames(known), "%s has no part %q%s", what, o.From, suggestName(name, known))
			}
			t = t.Fields[name]
		}
		if to == nil || t == nil {
			continue
		}
		if why, ok := fitsInto(t, to); !ok {
			c.report("type-mismatch", o.Pos, "change the type of the fact", "%s: %s", o.Fact, why)
		}
	}
}

// checkArguments checks what a step or binding gives to a tool. Bound arguments count
// among those that a tool demands.
func (c *checker) checkArguments(tool string, in []Assign, ev *Type, pos Pos, whole bool) {
	tt, known := c.tools[tool]
	for _, a := range in {
		to := anyType
		if known && tt.In != nil && tt.In.Kind == Record {
			if to = tt.In.Fields[a.Name]; to == nil {
				names := slices.Sorted(maps.Keys(tt.In.Fields))
				c.report("tool-argument", a.Pos, "use one of "+quoteNames(names), "tool %s has no argument %q%s", tool, a.Name, suggestName(a.Name, names))
				to = anyType
			}
		}
		c.checkFits(a.Expr, ev, to, a.Name)
	}
	if !known || !whole {
		return
	}
	for _, name := range tt.Required {
		if !hasAssign(in, name) && !(c.m.Tools[tool] != nil && hasAssign(c.m.Tools[tool].In, name)) {
			c.report("tool-argument", pos, "add it to `in`", "tool %s demands the argument %q", tool, name)
		}
	}
}

func (c *checker) checkBinding(b *Binding, ev *Type) {
	c.checkArguments(b.Tool, b.In, ev, b.Pos, false)
	tt, known := c.tools[b.Tool]
	for _, name := range slices.Sorted(maps.Keys(b.Args)) {
		n, pos := b.Args[name], c.m.keyPos("args/"+b.Tool, name)
		to := anyType
		if known && tt.In != nil && tt.In.Kind == Record {
			if to = tt.In.Fields[name]; to == nil {
				names := slices.Sorted(maps.Keys(tt.In.Fields))
				c.report("tool-argument", pos, "use one of "+quoteNames(names), "tool %s has no argument %q%s", b.Tool, name, suggestName(name, names))
				to = anyType
			}
		}
		if n.Enum != nil {
			c.checkFits(n.Enum, ev, &Type{Kind: List, Of: to}, "enum")
		}
		if n.Default != nil {
			c.checkFits(n.Default, ev, to, "default")
		}
	}
}

// checkShown checks the fields of `show` against the result of the tool. A card adds the
// answer and its note to the result.
func (c *checker) checkShown(tool string, s *Show) {
	out := c.tools[tool].Out
	if out == nil || out.Kind != Record {
		return
	}
	known := slices.Sorted(maps.Keys(out.Fields))
	if b := c.m.Tools[tool]; b != nil && b.Card != "" {
		known = append(known, "answer", "note")
	}
	for _, name := range slices.Concat(s.Person, s.Model) {
		if !slices.Contains(known, name) {
			c.report("unknown-field", c.m.keyPos("show", tool), "use one of "+quoteNames(known), "the result of %s has no part %q%s", tool, name, suggestName(name, known))
		}
	}
}
