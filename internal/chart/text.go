package chart

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// fontFamily is what pictures are set in. The fonts have the same widths, so that the
// layout holds whichever is there.
const fontFamily = "'Liberation Sans', Arial, Helvetica, sans-serif"

// A face measures text in one font. It is safe for concurrent use.
type face struct {
	font *sfnt.Font

	mu     sync.Mutex
	buf    sfnt.Buffer
	widths map[rune]float64 // in thousandths of the size
}

func loadFace(ttf []byte) func() *face {
	return sync.OnceValue(func() *face {
		f, err := sfnt.Parse(ttf)
		if err != nil {
			panic("chart: the built-in font cannot be read: " + err.Error())
		}
		return &face{font: f, widths: map[rune]float64{}}
	})
}

var (
	regularFace = loadFace(liberationsansregular.TTF)
	boldFace    = loadFace(liberationsansbold.TTF)
)

// maxRemembered bounds the widths that a face remembers.
const maxRemembered = 4096

func (f *face) runeWidth(r rune) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w, ok := f.widths[r]; ok {
		return w
	}
	const unit = 1000
	w := 600.0
	if i, err := f.font.GlyphIndex(&f.buf, r); err == nil && i != 0 {
		if advance, err := f.font.GlyphAdvance(&f.buf, i, fixed.I(unit), font.HintingNone); err == nil {
			w = float64(advance) / 64
		}
	} else if r >= 0x1100 { // a glyph of another font, as wide as it is high
		w = unit
	}
	if len(f.widths) >= maxRemembered {
		clear(f.widths)
	}
	f.widths[r] = w
	return w
}

// fallbackWidth leaves room for a wider font, where a viewer has none of the family.
const fallbackWidth = 1.1

func faceOf(bold bool) *face {
	if bold {
		return boldFace()
	}
	return regularFace()
}

// textWidth is the width of a text in the units of its size.
func textWidth(text string, size float64, bold bool) float64 {
	f := faceOf(bold)
	w := 0.0
	for _, r := range text {
		w += f.runeWidth(r)
	}
	return w * size / 1000 * fallbackWidth
}

// truncate cuts a text to a width and marks the cut. It measures each character once and
// none behind the width, because texts of data can be of any length.
func truncate(text string, size, width float64, bold bool) string {
	const mark = "…"
	f := faceOf(bold)
	markWidth := f.runeWidth('…')
	sum, end := 0.0, 0 // end is behind the last character that leaves room for the mark
	for i, r := range text {
		sum += f.runeWidth(r)
		if sum*size/1000*fallbackWidth > width {
			return strings.TrimRight(text[:end], " ") + mark
		}
		if r != ' ' && (sum+markWidth)*size/1000*fallbackWidth <= width {
			_, length := utf8.DecodeRuneInString(text[i:])
			end = i + length
		}
	}
	return text
}

// wrap breaks a text into at most so many lines of a width; a word that is longer than a
// line is cut, and so is what remains for the last.
func wrap(text string, size, width float64, bold bool, lines int) []string {
	var out []string
	line := ""
	words := strings.Fields(text)
	for i, word := range words {
		next := strings.TrimSpace(line + " " + word)
		if line == "" || textWidth(next, size, bold) <= width {
			line = next
			continue
		}
		if len(out) == lines-1 {
			line += " " + strings.Join(words[i:], " ")
			break
		}
		out, line = append(out, truncate(line, size, width, bold)), word
	}
	if line != "" {
		out = append(out, truncate(line, size, width, bold))
	}
	return out
}
