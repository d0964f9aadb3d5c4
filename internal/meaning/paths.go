package meaning

import (
	"slices"

	"github.com/goccy/go-yaml/token"
)

// Bounds of paths. The parser keeps with every value its whole path, and so do places and
// findings: a long key around many values costs memory by their product.
const (
	maxKey       = 200      // bytes of one key
	maxPathBytes = 32 << 20 // of the paths of all tokens together
)

// A pathStep is a key, a list or a bracket around the token that is read.
type pathStep struct {
	kind   token.Type
	column int
	bytes  int
}

// A pathMeter measures the paths of tokens before anybody writes them.
type pathMeter struct {
	steps []pathStep
	now   int // bytes of the path here
	total int
}

// longPaths says what goes beyond the bounds of paths, and in which line; "" is nothing.
func longPaths(tokens token.Tokens) (string, int) {
	var m pathMeter
	var last *token.Token
	for _, t := range tokens {
		if t.Type == token.CommentType {
			continue
		}
		if t.Type == token.MappingValueType && last != nil && len(last.Value) > maxKey {
			return "it has a key that is too long", t.Position.Line
		}
		if t.Type == token.MappingKeyType {
			return "it has a key that is marked by ?, which is not read", t.Position.Line
		}
		m.read(t, last)
		if m.total += m.now; m.total > maxPathBytes {
			return "it has too many values under too long keys", t.Position.Line
		}
		if len(m.steps) > maxLevel {
			return "it nests too deep", t.Position.Line
		}
		last = t
	}
	return "", 0
}

// read goes from one token to the next. As in the parser, brackets nest, and outside of them columns.
func (m *pathMeter) read(t, last *token.Token) {
	const index = len("[50000]")
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		m.push(pathStep{t.Type, 0, index})
	case token.MappingEndType, token.SequenceEndType:
		m.leaveKeys()
		m.pop()
	case token.CollectEntryType:
		m.leaveKeys()
	case token.SequenceEntryType:
		m.leave(func(s pathStep) bool {
			return s.column > t.Position.Column || s.column == t.Position.Column && s.kind == token.SequenceEntryType
		})
		m.push(pathStep{t.Type, t.Position.Column, index})
	case token.MappingValueType:
		if last == nil {
			return
		}
		if slices.ContainsFunc(m.steps, isBracket) {
			m.leaveKeys()
		} else {
			m.leave(func(s pathStep) bool { return s.column >= last.Position.Column })
		}
		m.push(pathStep{t.Type, last.Position.Column, len(last.Value) + len(".''")})
	}
}

func isBracket(s pathStep) bool {
	return s.kind == token.MappingStartType || s.kind == token.SequenceStartType
}

func (m *pathMeter) push(s pathStep) {
	m.steps = append(m.steps, s)
	m.now += s.bytes
}

func (m *pathMeter) pop() {
	if n := len(m.steps); n > 0 {
		m.now -= m.steps[n-1].bytes
		m.steps = m.steps[:n-1]
	}
}

func (m *pathMeter) leave(over func(pathStep) bool) {
	for n := len(m.steps); n > 0 && over(m.steps[n-1]); n = len(m.steps) {
		m.pop()
	}
}

// leaveKeys goes back to the bracket around.
func (m *pathMeter) leaveKeys() { m.leave(func(s pathStep) bool { return !isBracket(s) }) }
