package sqlpolicy

import (
	"errors"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A node is one value of the engine's JSON. The general decoder would take longer
// than the engine's parser; this one shares the text and refuses what the engine
// never writes: doubled keys, depth without end, anything after the value.
type node struct {
	kind byte    // n t f 0 " [ {
	text string  // of a string, unescaped; of a number, as written
	kids []field // of an object, or of an array, then without keys
}

type field struct {
	key   string
	value node
}

var errTree = errors.New("the engine's answer is not the JSON it should be")

const maxJSONDepth = 2000

type decoder struct {
	text  string
	at    int
	depth int
	stack []field // kids in the making
	slab  []field // kids that are made, in one piece
}

func decode(text string) (*node, error) {
	if !utf8.ValidString(text) {
		return nil, errTree
	}
	d := decoder{text: text, stack: make([]field, 0, 64), slab: make([]field, 0, strings.Count(text, ",")+8)}
	n, ok := d.value()
	d.space()
	if !ok || d.at != len(d.text) {
		return nil, errTree
	}
	return &n, nil
}

func (d *decoder) space() {
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case ' ', '\n', '\t', '\r':
			d.at++
		default:
			return
		}
	}
}

func (d *decoder) byte(c byte) bool {
	d.space()
	if d.at < len(d.text) && d.text[d.at] == c {
		d.at++
		return true
	}
	return false
}

func (d *decoder) word(w string, kind byte) (node, bool) {
	if !strings.HasPrefix(d.text[d.at:], w) {
		return node{}, false
	}
	d.at += len(w)
	return node{kind: kind}, true
}

func (d *decoder) value() (node, bool) {
	d.space()
	if d.at >= len(d.text) {
		return node{}, false
	}
	switch c := d.text[d.at]; c {
	case 'n':
		return d.word("null", 'n')
	case 't':
		return d.word("true", 't')
	case 'f':
		return d.word("false", 'f')
	case '"':
		s, ok := d.string()
		return node{kind: '"', text: s}, ok
	case '[', '{':
		if d.depth++; d.depth > maxJSONDepth {
			return node{}, false
		}
		d.at++
		var n node
		var ok bool
		if c == '[' {
			n, ok = d.array()
		} else {
			n, ok = d.object()
		}
		d.depth--
		return n, ok
	}
	return d.number()
}

func (d *decoder) array() (node, bool) {
	base := len(d.stack)
	for first := true; !d.byte(']'); first = false {
		if !first && !d.byte(',') {
			return node{}, false
		}
		v, ok := d.value()
		if !ok {
			return node{}, false
		}
		d.stack = append(d.stack, field{value: v})
	}
	return d.storeKids('[', base), true
}

func (d *decoder) object() (node, bool) {
	base := len(d.stack)
	for first := true; !d.byte('}'); first = false {
		if !first && !d.byte(',') {
			return node{}, false
		}
		if d.space(); d.at >= len(d.text) || d.text[d.at] != '"' {
			return node{}, false
		}
		key, ok := d.string()
		if !ok || !d.byte(':') {
			return node{}, false
		}
		for i := range d.stack[base:] {
			if d.stack[base+i].key == key {
				return node{}, false
			}
		}
		v, ok := d.value()
		if !ok {
			return node{}, false
		}
		d.stack = append(d.stack, field{key, v})
	}
	return d.storeKids('{', base), true
}

// storeKids moves the kids above base from the stack to the slab. A full slab is left as
// it is and a new one begun, because earlier nodes point into it.
func (d *decoder) storeKids(kind byte, base int) node {
	kids := d.stack[base:]
	if len(d.slab)+len(kids) > cap(d.slab) {
		d.slab = make([]field, 0, max(64, len(kids)))
	}
	n := len(d.slab)
	d.slab = append(d.slab, kids...)
	d.stack = d.stack[:base]
	return node{kind: kind, kids: d.slab[n:len(d.slab):len(d.slab)]}
}

// number also takes the engine's Infinity and NaN, which JSON does not have.
func (d *decoder) number() (node, bool) {
	start := d.at
	for d.at < len(d.text) && strings.IndexByte("+-.0123456789eEInfityNa", d.text[d.at]) >= 0 {
		d.at++
	}
	s := d.text[start:d.at]
	if isWhole(s) {
		return node{kind: '0', text: s}, true
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
		return node{}, false
	}
	return node{kind: '0', text: s}, true
}

// isWhole says that a number is whole, as nearly all of the engine's are.
func isWhole(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && (s[0] != '0' || len(s) == 1)
}

func (d *decoder) string() (string, bool) {
	d.at++
	start := d.at
	for d.at < len(d.text) {
		switch c := d.text[d.at]; {
		case c == '"':
			s := d.text[start:d.at]
			d.at++
			return s, true
		case c == '\\':
			return d.escaped(start)
		case c < 0x20:
			return "", false
		}
		d.at++
	}
	return "", false
}

// escaped goes on with a string at its first backslash.
func (d *decoder) escaped(start int) (string, bool) {
	b := []byte(d.text[start:d.at])
	for d.at < len(d.text) {
		c := d.text[d.at]
		d.at++
		switch {
		case c == '"':
			return string(b), true
		case c < 0x20:
			return "", false
		case c != '\\':
			b = append(b, c)
			continue
		}
		if d.at >= len(d.text) {
			return "", false
		}
		c = d.text[d.at]
		d.at++
		if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
			b = append(b, "\"\\/\b\f\n\r\t"[i])
			continue
		}
		r, ok := rune(0), c == 'u'
		if ok {
			r, ok = d.hex4()
		}
		if !ok {
			return "", false
		}
		if r >= 0xD800 && r < 0xE000 {
			if r >= 0xDC00 || !strings.HasPrefix(d.text[d.at:], `\u`) {
				return "", false
			}
			d.at += 2
			low, ok := d.hex4()
			if !ok || low < 0xDC00 || low >= 0xE000 {
				return "", false
			}
			r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
		}
		b = utf8.AppendRune(b, r)
	}
	return "", false
}

func (d *decoder) hex4() (rune, bool) {
	if d.at+4 > len(d.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(d.text[d.at:d.at+4], 16, 16)
	d.at += 4
	return rune(n), err == nil
}

// get gives a field; a missing one is null.
func (n *node) get(key string) *node {
	if n.kind == '{' {
		for i := range n.kids {
			if n.kids[i].key == key {
				return &n.kids[i].value
			}
		}
	}
	return &nothing
}

var nothing = node{kind: 'n'}

// members goes through the fields of an object.
func (n *node) members() iter.Seq[*field] {
	return func(yield func(*field) bool) {
		if n.kind != '{' {
			return
		}
		for i := range n.kids {
			if !yield(&n.kids[i]) {
				return
			}
		}
	}
}

// elements goes through the items of an array.
func (n *node) elements() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		if n.kind != '[' {
			return
		}
		for i := range n.kids {
			if !yield(&n.kids[i].value) {
				return
			}
		}
	}
}

// str gives a field that is a string.
func (n *node) str(key string) string {
	v := n.get(key)
	if v.kind != '"' {
		return ""
	}
	return v.text
}

func (n *node) isNull() bool { return n.kind == 'n' }

// location gives query_location: the byte in the text, or -1.
func (n *node) location() int {
	v, err := strconv.Atoi(n.get("query_location").text)
	if err != nil {
		return -1
	}
	return v
}
