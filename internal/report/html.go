package report

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"strings"
)

// isDate finds dates and times, which are not broken at their hyphens.
var isDate = regexp.MustCompile(`^\d{4}-\d{2}(-\d{2})?([ T][\d:.+Z-]+)?$`)

const style = `
:root { color-scheme: light }
body { font: 16px/1.55 'Liberation Sans', Arial, Helvetica, sans-serif; color: #222b36; background: #fff; max-width: 46rem; margin: 2.5rem auto; padding: 0 1.25rem }
h1 { font-size: 1.75rem; line-height: 1.25 } h2 { font-size: 1.3rem; margin-top: 2rem } h3, h4, h5, h6 { font-size: 1.05rem; margin-top: 1.5rem }
table { border-collapse: collapse; font-size: .9rem; margin: 1rem 0 } caption, figcaption { text-align: left; font-size: .85rem; color: #5b6673; padding: .25rem 0 } caption { white-space: nowrap }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #e3e7ec; text-align: left; vertical-align: top } th { border-bottom: 2px solid #8a94a0 } .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap } .d { white-space: nowrap }
figure { margin: 1.25rem 0 } figure svg { max-width: 100%; height: auto } .wide { overflow-x: auto } .small { font-size: .85rem; color: #5b6673 }
pre { background: #f4f6f8; padding: .75rem; overflow-x: auto; font-size: .85rem } code { background: #f4f6f8; padding: 0 .2rem } pre code { padding: 0 }
blockquote { border-left: 3px solid #c5ccd4; margin: 1rem 0; padding: 0 1rem; color: #5b6673 } hr { border: 0; border-top: 1px solid #e3e7ec; margin: 2rem 0 }
sup a { text-decoration: none; color: #2f6fb5; font-size: .7rem } .sources { margin-top: 3rem; border-top: 1px solid #c5ccd4; font-size: .85rem; color: #5b6673 } .none { color: #b02a2a }
p.item { margin: .3rem 0; text-indent: -1.2rem } @media print { body { margin: 0; max-width: none } figure, tr { break-inside: avoid } }
`

// HTML writes the document as one HTML file without script. It stops when the context ends.
func HTML(ctx context.Context, d Document) ([]byte, error) {
	p, err := readDocument(d)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n")
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n<h1>%s</h1>\n", html.EscapeString(p.title), style, spansHTML(p.heading, p.notes))
	for _, bl := range p.blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		writeBlock(&b, bl, p.notes)
	}
	if len(p.notes) > 0 {
		b.WriteString("<section class=\"sources\">\n<h2>Sources of the figures</h2>\n<ol>\n")
		for i, n := range p.notes {
			class := ""
			if n.noOrigin {
				class = ` class="none"`
			}
			fmt.Fprintf(&b, "<li id=\"note-%d\"%s>%s</li>\n", i+1, class, html.EscapeString(n.text))
		}
		b.WriteString("</ol>\n</section>\n")
	}
	b.WriteString("</body>\n</html>\n")
	return []byte(b.String()), nil
}

func writeBlock(b *strings.Builder, bl block, notes []note) {
	indent := ""
	if bl.level > 1 && (bl.kind == item || bl.kind == paragraph) {
		indent = fmt.Sprintf(` style="margin-left: %.1frem"`, 1.2*float64(bl.level))
	}
	switch bl.kind {
	case heading:
		level := min(6, bl.level+1) // the title is the first
		if bl.level == 1 {
			level = 2
		}
		fmt.Fprintf(b, "<h%d>%s</h%[1]d>\n", level, spansHTML(bl.spans, notes))
	case paragraph:
		fmt.Fprintf(b, "<p%s>%s</p>\n", indent, spansHTML(bl.spans, notes))
	case item:
		if indent == "" {
			indent = ` style="margin-left: 1.2rem"`
		}
		fmt.Fprintf(b, "<p class=\"item\"%s>%s&ensp;%s</p>\n", indent, html.EscapeString(bl.marker), spansHTML(bl.spans, notes))
	case quote:
		fmt.Fprintf(b, "<blockquote><p>%s</p></blockquote>\n", spansHTML(bl.spans, notes))
	case code:
		fmt.Fprintf(b, "<pre><code>%s</code></pre>\n", html.EscapeString(bl.text))
	case rule:
		b.WriteString("<hr>\n")
	case grid:
		writeTable(b, bl, notes)
	case drawing:
		fmt.Fprintf(b, "<figure>\n%s", bl.picture.SVG())
		if bl.caption != "" {
			fmt.Fprintf(b, "<figcaption>%s</figcaption>\n", html.EscapeString(bl.caption))
		}
		b.WriteString("</figure>\n")
	}
}

func writeTable(b *strings.Builder, bl block, notes []note) {
	b.WriteString("<div class=\"wide\"><table>\n")
	if bl.caption != "" {
		fmt.Fprintf(b, "<caption>%s</caption>\n", html.EscapeString(bl.caption))
	}
	row := func(cells []cell, tag string) {
		b.WriteString("<tr>")
		for _, c := range cells {
			class := ""
			if c.right {
				class = ` class="n"`
			} else if len(c.spans) == 1 && isDate.MatchString(c.spans[0].text) {
				class = ` class="d"`
			}
			fmt.Fprintf(b, "<%s%s>%s</%[1]s>", tag, class, spansHTML(c.spans, notes))
		}
		b.WriteString("</tr>\n")
	}
	row(bl.header, "th")
	for _, cells := range bl.rows {
		row(cells, "td")
	}
	b.WriteString("</table></div>\n")
	if bl.note != "" {
		fmt.Fprintf(b, "<p class=\"small\">%s</p>\n", html.EscapeString(bl.note))
	}
}

func spansHTML(spans []span, notes []note) string {
	var b strings.Builder
	for _, s := range spans {
		if s.lineBreak {
			b.WriteString("<br>")
			continue
		}
		text := html.EscapeString(s.text)
		for _, wrap := range []struct {
			on  bool
			tag string
		}{{s.mono, "code"}, {s.italic, "em"}, {s.bold, "strong"}} {
			if wrap.on && text != "" {
				text = "<" + wrap.tag + ">" + text + "</" + wrap.tag + ">"
			}
		}
		if s.link != "" && text != "" {
			text = `<a href="` + html.EscapeString(s.link) + `">` + text + "</a>"
		}
		b.WriteString(text)
		if s.note > 0 {
			class := ""
			if notes[s.note-1].noOrigin {
				class = ` class="none"`
			}
			fmt.Fprintf(&b, `<sup><a%s href="#note-%d">%[2]d</a></sup>`, class, s.note)
		}
	}
	return b.String()
}
