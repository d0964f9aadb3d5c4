package report

import (
	"html"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// images lists what the images inside a node show, however deep they stand in emphasis,
// links and cells.
func (r *reader) images(parent ast.Node) ([]block, error) {
	var out []block
	err := ast.Walk(parent, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		image, ok := n.(*ast.Image)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		b, err := r.show(image)
		if err != nil {
			return ast.WalkStop, err
		}
		out = append(out, b)
		return ast.WalkSkipChildren, nil // an image in a caption is text
	})
	return out, err
}

// showImages adds what the images inside a node show behind it.
func (r *reader) showImages(n ast.Node) error {
	shown, err := r.images(n)
	r.blocks = append(r.blocks, shown...)
	return err
}

var entity = regexp.MustCompile(`^&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)

// plain undoes Markdown's escapes of punctuation in a piece of the source and, outside of
// code, decodes entities.
func (r *reader) plain(from, to int, isCode bool) string {
	text := r.source[from:to]
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", text[i+1]) >= 0 {
			i++
		} else if text[i] == '&' && !isCode {
			if found := entity.Find(text[i:]); found != nil {
				b.WriteString(r.decodeEntity(from+i, from+i+len(found)))
				i += len(found) - 1
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// decodeEntity decodes an entity of the source. Origins are looked up for the figures of
// the source, so one that would make another figure of them stays as it is written: a
// digit, a character that is not seen, a sign or letter that touches a digit, and a blank
// between two digits.
func (r *reader) decodeEntity(from, to int) string {
	written := string(r.source[from:to])
	decoded := html.UnescapeString(written)
	isDigit := func(i int) bool { return i >= 0 && i < len(r.source) && '0' <= r.source[i] && r.source[i] <= '9' }
	before, after := isDigit(from-1), isDigit(to)
	for _, c := range decoded {
		isBlank := unicode.Is(unicode.Zs, c)
		switch {
		case !unicode.IsGraphic(c), unicode.IsNumber(c), isBlank && before && after, !isBlank && (before || after):
			return written
		}
	}
	if strings.HasSuffix(decoded, ";") && decoded != ";" { // no entity, or one without its end
		return written
	}
	return decoded
}
