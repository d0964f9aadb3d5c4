package document

import (
	"iter"

	"github.com/ledongthuc/pdf"
)

// A pageFont turns the codes of a text into characters and widths.
type pageFont struct {
	wide     bool // codes of two bytes
	encoding pdf.TextEncoding
	widths   map[int]float64 // thousandths of the size; nil where the font tells none
	usual    float64         // of codes that widths lacks
	known    map[string]string
}

// maxWidths bounds the widths of a font.
const maxWidths = 1 << 16

func newPageFont(v pdf.Value) *pageFont {
	font := pdf.Font{V: v}
	f := &pageFont{encoding: font.Encoder(), known: map[string]string{}, wide: v.Key("Subtype").Name() == "Type0"}
	if f.wide {
		below := v.Key("DescendantFonts").Index(0)
		f.usual = 1000
		if usual := below.Key("DW"); usual.Kind() == pdf.Integer || usual.Kind() == pdf.Real {
			f.usual = usual.Float64()
		}
		f.widths = wideWidths(below.Key("W"))
		return f
	}
	if list := v.Key("Widths"); list.Kind() == pdf.Array {
		f.widths = map[int]float64{}
		f.usual = v.Key("FontDescriptor").Key("MissingWidth").Float64()
		for i := range min(list.Len(), 256) {
			f.widths[font.FirstChar()+i] = list.Index(i).Float64()
		}
	}
	return f
}

// wideWidths reads the list of a font of two-byte codes: "first [width ...]" and "first last width".
func wideWidths(list pdf.Value) map[int]float64 {
	out := map[int]float64{}
	for i := 0; i+1 < list.Len() && len(out) < maxWidths; {
		first := int(list.Index(i).Int64())
		if some := list.Index(i + 1); some.Kind() == pdf.Array {
			for j := range min(some.Len(), maxWidths) {
				out[first+j] = some.Index(j).Float64()
			}
			i += 2
			continue
		}
		last := int(list.Index(i + 1).Int64())
		for code := first; code <= last && code-first < maxWidths; code++ {
			out[code] = list.Index(i + 2).Float64()
		}
		i += 3
	}
	return out
}

// codes gives the codes of a text.
func (f *pageFont) codes(raw string) iter.Seq[string] {
	return func(yield func(string) bool) {
		step := 1
		if f.wide {
			step = 2
		}
		for i := 0; i < len(raw); i += step {
			if !yield(raw[i:min(i+step, len(raw))]) {
				return
			}
		}
	}
}

// character is what a code stands for and its width, if the font tells it.
func (f *pageFont) character(code string) (text string, width float64, known bool) {
	text, seen := f.known[code]
	if !seen {
		text = cleanCharacter(f.encoding.Decode(code))
		f.known[code] = text
	}
	if f.widths == nil {
		return text, 0, false
	}
	number := 0
	for i := range len(code) {
		number = number<<8 | int(code[i])
	}
	if w, ok := f.widths[number]; ok {
		return text, w, true
	}
	return text, f.usual, true
}
