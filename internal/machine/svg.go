package machine

import (
	"fmt"
	"html"
	"strings"
)

// Measures of the drawing.
const (
	boxWide  = 300
	rowHigh  = 17
	headHigh = 40
	gapX     = 110
	gapY     = 28
	margin   = 24
	maxDrawn = 2000 // states
)

// A box is a state in the drawing: its name, what it needs and offers, and one row
// for each way out, from which the arrow begins.
type box struct {
	state *State
	info  []string
	exits []exit
	col   int
	x, y  int
}

func (b *box) height() int { return headHigh + rowHigh*(len(b.info)+len(b.exits)) + 8 }

// rowY is the height of a way out.
func (b *box) rowY(i int) int { return b.y + headHigh + rowHigh*(len(b.info)+i) + rowHigh/2 }

const svgStyle = `
    svg { --ink: #1f2937; --soft: #6b7280; --paper: #ffffff; --line: #94a3b8; font: 12px system-ui, sans-serif; }
    @media (prefers-color-scheme: dark) { svg { --ink: #e5e7eb; --soft: #9ca3af; --paper: #111827; --line: #64748b; } }
    .paper { fill: var(--paper); } .name { fill: var(--ink); font-weight: 600; font-size: 13px; } .kind, .info { fill: var(--soft); font-size: 11px; }
    .way { fill: var(--ink); font-size: 11px; } .dim { fill: var(--soft); font-style: italic; }
    .box { fill: var(--paper); stroke-width: 1.5; } .agent { stroke: #3b82f6; } .step { stroke: #8b93a3; } .ask { stroke: #d97706; } .pass { stroke: #a8a29e; } .final { stroke: #16a34a; }
    .edge { fill: none; stroke: var(--line); stroke-width: 1.3; } .edge.dim { stroke-dasharray: 4 3; } .tip { fill: var(--line); }
`

// SVG draws the machine: columns from the start on, a box for each state with its
// ways out, an arrow from each way. It needs no other program.
func (m *Machine) SVG() (string, error) {
	if len(m.States) > maxDrawn {
		return "", fmt.Errorf("drawing %s: %d states are more than %d", m.Name, len(m.States), maxDrawn)
	}
	exits := m.exits()
	boxes := make(map[*State]*box)
	var order []*box
	width, height := 0, 0
	for i, col := range m.columns(exits) {
		y := margin + 40
		for _, s := range col {
			b := &box{state: s, info: stateNotes(s), exits: exits[s], col: i, x: margin + i*(boxWide+gapX), y: y}
			boxes[s] = b
			order = append(order, b)
			y += b.height() + gapY
			width, height = max(width, b.x+boxWide+margin+gapX/2), max(height, y)
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n", width, height, width, height)
	title := html.EscapeString(m.Name + ": " + m.Title)
	fmt.Fprintf(&out, "  <title>%s</title>\n  <style>%s  </style>\n", title, svgStyle)
	out.WriteString("  <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\"><path class=\"tip\" d=\"M0 0 8 4 0 8z\"/></marker></defs>\n")
	fmt.Fprintf(&out, "  <rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n  <text class=\"name\" x=\"%d\" y=\"%d\">%s</text>\n", width, height, margin, margin+6, title)
	for _, b := range order {
		for i, e := range b.exits {
			drawEdge(&out, b, i, boxes[e.to], e.dim)
		}
	}
	starts := m.startLabels()
	for _, b := range order {
		drawBox(&out, b, starts[b.state.Name])
	}
	out.WriteString("</svg>\n")
	return out.String(), nil
}

// startLabels says which states a turn may begin in, and when.
func (m *Machine) startLabels() map[string]string {
	out := make(map[string]string)
	for _, c := range m.startStates() {
		label := "start"
		if l := startLabel(c); l != "" {
			label += " " + l
		}
		if out[c.To] == "" {
			out[c.To] = label
		}
	}
	return out
}

// stateNotes returns what a state requires and offers, one line each.
func stateNotes(s *State) []string {
	var needs, tools []string
	for _, r := range s.Requires {
		needs = append(needs, r.Source)
	}
	for _, o := range s.Offers {
		if o.From != "" {
			tools = append(tools, "those in "+o.From)
			continue
		}
		tools = append(tools, o.Tool)
	}
	for _, a := range s.Run {
		for _, st := range a.Steps {
			if st.Model != nil {
				tools = append(tools, "a model")
			} else {
				tools = append(tools, st.Tool)
			}
		}
	}
	var out []string
	if len(needs) > 0 {
		out = append(out, "needs "+strings.Join(needs, ", "))
	}
	if len(tools) > 0 {
		out = append(out, "tools "+strings.Join(tools, ", "))
	}
	if s.Card != "" {
		out = append(out, "asks "+s.Card)
	}
	return out
}

func drawBox(out *strings.Builder, b *box, start string) {
	s := b.state
	kind := string(s.Kind)
	if s.Terminal {
		kind += ", terminal"
	}
	if start != "" {
		kind += " · " + start
	}
	fmt.Fprintf(out, "  <g id=\"state-%s\">\n    <rect class=\"box %s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", html.EscapeString(s.Name), s.Kind, b.x, b.y, boxWide, b.height())
	line := func(class, label string, y int) {
		fmt.Fprintf(out, "    <text class=\"%s\" x=\"%d\" y=\"%d\">%s<title>%s</title></text>\n", class, b.x+10, y, html.EscapeString(truncate(label, 46)), html.EscapeString(label))
	}
	line("name", s.Name, b.y+18)
	line("kind", kind, b.y+34)
	for i, l := range b.info {
		line("info", l, b.y+headHigh+rowHigh*i+rowHigh-4)
	}
	for i, e := range b.exits {
		class := "way"
		if e.dim {
			class = "way dim"
		}
		line(class, "→ "+e.to.Name+" · "+e.label, b.rowY(i)+4)
	}
	out.WriteString("  </g>\n")
}

// drawEdge draws the arrow of a way out: to the right into later columns, from the
// left back into earlier ones, around the right side within a column.
func drawEdge(out *strings.Builder, from *box, i int, to *box, dim bool) {
	x1, y1, x2, y2 := from.x+boxWide, from.rowY(i), to.x, to.y+16
	bend := gapX / 2
	c1, c2 := x1+bend, x2-bend
	switch {
	case to.col == from.col:
		x2 = to.x + boxWide
		c1, c2 = x1+bend+4*i, x2+bend+4*i
	case to.col < from.col:
		x1, x2 = from.x, to.x+boxWide
		y2 += 8
		c1, c2 = x1-bend, x2+bend
	}
	class := "edge"
	if dim {
		class = "edge dim"
	}
	fmt.Fprintf(out, "  <path class=\"%s\" d=\"M%d %d C%d %d %d %d %d %d\" marker-end=\"url(#tip)\"/>\n", class, x1, y1, c1, y1, c2, y2, x2, y2)
}
