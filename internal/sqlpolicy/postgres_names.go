package sqlpolicy

import (
	"strings"

	pgquery "github.com/pganalyze/pg_query_go/v6"
)

// postgresOperators are the operators that compute on their arguments alone; a test asks
// a real server that each is its own and that none is volatile.
var postgresOperators = operatorSet(`+ - * / % ^ |/ ||/ @ & | # ~ << >> || < <= = <> >= >
	~~ !~~ ~~* !~~* ~* !~ !~* ^@ ~<~ ~<=~ ~>=~ ~>~
	-> ->> #> #>> @> <@ ? ?| ?& #- @? @@ && -|- &< &> <<= >>= <<| |>> &<| |&> <-> @-@ ## ?# ?- ?-| ?|| ~= !!`)

// operatorSet reads a list in which # is an operator too.
func operatorSet(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// postgresTypes are the types of data that a cast may name, as the server's catalog
// names them. None of them looks anything up, as regclass and its like do.
var postgresTypes = names(`bool int2 int4 int8 float4 float8 numeric money text varchar bpchar name bytea bit varbit
	date time timetz timestamp timestamptz interval json jsonb jsonpath uuid inet cidr macaddr macaddr8 tsvector tsquery oid
	int4range int8range numrange daterange tsrange tstzrange int4multirange int8multirange nummultirange datemultirange tsmultirange tstzmultirange
	point line lseg box path polygon circle`)

// pgNodeKind names the kind of a node for people.
func pgNodeKind(n *pgquery.Node) string {
	r := n.ProtoReflect()
	if f := r.WhichOneof(r.Descriptor().Oneofs().ByName("node")); f != nil {
		return string(f.Message().Name())
	}
	return "nothing"
}

// resultName is the name that the server gives to a column of a result.
func resultName(n *pgquery.Node) string {
	if name, _ := impliedName(n); name != "" {
		return name
	}
	return "?column?"
}

// impliedName finds the name of an expression. One that a type or CASE gave is weak:
// what is inside goes before it.
func impliedName(n *pgquery.Node) (name string, strong bool) {
	switch v := n.GetNode().(type) {
	case *pgquery.Node_ColumnRef:
		return lastName(v.ColumnRef.GetFields()), true
	case *pgquery.Node_AIndirection:
		return impliedName(v.AIndirection.GetArg()) // subscripts have no names
	case *pgquery.Node_FuncCall:
		return lastName(v.FuncCall.GetFuncname()), true
	case *pgquery.Node_AExpr:
		if v.AExpr.GetKind() == pgquery.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", true
		}
	case *pgquery.Node_TypeCast:
		if name, strong := impliedName(v.TypeCast.GetArg()); strong {
			return name, true
		}
		return lastName(v.TypeCast.GetTypeName().GetNames()), false
	case *pgquery.Node_CollateClause:
		return impliedName(v.CollateClause.GetArg())
	case *pgquery.Node_GroupingFunc:
		return "grouping", true
	case *pgquery.Node_SubLink:
		return subLinkName(v.SubLink)
	case *pgquery.Node_CaseExpr:
		if name, strong := impliedName(v.CaseExpr.GetDefresult()); strong {
			return name, true
		}
		return "case", false
	case *pgquery.Node_AArrayExpr:
		return "array", true
	case *pgquery.Node_RowExpr:
		return "row", true
	case *pgquery.Node_CoalesceExpr:
		return "coalesce", true
	case *pgquery.Node_MinMaxExpr:
		if v.MinMaxExpr.GetOp() == pgquery.MinMaxOp_IS_LEAST {
			return "least", true
		}
		return "greatest", true
	case *pgquery.Node_SqlvalueFunction:
		return valueFunctionName(v.SqlvalueFunction), true
	}
	return "", false
}

func subLinkName(l *pgquery.SubLink) (string, bool) {
	switch l.GetSubLinkType() {
	case pgquery.SubLinkType_EXISTS_SUBLINK:
		return "exists", true
	case pgquery.SubLinkType_ARRAY_SUBLINK:
		return "array", true
	case pgquery.SubLinkType_EXPR_SUBLINK:
		q := l.GetSubselect().GetSelectStmt()
		for q.GetLarg() != nil {
			q = q.GetLarg()
		}
		if targets := q.GetTargetList(); len(targets) > 0 {
			t := targets[0].GetResTarget()
			if t.GetName() != "" {
				return t.GetName(), true
			}
			return impliedName(t.GetVal())
		}
		if len(q.GetValuesLists()) > 0 {
			return "column1", true
		}
	}
	return "", false
}

func lastName(list []*pgquery.Node) string {
	if len(list) == 0 {
		return ""
	}
	name, _ := stringValue(list[len(list)-1])
	return name
}

// valueFunctionName gives CURRENT_DATE its name: current_date.
func valueFunctionName(f *pgquery.SQLValueFunction) string {
	name := strings.TrimPrefix(f.GetOp().String(), "SVFOP_")
	return strings.ToLower(strings.TrimSuffix(name, "_N"))
}
