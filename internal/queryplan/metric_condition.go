package queryplan

import (
	"encoding/json"
	"strings"
)

// conditions reads conditions that must all hold.
func (p *metricParser) conditions(depth int) []Filter {
	f := p.anyOf(depth)
	if len(f.All) > 0 {
		return f.All
	}
	return []Filter{f}
}

func (p *metricParser) anyOf(depth int) Filter {
	if depth > maxMetricDepth {
		p.fail(p.peek(), "its conditions are nested deeper than %d", maxMetricDepth)
	}
	list := []Filter{p.allOf(depth)}
	for p.accept("or") {
		list = append(list, p.allOf(depth))
	}
	if len(list) == 1 {
		return list[0]
	}
	return Filter{Any: list}
}

func (p *metricParser) allOf(depth int) Filter {
	list := []Filter{p.condition(depth)}
	for p.accept("and") {
		list = append(list, p.condition(depth))
	}
	if len(list) == 1 {
		return list[0]
	}
	return Filter{All: list}
}

func (p *metricParser) condition(depth int) Filter {
	if p.accept("not") {
		f := p.condition(depth + 1)
		return Filter{Not: &f}
	}
	if start := p.next; p.accept("(") {
		if f, ok := p.inBrackets(depth + 1); ok {
			return f
		}
		p.next = start // it was arithmetic
	}
	left := p.sum(depth + 1)
	not := p.accept("not")
	f := Filter{Expr: left}
	switch {
	case p.accept("in", "("):
		f.Operator = In
		values := []any{p.literal()}
		for p.accept(",") {
			values = append(values, p.literal())
		}
		p.expect(")")
		f.Value = Literal(values)
	case p.accept("between"):
		f.Operator = Between
		low := p.literal()
		p.expect("and")
		f.Value = Literal([]any{low, p.literal()})
	case p.accept("like"):
		f.Operator, f.Value = Like, Literal(p.literal())
	case not:
		p.fail(p.peek(), "%q is not expected after NOT, but IN, BETWEEN or LIKE", p.peek().text)
	case p.accept("is", "not", "null"):
		f.Operator = IsNotNull
	case p.accept("is", "null"):
		f.Operator = IsNull
	default:
		return p.comparison(f, depth)
	}
	if not {
		f.Operator = map[Operator]Operator{In: NotIn, Between: NotBetween, Like: NotLike}[f.Operator]
	}
	return f
}

// inBrackets reads a condition whose bracket is open; false where the bracket holds a value.
func (p *metricParser) inBrackets(depth int) (f Filter, ok bool) {
	defer func() {
		if _, failed := recover().(*MetricError); failed {
			ok = false
		}
	}()
	f = p.anyOf(depth)
	p.expect(")")
	return f, true
}

func (p *metricParser) comparison(f Filter, depth int) Filter {
	for _, op := range []struct {
		sign string
		op   Operator
	}{{"=", Eq}, {"<>", Ne}, {"!=", Ne}, {"<=", Le}, {">=", Ge}, {"<", Lt}, {">", Gt}} {
		if !p.accept(op.sign) {
			continue
		}
		f.Operator = op.op
		if t := p.peek(); t.kind == nameToken && !isTruth(t) || t.text == "(" {
			other := p.sum(depth + 1)
			f.Other = &other
			return f
		}
		f.Value = Literal(p.literal())
		return f
	}
	if f.plain() { // a column of yes and no
		f.Operator, f.Value = Eq, Literal(true)
		return f
	}
	p.fail(p.peek(), "%q is not expected here, but a comparison", p.peek().text)
	return f
}

func isTruth(t metricToken) bool {
	return !t.quoted && (strings.EqualFold(t.text, "true") || strings.EqualFold(t.text, "false"))
}

func (p *metricParser) literal() any {
	switch t := p.take(); {
	case t.kind == numberToken:
		return json.Number(t.text)
	case t.text == "-" && p.peek().kind == numberToken:
		return json.Number("-" + p.take().text)
	case t.kind == textToken:
		return t.text
	case t.kind == nameToken && isTruth(t):
		return strings.EqualFold(t.text, "true")
	case t.kind == nameToken && strings.EqualFold(t.text, "date") && p.peek().kind == textToken:
		return p.take().text
	default:
		p.fail(t, "%q is not expected here, but a text, a number or a truth value", t.text)
	}
	return nil
}

// tokenise splits the expression. Names with dots are one token, as plans write columns.
func (p *metricParser) tokenise() {
	text := p.text
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '\'':
			body, end := p.quoted(i, '\'')
			p.tokens = append(p.tokens, metricToken{textToken, body, i, true})
			i = end
		case c >= '0' && c <= '9':
			end := i
			for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.') {
				end++
			}
			if number := text[i:end]; !json.Valid([]byte(number)) {
				p.fail(metricToken{at: i}, "%q is no number", number)
			}
			p.tokens = append(p.tokens, metricToken{numberToken, text[i:end], i, false})
			i = end
		case c == '"' || c == '`' || isNameByte(c):
			i = p.name(i)
		default:
			end := i + 1
			if two := text[i:min(i+2, len(text))]; two == "<=" || two == ">=" || two == "<>" || two == "!=" {
				end = i + 2
			} else if !strings.ContainsRune("()+-*/,=<>", rune(c)) {
				p.fail(metricToken{at: i}, "%q is not understood", text[i:i+1])
			}
			p.tokens = append(p.tokens, metricToken{signToken, text[i:end], i, false})
			i = end
		}
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// name reads a name with its dots; of three parts and more the last two count.
func (p *metricParser) name(start int) int {
	var parts []string
	quoted, i := false, start
	for {
		begin := i
		if i < len(p.text) && (p.text[i] == '"' || p.text[i] == '`') {
			var part string
			part, i = p.quoted(i, p.text[i])
			parts, quoted = append(parts, part), true
		} else {
			for i < len(p.text) && isNameByte(p.text[i]) {
				i++
			}
			parts = append(parts, p.text[begin:i])
		}
		if parts[len(parts)-1] == "" {
			p.fail(metricToken{at: begin}, "a name is empty")
		}
		if i >= len(p.text) || p.text[i] != '.' {
			break
		}
		i++
	}
	if n := len(parts); n > 2 {
		parts = parts[n-2:]
	}
	p.tokens = append(p.tokens, metricToken{nameToken, strings.Join(parts, "."), start, quoted || len(parts) > 1})
	return i
}

// quoted reads what stands between two marks; a mark inside is written twice.
func (p *metricParser) quoted(start int, mark byte) (string, int) {
	var b strings.Builder
	for i := start + 1; i < len(p.text); i++ {
		if p.text[i] != mark {
			b.WriteByte(p.text[i])
			continue
		}
		if i+1 < len(p.text) && p.text[i+1] == mark {
			b.WriteByte(mark)
			i++
			continue
		}
		return b.String(), i + 1
	}
	p.fail(metricToken{at: start}, "what begins here with %c does not end", mark)
	return "", len(p.text)
}
