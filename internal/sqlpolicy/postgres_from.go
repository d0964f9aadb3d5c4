package sqlpolicy

import (
	"slices"

	pgquery "github.com/pganalyze/pg_query_go/v6"
)

// fromItem judges an entry of FROM. It gives the item whose columns the entry has, and
// all items that names may mean.
func (j *pgJudge) fromItem(n *pgquery.Node, s *pgScope, depth int) (*pgItem, []*pgItem, error) {
	if err := j.enter(-1, depth); err != nil {
		return nil, nil, err
	}
	var item *pgItem
	var err error
	switch v := n.GetNode().(type) {
	case *pgquery.Node_RangeVar:
		item, err = j.table(v.RangeVar, s, depth)
	case *pgquery.Node_RangeSubselect:
		item, err = j.subquery(v.RangeSubselect, s, depth)
	case *pgquery.Node_RangeFunction:
		item, err = j.tableFunctions(v.RangeFunction, s, depth)
	case *pgquery.Node_RangeTableSample:
		item, err = j.sample(v.RangeTableSample, s, depth)
	case *pgquery.Node_JoinExpr:
		return j.join(v.JoinExpr, s, depth)
	default:
		err = unknown(-1, "%s in FROM", pgNodeKind(n))
	}
	return item, []*pgItem{item}, err
}

// table admits a table of the dataset or a CTE in scope. A table gets its schema, so
// that its name cannot mean another.
func (j *pgJudge) table(v *pgquery.RangeVar, s *pgScope, depth int) (*pgItem, error) {
	at := v.GetLocation()
	if j.refs++; j.refs > j.limits.Tables {
		return nil, deny(RuleTooBig, int(at), "Split the question into several smaller ones.", "More than %d tables are named.", j.limits.Tables)
	}
	if err := onlyFields(v, at, "catalogname", "schemaname", "relname", "inh", "relpersistence", "alias"); err != nil {
		return nil, err
	}
	if v.GetRelpersistence() != "p" {
		return nil, unknown(int(at), "a table that is not kept")
	}
	item := &pgItem{name: v.GetRelname(), at: at}
	if c, declared := s.cte(v.GetRelname()); c != nil && v.GetSchemaname() == "" && v.GetCatalogname() == "" {
		if err := j.readCTE(c, declared, depth+1, true); err != nil {
			return nil, err
		}
		item.columns = c.columns
		return item, item.rename(v.GetAlias())
	}
	t, known := j.tables[v.GetRelname()]
	if !known || v.GetCatalogname() != "" || v.GetSchemaname() != "" && !j.ownSchema(v.GetSchemaname()) {
		return nil, j.tableDenied(v)
	}
	v.Schemaname = j.schema
	if j.touched[t.Name] == nil {
		j.touched[t.Name] = map[string]bool{}
	}
	for _, c := range t.Columns {
		item.columns = append(item.columns, pgColumn{c, []pgOrigin{{t.Name, c}}})
	}
	if v.GetAlias() == nil {
		item.table = t.Name
	}
	return item, item.rename(v.GetAlias())
}

func (j *pgJudge) tableDenied(v *pgquery.RangeVar) error {
	full := v.GetRelname()
	if v.GetSchemaname() != "" {
		full = v.GetSchemaname() + "." + full
	}
	if v.GetCatalogname() != "" {
		full = v.GetCatalogname() + "." + full
	}
	switch v.GetSchemaname() {
	case "information_schema", "pg_catalog":
		return deny(RuleCatalog, int(v.GetLocation()), tableList(j.scope.Tables)+" Their columns are in the dataset's schema.", "The engine's catalog (%s) is not available.", full)
	}
	return deny(RuleTable, int(v.GetLocation()), TablesNear(j.scope.Tables, full), "There is no table %s in this dataset.", full)
}

// rename gives an item its alias, and its columns theirs.
func (i *pgItem) rename(a *pgquery.Alias) error {
	if a == nil {
		return nil
	}
	if err := onlyFields(a, i.at, "aliasname", "colnames"); err != nil {
		return err
	}
	names, err := stringValues(a.GetColnames(), i.at)
	if err != nil {
		return err
	}
	i.name = a.GetAliasname()
	i.columns, err = rename(i.columns, names, i.at)
	return err
}

// subquery judges a query in FROM. With LATERAL it sees what FROM has before it.
func (j *pgJudge) subquery(v *pgquery.RangeSubselect, s *pgScope, depth int) (*pgItem, error) {
	if err := onlyFields(v, -1, "lateral", "subquery", "alias"); err != nil {
		return nil, err
	}
	q := v.GetSubquery().GetSelectStmt()
	if q == nil {
		return nil, unknown(-1, "a subquery that is no SELECT")
	}
	defer func(before bool) { s.lateral = before }(s.lateral)
	s.lateral = v.GetLateral()
	out, err := j.query(q, s, depth+1, pgUse{named: true})
	if err != nil {
		return nil, err
	}
	item := &pgItem{columns: out, at: -1, relHidden: v.GetAlias() == nil}
	return item, item.rename(v.GetAlias())
}

func (j *pgJudge) sample(v *pgquery.RangeTableSample, s *pgScope, depth int) (*pgItem, error) {
	at := v.GetLocation()
	if err := onlyFields(v, at, "relation", "method", "args", "repeatable"); err != nil {
		return nil, err
	}
	method, err := stringValues(v.GetMethod(), at)
	if err != nil {
		return nil, err
	}
	if len(method) == 2 && method[0] == "pg_catalog" {
		method = method[1:]
	}
	if len(method) != 1 || method[0] != "bernoulli" && method[0] != "system" {
		return nil, deny(RuleTableFunction, int(at), "Use TABLESAMPLE BERNOULLI (percent) or SYSTEM (percent).", "This way to sample a table is not allowed.")
	}
	v.Method = []*pgquery.Node{pgquery.MakeStrNode("pg_catalog"), pgquery.MakeStrNode(method[0])}
	j.volatile = true
	if err := j.exprs(append(slices.Clone(v.GetArgs()), v.GetRepeatable()), s, depth); err != nil {
		return nil, err
	}
	if v.GetRelation().GetRangeVar() == nil {
		return nil, unknown(int(at), "a sample of what is no table")
	}
	return j.table(v.GetRelation().GetRangeVar(), s, depth)
}

// join judges a join. Its columns take the place of those of its sides, merged where
// USING or NATURAL says so; with an alias it hides its sides.
func (j *pgJudge) join(v *pgquery.JoinExpr, s *pgScope, depth int) (*pgItem, []*pgItem, error) {
	err := onlyFields(v, -1, "jointype", "is_natural", "larg", "rarg", "using_clause", "join_using_alias", "quals", "alias")
	if err != nil {
		return nil, nil, err
	}
	switch v.GetJointype() {
	case pgquery.JoinType_JOIN_INNER, pgquery.JoinType_JOIN_LEFT, pgquery.JoinType_JOIN_FULL, pgquery.JoinType_JOIN_RIGHT:
	default:
		return nil, nil, unknown(-1, "this kind of join")
	}
	left, leftItems, err := j.fromItem(v.GetLarg(), s, depth+1)
	if err != nil {
		return nil, nil, err
	}
	before := len(s.items)
	for _, i := range leftItems {
		i.lateralOnly = true
	}
	s.items = append(slices.Clip(s.items), leftItems...) // the right side may see them, with LATERAL
	right, rightItems, err := j.fromItem(v.GetRarg(), s, depth+1)
	s.items = s.items[:before]
	if err != nil {
		return nil, nil, err
	}
	sides := &pgScope{parent: s.parent, ctes: s.ctes}
	for _, i := range leftItems {
		i.lateralOnly = false
	}
	if err := sides.add(leftItems...); err != nil {
		return nil, nil, err
	}
	if err := sides.add(rightItems...); err != nil {
		return nil, nil, err
	}
	if err := j.expr(v.GetQuals(), sides, depth+1); err != nil {
		return nil, nil, err
	}
	using, err := joinColumns(v, left, right)
	if err != nil {
		return nil, nil, err
	}
	joined := &pgItem{at: -1, relHidden: v.GetAlias() == nil}
	if joined.columns, err = j.mergeColumns(using, left, right); err != nil {
		return nil, nil, err
	}
	merged := joined.columns[:len(using):len(using)]
	if err := joined.rename(v.GetAlias()); err != nil {
		return nil, nil, err
	}
	items := slices.Concat(leftItems, rightItems)
	for _, i := range items {
		i.colsHidden = true
	}
	if a := v.GetJoinUsingAlias(); a != nil {
		item := &pgItem{columns: merged, at: -1, colsHidden: true}
		if err := item.rename(a); err != nil {
			return nil, nil, err
		}
		if err := sides.add(item); err != nil {
			return nil, nil, err
		}
		items = append(items, item)
	}
	if v.GetAlias() != nil { // it hides both sides, and the alias of USING
		items = nil
	}
	return joined, append(items, joined), nil
}

// joinColumns gives the names by which a join merges columns.
func joinColumns(v *pgquery.JoinExpr, left, right *pgItem) ([]string, error) {
	if !v.GetIsNatural() {
		return stringValues(v.GetUsingClause(), -1)
	}
	var names []string
	for _, c := range left.columns {
		if hasColumn(right.columns, c.name) {
			names = append(names, c.name)
		}
	}
	return names, nil
}

// mergeColumns gives the columns of a join: the merged ones, then those of each side.
func (j *pgJudge) mergeColumns(using []string, left, right *pgItem) ([]pgColumn, error) {
	var out []pgColumn
	for _, name := range using {
		l, r := left.column(name), right.column(name)
		if len(l) != 1 || len(r) != 1 {
			return nil, deny(RuleColumn, -1, "Use a column that each side has once, or ON.", "The column %s cannot join both sides.", name)
		}
		j.touch(l[0], r[0])
		out = append(out, pgColumn{name, slices.Concat(l[0].origins, r[0].origins)})
	}
	for _, side := range []*pgItem{left, right} {
		for _, c := range side.columns {
			if !slices.Contains(using, c.name) {
				out = append(out, c)
			}
		}
	}
	return out, nil
}
