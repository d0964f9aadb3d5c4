package sqlpolicy

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// mysqlFunctionNames are functions that the parser gives other names, because theirs
// are keywords.
var mysqlFunctionNames = map[string]string{ast.CharFunc: "char", ast.InsertFunc: "insert"}

// mysqlTimeLiterals are literals that the parser makes calls of.
var mysqlTimeLiterals = map[string]string{ast.DateLiteral: "DATE ", ast.TimeLiteral: "TIME ", ast.TimestampLiteral: "TIMESTAMP "}

// function admits the name of a function and prints it as one of the server's own:
// without quotes, and with the bracket right behind it.
func (p *mysqlPrinter) function(name string) string {
	name = fold(name)
	if !p.words.functions[name] || !plainWord(name) {
		return p.refuse(deny(RuleFunction, -1, "Use a standard SQL function, or compute it from the rows.", "The function %s is not one that may be called in MySQL from here.", name))
	}
	p.functions[name] = true
	p.volatile = p.volatile || p.words.volatile[name]
	return strings.ToUpper(name)
}

// plainWord says that a name has only letters, digits and underscores of ASCII.
func plainWord(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 || !wordByte(byte(r)) })
}

func (p *mysqlPrinter) call(n *ast.FuncCallExpr, env mysqlEnv, depth int) string {
	if n.Schema.O != "" {
		return p.refuse(deny(RuleFunction, -1, "Call the function by its bare name.", "The function %s is called with a database in front.", n.FnName.O))
	}
	args, part := n.Args, func(e ast.ExprNode) string { return p.expr(e, env, depth+1) }
	key := fold(n.FnName.L)
	if literal, ok := mysqlTimeLiterals[key]; ok && len(args) == 1 {
		return literal + part(args[0])
	}
	if name, ok := mysqlFunctionNames[key]; ok {
		key = name
	}
	if key == "convert" && len(args) == 2 {
		return "CONVERT(" + part(args[0]) + " USING " + p.charset(textOf(args[1])) + ")"
	}
	name := p.function(key)
	switch {
	case (key == "date_add" || key == "date_sub" || key == "adddate" || key == "subdate") && len(args) == 3:
		// By one name: after ADDDATE(…, the parser takes INTERVAL ( for the function.
		name = map[bool]string{true: "DATE_ADD", false: "DATE_SUB"}[key == "date_add" || key == "adddate"]
		return name + "(" + part(args[0]) + ", INTERVAL " + part(args[1]) + " " + p.unit(args[2]) + ")"
	case key == "extract" && len(args) == 2:
		return name + "(" + p.unit(args[0]) + " FROM " + part(args[1]) + ")"
	case (key == "timestampadd" || key == "timestampdiff") && len(args) == 3:
		return name + "(" + p.unit(args[0]) + ", " + part(args[1]) + ", " + part(args[2]) + ")"
	case key == "position" && len(args) == 2:
		return name + "(" + part(args[0]) + " IN " + part(args[1]) + ")"
	case key == "trim":
		return name + "(" + p.trim(args, part) + ")"
	case key == "char" && len(args) > 1:
		text := name + "(" + p.list(args[:len(args)-1], env, depth)
		if charset := textOf(args[len(args)-1]); charset != "" {
			text += " USING " + p.charset(charset)
		}
		return text + ")"
	}
	return name + "(" + p.list(args, env, depth) + ")"
}

// textOf gives the string of a literal, "" if there is none.
func textOf(n ast.ExprNode) string {
	if v, ok := n.(*driver.ValueExpr); ok && v.Kind() == driver.KindString {
		return v.GetString()
	}
	return ""
}

// trim prints what is between the brackets of TRIM: the text, what to cut off, and where.
func (p *mysqlPrinter) trim(args []ast.ExprNode, part func(ast.ExprNode) string) string {
	switch len(args) {
	case 1:
		return part(args[0])
	case 2:
		return part(args[1]) + " FROM " + part(args[0])
	case 3:
		where, ok := args[2].(*ast.TrimDirectionExpr)
		if !ok || where.Direction == ast.TrimBothDefault {
			break
		}
		return where.Direction.String() + " " + part(args[1]) + " FROM " + part(args[0])
	}
	return p.refuse(unknown(-1, "TRIM"))
}

func (p *mysqlPrinter) unit(n ast.ExprNode) string {
	if u, ok := n.(*ast.TimeUnitExpr); ok && plainWord(u.Unit.String()) {
		return u.Unit.String()
	}
	return p.refuse(unknown(-1, "a unit of time"))
}

// aggregate prints an aggregate. The parser reads count(*) as count(1).
func (p *mysqlPrinter) aggregate(n *ast.AggregateFuncExpr, env mysqlEnv, depth int) string {
	name, args := p.function(n.F), n.Args
	if name == "COUNT" && !n.Distinct && len(args) == 1 && isOne(args[0]) {
		return "COUNT(*)"
	}
	distinct, end := "", ""
	if n.Distinct {
		distinct = "DISTINCT "
	}
	if n.Order != nil {
		if name != "GROUP_CONCAT" {
			return p.refuse(unknown(-1, "ORDER BY in %s", name))
		}
		end = p.orderBy(n.Order, env, depth)
	}
	if name == "GROUP_CONCAT" { // its last argument is what stands between the values
		last, ok := args[len(args)-1].(*driver.ValueExpr)
		if !ok || last.Kind() != driver.KindString || len(args) < 2 {
			return p.refuse(unknown(-1, "a separator of GROUP_CONCAT"))
		}
		end += " SEPARATOR " + p.literal(last)
		args = args[:len(args)-1]
	}
	return name + "(" + distinct + p.list(args, env, depth) + end + ")"
}

func isOne(n ast.ExprNode) bool {
	v, ok := n.(*driver.ValueExpr)
	return ok && v.Kind() == driver.KindInt64 && v.GetInt64() == 1
}

func (p *mysqlPrinter) windowFunction(n *ast.WindowFuncExpr, env mysqlEnv, depth int) string {
	name := p.function(n.Name)
	if n.IgnoreNull || n.FromLast || name == "GROUP_CONCAT" {
		return p.refuse(unknown(-1, "IGNORE NULLS, FROM LAST or GROUP_CONCAT over a window"))
	}
	args := p.list(n.Args, env, depth)
	switch {
	case name == "COUNT" && !n.Distinct && len(n.Args) == 1 && isOne(n.Args[0]):
		args = "*"
	case n.Distinct:
		args = "DISTINCT " + args
	}
	return name + "(" + args + ") OVER " + p.window(&n.Spec, env, depth+1)
}

// window prints a window, or its name where it has only that.
func (p *mysqlPrinter) window(n *ast.WindowSpec, env mysqlEnv, depth int) string {
	if n.OnlyAlias {
		return quoteMySQL(n.Name.O)
	}
	var parts []string
	if n.Ref.O != "" {
		parts = append(parts, quoteMySQL(n.Ref.O))
	}
	if n.PartitionBy != nil {
		parts = append(parts, "PARTITION BY "+p.byItems(n.PartitionBy.Items, env, depth))
	}
	if n.OrderBy != nil {
		parts = append(parts, strings.TrimSpace(p.orderBy(n.OrderBy, env, depth)))
	}
	if f := n.Frame; f != nil {
		kind := map[ast.FrameType]string{ast.Rows: "ROWS", ast.Ranges: "RANGE"}[f.Type]
		if kind == "" {
			return p.refuse(unknown(-1, "a frame of groups"))
		}
		parts = append(parts, kind+" BETWEEN "+p.bound(&f.Extent.Start, env, depth)+" AND "+p.bound(&f.Extent.End, env, depth))
	}
	return "(" + strings.Join(parts, " ") + ")"
}

func (p *mysqlPrinter) bound(n *ast.FrameBound, env mysqlEnv, depth int) string {
	where := map[ast.BoundType]string{ast.Following: " FOLLOWING", ast.Preceding: " PRECEDING"}[n.Type]
	switch {
	case n.Type == ast.CurrentRow:
		return "CURRENT ROW"
	case where == "":
		return p.refuse(unknown(-1, "the end of a frame"))
	case n.UnBounded:
		return "UNBOUNDED" + where
	case n.Expr == nil:
		return p.refuse(unknown(-1, "the end of a frame"))
	case n.Unit != ast.TimeUnitInvalid:
		return "INTERVAL " + p.expr(n.Expr, env, depth+1) + " " + p.unit(&ast.TimeUnitExpr{Unit: n.Unit}) + where
	}
	return p.expr(n.Expr, env, depth+1) + where
}
