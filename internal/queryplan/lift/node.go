package lift

import "strings"

// A node is a value or a condition as it was written.
type node struct {
	op       operation
	text     string // of a literal, the name of a column or a function, a comparison
	quoted   bool   // of a column: one name in double quotes, which some engines read as a text
	args     []*node
	distinct bool
	filter   *node // FILTER (WHERE ...)
	window   bool
	sub      *selection
	not      bool
}

type operation uint8

const (
	opColumn operation = iota
	opStar
	opText
	opNumber
	opTruth
	opNull
	opCall
	opMath    // text: + - * / ||
	opCompare // text: = <> < <= > >=
	opAnd
	opOr
	opNot
	opIn // args[0] in the rest or in sub
	opBetween
	opLike // text: like, ilike, glob
	opIsNull
	opExists
	opSelect // a value from a selection
	opCase   // args: condition, value, ..., else; sub cases with a subject compare it
	opCast   // text: the type
)

// condition reads a value or a condition: OR binds least.
func (p *parser) condition() *node {
	defer p.enter()()
	left := p.allOf()
	for p.accept("or") {
		left = &node{op: opOr, args: []*node{left, p.allOf()}}
	}
	return left
}

func (p *parser) allOf() *node {
	left := p.negated()
	for p.accept("and") {
		left = &node{op: opAnd, args: []*node{left, p.negated()}}
	}
	return left
}

func (p *parser) negated() *node {
	if p.accept("not") {
		defer p.enter()()
		return &node{op: opNot, args: []*node{p.negated()}}
	}
	return p.comparison()
}

func (p *parser) comparison() *node {
	left := p.sum()
	for {
		not := false
		if p.peek().is("not") && (p.ahead(1).is("in") || p.ahead(1).is("between") || p.ahead(1).is("like") || p.ahead(1).is("ilike") || p.ahead(1).is("glob")) {
			not = true
			p.next++
		}
		switch t := p.peek(); {
		case p.accept("is"):
			n := &node{op: opIsNull, args: []*node{left}, not: p.accept("not")}
			if !p.accept("null") {
				truth := p.sum()
				n = &node{op: opCompare, text: "=", args: []*node{left, truth}, not: n.not}
			}
			left = n
		case p.accept("in", "("):
			n := &node{op: opIn, args: []*node{left}, not: not}
			if p.peek().is("select") || p.peek().is("with") {
				n.sub = p.statement()
			} else {
				n.args = append(n.args, p.list()...)
			}
			p.expect(")")
			left = n
		case p.accept("between"):
			low := p.sum()
			p.expect("and")
			left = &node{op: opBetween, args: []*node{left, low, p.sum()}, not: not}
		case t.is("like") || t.is("ilike") || t.is("glob"):
			p.next++
			left = &node{op: opLike, text: strings.ToLower(t.text), args: []*node{left, p.sum()}, not: not}
			if p.accept("escape") {
				p.take()
			}
		case t.kind == signToken && comparisons[t.text] != "":
			p.next++
			left = &node{op: opCompare, text: comparisons[t.text], args: []*node{left, p.sum()}}
		default:
			return left
		}
	}
}

var comparisons = map[string]string{"=": "=", "==": "=", "<>": "!=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

func (p *parser) sum() *node {
	left := p.product()
	for {
		switch t := p.peek(); {
		case t.is("+") || t.is("-") || t.is("||"):
			p.next++
			left = &node{op: opMath, text: t.text, args: []*node{left, p.product()}}
		default:
			return left
		}
	}
}

func (p *parser) product() *node {
	left := p.factor()
	for {
		switch t := p.peek(); {
		case t.is("*") || t.is("/") || t.is("%"):
			p.next++
			left = &node{op: opMath, text: t.text, args: []*node{left, p.factor()}}
		default:
			return left
		}
	}
}

func (p *parser) factor() *node {
	n := p.primary()
	for {
		switch {
		case p.accept("::"):
			n = &node{op: opCast, text: p.typeName(), args: []*node{n}}
		case p.accept("collate"):
			p.take()
		default:
			return n
		}
	}
}

// typeName reads a type with its size.
func (p *parser) typeName() string {
	words := []string{p.name()}
	for p.peek().kind == wordToken && wordSet("precision varying time zone with without unsigned signed")[strings.ToLower(p.peek().text)] {
		words = append(words, p.take().text)
	}
	if p.accept("(") {
		for !p.accept(")") {
			if p.take().kind == endToken {
				refuse("a type does not end")
			}
		}
	}
	return strings.ToLower(strings.Join(words, " "))
}

func (p *parser) primary() *node {
	t := p.take()
	switch {
	case t.kind == textToken:
		return &node{op: opText, text: t.text}
	case t.kind == numberToken:
		return &node{op: opNumber, text: t.text}
	case t.is("-"):
		n := p.factor()
		if n.op == opNumber {
			return &node{op: opNumber, text: "-" + n.text}
		}
		return &node{op: opMath, text: "-", args: []*node{{op: opNumber, text: "0"}, n}}
	case t.is("+"):
		return p.factor()
	case t.is("("):
		if p.peek().is("select") || p.peek().is("with") {
			s := p.statement()
			p.expect(")")
			return &node{op: opSelect, sub: s}
		}
		n := p.condition()
		p.expect(")")
		return n
	case t.is("exists") && p.accept("("):
		s := p.statement()
		p.expect(")")
		return &node{op: opExists, sub: s}
	case t.is("case"):
		return p.cases()
	case (t.is("cast") || t.is("try_cast")) && p.accept("("):
		n := p.condition()
		p.expect("as")
		name := p.typeName()
		p.expect(")")
		return &node{op: opCast, text: name, args: []*node{n}}
	case t.is("null"):
		return &node{op: opNull}
	case t.is("true") || t.is("false"):
		return &node{op: opTruth, text: strings.ToLower(t.text)}
	case (t.is("date") || t.is("timestamp")) && p.peek().kind == textToken:
		return &node{op: opText, text: p.take().text}
	case t.kind == wordToken && p.accept("("):
		return p.call(strings.ToLower(t.text))
	case t.kind == wordToken || t.kind == nameToken:
		if t.kind == wordToken && reservedWords[strings.ToLower(t.text)] {
			refuse("%q is not expected", t.text)
		}
		parts := []string{t.text}
		for p.accept(".") {
			if p.accept("*") {
				return &node{op: opStar, text: parts[len(parts)-1]}
			}
			parts = append(parts, p.name())
		}
		if len(parts) > 2 {
			parts = parts[len(parts)-2:]
		}
		return &node{op: opColumn, text: strings.Join(parts, "."), quoted: t.kind == nameToken && len(parts) == 1}
	}
	refuse("%q is not expected", t.text)
	return nil
}

var reservedWords = wordSet("select from where group order having limit join on union and or not in is between like interval")

// call reads a function whose bracket is open.
func (p *parser) call(name string) *node {
	n := &node{op: opCall, text: name}
	switch {
	case p.accept("*"):
		n.args = []*node{{op: opStar}}
	case p.peek().is(")"):
	case name == "extract":
		unit := p.take().text
		p.expect("from")
		n.args = []*node{{op: opText, text: unit}, p.condition()}
	default:
		n.distinct = p.accept("distinct")
		n.args = p.list()
		if p.peek().is("order") {
			refuse("an aggregate has an order")
		}
	}
	p.expect(")")
	if p.accept("filter", "(", "where") {
		n.filter = p.condition()
		p.expect(")")
	}
	if p.accept("over", "(") {
		if !p.accept(")") {
			refuse("a plan has no window of this kind")
		}
		n.window = true
	}
	return n
}

// cases reads CASE, whose word is taken.
func (p *parser) cases() *node {
	n := &node{op: opCase}
	var subject *node
	if !p.peek().is("when") {
		subject = p.condition()
	}
	for p.accept("when") {
		c := p.condition()
		if subject != nil {
			c = &node{op: opCompare, text: "=", args: []*node{subject, c}}
		}
		p.expect("then")
		n.args = append(n.args, c, p.condition())
	}
	if p.accept("else") {
		n.args = append(n.args, p.condition())
	}
	p.expect("end")
	return n
}
