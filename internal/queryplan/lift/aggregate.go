package lift

import (
	"interlock/internal/queryplan"
)

// aggregate lifts an aggregate; a CASE inside of it is its own condition.
func (l *lifter) aggregate(n *node, f queryplan.Function, in *scope) queryplan.Expr {
	arg := n.args[0]
	var where []*node
	if n.filter != nil {
		where = conjuncts(n.filter)
	}
	isShare := false
	switch {
	case arg.op == opCase && len(arg.args) <= 3:
		other := &node{op: opNull}
		if len(arg.args) == 3 {
			other = arg.args[2]
		}
		zero := other.op == opNumber && (other.text == "0" || other.text == "0.0")
		ones := isOne(arg.args[1]) || isHundred(arg.args[1])
		switch {
		case f == queryplan.Avg && zero && ones:
			isShare = true
		case other.op != opNull && (!zero || f != queryplan.Sum):
			refuse("a CASE inside of %s has another value", n.text)
		}
		where = append(where, conjuncts(arg.args[0])...)
		arg = arg.args[1]
	case isCondition(arg): // SQLite adds up truths
		switch f {
		case queryplan.Avg:
			isShare = true
		case queryplan.Sum:
		default:
			refuse("%s of a condition", n.text)
		}
		where = append(where, conjuncts(arg)...)
		arg = &node{op: opNumber, text: "1"}
	}
	filters := l.filters(where, in)
	if isShare {
		return queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.Divide, Left: queryplan.Expr{Function: queryplan.Count, Where: filters}, Right: queryplan.Expr{Function: queryplan.Count}}}
	}
	switch {
	case arg.op == opStar, arg.op == opNumber && (f == queryplan.Count || f == queryplan.Sum && isOne(arg)):
		return queryplan.Expr{Function: queryplan.Count, Where: filters}
	case n.distinct && f == queryplan.Count:
		f = queryplan.CountDistinct
	}
	e := l.value(arg, in)
	if e.Function != "" || e.Math != nil || e.Part != "" || e.Truncate != "" {
		inner := e
		e = queryplan.Expr{Of: &inner}
	}
	e.Function, e.Where = f, filters
	return e
}

func isHundred(n *node) bool { return n.op == opNumber && (n.text == "100" || n.text == "100.0") }

func isCondition(n *node) bool {
	switch n.op {
	case opCompare, opIn, opBetween, opLike, opIsNull, opAnd, opOr, opNot:
		return true
	}
	return false
}
