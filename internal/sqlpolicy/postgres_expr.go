package sqlpolicy

import (
	"regexp"

	pgquery "github.com/pganalyze/pg_query_go/v6"
)

func (j *pgJudge) exprs(list []*pgquery.Node, s *pgScope, depth int) error {
	for _, n := range list {
		if err := j.expr(n, s, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// expr judges an expression; nil is allowed.
func (j *pgJudge) expr(n *pgquery.Node, s *pgScope, depth int) error {
	if n == nil || n.GetNode() == nil {
		return nil
	}
	if err := j.enter(-1, depth); err != nil {
		return err
	}
	switch v := n.GetNode().(type) {
	case *pgquery.Node_ColumnRef:
		return j.column(v.ColumnRef, s)
	case *pgquery.Node_FuncCall:
		return j.function(v.FuncCall, s, depth)
	case *pgquery.Node_AExpr:
		return j.operation(v.AExpr, s, depth)
	case *pgquery.Node_AConst:
		return constant(v.AConst)
	case *pgquery.Node_SubLink:
		return j.subLink(v.SubLink, s, depth)
	case *pgquery.Node_ParamRef:
		return j.parameter(v.ParamRef)
	case *pgquery.Node_SqlvalueFunction:
		return j.valueFunction(v.SqlvalueFunction)
	case *pgquery.Node_TypeCast:
		if err := onlyFields(v.TypeCast, v.TypeCast.GetLocation(), "arg", "type_name"); err != nil {
			return err
		}
		if err := j.typeName(v.TypeCast.GetTypeName()); err != nil {
			return err
		}
		return j.expr(v.TypeCast.GetArg(), s, depth+1)
	case *pgquery.Node_CollateClause:
		if err := j.collation(v.CollateClause); err != nil {
			return err
		}
		return j.expr(v.CollateClause.GetArg(), s, depth+1)
	}
	parts, err := partsOf(n)
	if err != nil {
		return err
	}
	return j.exprs(parts, s, depth)
}

// partsOf gives the parts of expressions that mean nothing but their parts.
func partsOf(n *pgquery.Node) ([]*pgquery.Node, error) {
	switch v := n.GetNode().(type) {
	case *pgquery.Node_BoolExpr:
		return v.BoolExpr.GetArgs(), onlyFields(v.BoolExpr, v.BoolExpr.GetLocation(), "boolop", "args")
	case *pgquery.Node_NullTest:
		return []*pgquery.Node{v.NullTest.GetArg()}, onlyFields(v.NullTest, v.NullTest.GetLocation(), "arg", "nulltesttype")
	case *pgquery.Node_BooleanTest:
		return []*pgquery.Node{v.BooleanTest.GetArg()}, onlyFields(v.BooleanTest, v.BooleanTest.GetLocation(), "arg", "booltesttype")
	case *pgquery.Node_CaseExpr:
		e := v.CaseExpr
		return append([]*pgquery.Node{e.GetArg(), e.GetDefresult()}, e.GetArgs()...), onlyFields(e, e.GetLocation(), "arg", "args", "defresult")
	case *pgquery.Node_CaseWhen:
		return []*pgquery.Node{v.CaseWhen.GetExpr(), v.CaseWhen.GetResult()}, onlyFields(v.CaseWhen, v.CaseWhen.GetLocation(), "expr", "result")
	case *pgquery.Node_CoalesceExpr:
		return v.CoalesceExpr.GetArgs(), onlyFields(v.CoalesceExpr, v.CoalesceExpr.GetLocation(), "args")
	case *pgquery.Node_MinMaxExpr:
		return v.MinMaxExpr.GetArgs(), onlyFields(v.MinMaxExpr, v.MinMaxExpr.GetLocation(), "op", "args")
	case *pgquery.Node_AArrayExpr:
		return v.AArrayExpr.GetElements(), onlyFields(v.AArrayExpr, v.AArrayExpr.GetLocation(), "elements")
	case *pgquery.Node_RowExpr:
		return v.RowExpr.GetArgs(), onlyFields(v.RowExpr, v.RowExpr.GetLocation(), "args", "row_format")
	case *pgquery.Node_GroupingFunc:
		return v.GroupingFunc.GetArgs(), onlyFields(v.GroupingFunc, v.GroupingFunc.GetLocation(), "args")
	case *pgquery.Node_List:
		return v.List.GetItems(), onlyFields(v.List, -1, "items")
	case *pgquery.Node_AIndirection:
		return subscripts(v.AIndirection)
	}
	return nil, unknown(-1, "%s", pgNodeKind(n))
}

// subscripts admits value[1] and value[1:2]. What follows a point there may be a call.
func subscripts(v *pgquery.A_Indirection) ([]*pgquery.Node, error) {
	parts := []*pgquery.Node{v.GetArg()}
	for _, n := range v.GetIndirection() {
		i := n.GetAIndices()
		if i == nil {
			return nil, unknown(-1, "a point after a value, which may call a function")
		}
		if err := onlyFields(i, -1, "is_slice", "lidx", "uidx"); err != nil {
			return nil, err
		}
		parts = append(parts, i.GetLidx(), i.GetUidx())
	}
	return parts, onlyFields(v, -1, "arg", "indirection")
}

// operation judges an operator. Those of the list are the server's own, if the session
// searches no schema but pg_catalog for them, which it must.
func (j *pgJudge) operation(e *pgquery.A_Expr, s *pgScope, depth int) error {
	at := e.GetLocation()
	if err := onlyFields(e, at, "kind", "name", "lexpr", "rexpr"); err != nil {
		return err
	}
	name, err := operatorName(e.GetName(), at)
	if err != nil {
		return err
	}
	switch e.GetKind() {
	case pgquery.A_Expr_Kind_AEXPR_OP, pgquery.A_Expr_Kind_AEXPR_OP_ANY, pgquery.A_Expr_Kind_AEXPR_OP_ALL:
		e.Name = []*pgquery.Node{pgquery.MakeStrNode(name)}
	case pgquery.A_Expr_Kind_AEXPR_DISTINCT, pgquery.A_Expr_Kind_AEXPR_NOT_DISTINCT, pgquery.A_Expr_Kind_AEXPR_NULLIF, pgquery.A_Expr_Kind_AEXPR_IN,
		pgquery.A_Expr_Kind_AEXPR_LIKE, pgquery.A_Expr_Kind_AEXPR_ILIKE, pgquery.A_Expr_Kind_AEXPR_SIMILAR:
	case pgquery.A_Expr_Kind_AEXPR_BETWEEN, pgquery.A_Expr_Kind_AEXPR_NOT_BETWEEN, pgquery.A_Expr_Kind_AEXPR_BETWEEN_SYM, pgquery.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		name = "<" // its name is words
	default:
		return unknown(int(at), "this kind of operator")
	}
	if !j.words.operators[name] {
		return deny(RuleFunction, int(at), "Use the operators of standard SQL.", "The operator %s is not one that may be used in PostgreSQL from here.", name)
	}
	return j.exprs([]*pgquery.Node{e.GetLexpr(), e.GetRexpr()}, s, depth)
}

// operatorName gives the name of an operator without its schema, which can only be the
// server's own.
func operatorName(list []*pgquery.Node, at int32) (string, error) {
	names, err := stringValues(list, at)
	if err != nil {
		return "", err
	}
	if len(names) == 2 && names[0] == "pg_catalog" {
		names = names[1:]
	}
	if len(names) != 1 {
		return "", deny(RuleFunction, int(at), "Use the operator by its bare name.", "An operator is used with a schema in front.")
	}
	return names[0], nil
}

// subLink judges a query in an expression.
func (j *pgJudge) subLink(l *pgquery.SubLink, s *pgScope, depth int) error {
	at := l.GetLocation()
	if err := onlyFields(l, at, "sub_link_type", "testexpr", "oper_name", "subselect"); err != nil {
		return err
	}
	switch l.GetSubLinkType() {
	case pgquery.SubLinkType_EXISTS_SUBLINK, pgquery.SubLinkType_ALL_SUBLINK, pgquery.SubLinkType_ANY_SUBLINK, pgquery.SubLinkType_EXPR_SUBLINK, pgquery.SubLinkType_ARRAY_SUBLINK:
	default:
		return unknown(int(at), "this kind of subquery")
	}
	if len(l.GetOperName()) > 0 {
		name, err := operatorName(l.GetOperName(), at)
		if err != nil {
			return err
		}
		if !j.words.operators[name] {
			return deny(RuleFunction, int(at), "Use the operators of standard SQL.", "The operator %s is not one that may be used in PostgreSQL from here.", name)
		}
		l.OperName = []*pgquery.Node{pgquery.MakeStrNode(name)}
	}
	if err := j.expr(l.GetTestexpr(), s, depth+1); err != nil {
		return err
	}
	q := l.GetSubselect().GetSelectStmt()
	if q == nil {
		return unknown(int(at), "a subquery that is no SELECT")
	}
	_, err := j.query(q, s, depth+1, pgUse{})
	return err
}

// numberForm is a number that every release of the server reads alike: 0x10 and 1_000
// are numbers to some and a number with an alias to others.
var numberForm = regexp.MustCompile(`^-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`)

func constant(c *pgquery.A_Const) error {
	if err := onlyFields(c, c.GetLocation(), "isnull", "ival", "fval", "boolval", "sval", "bsval"); err != nil {
		return err
	}
	if f := c.GetFval(); f != nil && !numberForm.MatchString(f.GetFval()) {
		return deny(RuleUnknown, int(c.GetLocation()), "Write the number with digits, a point and an exponent.", "This way to write a number is not possible.")
	}
	return nil
}

// parameter admits a place for a value.
func (j *pgJudge) parameter(p *pgquery.ParamRef) error {
	if n := p.GetNumber(); n < 1 || int(n) > j.scope.Params {
		return otherParameters(j.scope.Params, int(p.GetLocation()))
	}
	j.params[p.GetNumber()] = true
	return onlyFields(p, p.GetLocation(), "number")
}

// valueFunction admits the functions of time that SQL writes without brackets.
func (j *pgJudge) valueFunction(f *pgquery.SQLValueFunction) error {
	if f.GetOp() < pgquery.SQLValueFunctionOp_SVFOP_CURRENT_DATE || f.GetOp() > pgquery.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N {
		return deny(RuleFunction, int(f.GetLocation()), "Answer the question from the dataset's tables alone.", "%s is not allowed.", valueFunctionName(f))
	}
	j.call(valueFunctionName(f))
	j.volatile = true
	return onlyFields(f, f.GetLocation(), "op", "typmod")
}

// collation admits the server's own collations.
func (j *pgJudge) collation(c *pgquery.CollateClause) error {
	at := c.GetLocation()
	name, err := catalogName("collation", c.GetCollname(), at)
	if err != nil {
		return err
	}
	c.Collname = []*pgquery.Node{pgquery.MakeStrNode("pg_catalog"), pgquery.MakeStrNode(name)}
	return onlyFields(c, at, "arg", "collname")
}

// catalogName gives the name of something that only the server's own catalog may have.
func catalogName(what string, list []*pgquery.Node, at int32) (string, error) {
	names, err := stringValues(list, at)
	if err != nil {
		return "", err
	}
	if len(names) == 2 && names[0] == "pg_catalog" {
		names = names[1:]
	}
	if len(names) != 1 {
		return "", deny(RuleType, int(at), "Name the "+what+" alone.", "A %s with a schema in front is not allowed.", what)
	}
	return names[0], nil
}

// typeName admits the server's own types of data; it gets their schema.
func (j *pgJudge) typeName(t *pgquery.TypeName) error {
	at := t.GetLocation()
	if err := onlyFields(t, at, "names", "typmods", "typemod", "array_bounds"); err != nil {
		return err
	}
	name, err := catalogName("type", t.GetNames(), at)
	if err != nil {
		return err
	}
	if !j.words.types[name] {
		return deny(RuleType, int(at), "Use an ordinary SQL type.", "There is no type %s that may be used here.", name)
	}
	t.Names = []*pgquery.Node{pgquery.MakeStrNode("pg_catalog"), pgquery.MakeStrNode(name)}
	for _, n := range t.GetTypmods() {
		if n.GetAConst().GetIval() == nil {
			return unknown(int(at), "a type whose size is no number")
		}
	}
	for _, n := range t.GetArrayBounds() {
		if _, ok := n.GetNode().(*pgquery.Node_Integer); !ok {
			return unknown(int(at), "an array whose size is no number")
		}
	}
	return nil
}
