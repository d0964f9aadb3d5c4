package machine

import (
	"fmt"
	"strings"
)

// A part is literal text, or an expression that gives text.
type part struct {
	text string
	expr *Expr
}

// maxRendered bounds the text that one template gives.
const maxRendered = 4 << 20

// Render fills a template: text verbatim, lists and records as compact JSON, unset
// as nothing. A nil template is empty.
func (m *Machine) Render(t *Template, s *Scope) (string, error) {
	if t == nil {
		return "", nil
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.expr == nil {
			b.WriteString(p.text)
			continue
		}
		v, err := m.Eval(p.expr, s)
		if err != nil {
			return "", err
		}
		b.WriteString(valueText(v))
		if b.Len() > maxRendered {
			return "", fmt.Errorf("filling %s: more than %d bytes of text", t.File, maxRendered)
		}
	}
	return b.String(), nil
}

// decodeTemplate cuts Markdown into parts and compiles its expressions.
func (d *decoder) decodeTemplate(file, source string) *Template {
	t := &Template{File: file}
	line, col := 1, 1
	advance := func(s string) {
		for _, r := range s {
			if r == '\n' {
				line, col = line+1, 1
			} else {
				col++
			}
		}
	}
	rest := source
	for {
		before, after, open := strings.Cut(rest, "{{")
		if before != "" {
			t.parts = append(t.parts, part{text: before})
		}
		if !open {
			return t
		}
		advance(before + "{{")
		inner, tail, closed := strings.Cut(after, "}}")
		pos := Pos{File: file, Line: line, Col: col}
		if !closed {
			d.report(finding{code: "guard-syntax", pos: pos, message: "{{ without }}", repair: "close the expression with }}"})
			return t
		}
		lead := inner[:len(inner)-len(strings.TrimLeft(inner, " \t\n"))]
		advance(lead)
		at := Pos{File: file, Line: line, Col: col}
		source := strings.TrimSpace(inner)
		if x := d.compileNow(source, at, false); x != nil {
			t.parts = append(t.parts, part{expr: x})
		}
		advance(inner[len(lead):] + "}}")
		rest = tail
	}
}
