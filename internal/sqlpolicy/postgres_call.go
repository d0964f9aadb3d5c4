package sqlpolicy

import (
	"slices"
	"strings"

	pgquery "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// functionName checks the name of a call and gives it without its schema, which the
// tree gets in any case: a function of the same name in another schema is never meant.
func (j *pgJudge) functionName(f *pgquery.FuncCall) (string, error) {
	at := f.GetLocation()
	names, err := stringValues(f.GetFuncname(), at)
	if err != nil {
		return "", err
	}
	if len(names) == 2 && names[0] == "pg_catalog" {
		names = names[1:]
	}
	if len(names) != 1 {
		return "", deny(RuleFunction, int(at), "Call the function by its bare name.", "The function %s is called with a schema in front.", strings.Join(names, "."))
	}
	f.Funcname = []*pgquery.Node{pgquery.MakeStrNode("pg_catalog"), pgquery.MakeStrNode(names[0])}
	return names[0], nil
}

// function judges a call in an expression.
func (j *pgJudge) function(f *pgquery.FuncCall, s *pgScope, depth int) error {
	name, err := j.functionName(f)
	if err != nil {
		return err
	}
	if !j.words.functions[name] {
		return deny(RuleFunction, int(f.GetLocation()), "Use a standard SQL function, or compute it from the rows.", "The function %s is not one that may be called in PostgreSQL from here.", name)
	}
	j.call(name)
	return j.arguments(f, name, s, depth)
}

func (j *pgJudge) arguments(f *pgquery.FuncCall, name string, s *pgScope, depth int) error {
	err := onlyFields(f, f.GetLocation(), "funcname", "args", "agg_order", "agg_filter", "over", "agg_within_group", "agg_star", "agg_distinct", "func_variadic", "funcformat")
	if err != nil {
		return err
	}
	switch f.GetFuncformat() {
	case pgquery.CoercionForm_COERCE_EXPLICIT_CALL, pgquery.CoercionForm_COERCE_SQL_SYNTAX:
	default:
		return unknown(int(f.GetLocation()), "this form of call")
	}
	if name == "overlay" && len(f.GetArgs()) == 4 {
		f.Funcformat = pgquery.CoercionForm_COERCE_SQL_SYNTAX // as it is printed
	}
	for _, a := range f.GetArgs() {
		if named := a.GetNamedArgExpr(); named != nil {
			if err := onlyFields(named, named.GetLocation(), "arg", "name", "argnumber"); err != nil {
				return err
			}
			a = named.GetArg()
		}
		if err := j.expr(a, s, depth+1); err != nil {
			return err
		}
	}
	if err := j.expr(f.GetAggFilter(), s, depth+1); err != nil {
		return err
	}
	if err := j.sortTerms(f.GetAggOrder(), s, depth, nil); err != nil {
		return err
	}
	if f.GetOver() != nil {
		return j.window(f.GetOver(), s, depth+1)
	}
	return nil
}

func (j *pgJudge) window(w *pgquery.WindowDef, s *pgScope, depth int) error {
	if w == nil {
		return unknown(-1, "a window without a definition")
	}
	if err := onlyFields(w, w.GetLocation(), "name", "refname", "partition_clause", "order_clause", "frame_options", "start_offset", "end_offset"); err != nil {
		return err
	}
	if err := j.exprs(append(slices.Clone(w.GetPartitionClause()), w.GetStartOffset(), w.GetEndOffset()), s, depth); err != nil {
		return err
	}
	return j.sortTerms(w.GetOrderClause(), s, depth, nil)
}

// tableFunctionColumns are the columns of table functions that have more than one, or
// one of another name.
var tableFunctionColumns = map[string][]string{
	"json_each": {"key", "value"}, "json_each_text": {"key", "value"}, "jsonb_each": {"key", "value"}, "jsonb_each_text": {"key", "value"},
	"json_array_elements": {"value"}, "json_array_elements_text": {"value"}, "jsonb_array_elements": {"value"}, "jsonb_array_elements_text": {"value"},
}

// tableFunctions judges functions in FROM. The names of their columns are written out:
// which they are depends on types that only the server knows.
func (j *pgJudge) tableFunctions(v *pgquery.RangeFunction, s *pgScope, depth int) (*pgItem, error) {
	if err := onlyFields(v, -1, "lateral", "ordinality", "is_rowsfrom", "functions", "alias", "coldeflist"); err != nil {
		return nil, err
	}
	defer func(before bool) { s.lateral = before }(s.lateral)
	s.lateral = true // functions see what FROM has before them, with the word and without
	splitUnnest(v)
	item := &pgItem{at: -1}
	for _, n := range v.GetFunctions() {
		pair := n.GetList().GetItems()
		if len(pair) == 0 || pair[0].GetFuncCall() == nil {
			return nil, unknown(-1, "a table function that is none")
		}
		f := pair[0].GetFuncCall()
		columns, err := j.tableFunction(f, s, depth+1)
		if err != nil {
			return nil, err
		}
		if len(v.GetColdeflist()) > 0 || len(pair) > 1 && len(pair[1].GetList().GetItems()) > 0 {
			return nil, unknown(int(f.GetLocation()), "a table function with types of columns")
		}
		if item.name == "" {
			item.name, item.at = columns.function, f.GetLocation()
		}
		if len(v.GetFunctions()) == 1 && len(columns.names) == 1 && columns.names[0] == columns.function && v.GetAlias() != nil {
			columns.names[0] = v.GetAlias().GetAliasname() // a single value is named like the table
		}
		for _, name := range columns.names {
			item.columns = append(item.columns, pgColumn{name: name})
		}
	}
	if v.GetOrdinality() {
		item.columns = append(item.columns, pgColumn{name: "ordinality"})
	}
	if err := item.rename(v.GetAlias()); err != nil {
		return nil, err
	}
	alias := &pgquery.Alias{Aliasname: item.name}
	for _, c := range item.columns {
		alias.Colnames = append(alias.Colnames, pgquery.MakeStrNode(c.name))
	}
	v.Alias = alias
	return item, nil
}

// splitUnnest writes unnest(a, b) as ROWS FROM (unnest(a), unnest(b)): the server does so
// itself only where the name has no schema.
func splitUnnest(v *pgquery.RangeFunction) {
	var out []*pgquery.Node
	for _, n := range v.GetFunctions() {
		items := n.GetList().GetItems()
		if len(items) == 0 || lastName(items[0].GetFuncCall().GetFuncname()) != "unnest" || len(items[0].GetFuncCall().GetArgs()) < 2 {
			out = append(out, n)
			continue
		}
		for _, a := range items[0].GetFuncCall().GetArgs() {
			one := proto.CloneOf(items[0].GetFuncCall())
			one.Args = []*pgquery.Node{a}
			call := &pgquery.Node{Node: &pgquery.Node_FuncCall{FuncCall: one}}
			out = append(out, pgquery.MakeListNode(append([]*pgquery.Node{call}, items[1:]...)))
		}
		v.IsRowsfrom = true
	}
	v.Functions = out
}

// A tableFunctionResult is what a function in FROM gives.
type tableFunctionResult struct {
	function string
	names    []string // of its columns
}

func (j *pgJudge) tableFunction(f *pgquery.FuncCall, s *pgScope, depth int) (tableFunctionResult, error) {
	name, err := j.functionName(f)
	if err != nil {
		return tableFunctionResult{}, err
	}
	if !j.words.tableFunctions[name] {
		return tableFunctionResult{}, deny(RuleTableFunction, int(f.GetLocation()), tableList(j.scope.Tables),
			"The table function %s is not allowed: only %s are.", name, j.words.listTableFunctions())
	}
	j.call(name)
	columns := slices.Clone(tableFunctionColumns[name])
	if columns == nil {
		columns = []string{name}
	}
	return tableFunctionResult{name, columns}, j.arguments(f, name, s, depth)
}
