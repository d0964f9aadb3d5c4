package chart

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// SVG writes the picture as an SVG document: no script, no link, no font of its own.
func (p *Picture) SVG() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img" aria-label="%s" font-family="%s">`+"\n",
		coordinate(p.Width), coordinate(p.Height), escape(p.Title), fontFamily)
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(p.Title))
	for _, s := range p.Shapes {
		writeShape(&b, s)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func writeShape(b *strings.Builder, s Shape) {
	switch s := s.(type) {
	case StraightLine:
		fmt.Fprintf(b, `<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s" stroke-width="%s"/>`,
			coordinate(s.From.X), coordinate(s.From.Y), coordinate(s.To.X), coordinate(s.To.Y), s.Color, coordinate(s.Width))
	case Polyline:
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="%s" stroke-linejoin="round" stroke-linecap="round"/>`,
			spotList(s.Spots), s.Color, coordinate(s.Width))
	case Polygon:
		fmt.Fprintf(b, `<polygon points="%s" fill="%s"%s`, spotList(s.Spots), s.Fill, opacity(s.Opacity))
		closeWithNote(b, "polygon", s.Note)
	case Circle:
		fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="%s" fill="%s"%s`, coordinate(s.Center.X), coordinate(s.Center.Y), coordinate(s.Radius), s.Fill, opacity(s.Opacity))
		closeWithNote(b, "circle", s.Note)
	case Label:
		fmt.Fprintf(b, `<text x="%s" y="%s" font-size="%s" fill="%s"`, coordinate(s.At.X), coordinate(s.At.Y), coordinate(s.Size), s.Color)
		if s.Anchor != Start {
			fmt.Fprintf(b, ` text-anchor="%s"`, []string{"start", "middle", "end"}[s.Anchor])
		}
		if s.Bold {
			b.WriteString(` font-weight="bold"`)
		}
		if s.Turned != 0 {
			fmt.Fprintf(b, ` transform="rotate(%s %s %s)"`, coordinate(s.Turned), coordinate(s.At.X), coordinate(s.At.Y))
		}
		fmt.Fprintf(b, ">%s</text>", escape(s.Text))
	}
	b.WriteByte('\n')
}

func closeWithNote(b *strings.Builder, element, note string) {
	if note == "" {
		b.WriteString("/>")
		return
	}
	fmt.Fprintf(b, "><title>%s</title></%s>", escape(note), element)
}

func opacity(v float64) string {
	if v == 1 {
		return ""
	}
	return fmt.Sprintf(` fill-opacity="%s"`, coordinate(v))
}

func spotList(spots []Spot) string {
	parts := make([]string, len(spots))
	for i, s := range spots {
		parts[i] = coordinate(s.X) + "," + coordinate(s.Y)
	}
	return strings.Join(parts, " ")
}

// coordinate writes a number with two decimals at most, so that files stay small.
func coordinate(v float64) string {
	text := strconv.FormatFloat(v, 'f', 2, 64)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// escape makes text of data safe in XML; characters that XML cannot hold go.
func escape(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD")))
}

// String writes a colour as SVG and CSS do.
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
