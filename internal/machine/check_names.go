package machine

import (
	"maps"
	"slices"
	"strings"
)

func (c *checker) stateNames() []string {
	names := make([]string, len(c.m.States))
	for i, s := range c.m.States {
		names[i] = s.Name
	}
	return names
}

// checkNames checks that everything that is named exists.
func (c *checker) checkNames() {
	m := c.m
	c.sound = len(m.States) > 0
	for _, ch := range m.Start.Choices {
		c.checkState(ch.To, ch.Pos, "`start`")
	}
	for _, s := range m.States {
		c.checkStateTools(s)
		for _, t := range s.Go {
			c.checkEdge(t, []*State{s})
		}
		if s.Errors != nil && s.Errors.Skip != "" {
			c.checkState(s.Errors.Skip, s.Errors.Pos, "`skip`")
		}
	}
	if m.Errors.Skip != "" {
		c.checkState(m.Errors.Skip, m.Errors.Pos, "`skip`")
	}
	for _, t := range m.Go {
		from := m.States
		if !t.Any {
			from = nil
			for _, name := range t.From {
				if c.checkState(name, t.Pos, "`from`") {
					from = append(from, m.states[name])
				}
			}
		}
		c.checkEdge(t, from)
	}
	for _, tool := range slices.Sorted(maps.Keys(m.Calls)) {
		c.checkState(m.Calls[tool], m.keyPos("calls", tool), "`calls`")
	}
	for _, e := range m.Effects {
		c.checkFilters(e.On, e.Tool, e.Card, e.Command, e.Pos)
		for _, name := range e.State {
			c.checkState(name, e.Pos, "`state`")
		}
	}
	for _, cmd := range m.Commands {
		for _, name := range cmd.From {
			c.checkState(name, cmd.Pos, "`from`")
		}
		if cmd.To != "" {
			c.checkState(cmd.To, cmd.Pos, "`to`")
		}
	}
	c.checkToolsOffered()
	for _, t := range m.Text {
		c.checkTextCall(t)
	}
}

func (c *checker) checkState(name string, pos Pos, where string) bool {
	if c.m.states[name] != nil {
		return true
	}
	c.sound = false
	c.report("unknown-state", pos, "name a state of this machine", "unknown state %q in %s%s", name, where, suggestName(name, c.stateNames()))
	return false
}

// checkStateTools checks the tools that a state offers or runs, and what injects.
func (c *checker) checkStateTools(s *State) {
	for _, o := range s.Offers {
		switch {
		case o.From != "":
			f := c.m.facts[o.From]
			if f == nil {
				c.report("unknown-fact", o.Pos, "name a fact that lists tools", "tools from an unknown fact %q%s", o.From, suggestName(o.From, slices.Sorted(maps.Keys(c.m.facts))))
				continue
			}
			c.read[o.From] = true
			if f.Type.Kind != JSON && (f.Type.Kind != List || f.Type.Of.Kind != JSON && f.Type.Of.Kind != Record) {
				c.report("type-mismatch", o.Pos, "use a list of records with name, description, schema, read_only", "tools come from a list of records, but %s is %s", o.From, f.Type)
			}
		case c.tools != nil:
			c.checkToolExists(o.Tool, o.Pos)
		}
	}
	for _, a := range s.Run {
		for _, st := range a.Steps {
			if st.Tool != "" && c.tools != nil {
				c.checkToolExists(st.Tool, st.Pos)
			}
		}
	}
	for _, i := range s.Inject {
		if i.Fact != "" {
			c.read[i.Fact] = true
			if c.m.facts[i.Fact] == nil {
				c.report("inject-unknown", i.Pos, "declare it under `facts`, or use one that exists", "injection of an unknown fact %q%s", i.Fact, suggestName(i.Fact, slices.Sorted(maps.Keys(c.m.facts))))
			}
		}
		if i.More != "" && !slices.Contains(c.offers[s.Name], i.More) {
			c.report("more-not-offered", i.Pos, "offer it in this state, or name a tool that is", "`more` names %s, which state %s does not offer", i.More, s.Name)
		}
	}
	if s.Kind == Ask {
		if s.Card == "" {
			c.report("ask-no-card", s.Pos, "add `card:`", "state %s asks without a card", s.Name)
		} else {
			c.checkCard(s.Card, s.Pos)
		}
	}
}

func (c *checker) checkToolExists(name string, pos Pos) {
	if _, ok := c.tools[name]; !ok {
		c.report("unknown-tool", pos, "use a tool that exists", "there is no tool %q%s", name, suggestName(name, slices.Sorted(maps.Keys(c.tools))))
	}
}

func (c *checker) checkCard(name string, pos Pos) {
	if c.m.Cards[name] == nil {
		c.report("unknown-card", pos, "declare it under `cards`", "unknown card %q%s", name, suggestName(name, slices.Sorted(maps.Keys(c.m.Cards))))
	}
}

// checkFilters checks the names that narrow an event.
func (c *checker) checkFilters(on, tools, cards, commands []string, pos Pos) {
	for _, e := range on {
		if events[e] == nil {
			c.report("unknown-event", pos, "use one of "+strings.Join(eventNames, ", "), "unknown event %q%s", e, suggestName(e, eventNames))
		}
	}
	for _, t := range tools {
		if c.used[t] {
			continue
		}
		near := suggestName(t, slices.Sorted(maps.Keys(c.used)))
		if near == "" && c.dynamic {
			continue // may be a tool that is found at run time
		}
		c.report("unknown-tool", pos, "name a tool that a state offers", "waits for %s, which nothing offers%s", t, near)
	}
	for _, name := range cards {
		c.checkCard(name, pos)
	}
	for _, name := range commands {
		if c.m.Command(name) == nil {
			c.report("bad-answer-command", pos, "declare it under `commands`", "unknown command %q", name)
		}
	}
}

// checkEdge checks a transition that leaves the given states.
func (c *checker) checkEdge(t *Transition, from []*State) {
	c.checkFilters(t.On, t.Tool, t.Card, t.Command, t.Pos)
	for _, name := range t.To {
		c.checkState(name, t.Pos, "`to`")
	}
	if len(t.To) > 1 && (len(t.On) == 0 || slices.ContainsFunc(t.On, func(e string) bool { return e != OnCall && e != OnPlanned })) {
		c.report("many-to", t.Pos, "lead to one state, or wait `on: call`", "a list in `to` is for `call` and `planned` only")
	}
	for _, tool := range t.Tool {
		if !c.used[tool] {
			continue
		}
		var without []string
		for _, s := range from {
			if !slices.Contains(c.offers[s.Name], tool) {
				without = append(without, s.Name)
			}
		}
		if len(from) > 0 && (len(without) == len(from) || !t.Any && len(without) > 0) {
			c.report("edge-tool", t.Pos, "offer the tool there, or take the transition away", "waits for %s, which %s does not offer", tool, quoteNames(without))
		}
	}
}

// checkToolsOffered reports tools that are bound, shown or meant but offered
// nowhere.
func (c *checker) checkToolsOffered() {
	m := c.m
	say := func(tool string, pos Pos, what string) {
		if !c.used[tool] {
			c.report("tool-nowhere", pos, "offer it in a state, or take it away", "tool %s is %s but offered nowhere%s", tool, what, suggestName(tool, slices.Sorted(maps.Keys(c.used))))
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(m.Tools)) {
		say(tool, m.Tools[tool].Pos, "bound")
		if card := m.Tools[tool].Card; card != "" {
			c.checkCard(card, m.Tools[tool].Pos)
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(m.Show)) {
		say(tool, m.keyPos("show", tool), "shown")
	}
	for _, tool := range slices.Sorted(maps.Keys(m.Calls)) {
		say(tool, m.keyPos("calls", tool), "meant")
	}
}

func (c *checker) checkTextCall(t *TextCall) {
	if len(t.States) == 0 && !c.used[t.Tool] {
		c.report("text-call-tool", t.Pos, "offer the tool in a state", "the text call is for %s, which nothing offers", t.Tool)
	}
	for _, name := range t.States {
		if c.checkState(name, t.Pos, "`states`") && !slices.Contains(c.offers[name], t.Tool) {
			c.report("text-call-tool", t.Pos, "offer the tool there, or take the state away", "the text call is for %s, which state %s does not offer", t.Tool, name)
		}
	}
}

// checkUnusedFacts reports facts that nothing reads or writes.
func (c *checker) checkUnusedFacts() {
	for _, f := range c.m.Facts {
		if f.Is == nil && !c.read[f.Name] && !c.written[f.Name] {
			c.report("fact-unused", f.Pos, "use it or take it away", "fact %s is never used", f.Name)
		}
	}
}
