package sqlpolicy

// A shape says what stands in a field of the tree. Only fields that are listed
// here may occur: what the engine learns later is refused until it is listed.
type shape uint8

const (
	leaf       shape = iota // carries no expression; looked through to be sure
	anExpr                  // expression or null
	exprList                // expressions
	exprLists               // lists of expressions
	aRef                    // table reference or null
	aQuery                  // query node or null
	aStatement              // statement or null
	aType                   // type
	typeList                // types
	aValue                  // constant
	orderList               // ORDER BY terms
	aSample                 // TABLESAMPLE or null
	aModifier               // LIMIT, ORDER BY or DISTINCT, or null
	modifiers               // of them
	aName                   // text that the code of the node looks at
	aFlag                   // true or false
	ownCode                 // read by the code of its node
)

type shapes map[string]shape

// addCommon adds the fields that every node of a family has.
func (s shapes) addCommon(common shapes) shapes {
	for k, v := range common {
		s[k] = v
	}
	return s
}

func nodeKinds(common shapes, kinds map[string]shapes) map[string]shapes {
	for _, s := range kinds {
		s.addCommon(common)
	}
	return kinds
}

var expressions = nodeKinds(shapes{"class": leaf, "type": leaf, "alias": leaf, "query_location": leaf}, map[string]shapes{
	"BETWEEN":     {"input": anExpr, "lower": anExpr, "upper": anExpr},
	"CASE":        {"case_checks": ownCode, "else_expr": anExpr},
	"CAST":        {"child": anExpr, "cast_type": aType, "try_cast": leaf},
	"COLLATE":     {"child": anExpr, "collation": leaf},
	"COLUMN_REF":  {"column_names": ownCode},
	"COMPARISON":  {"left": anExpr, "right": anExpr},
	"CONJUNCTION": {"children": exprList},
	"CONSTANT":    {"value": aValue},
	"FUNCTION": {
		"catalog": aName, "schema": aName, "function_name": aName, "children": exprList, "distinct": leaf,
		"export_state": aFlag, "filter": anExpr, "is_operator": leaf, "order_bys": aModifier,
	},
	"LAMBDA":               {"lhs": anExpr, "expr": anExpr, "syntax_type": leaf},
	"OPERATOR":             {"children": exprList},
	"PARAMETER":            {"identifier": aName},
	"POSITIONAL_REFERENCE": {"index": leaf},
	"STAR": {
		"columns": leaf, "exclude_list": leaf, "expr": anExpr, "qualified_exclude_list": leaf, "relation_name": leaf,
		"rename_list": leaf, "replace_list": ownCode,
	},
	"SUBQUERY": {"child": anExpr, "comparison_type": leaf, "subquery": aStatement, "subquery_type": leaf},
	"WINDOW": {
		"catalog": aName, "schema": aName, "function_name": aName, "children": exprList, "partitions": exprList,
		"orders": orderList, "arg_orders": orderList, "start": leaf, "end": leaf, "start_expr": anExpr, "end_expr": anExpr,
		"offset_expr": anExpr, "default_expr": anExpr, "ignore_nulls": leaf, "distinct": leaf, "filter_expr": anExpr, "exclude_clause": leaf,
	},
})

var refs = nodeKinds(shapes{"type": leaf, "alias": leaf, "query_location": leaf, "sample": aSample}, map[string]shapes{
	"BASE_TABLE": {"at_clause": ownCode, "catalog_name": aName, "schema_name": aName, "table_name": aName, "column_name_alias": leaf},
	"JOIN": {
		"condition": anExpr, "delim_flipped": leaf, "duplicate_eliminated_columns": exprList, "join_type": leaf, "left": aRef,
		"right": aRef, "ref_type": leaf, "using_columns": leaf,
	},
	"SUBQUERY":        {"subquery": aStatement, "column_name_alias": leaf},
	"TABLE_FUNCTION":  {"function": ownCode, "column_name_alias": leaf, "with_ordinality": leaf},
	"EMPTY":           {},
	"EXPRESSION_LIST": {"expected_names": leaf, "expected_types": typeList, "values": exprLists},
	"PIVOT": {
		"aggregates": exprList, "column_name_alias": leaf, "groups": leaf, "include_nulls": leaf, "pivots": ownCode, "source": aRef,
		"unpivot_names": leaf,
	},
	"SHOW_REF": {"catalog_name": aName, "schema_name": aName, "table_name": aName, "query": aQuery, "show_type": aName},
})

var queries = nodeKinds(shapes{"type": leaf, "modifiers": modifiers, "cte_map": ownCode}, map[string]shapes{
	"SELECT_NODE": {
		"aggregate_handling": leaf, "from_table": aRef, "group_expressions": exprList, "group_sets": leaf, "having": anExpr,
		"qualify": anExpr, "sample": aSample, "select_list": exprList, "where_clause": anExpr,
	},
	"SET_OPERATION_NODE": {"left": aQuery, "right": aQuery, "setop_all": leaf, "setop_type": leaf},
	"RECURSIVE_CTE_NODE": {"aliases": leaf, "cte_name": aName, "key_targets": exprList, "left": ownCode, "right": ownCode, "union_all": leaf},
})

var operators = names(`OPERATOR_NOT OPERATOR_IS_NULL OPERATOR_IS_NOT_NULL OPERATOR_COALESCE OPERATOR_NULLIF OPERATOR_TRY
	OPERATOR_UNPACK COMPARE_IN COMPARE_NOT_IN ARRAY_EXTRACT ARRAY_SLICE STRUCT_EXTRACT ARRAY_CONSTRUCTOR ARROW GROUPING_FUNCTION`)
