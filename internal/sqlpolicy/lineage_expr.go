package sqlpolicy

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/schema"
)

// An exprReader reads expressions of one SELECT.
type exprReader struct {
	r     *lineageReader
	with  *withScope
	scope *fromScope
}

var (
	// counting functions say something about rows, whatever stands in their brackets.
	counting = names("count count_star count_if countif approx_count_distinct regr_count row_number rank dense_rank percent_rank cume_dist ntile")
	// adding functions add a value for each row.
	adding = names("sum sum_no_overflow fsum kahan_sum sumkahan product")
	// choosing functions give one of the values in their brackets, or all of them together.
	choosing = names("min max any_value first last first_value last_value arbitrary arg_min arg_max min_by max_by mode median coalesce ifnull greatest least if " +
		"list list_value array_agg list_extract array_extract element_at struct_pack struct_extract row unnest lag lead concat || abs round floor ceil ceiling trunc list_min list_max list_first list_last")
	summing    = names("+ - add subtract")
	scaling    = names("* / // % multiply divide mod fmod")
	arithmetic = names("+ - * / // % ^ ** | & << >> xor add subtract multiply divide mod pow power fmod")
	// lengths of time are no quantities: a day seven days later is a day.
	timeLengths = names("to_years to_months to_weeks to_days to_hours to_minutes to_seconds to_milliseconds to_microseconds to_quarters")
)

// list reads expressions and puts them together.
func (e exprReader) list(n *node) feed {
	var f feed
	for item := range n.elements() {
		f = f.merge(e.read(item))
	}
	return f
}

// read says what the value of an expression is made of.
func (e exprReader) read(n *node) feed {
	switch n.str("class") {
	case "CONSTANT":
		return numberFeed(n.get("value"))
	case "COLUMN_REF":
		if parts := columnParts(n); len(parts) > 0 {
			return e.scope.find(parts)
		}
	case "POSITIONAL_REFERENCE":
		return e.atPlace(n)
	case "STAR":
		return e.scope.all()
	case "CAST", "COLLATE":
		return e.read(n.get("child"))
	case "CASE":
		return e.cases(n)
	case "COMPARISON", "BETWEEN", "CONJUNCTION":
		return e.parts(n).decided()
	case "OPERATOR":
		return e.operator(n)
	case "FUNCTION", "WINDOW":
		return e.function(n)
	case "SUBQUERY":
		rows := e.r.statement(n.get("subquery"), e.with, e.scope)
		if n.str("subquery_type") == "SCALAR" {
			return rows.all()
		}
		return rows.all().merge(rows.rows, e.read(n.get("child"))).decided()
	case "LAMBDA":
		return e.read(n.get("expr"))
	}
	return feed{}
}

// parts reads the operands of a comparison or a conjunction.
func (e exprReader) parts(n *node) feed {
	f := e.list(n.get("children"))
	for _, key := range []string{"left", "right", "input", "lower", "upper"} {
		f = f.merge(e.read(n.get(key)))
	}
	return f
}

// atPlace reads #1: a column of FROM by its number.
func (e exprReader) atPlace(n *node) feed {
	place, err := strconv.Atoi(n.get("index").text)
	for _, src := range e.scope.sources {
		if err != nil || src.rest != nil {
			break
		}
		if place <= len(src.outputs) && place > 0 {
			return src.outputs[place-1].feed
		}
		place -= len(src.outputs)
	}
	return e.scope.all()
}

// cases reads CASE: one of the values, chosen by conditions.
func (e exprReader) cases(n *node) feed {
	f := e.read(n.get("else_expr"))
	for c := range n.get("case_checks").elements() {
		f = f.merge(e.read(c.get("then_expr")))
		f.chosen = unite(f.chosen, e.read(c.get("when_expr")).decided().reads, "")
	}
	return f
}

func (e exprReader) operator(n *node) feed {
	children := n.get("children")
	switch n.str("type") {
	case "OPERATOR_COALESCE", "ARRAY_CONSTRUCTOR", "OPERATOR_TRY", "OPERATOR_UNPACK":
		return e.list(children)
	case "OPERATOR_NULLIF", "ARRAY_EXTRACT", "ARRAY_SLICE", "STRUCT_EXTRACT", "ARROW":
		for first := range children.elements() {
			return e.read(first)
		}
	}
	return e.list(children).decided()
}

// function reads a call: an aggregate, a window or any other.
func (e exprReader) function(n *node) feed {
	name := fold(n.str("function_name"))
	if summing[name] {
		return e.sum(n, name)
	}
	f := e.arguments(n, name)
	chosen := e.read(n.get("filter")).merge(e.read(n.get("filter_expr"))).decided()
	f.chosen = unite(f.chosen, chosen.reads, "")
	switch {
	case counting[name]:
		rows := e.scope.rows()
		return feed{reads: unite(unite(rows.reads, f.reads, ""), f.chosen, ""), factors: rows.factors}
	case adding[name]:
		rows := e.scope.rows()
		f = f.computed(isCounter).merge(feed{reads: unite(rows.reads, f.chosen, ""), factors: rows.factors})
		return f
	case timeLengths[name]:
		return feed{reads: f.reads}
	case choosing[name]:
		return f
	case scaling[name]:
		return f.scaled()
	case arithmetic[name]:
		return f.computed(isNothing)
	}
	f = f.computed(isCounter)
	f.reads = unite(f.reads, f.chosen, "") // an average of what conditions chose says something about them
	return f
}

// sum reads a sum or a difference: what is added to data is no unit of it. A sign before a
// number belongs to it.
func (e exprReader) sum(n *node, name string) feed {
	var operands []feed
	for item := range n.get("children").elements() {
		operands = append(operands, e.read(item))
	}
	minus := name == "-" || name == "subtract"
	if len(operands) == 1 {
		f := operands[0]
		f.constants = slices.Clone(f.constants)
		for i, c := range f.constants {
			if minus {
				f.constants[i] = negate(c)
			}
		}
		return f
	}
	var f feed
	for i, o := range operands {
		if i == 0 && minus {
			f = f.merge(o.computed(isMinuend))
		} else {
			f = f.merge(o.computed(isNothing))
		}
	}
	return f
}

func negate(number string) string {
	if rest, ok := strings.CutPrefix(number, "-"); ok {
		return rest
	}
	return "-" + number
}

// scaled is a product or a quotient of this value. One of numbers alone keeps its units as
// they are: it may be added to something.
func (f feed) scaled() feed {
	out := f.computed(schema.ChangesUnit)
	if len(f.reads) > 0 {
		return out
	}
	for _, c := range f.constants {
		if holds(c, schema.ChangesUnit) {
			out.constants = unite(out.constants, []string{c}, manyNumbers)
		}
	}
	return out
}

// plainDigits is how many digits a number may have to be a setting of a function, such as
// the places of round.
const plainDigits = 3

// arguments reads what stands in the brackets of a call. Short numbers behind the first
// argument are settings, unless the function computes with them or chooses one.
func (e exprReader) arguments(n *node, name string) feed {
	settings := !arithmetic[name] && !choosing[name] || name == "round" || name == "trunc" || strings.HasSuffix(name, "_extract") || name == "element_at"
	if name == "lag" || name == "lead" {
		settings = true
	}
	var f feed
	i := 0
	for item := range n.get("children").elements() {
		inner := e
		if item.str("class") == "LAMBDA" {
			inner.scope = &fromScope{outer: e.scope, locals: lambdaParameters(item.get("lhs"), f)}
		}
		arg := inner.read(item)
		if settings && i > 0 && item.str("class") == "CONSTANT" && len(arg.constants) == 1 && digits(arg.constants[0]) <= plainDigits {
			arg = feed{}
		}
		f = f.merge(arg)
		i++
	}
	return f.merge(e.read(n.get("default_expr")))
}

// lambdaParameters gives every parameter what the lists before it are made of.
func lambdaParameters(lhs *node, f feed) map[string]feed {
	out := map[string]feed{}
	for _, p := range columnParts(lhs) {
		out[p] = f
	}
	for item := range lhs.get("children").elements() {
		for _, p := range columnParts(item) {
			out[p] = f
		}
	}
	return out
}

func digits(number string) int {
	return len(strings.TrimLeft(strings.NewReplacer(".", "", "-", "").Replace(number), "0"))
}

// numberFeed reads a number, or a text that is one.
func numberFeed(v *node) feed {
	value := v.get("value")
	text := value.text
	switch id := v.get("type").str("id"); {
	case value.isNull() || v.get("is_null").kind == 't':
		return feed{}
	case id == "DECIMAL":
		text = withScale(text, v.get("type").get("type_info").get("scale").text)
	case id == "HUGEINT" || id == "UHUGEINT":
		text = wide(value)
	case id == "VARCHAR":
		text = strings.Map(func(r rune) rune {
			if strings.ContainsRune(" ,'_€$£%", r) {
				return -1
			}
			return r
		}, text)
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return feed{}
	}
	return feed{constants: []string{text}}
}

// withScale writes a decimal of which the tree has the digits and their places.
func withScale(digits, scale string) string {
	places, err := strconv.Atoi(scale)
	if err != nil || places <= 0 {
		return digits
	}
	number, negative := strings.CutPrefix(digits, "-")
	for len(number) <= places {
		number = "0" + number
	}
	number = number[:len(number)-places] + "." + number[len(number)-places:]
	if negative {
		return "-" + number
	}
	return number
}

// wide writes a number of 128 bits, of which the tree has two halves.
func wide(v *node) string {
	if v.kind != '{' {
		return v.text
	}
	upper, ok := new(big.Int).SetString(v.get("upper").text, 10)
	lower, ok2 := new(big.Int).SetString(v.get("lower").text, 10)
	if !ok || !ok2 {
		return ""
	}
	return upper.Lsh(upper, 64).Add(upper, lower).String()
}
