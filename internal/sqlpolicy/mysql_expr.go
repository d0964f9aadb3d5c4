package sqlpolicy

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// mysqlOperators are the binary operators, each with the group within which the server
// works from left to right; 0 is a group of its own.
var mysqlOperators = map[opcode.Op]struct {
	text  string
	group int
}{
	opcode.LogicAnd: {"AND", 1}, opcode.LogicOr: {"OR", 2}, opcode.LogicXor: {"XOR", 3},
	opcode.GE: {">=", 0}, opcode.LE: {"<=", 0}, opcode.EQ: {"=", 0}, opcode.NE: {"<>", 0}, opcode.LT: {"<", 0}, opcode.GT: {">", 0}, opcode.NullEQ: {"<=>", 0},
	opcode.Plus: {"+", 4}, opcode.Minus: {"-", 4}, opcode.Mul: {"*", 5}, opcode.Div: {"/", 5}, opcode.Mod: {"%", 5}, opcode.IntDiv: {"DIV", 5},
	opcode.And: {"&", 6}, opcode.Or: {"|", 7}, opcode.Xor: {"^", 8}, opcode.LeftShift: {"<<", 0}, opcode.RightShift: {">>", 0},
}

var mysqlUnary = map[opcode.Op]string{opcode.Not: "NOT ", opcode.Not2: "NOT ", opcode.BitNeg: "~", opcode.Minus: "-", opcode.Plus: "+"}

// withoutBrackets takes the brackets off: those that are needed are printed anew.
func withoutBrackets(n ast.ExprNode) ast.ExprNode {
	for {
		b, ok := n.(*ast.ParenthesesExpr)
		if !ok {
			return n
		}
		n = b.Expr
	}
}

// expr prints an expression; one of several parts stands in brackets.
func (p *mysqlPrinter) expr(n ast.ExprNode, env mysqlEnv, depth int) string {
	if !p.enter(depth) {
		return ""
	}
	part := func(e ast.ExprNode) string { return p.expr(e, env, depth+1) }
	switch n := withoutBrackets(n).(type) {
	case *driver.ValueExpr:
		return p.literal(n)
	case *ast.ColumnNameExpr:
		return p.column(n.Name, env)
	case *ast.BinaryOperationExpr:
		return p.binary(n, env, depth)
	case *ast.UnaryOperationExpr:
		sign, ok := mysqlUnary[n.Op]
		if !ok {
			return p.refuse(unknown(-1, "operator %s", n.Op))
		}
		return "(" + sign + part(n.V) + ")"
	case *ast.BetweenExpr:
		return "(" + part(n.Expr) + notWord(n.Not) + " BETWEEN " + part(n.Left) + " AND " + part(n.Right) + ")"
	case *ast.IsNullExpr:
		return "(" + part(n.Expr) + " IS" + notWord(n.Not) + " NULL)"
	case *ast.IsTruthExpr:
		return "(" + part(n.Expr) + " IS" + notWord(n.Not) + map[bool]string{true: " TRUE)", false: " FALSE)"}[n.True != 0]
	case *ast.PatternLikeOrIlikeExpr:
		return p.like(n, part)
	case *ast.PatternRegexpExpr:
		return "(" + part(n.Expr) + notWord(n.Not) + " REGEXP " + part(n.Pattern) + ")"
	case *ast.PatternInExpr:
		return p.inList(n, part)
	case *ast.CaseExpr:
		return p.cases(n, part)
	case *ast.SubqueryExpr:
		text, _ := p.query(n.Query, env, depth+1)
		return "(" + text + ")"
	case *ast.ExistsSubqueryExpr:
		return "(" + strings.TrimPrefix(notWord(n.Not)+" EXISTS ", " ") + p.subquery(n.Sel, part) + ")"
	case *ast.CompareSubqueryExpr:
		op, ok := mysqlOperators[n.Op]
		if !ok || op.group != 0 {
			return p.refuse(unknown(-1, "operator %s", n.Op))
		}
		return "(" + part(n.L) + " " + op.text + map[bool]string{true: " ALL ", false: " ANY "}[n.All] + p.subquery(n.R, part) + ")"
	case *ast.RowExpr:
		return "ROW(" + p.list(n.Values, env, depth) + ")"
	case *ast.SetCollationExpr:
		return "(" + part(n.Expr) + " COLLATE " + p.charset(n.Collate) + ")"
	case *ast.FuncCallExpr:
		return p.call(n, env, depth)
	case *ast.FuncCastExpr:
		return p.cast(n, part)
	case *ast.AggregateFuncExpr:
		return p.aggregate(n, env, depth)
	case *ast.WindowFuncExpr:
		return p.windowFunction(n, env, depth)
	case *driver.ParamMarkerExpr:
		return p.refuse(deny(RuleParameter, -1, "Write the value into the statement.", "A parameter has no value here."))
	case *ast.VariableExpr:
		return p.refuse(unknown(-1, "the variable %s", n.Name))
	default:
		return p.refuse(unknown(-1, "%s", kindOf(n)))
	}
}

func notWord(is bool) string {
	if is {
		return " NOT"
	}
	return ""
}

func (p *mysqlPrinter) list(values []ast.ExprNode, env mysqlEnv, depth int) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = p.expr(v, env, depth+1)
	}
	return strings.Join(parts, ", ")
}

// binary prints a chain of operators that the server works off from left to right
// without brackets in it, because chains are long and the nesting is bounded.
func (p *mysqlPrinter) binary(n *ast.BinaryOperationExpr, env mysqlEnv, depth int) string {
	var parts []string
	for first := n; ; {
		op, ok := mysqlOperators[n.Op]
		if !ok {
			return p.refuse(unknown(-1, "operator %s", n.Op))
		}
		parts = append(parts, p.expr(n.R, env, depth+1), op.text)
		left, more := withoutBrackets(n.L).(*ast.BinaryOperationExpr)
		if !more || op.group == 0 || mysqlOperators[left.Op].group != mysqlOperators[first.Op].group {
			parts = append(parts, p.expr(n.L, env, depth+1))
			break
		}
		if n = left; !p.enter(depth) {
			return ""
		}
	}
	slices.Reverse(parts)
	return "(" + strings.Join(parts, " ") + ")"
}

func (p *mysqlPrinter) like(n *ast.PatternLikeOrIlikeExpr, part func(ast.ExprNode) string) string {
	if !n.IsLike || n.Escape >= 0x80 {
		return p.refuse(unknown(-1, "ILIKE or an escape of several bytes"))
	}
	text := part(n.Expr) + notWord(n.Not) + " LIKE " + part(n.Pattern)
	if n.EscapeExplicit {
		escape := ""
		if n.Escape != 0 {
			escape = string(rune(n.Escape))
		}
		text += " ESCAPE " + p.text(escape)
	}
	return "(" + text + ")"
}

func (p *mysqlPrinter) inList(n *ast.PatternInExpr, part func(ast.ExprNode) string) string {
	text := part(n.Expr) + notWord(n.Not) + " IN "
	if n.Sel != nil {
		return "(" + text + p.subquery(n.Sel, part) + ")"
	}
	values := make([]string, len(n.List))
	for i, v := range n.List {
		values[i] = part(v)
	}
	return "(" + text + "(" + strings.Join(values, ", ") + "))"
}

// subquery prints what must be a query.
func (p *mysqlPrinter) subquery(n ast.ExprNode, part func(ast.ExprNode) string) string {
	if _, ok := withoutBrackets(n).(*ast.SubqueryExpr); !ok {
		return p.refuse(unknown(-1, "%s in the place of a query", kindOf(n)))
	}
	return part(n)
}

func (p *mysqlPrinter) cases(n *ast.CaseExpr, part func(ast.ExprNode) string) string {
	text := "CASE"
	if n.Value != nil {
		text += " " + part(n.Value)
	}
	for _, w := range n.WhenClauses {
		text += " WHEN " + part(w.Expr) + " THEN " + part(w.Result)
	}
	if n.ElseClause != nil {
		text += " ELSE " + part(n.ElseClause)
	}
	return text + " END"
}
