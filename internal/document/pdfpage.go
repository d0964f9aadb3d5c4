package document

import (
	"strings"

	"github.com/ledongthuc/pdf"
)

const (
	maxFormDepth = 5   // of pages that are drawn with parts that are drawn with parts
	maxForms     = 500 // of one page
	maxSaved     = 200 // states of a page that were put aside
)

// A pageReader runs the program that draws a page and hands its characters to a flow. The library could, but it
// knows no widths in fonts of two-byte codes, which most programs write today: then nobody knows where a word ends.
type pageReader struct {
	flow  *flow
	fonts map[string]*pageFont // of the resources at hand
	state drawState
	saved []drawState
	forms int
}

// A drawState is what the program sets and puts aside.
type drawState struct {
	matrix                         transform // from the program's place to the page's
	text, line                     transform
	font                           *pageFont
	size, leading, rise            float64
	charSpacing, wordSpacing, wide float64
}

// A transform maps (x, y) to (a*x + c*y + e, b*x + d*y + f).
type transform struct{ a, b, c, d, e, f float64 }

// after is the transform that does t first and then u.
func (t transform) after(u transform) transform {
	return transform{
		t.a*u.a + t.b*u.c, t.a*u.b + t.b*u.d,
		t.c*u.a + t.d*u.c, t.c*u.b + t.d*u.d,
		t.e*u.a + t.f*u.c + u.e, t.e*u.b + t.f*u.d + u.f,
	}
}

func shift(x, y float64) transform { return transform{1, 0, 0, 1, x, y} }

// readPage hands the characters of a page to the flow. It panics where the library does.
func readPage(page pdf.Page, f *flow) {
	if page.V.Key("Contents").Kind() == pdf.Null {
		return
	}
	r := &pageReader{flow: f, state: drawState{matrix: shift(0, 0), text: shift(0, 0), line: shift(0, 0), wide: 1}}
	r.run(page.V.Key("Contents"), page.Resources(), 0)
}

func (r *pageReader) run(program, resources pdf.Value, depth int) {
	outer := r.fonts
	r.fonts = map[string]*pageFont{}
	saved := len(r.saved)
	pdf.Interpret(program, func(stack *pdf.Stack, operator string) {
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		if r.flow.out.Len() > maxPageRunes {
			return
		}
		if operator == "Do" && len(args) == 1 {
			r.drawForm(resources.Key("XObject").Key(args[0].Name()), resources, depth)
			return
		}
		r.execute(operator, args, resources)
	})
	r.saved = r.saved[:min(saved, len(r.saved))]
	r.fonts = outer
}

// drawForm runs a part that stands by itself.
func (r *pageReader) drawForm(form, resources pdf.Value, depth int) {
	if r.forms++; form.Key("Subtype").Name() != "Form" || depth >= maxFormDepth || r.forms > maxForms {
		return
	}
	if own := form.Key("Resources"); own.Kind() == pdf.Dict {
		resources = own
	}
	before := r.state
	if m, ok := toTransform(form.Key("Matrix")); ok {
		r.state.matrix = m.after(r.state.matrix)
	}
	r.run(form, resources, depth+1)
	r.state = before
}

func toTransform(v pdf.Value) (transform, bool) {
	if v.Kind() != pdf.Array || v.Len() != 6 {
		return transform{}, false
	}
	n := func(i int) float64 { return v.Index(i).Float64() }
	return transform{n(0), n(1), n(2), n(3), n(4), n(5)}, true
}

func (r *pageReader) execute(operator string, args []pdf.Value, resources pdf.Value) {
	s := &r.state
	number := func(i int) float64 {
		if i >= len(args) {
			return 0
		}
		return args[i].Float64()
	}
	all := transform{number(0), number(1), number(2), number(3), number(4), number(5)}
	switch operator {
	case "q":
		if len(r.saved) < maxSaved {
			r.saved = append(r.saved, *s)
		}
	case "Q":
		if n := len(r.saved); n > 0 {
			*s, r.saved = r.saved[n-1], r.saved[:n-1]
		}
	case "cm":
		s.matrix = all.after(s.matrix)
	case "BT":
		s.text, s.line = shift(0, 0), shift(0, 0)
	case "Tf":
		if len(args) == 2 {
			s.font, s.size = r.font(args[0].Name(), resources), number(1)
		}
	case "Tm":
		s.text, s.line = all, all
	case "TD":
		s.leading = -number(1)
		r.moveLine(number(0), number(1))
	case "Td":
		r.moveLine(number(0), number(1))
	case "T*":
		r.moveLine(0, -s.leading)
	case "TL":
		s.leading = number(0)
	case "Tc":
		s.charSpacing = number(0)
	case "Tw":
		s.wordSpacing = number(0)
	case "Tz":
		s.wide = number(0) / 100
	case "Ts":
		s.rise = number(0)
	case `"`:
		s.wordSpacing, s.charSpacing = number(0), number(1)
		r.moveLine(0, -s.leading)
		r.show(args[min(2, len(args)):])
	case "'":
		r.moveLine(0, -s.leading)
		r.show(args)
	case "Tj":
		r.show(args)
	case "TJ":
		if len(args) == 1 {
			r.showSpaced(args[0])
		}
	}
}

func (r *pageReader) moveLine(x, y float64) {
	r.state.line = shift(x, y).after(r.state.line)
	r.state.text = r.state.line
}

// showSpaced shows texts between which numbers move the place.
func (r *pageReader) showSpaced(list pdf.Value) {
	for i := range list.Len() {
		v := list.Index(i)
		if v.Kind() == pdf.String {
			r.show([]pdf.Value{v})
			continue
		}
		r.state.text = shift(-v.Float64()/1000*r.state.size*r.state.wide, 0).after(r.state.text)
	}
}

func (r *pageReader) show(args []pdf.Value) {
	s := &r.state
	if len(args) != 1 || s.font == nil {
		return
	}
	for code := range s.font.codes(args[0].RawString()) {
		text, width, known := s.font.character(code)
		place := transform{s.size * s.wide, 0, 0, s.size, 0, s.rise}.after(s.text).after(s.matrix)
		if !known {
			width = 0
		}
		r.flow.put(pdf.Text{FontSize: place.a, X: place.e, Y: place.f, W: width / 1000 * place.a, S: text})
		advance := width/1000*s.size + s.charSpacing
		if code == " " {
			advance += s.wordSpacing
		}
		s.text = shift(advance*s.wide, 0).after(s.text)
	}
}

func (r *pageReader) font(name string, resources pdf.Value) *pageFont {
	if f := r.fonts[name]; f != nil {
		return f
	}
	f := newPageFont(resources.Key("Font").Key(name))
	r.fonts[name] = f
	return f
}

// cleanCharacter leaves out what stands for no character.
func cleanCharacter(text string) string {
	return strings.Map(func(r rune) rune {
		if r == 0 || r == '\uFFFD' {
			return -1
		}
		return r
	}, text)
}
