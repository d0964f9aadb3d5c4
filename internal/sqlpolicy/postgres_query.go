package sqlpolicy

import (
	"fmt"
	"slices"
	"strings"

	pgquery "github.com/pganalyze/pg_query_go/v6"
)

// A pgUse is what a query is for.
type pgUse struct {
	// named has the names of result columns written out, for a query around it that
	// refers to them: then the server need not find names for them.
	named bool
	// left, if not nil, gets the columns of the first part of a UNION before the second
	// part is judged, which may refer to them.
	left func([]pgColumn) error
}

// query judges a SELECT, VALUES or set operation and gives the columns of its result.
func (j *pgJudge) query(q *pgquery.SelectStmt, parent *pgScope, depth int, use pgUse) ([]pgColumn, error) {
	if err := j.enter(-1, depth); err != nil {
		return nil, err
	}
	if q.GetIntoClause() != nil {
		return nil, deny(RuleSelectOnly, int(q.GetIntoClause().GetRel().GetLocation()), "Leave INTO out.", "SELECT INTO writes a table; only reading is possible here.")
	}
	if len(q.GetLockingClause()) > 0 {
		return nil, deny(RuleSelectOnly, -1, "Leave FOR UPDATE, FOR SHARE and the like out.", "Rows cannot be locked here.")
	}
	s := &pgScope{parent: parent}
	if err := j.with(q.GetWithClause(), s, depth); err != nil {
		return nil, err
	}
	switch {
	case q.GetOp() != pgquery.SetOperation_SETOP_NONE:
		return j.setOperation(q, s, depth, use)
	case len(q.GetValuesLists()) > 0:
		return j.values(q, s, depth)
	}
	return j.simpleQuery(q, s, depth, use.named)
}

func (j *pgJudge) setOperation(q *pgquery.SelectStmt, s *pgScope, depth int, use pgUse) ([]pgColumn, error) {
	if err := onlyFields(q, -1, "op", "all", "larg", "rarg", "sort_clause", "limit_offset", "limit_count", "limit_option", "with_clause"); err != nil {
		return nil, err
	}
	if q.GetLarg() == nil || q.GetRarg() == nil {
		return nil, unknown(-1, "a set operation without its parts")
	}
	out, err := j.query(q.GetLarg(), s, depth+1, pgUse{named: use.named})
	if err != nil {
		return nil, err
	}
	if use.left != nil && q.GetOp() == pgquery.SetOperation_SETOP_UNION {
		if err := use.left(out); err != nil {
			return nil, err
		}
	}
	if _, err := j.query(q.GetRarg(), s, depth+1, pgUse{}); err != nil {
		return nil, err
	}
	result := &pgScope{parent: s, items: []*pgItem{{columns: out, relHidden: true}}}
	if err := j.sortTerms(q.GetSortClause(), result, depth, out); err != nil {
		return nil, err
	}
	return out, j.exprs([]*pgquery.Node{q.GetLimitOffset(), q.GetLimitCount()}, s, depth)
}

func (j *pgJudge) values(q *pgquery.SelectStmt, s *pgScope, depth int) ([]pgColumn, error) {
	if err := onlyFields(q, -1, "op", "values_lists", "sort_clause", "limit_offset", "limit_count", "limit_option", "with_clause"); err != nil {
		return nil, err
	}
	var out []pgColumn
	for _, row := range q.GetValuesLists() {
		items := row.GetList().GetItems()
		for i := len(out); i < len(items); i++ {
			out = append(out, pgColumn{name: fmt.Sprintf("column%d", i+1)})
		}
		if err := j.exprs(items, s, depth); err != nil {
			return nil, err
		}
	}
	result := &pgScope{parent: s, items: []*pgItem{{columns: out, relHidden: true}}}
	if err := j.sortTerms(q.GetSortClause(), result, depth, out); err != nil {
		return nil, err
	}
	return out, j.exprs([]*pgquery.Node{q.GetLimitOffset(), q.GetLimitCount()}, s, depth)
}

func (j *pgJudge) simpleQuery(q *pgquery.SelectStmt, s *pgScope, depth int, named bool) ([]pgColumn, error) {
	err := onlyFields(q, -1, "op", "distinct_clause", "target_list", "from_clause", "where_clause", "group_clause", "group_distinct", "having_clause",
		"window_clause", "sort_clause", "limit_offset", "limit_count", "limit_option", "with_clause")
	if err != nil {
		return nil, err
	}
	for _, n := range q.GetFromClause() {
		_, items, err := j.fromItem(n, s, depth+1)
		if err != nil {
			return nil, err
		}
		for _, i := range items {
			i.lateralOnly = true
		}
		if err := s.add(items...); err != nil {
			return nil, err
		}
	}
	for _, i := range s.items {
		i.lateralOnly = false
	}
	out, err := j.targets(q.GetTargetList(), s, depth, named)
	if err != nil {
		return nil, err
	}
	if err := j.exprs([]*pgquery.Node{q.GetWhereClause(), q.GetHavingClause(), q.GetLimitOffset(), q.GetLimitCount()}, s, depth); err != nil {
		return nil, err
	}
	if err := j.groupTerms(q.GetGroupClause(), s, depth, out); err != nil {
		return nil, err
	}
	for _, n := range q.GetDistinctClause() {
		if n.GetNode() == nil { // DISTINCT without ON
			continue
		}
		if err := j.outputTerm(n, s, depth+1, out); err != nil {
			return nil, err
		}
	}
	for _, n := range q.GetWindowClause() {
		if err := j.window(n.GetWindowDef(), s, depth+1); err != nil {
			return nil, err
		}
	}
	return out, j.sortTerms(q.GetSortClause(), s, depth, out)
}

// targets judges a select list and gives the columns that it makes.
func (j *pgJudge) targets(list []*pgquery.Node, s *pgScope, depth int, named bool) ([]pgColumn, error) {
	var out []pgColumn
	for _, n := range list {
		t := n.GetResTarget()
		if t == nil {
			return nil, unknown(-1, "a select list without targets")
		}
		if err := onlyFields(t, t.GetLocation(), "name", "val"); err != nil {
			return nil, err
		}
		if err := j.expr(t.GetVal(), s, depth+1); err != nil {
			return nil, err
		}
		ref := t.GetVal().GetColumnRef()
		if ref != nil && ref.GetFields()[len(ref.GetFields())-1].GetAStar() != nil {
			columns, err := j.starColumns(ref, s)
			if err != nil {
				return nil, err
			}
			out = append(out, columns...)
			continue
		}
		name := t.GetName()
		if name == "" {
			name = resultName(t.GetVal())
			if named && ref == nil {
				t.Name = name
			}
		}
		out = append(out, pgColumn{name: name})
	}
	return out, nil
}

// starColumns gives the names that * or x.* stands for.
func (j *pgJudge) starColumns(ref *pgquery.ColumnRef, s *pgScope) ([]pgColumn, error) {
	columns := s.star()
	if fields := ref.GetFields(); len(fields) > 1 {
		names, err := stringValues(fields[:len(fields)-1], ref.GetLocation())
		if err != nil {
			return nil, err
		}
		item, _, err := j.owner(ref, names, true, s)
		if err != nil {
			return nil, err
		}
		columns = item.columns
	}
	out := make([]pgColumn, len(columns))
	for i, c := range columns {
		out[i] = pgColumn{name: c.name}
	}
	return out, nil
}

// outputTerm judges a term of ORDER BY or DISTINCT ON, where a bare name means a column
// of the result before one of FROM.
func (j *pgJudge) outputTerm(n *pgquery.Node, s *pgScope, depth int, out []pgColumn) error {
	if name, ok := bareName(n); ok && hasColumn(out, name) {
		return j.enter(-1, depth)
	}
	return j.expr(n, s, depth)
}

// groupTerms judges GROUP BY, where a bare name means a column of FROM before one of
// the result.
func (j *pgJudge) groupTerms(list []*pgquery.Node, s *pgScope, depth int, out []pgColumn) error {
	for _, n := range list {
		if err := j.enter(-1, depth+1); err != nil {
			return err
		}
		var err error
		if set := n.GetGroupingSet(); set != nil {
			if err = onlyFields(set, set.GetLocation(), "kind", "content"); err == nil {
				err = j.groupTerms(set.GetContent(), s, depth+1, out)
			}
		} else if row := n.GetRowExpr(); row != nil {
			if err = onlyFields(row, row.GetLocation(), "args", "row_format"); err == nil {
				err = j.groupTerms(row.GetArgs(), s, depth+1, out)
			}
		} else if name, ok := bareName(n); !ok || len(s.ownColumns(name)) > 0 || !hasColumn(out, name) {
			err = j.expr(n, s, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sortTerms judges ORDER BY; out is the result whose columns its bare names may mean.
func (j *pgJudge) sortTerms(list []*pgquery.Node, s *pgScope, depth int, out []pgColumn) error {
	for _, n := range list {
		by := n.GetSortBy()
		if by == nil || by.GetSortbyDir() == pgquery.SortByDir_SORTBY_USING {
			return unknown(int(by.GetLocation()), "ORDER BY ... USING")
		}
		if err := onlyFields(by, by.GetLocation(), "node", "sortby_dir", "sortby_nulls"); err != nil {
			return err
		}
		if err := j.outputTerm(by.GetNode(), s, depth+1, out); err != nil {
			return err
		}
	}
	return nil
}

// bareName gives the name of a reference that has no qualifier.
func bareName(n *pgquery.Node) (string, bool) {
	fields := n.GetColumnRef().GetFields()
	if len(fields) != 1 {
		return "", false
	}
	return stringValue(fields[0])
}

func hasColumn(columns []pgColumn, name string) bool {
	return slices.ContainsFunc(columns, func(c pgColumn) bool { return c.name == name })
}

// with judges WITH. Without RECURSIVE each query sees the ones before it; with it all
// see all.
func (j *pgJudge) with(w *pgquery.WithClause, s *pgScope, depth int) error {
	if w == nil {
		return nil
	}
	if err := onlyFields(w, w.GetLocation(), "ctes", "recursive"); err != nil {
		return err
	}
	all := make([]*pgCTE, len(w.GetCtes()))
	for i, n := range w.GetCtes() {
		node := n.GetCommonTableExpr()
		if node == nil {
			return unknown(-1, "a WITH without a query")
		}
		if strings.HasPrefix(node.GetCtename(), "pg_") {
			return deny(RuleTable, int(node.GetLocation()), "Give it another name.", "Names that begin with pg_ are the server's own: %s.", node.GetCtename())
		}
		if slices.ContainsFunc(all[:i], func(c *pgCTE) bool { return c.name == node.GetCtename() }) {
			return deny(RuleTable, int(node.GetLocation()), "Give one of them another name.", "WITH names %s twice.", node.GetCtename())
		}
		all[i] = &pgCTE{name: node.GetCtename(), node: node}
	}
	if w.GetRecursive() {
		s.ctes = all
	}
	for _, c := range all {
		if err := j.readCTE(c, s, depth+1, w.GetRecursive()); err != nil {
			return err
		}
		if !w.GetRecursive() {
			s.ctes = append(s.ctes, c)
		}
	}
	return nil
}

// readCTE judges the query of a CTE, once. In a recursive one the part that refers to
// itself sees the columns of the part that does not.
func (j *pgJudge) readCTE(c *pgCTE, s *pgScope, depth int, recursive bool) error {
	at := c.node.GetLocation()
	switch {
	case c.known:
		return nil
	case c.reading:
		return deny(RuleTable, int(at), "Let it refer to itself only after UNION.", "WITH %s refers to itself where its columns are not known yet.", c.name)
	}
	if err := onlyFields(c.node, at, "ctename", "aliascolnames", "ctematerialized", "ctequery"); err != nil {
		return err
	}
	q := c.node.GetCtequery().GetSelectStmt()
	if q == nil {
		return deny(RuleSelectOnly, int(at), "Write SELECT in WITH.", "WITH %s is no SELECT; only reading is possible here.", c.name)
	}
	aliases, err := stringValues(c.node.GetAliascolnames(), at)
	if err != nil {
		return err
	}
	c.reading = true
	defer func() { c.reading = false }()
	use := pgUse{named: true}
	keep := func(out []pgColumn) error {
		c.columns, err = rename(out, aliases, at)
		c.known = err == nil
		return err
	}
	if recursive {
		use.left = keep
	}
	out, err := j.query(q, s, depth+1, use)
	if err != nil || c.known {
		return err
	}
	return keep(out)
}

// rename gives columns the names of an alias's list.
func rename(columns []pgColumn, names []string, at int32) ([]pgColumn, error) {
	if len(names) > len(columns) {
		return nil, deny(RuleColumn, int(at), "Name as many columns as there are.", "%d names are given to %d columns.", len(names), len(columns))
	}
	out := slices.Clone(columns)
	for i, name := range names {
		out[i].name = name
	}
	return out, nil
}
