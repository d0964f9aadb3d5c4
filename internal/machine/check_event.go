package machine

import (
	"maps"
	"slices"
	"strings"
)

// An occasion is when an expression is evaluated: the events that may have
// happened and what they may be about. Empty lists mean any.
type occasion struct {
	on, tools, cards, commands []string
	fields                     []Field // of the answer or command, where it is one
	rest                       bool    // a shortcut: `event.rest` is the text after the prefix
}

var eventFieldTypes = map[string]*Type{
	"text": stringType, "outcome": stringType, "cause": stringType, "from": stringType, "state": stringType, "tool": stringType, "card": stringType,
	"command": stringType, "code": stringType, "message": stringType, "suggestion": stringType, "note": stringType, "answer": stringType,
	"duplicate": boolType, "curable": boolType, "ms": intType, "tries_left": intType, "details": anyType, "quoted": anyType, "unsupported": stringList,
	"args": anyType, "result": anyType, "content": anyType, "fields": anyType,
}

// turnEnd is what `event` is in `reply`: the end of a turn.
var turnEnd = &Type{Kind: Record, Name: "event", Fields: map[string]*Type{
	"error": {Kind: Record, Fields: map[string]*Type{"type": stringType, "message": stringType}},
}}

var eventNames = slices.Sorted(maps.Keys(events))

// eventType is the record that `event` is on an occasion.
func (c *checker) eventType(o occasion) *Type {
	on := o.on
	if len(on) == 0 {
		on = eventNames
	}
	fields := map[string]*Type{"name": {Kind: Enum, Values: on}}
	for _, e := range on {
		for _, name := range events[e] {
			fields[name] = eventFieldTypes[name]
		}
	}
	if o.rest {
		fields["rest"] = stringType
	}
	if fields["args"] != nil {
		fields["args"] = c.joinedToolType(o.tools, func(t ToolType) *Type { return t.In })
	}
	if fields["result"] != nil && !slices.Contains(on, "done") {
		fields["result"] = c.joinedToolType(o.tools, func(t ToolType) *Type { return t.Out })
	}
	if fields["content"] != nil {
		fields["content"] = c.joinedCardContent(o.cards)
	}
	if fields["fields"] != nil {
		fields["fields"] = c.joinedFields(o)
	}
	if len(o.cards) == 1 && fields["answer"] != nil {
		if card := c.m.Cards[o.cards[0]]; card != nil {
			answers := &Type{Kind: Enum}
			for _, a := range card.Answers {
				answers.Values = append(answers.Values, a.Name)
			}
			fields["answer"] = answers
		}
	}
	return &Type{Kind: Record, Name: "event", Fields: fields}
}

// joinedToolType joins the arguments or results of the tools that an event may be about.
func (c *checker) joinedToolType(tools []string, side func(ToolType) *Type) *Type {
	var out *Type
	for _, name := range tools {
		t, ok := c.tools[name]
		if !ok || side(t) == nil {
			return anyType
		}
		out = unify(out, side(t))
	}
	if out == nil {
		return anyType
	}
	return out
}

func (c *checker) joinedCardContent(cards []string) *Type {
	var out *Type
	for _, name := range cards {
		card := c.m.Cards[name]
		if card == nil || len(card.Content) == 0 {
			return anyType
		}
		out = unify(out, &Type{Kind: Record, Fields: card.Content})
	}
	if out == nil {
		return anyType
	}
	return out
}

// joinedFields joins the fields of the answers or commands that an event may be.
func (c *checker) joinedFields(o occasion) *Type {
	all := slices.Clone(o.fields)
	if all == nil {
		for _, name := range o.cards {
			if card := c.m.Cards[name]; card != nil {
				for _, a := range card.Answers {
					all = append(all, a.Fields...)
				}
			}
		}
		for _, name := range o.commands {
			if cmd := c.m.Command(name); cmd != nil {
				all = append(all, cmd.Fields...)
			}
		}
		if len(all) == 0 {
			return anyType
		}
	}
	t := &Type{Kind: Record, Name: "fields", Fields: make(map[string]*Type)}
	for _, f := range all {
		t.Fields[f.Name] = unify(t.Fields[f.Name], f.Type)
	}
	return t
}

// checkExpressions checks every expression of the machine in its environment.
func (c *checker) checkExpressions() {
	m := c.m
	start := c.eventType(occasion{on: []string{"turn"}})
	for _, f := range m.Facts {
		if f.Is != nil {
			c.checkFits(f.Is, c.eventType(occasion{}), f.Type, "fact "+f.Name)
		}
	}
	for _, s := range m.Discover {
		c.checkStepExprs(s, start)
		c.checkPersonOutput(s.Out)
	}
	for _, ch := range m.Start.Choices {
		c.checkGuard(ch.When, start, nil)
		c.checkWrites(&ch.Set, start, personEdge)
	}
	for _, s := range m.States {
		c.checkStateExprs(s)
	}
	for _, t := range m.Go {
		c.checkTransition(t, nil)
	}
	for _, e := range m.Effects {
		ev := c.eventType(occasion{on: e.On, tools: e.Tool, cards: e.Card, commands: e.Command})
		c.checkGuard(e.When, ev, nil)
		c.checkWrites(&e.Writes, ev, unlessPerson(e.On, personEffect))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Cards)) {
		for _, a := range m.Cards[name].Answers {
			ev := c.eventType(occasion{on: []string{"answered"}, cards: []string{name}, fields: emptyType(a.Fields)})
			c.checkGuard(a.When, ev, nil)
			if a.Otherwise != nil {
				c.checkFits(a.Otherwise, ev, stringType, "`otherwise`")
			}
			c.checkWrites(&a.Writes, ev, "")
		}
	}
	for _, cmd := range m.Commands {
		ev := c.eventType(occasion{on: []string{"command"}, commands: []string{cmd.Name}, fields: emptyType(cmd.Fields)})
		c.checkGuard(cmd.When, ev, nil)
		c.checkWrites(&cmd.Writes, ev, "")
	}
	c.checkRemainingExprs()
}

func emptyType(f []Field) []Field {
	if f == nil {
		return []Field{}
	}
	return f
}

// checkRemainingExprs checks what belongs to no state: bindings, channels, shortcuts,
// the reply, the history and the prompts.
func (c *checker) checkRemainingExprs() {
	m, any := c.m, c.eventType(occasion{})
	for _, name := range slices.Sorted(maps.Keys(m.Tools)) {
		c.checkBinding(m.Tools[name], any)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Show)) {
		c.checkGuard(m.Show[name].PersonWhen, any, nil)
		c.checkShown(name, m.Show[name])
	}
	for _, s := range m.Short {
		ev := c.eventType(occasion{on: []string{"turn"}, rest: true})
		c.checkGuard(s.When, ev, nil)
		if s.Tool != "" {
			c.checkArguments(s.Tool, s.In, ev, s.Pos, true)
		}
	}
	for _, a := range m.Reply {
		c.typeOfExpr(a.Expr, turnEnd, nil)
	}
	for _, a := range m.History.Beside {
		c.typeOfExpr(a.Expr, any, nil)
	}
	if m.Outcome != nil {
		c.checkFits(m.Outcome, any, &Type{Kind: Enum, Values: outcomes}, "`outcome`")
	}
	c.checkNumbers(any, m.History.Messages, m.History.ToolTurns, m.History.ResultChars, m.Policies.InventoryMax)
	c.checkNumbers(any, m.Limits.Iterations, m.Limits.Seconds, m.Limits.Tokens, m.Limits.Dollars)
	c.checkTemplate(m.Base, any)
	c.checkTemplate(m.Ground, any)
}

func (c *checker) checkNumbers(ev *Type, list ...*Expr) {
	for _, x := range list {
		if x != nil {
			c.checkFits(x, ev, floatType, "a limit")
		}
	}
}

func (c *checker) checkTemplate(t *Template, ev *Type) {
	if t == nil {
		return
	}
	for _, p := range t.parts {
		if p.expr != nil {
			c.typeOfExpr(p.expr, ev, nil)
		}
	}
}

func (c *checker) checkStateExprs(s *State) {
	any := c.eventType(occasion{})
	for _, p := range s.Requires {
		c.checkPredicate(s, p)
	}
	for _, o := range s.Offers {
		c.checkGuard(o.When, any, nil)
	}
	for _, sec := range s.Prompt {
		c.checkGuard(sec.When, any, nil)
		c.checkTemplate(sec.Text, any)
	}
	c.checkTemplate(s.Note, any)
	for _, i := range s.Inject {
		c.checkGuard(i.When, any, nil)
		for _, x := range []*Expr{i.Value, i.Of} {
			c.typeOfExpr(x, any, nil)
		}
		c.checkNumbers(any, i.Rows, i.Chars)
	}
	for _, a := range s.Run {
		c.checkGuard(a.When, any, nil)
		for _, st := range a.Steps {
			c.checkStepExprs(st, any)
			c.checkPersonOutput(st.Out)
		}
	}
	if s.Kind == Ask {
		c.checkCardContent(s, any)
	}
	for _, t := range s.Go {
		c.checkTransition(t, s)
	}
	c.checkGuard(s.Complete, any, nil)
	for _, a := range s.Data {
		c.typeOfExpr(a.Expr, any, nil)
	}
	if r := s.Reasoning; r != nil {
		c.checkNumbers(any, r.Budget)
		if r.Effort != nil {
			c.checkFits(r.Effort, any, &Type{Kind: Enum, Values: Efforts}, "`effort`")
		}
	}
	if s.Limits != nil {
		c.checkNumbers(any, s.Limits.Iterations, s.Limits.Seconds, s.Limits.Tokens, s.Limits.Dollars)
	}
}

// checkCardContent checks `in` of an ask against the content of its card.
func (c *checker) checkCardContent(s *State, ev *Type) {
	card := c.m.Cards[s.Card]
	for _, a := range s.In {
		to := anyType
		if card != nil {
			if to = card.Content[a.Name]; to == nil {
				known := slices.Sorted(maps.Keys(card.Content))
				c.report("unknown-field", a.Pos, "use one of "+quoteNames(known), "card %s has no content %q%s", card.Name, a.Name, suggestName(a.Name, known))
				to = anyType
			}
		}
		c.checkFits(a.Expr, ev, to, a.Name)
	}
}

// checkPredicate checks the fact of a predicate.
func (c *checker) checkPredicate(s *State, p Predicate) {
	if p.Fact == "" {
		return
	}
	f := c.m.facts[p.Fact]
	if f == nil {
		c.report("unknown-fact", p.Pos, "declare it under `facts`, or use one that exists", "state %s requires an unknown fact %q%s", s.Name, p.Fact,
			suggestName(p.Fact, slices.Sorted(maps.Keys(c.m.facts))))
		return
	}
	c.read[p.Fact] = true
	if p.IsTrue && f.Type.Kind != Bool && f.Type.Kind != JSON {
		c.report("type-mismatch", p.Pos, "use a fact of type bool", "state %s requires %s, but %s is %s", s.Name, p.Source, p.Fact, f.Type)
	}
	if p.Len > 0 && f.Type.Kind != List && f.Type.Kind != JSON {
		c.report("type-mismatch", p.Pos, "use a list", "state %s requires %s, but %s is %s", s.Name, p.Source, p.Fact, f.Type)
	}
}

// triggers returns the events that a transition of a state waits for; nil = any.
func (t *Transition) triggers(s *State) []string {
	if len(t.On) > 0 || s == nil {
		return t.On
	}
	switch s.Kind {
	case StepK:
		return []string{OnDone}
	case Ask:
		return []string{OnAnswered}
	}
	return nil
}

func (c *checker) checkTransition(t *Transition, s *State) {
	o := occasion{on: t.triggers(s), tools: t.Tool, cards: t.Card, commands: t.Command}
	if s != nil && s.Kind == Ask && len(o.cards) == 0 && slices.Equal(o.on, []string{OnAnswered}) {
		o.cards = []string{s.Card}
	}
	ev := c.eventType(o)
	c.checkGuard(t.When, ev, nil)
	c.checkWrites(&t.Writes, ev, unlessPerson(t.triggers(s), personEdge))
}

// checkComputedCycles reports facts that are computed from each other in a circle.
func (c *checker) checkComputedCycles() {
	const busy, done = 1, 2
	mark := make(map[*Fact]int)
	var visit func(f *Fact, path []string)
	visit = func(f *Fact, path []string) {
		if f.Is == nil || f.Is.code == nil || mark[f] == done {
			return
		}
		path = append(path, f.Name)
		if mark[f] == busy {
			c.circular = true
			c.report("computed-cycle", f.Pos, "compute one of them from stored facts", "facts computed in a circle: %s", strings.Join(path, " -> "))
			return
		}
		mark[f] = busy
		for _, d := range f.Is.code.deps {
			visit(d, path)
		}
		mark[f] = done
	}
	for _, f := range c.m.Facts {
		visit(f, nil)
	}
}
