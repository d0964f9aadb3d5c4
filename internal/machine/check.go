package machine

import (
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// Check returns every finding of a definition, warnings included. Without tools it
// leaves out what needs their types.
func (m *Machine) Check(tools ToolTypes) []Finding {
	c := m.checker(tools)
	c.checkComputedCycles()
	c.checkSettings()
	c.checkFacts()
	c.checkNames()
	c.checkCards()
	c.checkExpressions()
	c.checkUnusedFacts()
	if c.sound && !c.circular {
		c.checkGraph()
	}
	return sortFindings(c.found)
}

func (m *Machine) checker(tools ToolTypes) *checker {
	c := &checker{m: m, tools: tools, read: map[string]bool{}, written: map[string]bool{}, dynamic: slices.ContainsFunc(m.States, offersDynamicTools)}
	c.offers = c.toolsByState()
	c.used = c.usedTools()
	return c
}

// A checker collects what is wrong with a machine.
type checker struct {
	m       *Machine
	tools   ToolTypes
	found   []Finding
	offers  map[string][]string // state -> tools by name
	used    map[string]bool     // tools that something offers or runs
	dynamic bool                // some state offers tools that are found at run time
	sound   bool                // every name of a state exists, so that there is a graph

	circular      bool            // facts are computed from each other: nothing can be unfolded
	unfolds       int             // computed facts unfolded in the guard that is looked at
	read, written map[string]bool // facts
}

func (c *checker) report(code string, pos Pos, repair, format string, args ...any) {
	c.found = append(c.found, finding{code: code, pos: pos, repair: repair, message: fmt.Sprintf(format, args...)}.public())
}

func (c *checker) reportPath(code string, pos Pos, path []string, repair, format string, args ...any) {
	c.found = append(c.found, finding{code: code, pos: pos, path: path, repair: repair, message: fmt.Sprintf(format, args...)}.public())
}

// toolsByState lists the tools of each state: those it offers, or those its steps
// run.
func (c *checker) toolsByState() map[string][]string {
	all := make(map[string][]string, len(c.m.States))
	for _, s := range c.m.States {
		var names []string
		for _, o := range s.Offers {
			if o.Tool != "" {
				names = append(names, o.Tool)
			}
		}
		for _, a := range s.Run {
			for _, st := range a.Steps {
				if st.Tool != "" {
					names = append(names, st.Tool)
				}
			}
		}
		all[s.Name] = names
	}
	return all
}

// offersDynamicTools reports whether a state offers tools that are found at run time.
func offersDynamicTools(s *State) bool {
	return slices.ContainsFunc(s.Offers, func(o *Offer) bool { return o.From != "" })
}

// mayCall reports whether one of the tools can be called or run in a state. A tool that
// is found at run time has none of the names that the definition offers.
func (c *checker) mayCall(s *State, tools []string) bool {
	return slices.ContainsFunc(tools, func(t string) bool {
		return slices.Contains(c.offers[s.Name], t) || offersDynamicTools(s) && !c.used[t]
	})
}

// usedTools is every tool that something offers or runs.
func (c *checker) usedTools() map[string]bool {
	used := make(map[string]bool)
	for _, names := range c.offers {
		for _, n := range names {
			used[n] = true
		}
	}
	for _, s := range c.m.Discover {
		used[s.Tool] = true
	}
	for _, s := range c.m.Short {
		if s.Tool != "" {
			used[s.Tool] = true
		}
	}
	return used
}

// position returns the place in the file of a node of an expression.
func (x *Expr) position(n ast.Node) Pos {
	pos := x.Pos
	if x.code != nil && x.code.flat && n != nil {
		pos.Col += max(n.Location().From-x.code.off, 0)
	}
	return pos
}
