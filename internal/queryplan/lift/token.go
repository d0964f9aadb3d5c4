package lift

import (
	"slices"
	"strings"
)

type tokenKind uint8

const (
	endToken tokenKind = iota
	wordToken
	nameToken // in quotes
	textToken
	numberToken
	signToken
)

type token struct {
	kind tokenKind
	text string
}

// is says that a token is a keyword or a sign.
func (t token) is(text string) bool {
	return (t.kind == wordToken || t.kind == signToken) && strings.EqualFold(t.text, text)
}

// closing marks of names in quotes.
var nameMarks = map[byte]byte{'"': '"', '`': '`', '[': ']'}

var longSigns = []string{"<=", ">=", "<>", "!=", "==", "||", "::", "->"}

// tokenise cuts a statement; comments are left out.
func tokenise(s string) []token {
	var out []token
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case strings.HasPrefix(s[i:], "--"):
			line, _, _ := strings.Cut(s[i:], "\n")
			i += len(line)
		case strings.HasPrefix(s[i:], "/*"):
			body, _, found := strings.Cut(s[i:], "*/")
			if !found {
				refuse("a comment does not end")
			}
			i += len(body) + 2
		case c == '\'':
			text, end := quoted(s, i, '\'')
			out, i = append(out, token{textToken, text}), end
		case nameMarks[c] != 0:
			text, end := quoted(s, i, nameMarks[c])
			out, i = append(out, token{nameToken, text}), end
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
			end := i
			for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.') {
				end++
			}
			out, i = append(out, token{numberToken, s[i:end]}), end
		case isNameByte(c):
			end := i
			for end < len(s) && (isNameByte(s[end]) || s[end] >= '0' && s[end] <= '9' || s[end] == '$') {
				end++
			}
			out, i = append(out, token{wordToken, s[i:end]}), end
		default:
			end := i + 1
			if slices.ContainsFunc(longSigns, func(x string) bool { return strings.HasPrefix(s[i:], x) }) {
				end = i + 2
			}
			out, i = append(out, token{signToken, s[i:end]}), end
		}
	}
	for len(out) > 0 && out[len(out)-1].is(";") {
		out = out[:len(out)-1]
	}
	return out
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// quoted reads what stands up to a mark; a mark inside is written twice.
func quoted(s string, start int, mark byte) (string, int) {
	var b strings.Builder
	for i := start + 1; i < len(s); i++ {
		if s[i] != mark {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == mark {
			b.WriteByte(mark)
			i++
			continue
		}
		return b.String(), i + 1
	}
	refuse("a quote does not end")
	return "", 0
}
