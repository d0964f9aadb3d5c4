package machine

import (
	"fmt"
	"slices"
	"strings"
)

// An exit is one way out of a state, as it is drawn.
type exit struct {
	label string
	to    *State
	dim   bool // a person's doing or an error, not the machine's own way
}

// exits lists the ways out of each state in the order they are tried.
func (m *Machine) exits() map[*State][]exit {
	g := m.checker(nil).flow()
	out := make(map[*State][]exit, len(m.States))
	for _, s := range m.States {
		for _, e := range g.out[s] {
			out[s] = append(out[s], exit{label: e.label, to: e.to, dim: e.via != viaGo})
		}
	}
	return out
}

// startLabel says how the start leads to a state.
func startLabel(c *Choice) string {
	if c.When == nil {
		return ""
	}
	return "when " + c.When.Source
}

// startStates lists the states in which a turn may start.
func (m *Machine) startStates() []*Choice {
	if m.Start.Stands {
		return []*Choice{{To: m.States[0].Name}}
	}
	return m.Start.Choices
}

// shapes are the brackets of Mermaid for each kind of state.
var shapes = map[StateKind][2]string{
	Agent: {"([", "])"}, StepK: {"[", "]"}, Ask: {"{{", "}}"}, Pass: {"((", "))"}, Final: {"[[", "]]"},
}

// Mermaid draws the machine as a Mermaid flowchart.
func (m *Machine) Mermaid() string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: \"%s\"\n---\nflowchart TD\n", mermaidText(m.Name+": "+m.Title))
	b.WriteString("  start_((start))\n")
	for _, s := range m.States {
		shape := shapes[s.Kind]
		fmt.Fprintf(&b, "  s_%s%s\"%s\"%s:::%s\n", s.Name, shape[0], mermaidText(s.Name), shape[1], s.Kind)
	}
	for _, c := range m.startStates() {
		arrow(&b, "start_", "s_"+c.To, startLabel(c), "-->")
	}
	exits := m.exits()
	for _, s := range m.States {
		// Ways between the same two states share an arrow.
		for _, dim := range []bool{false, true} {
			var order []*State
			labels := make(map[*State][]string)
			for _, e := range exits[s] {
				if e.dim == dim {
					if labels[e.to] == nil {
						order = append(order, e.to)
					}
					labels[e.to] = append(labels[e.to], e.label)
				}
			}
			for _, to := range order {
				line := "-->"
				if dim {
					line = "-.->"
				}
				arrow(&b, "s_"+s.Name, "s_"+to.Name, strings.Join(labels[to], "\n"), line)
			}
		}
	}
	b.WriteString("  classDef agent fill:#dbeafe,stroke:#1d4ed8,color:#111827\n  classDef step fill:#e5e7eb,stroke:#4b5563,color:#111827\n" +
		"  classDef ask fill:#fef3c7,stroke:#b45309,color:#111827\n  classDef pass fill:#f3f4f6,stroke:#9ca3af,color:#111827\n" +
		"  classDef final fill:#dcfce7,stroke:#15803d,color:#111827\n")
	return b.String()
}

func arrow(b *strings.Builder, from, to, label, line string) {
	if label == "" {
		fmt.Fprintf(b, "  %s %s %s\n", from, line, to)
		return
	}
	lines := strings.Split(label, "\n")
	for i, l := range lines {
		lines[i] = mermaidText(truncate(l, 80))
	}
	fmt.Fprintf(b, "  %s %s|\"%s\"| %s\n", from, line, strings.Join(lines, "<br/>"), to)
}

// mermaidText takes away what Mermaid would read as its own.
func mermaidText(s string) string {
	return strings.NewReplacer(`"`, "'", "<", "#lt;", ">", "#gt;", "\n", " ", "\r", " ", ";", ",", "`", "'").Replace(s)
}

func truncate(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// columns puts the states into columns by their distance from the start, those that
// lead to each other close together.
func (m *Machine) columns(exits map[*State][]exit) [][]*State {
	depth := make(map[*State]int)
	var queue []*State
	visit := func(s *State, d int) {
		if _, seen := depth[s]; s != nil && !seen {
			depth[s] = d
			queue = append(queue, s)
		}
	}
	for _, c := range m.startStates() {
		visit(m.states[c.To], 0)
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, e := range exits[s] {
			visit(e.to, depth[s]+1)
		}
	}
	var out [][]*State
	for _, s := range m.States {
		d := depth[s]
		for len(out) <= d {
			out = append(out, nil)
		}
		out[d] = append(out[d], s)
	}
	out = slices.DeleteFunc(out, func(col []*State) bool { return len(col) == 0 })
	sortColumns(out, exits)
	return out
}

// sortColumns orders each column by the mean place of those that lead into it.
func sortColumns(cols [][]*State, exits map[*State][]exit) {
	place := make(map[*State]float64)
	for i, col := range cols {
		sum, count := make(map[*State]float64), make(map[*State]float64)
		if i > 0 {
			for j, s := range cols[i-1] {
				for _, e := range exits[s] {
					sum[e.to] += float64(j)
					count[e.to]++
				}
			}
		}
		for j, s := range col {
			place[s] = float64(j)
			if count[s] > 0 {
				place[s] = sum[s] / count[s]
			}
		}
		slices.SortStableFunc(col, func(a, b *State) int {
			switch {
			case place[a] < place[b]:
				return -1
			case place[a] > place[b]:
				return 1
			}
			return 0
		})
	}
}
