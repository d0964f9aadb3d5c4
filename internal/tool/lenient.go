package tool

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"unicode/utf8"
)

// parseLenient reads arguments that are nearly JSON: with line breaks in a string, single
// quotes, a comma too many, comments, or Python's None, True and False. It takes only what
// has one meaning: a text that is cut off is none, and neither is a name without quotes. An
// object that stands there twice is one, and a closing bracket too many is left out.
func parseLenient(text string) (map[string]any, bool) {
	if !strings.HasPrefix(text, "{") { // code may begin with a comment
		return nil, false
	}
	p := &lenient{text: text}
	first, err := p.value(0)
	if err != nil {
		return nil, false
	}
	object, ok := first.(map[string]any)
	for p.skipSpace(); ok && p.at < len(p.text); p.skipSpace() {
		if c := p.text[p.at]; c == '}' || c == ']' {
			p.at++
			continue
		}
		again, err := p.value(0)
		if err != nil || !reflect.DeepEqual(first, again) {
			return nil, false
		}
	}
	return object, ok
}

// maxNesting bounds how deep values are nested.
const maxNesting = 100

var errNotLenient = errors.New("no JSON and nothing like it")

// A lenient is a reader of nearly JSON.
type lenient struct {
	text string
	at   int
}

// skipSpace skips white space and comments.
func (p *lenient) skipSpace() {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			p.at++
		case strings.HasPrefix(rest, "//"), rest[0] == '#':
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			p.at += end
		case strings.HasPrefix(rest, "/*") && strings.Contains(rest[2:], "*/"):
			p.at += 2 + strings.Index(rest[2:], "*/") + 2
		default:
			return
		}
	}
}

// next skips white space and takes a character if it is there.
func (p *lenient) next(c byte) bool {
	p.skipSpace()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *lenient) value(depth int) (any, error) {
	p.skipSpace()
	if p.at == len(p.text) || depth > maxNesting {
		return nil, errNotLenient
	}
	switch p.text[p.at] {
	case '{':
		return p.object(depth)
	case '[':
		p.at++
		list := []any{}
		for !p.next(']') {
			v, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			if list = append(list, v); !p.next(',') && !p.closes(']') {
				return nil, errNotLenient
			}
		}
		return list, nil
	case '"', '\'':
		return p.quoted()
	}
	return p.word()
}

func (p *lenient) object(depth int) (any, error) {
	p.at++
	object := map[string]any{}
	for !p.next('}') {
		p.skipSpace()
		name, err := p.quoted()
		if err != nil || !p.next(':') {
			return nil, errNotLenient
		}
		if _, twice := object[name]; twice {
			return nil, errNotLenient
		}
		if object[name], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		if !p.next(',') && !p.closes('}') {
			return nil, errNotLenient
		}
	}
	return object, nil
}

// closes reports whether a bracket comes next.
func (p *lenient) closes(c byte) bool {
	p.skipSpace()
	return p.at < len(p.text) && p.text[p.at] == c
}

// quoted reads a string in double or single quotes. Its text is that of JSON: the characters
// that JSON wants escaped are escaped here.
func (p *lenient) quoted() (string, error) {
	if p.at == len(p.text) || p.text[p.at] != '"' && p.text[p.at] != '\'' {
		return "", errNotLenient
	}
	quote := p.text[p.at]
	var b strings.Builder
	b.WriteByte('"')
	for p.at++; p.at < len(p.text); {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		raw := p.text[p.at : p.at+size]
		p.at += size
		switch {
		case raw[0] == quote:
			b.WriteByte('"')
			var s string
			if json.Unmarshal([]byte(b.String()), &s) != nil {
				return "", errNotLenient
			}
			return s, nil
		case r == '"':
			b.WriteString(`\"`)
		case r == '\\' && p.at < len(p.text):
			c := p.text[p.at]
			p.at++
			if c != '\'' { // which needs no escape in JSON
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		case r < ' ':
			escaped, err := json.Marshal(raw)
			if err != nil {
				return "", err
			}
			b.Write(escaped[1 : len(escaped)-1])
		default:
			b.WriteString(raw)
		}
	}
	return "", errNotLenient
}

// word reads a number, or a word of JSON or Python.
func (p *lenient) word() (any, error) {
	from := p.at
	for p.at < len(p.text) && !strings.ContainsRune(" \t\r\n,:]}/#", rune(p.text[p.at])) {
		p.at++
	}
	switch word := p.text[from:p.at]; word {
	case "None":
		return nil, nil
	case "True":
		return true, nil
	case "False":
		return false, nil
	default:
		var v any
		if word == "" || json.Unmarshal([]byte(word), &v) != nil {
			return nil, errNotLenient
		}
		return v, nil
	}
}
