package queryplan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Bounds of a metric's expression.
const (
	maxMetricBytes = 4000
	maxMetricDepth = 20
)

// MetricForms says what the expression of a metric may be.
const MetricForms = "sum, avg, min, max, median, count and count(distinct) of a column or of arithmetic, each with FILTER (WHERE ...) or CASE WHEN ... THEN ... END inside, and arithmetic of these"

// A MetricError says where an expression is no metric, and why.
type MetricError struct {
	At      int // byte
	Message string
}

func (e *MetricError) Error() string { return e.Message }

// ParseMetric reads the expression of a metric, in the part of ANSI SQL that MetricForms
// names. The error is a *MetricError.
func ParseMetric(text string) (Expr, error) { return parseExpression(text, true) }

// ParseField reads the expression of a field: a column or arithmetic of columns.
func ParseField(text string) (Expr, error) { return parseExpression(text, false) }

func parseExpression(text string, metric bool) (e Expr, err error) {
	if len(text) > maxMetricBytes {
		return Expr{}, &MetricError{0, fmt.Sprintf("it is longer than %d bytes", maxMetricBytes)}
	}
	p := &metricParser{text: text}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *MetricError:
			e, err = Expr{}, r
		default:
			panic(r)
		}
	}()
	p.tokenise()
	e = p.sum(0)
	if t := p.peek(); t.kind != endToken {
		p.fail(t, "%q is not expected here", t.text)
	}
	switch {
	case metric && !e.Aggregate():
		p.fail(metricToken{}, "it is a value of one row")
	case metric && p.bare.text != "":
		p.fail(p.bare, "%s stands outside of sum, avg, min, max or count", p.bare.text)
	case !metric && e.Aggregate():
		p.fail(metricToken{}, "it is a number of many rows; that is a metric, not a field")
	}
	return e, nil
}

type tokenKind int

const (
	endToken tokenKind = iota
	nameToken
	numberToken
	textToken
	signToken
)

type metricToken struct {
	kind   tokenKind
	text   string
	at     int
	quoted bool
}

// A metricParser reads an expression by recursive descent. Errors are panics that ParseMetric
// catches.
type metricParser struct {
	text   string
	tokens []metricToken
	next   int
	inside int         // aggregates that are open
	bare   metricToken // the first column outside of any
}

func (p *metricParser) fail(t metricToken, format string, args ...any) {
	panic(&MetricError{t.at, fmt.Sprintf(format, args...)})
}

func (p *metricParser) peek() metricToken {
	if p.next < len(p.tokens) {
		return p.tokens[p.next]
	}
	return metricToken{kind: endToken, text: "the end", at: len(p.text)}
}

func (p *metricParser) take() metricToken {
	t := p.peek()
	p.next++
	return t
}

// accept takes the next tokens if they are these words or signs.
func (p *metricParser) accept(words ...string) bool {
	for i, w := range words {
		if p.next+i >= len(p.tokens) {
			return false
		}
		if t := p.tokens[p.next+i]; t.quoted || t.kind != nameToken && t.kind != signToken || !strings.EqualFold(t.text, w) {
			return false
		}
	}
	p.next += len(words)
	return true
}

func (p *metricParser) expect(word string) {
	if !p.accept(word) {
		t := p.peek()
		p.fail(t, "%q is not expected here, but %s", t.text, word)
	}
}

func (p *metricParser) sum(depth int) Expr {
	return p.arithmetic(depth, p.product, Add, Subtract)
}

func (p *metricParser) product(depth int) Expr {
	return p.arithmetic(depth, p.factor, Multiply, Divide)
}

// arithmetic reads values that the operators join, from left to right.
func (p *metricParser) arithmetic(depth int, operand func(int) Expr, operators ...MathOperator) Expr {
	left := operand(depth)
	for {
		i := slices.IndexFunc(operators, func(o MathOperator) bool { return p.accept(string(o)) })
		if i < 0 {
			return left
		}
		right := operand(depth)
		left = Expr{Math: &Math{Operator: operators[i], Left: left, Right: right}}
	}
}

func (p *metricParser) factor(depth int) Expr {
	if depth > maxMetricDepth {
		p.fail(p.peek(), "it is nested deeper than %d", maxMetricDepth)
	}
	switch t := p.take(); {
	case t.kind == numberToken:
		return Expr{Literal: json.RawMessage(t.text)}
	case t.kind == signToken && t.text == "-" && p.peek().kind == numberToken:
		return Expr{Literal: json.RawMessage("-" + p.take().text)}
	case t.kind == signToken && t.text == "(":
		e := p.sum(depth + 1)
		p.expect(")")
		return e
	case t.kind == nameToken && !t.quoted && p.accept("("):
		return p.call(t, depth+1)
	case t.kind == nameToken:
		if p.inside == 0 && p.bare.text == "" {
			p.bare = t
		}
		return Expr{Column: t.text}
	default:
		p.fail(t, "%q is not expected here", t.text)
	}
	return Expr{}
}

var metricFunctions = map[string]Function{"sum": Sum, "avg": Avg, "min": Min, "max": Max, "median": Median, "count": Count, "stddev": StdDev}

// call reads a function whose bracket is open.
func (p *metricParser) call(name metricToken, depth int) Expr {
	word := strings.ToLower(name.text)
	if f, ok := metricFunctions[word]; ok {
		return p.aggregate(name, f, depth)
	}
	switch word {
	case "nullif":
		e := p.sum(depth)
		p.expect(",")
		if t := p.take(); t.text != "0" {
			p.fail(t, "nullif is understood with 0 only")
		}
		p.expect(")")
		return e // a division by zero gives nothing anyway
	case "round", "abs":
		of := p.sum(depth)
		if word == "round" {
			p.expect(",")
			if t := p.take(); t.text != "2" {
				p.fail(t, "round is understood with 2 digits only")
			}
		}
		p.expect(")")
		return Expr{Of: &of, Function: Function(word)}
	case "datediff", "date_diff":
		unit := p.take()
		if !slices.Contains(units, Unit(strings.ToLower(unit.text))) {
			p.fail(unit, "%q is no unit of the calendar; use one of %s", unit.text, list(units))
		}
		p.expect(",")
		from := p.sum(depth)
		p.expect(",")
		to := p.sum(depth)
		p.expect(")")
		return Expr{Math: &Math{Operator: DateDiff, Left: from, Right: to, Unit: Unit(strings.ToLower(unit.text))}}
	}
	p.fail(name, "the function %s is not supported", name.text)
	return Expr{}
}

// aggregate reads what an aggregate condenses: all rows, a value, or a value of some rows.
func (p *metricParser) aggregate(name metricToken, f Function, depth int) Expr {
	if p.inside > 0 {
		p.fail(name, "%s stands inside of another aggregate", name.text)
	}
	p.inside++
	if p.accept("distinct") {
		if f != Count {
			p.fail(name, "DISTINCT is understood in COUNT only")
		}
		f = CountDistinct
	}
	var e Expr
	switch {
	case f == Count && p.accept("*"):
	case p.accept("case"):
		e = p.caseValue(name, f, depth)
	default:
		e = p.sum(depth)
	}
	where := e.Where
	e.Where = nil
	switch {
	case e.Literal != nil && (f == Count || f == Sum && string(e.Literal) == "1"):
		e, f = Expr{}, Count // of rows
	case e.Math != nil || e.Function != "":
		inner := e
		e = Expr{Of: &inner}
	}
	p.expect(")")
	if p.accept("filter", "(", "where") {
		where = append(where, p.conditions(depth)...)
		p.expect(")")
	}
	p.inside--
	e.Function, e.Where = f, where
	return e
}

// caseValue reads CASE WHEN condition THEN value END; its condition is the Where of the value.
func (p *metricParser) caseValue(name metricToken, f Function, depth int) Expr {
	p.expect("when")
	where := p.conditions(depth)
	p.expect("then")
	e := p.sum(depth)
	if p.accept("else") {
		if t := p.take(); !strings.EqualFold(t.text, "null") && (f != Sum || t.text != "0") {
			p.fail(t, "ELSE %s inside of %s is not supported: leave it out, or put the condition into FILTER (WHERE ...)", t.text, name.text)
		}
	}
	p.expect("end")
	e.Where = where
	return e
}
