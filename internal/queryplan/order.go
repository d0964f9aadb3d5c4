package queryplan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/schema"
)

// rankName is the column that numbers the rows of a group for Top.
const rankName = "rank_in_group"

// sortsSelectedOnly says that only selected names can be sorted by, because set
// operations combine rows after they are selected.
func (q *query) sortsSelectedOnly() bool { return q.plan.Distinct || len(q.plan.Combine) > 0 }

// collatesTexts says that texts need a collation to be ordered by code points.
func (q *query) collatesTexts() bool { return q.grammar.forms["order of text"] != "$x" }

// orderExpr writes a value to sort by.
func (q *query) orderExpr(v value) string {
	if v.kind == Text {
		return q.grammar.fill("order of text", v.sql, "")
	}
	return v.sql
}

// order writes the terms of ORDER BY. Behind Top or a set operation only selected
// names can be sorted by.
func (q *query) order(columns []schema.Column) string {
	p := q.plan
	var terms []string
	if p.Top != nil && len(p.OrderBy) == 0 {
		for _, t := range p.Top.Per {
			if i := q.selectedIndex(t.Expr, columns); i >= 0 {
				terms = append(terms, q.grammar.fill("asc", q.outerName(columns[i]), ""))
			}
		}
		return strings.Join(append(terms, q.dialect.Ident(rankName)), ", ")
	}
	for i, o := range p.OrderBy {
		path := fmt.Sprintf("%s.order_by[%d]", q.path, i)
		var sql string
		switch {
		case p.Top != nil || len(p.Combine) > 0:
			at := q.selectedIndex(o.Expr, columns)
			if at < 0 {
				q.fail(path, "only selected values can be sorted by here; add it to select")
				continue
			}
			sql = q.outerName(columns[at])
		default:
			sql = q.sortable(o.Expr, path)
		}
		terms = append(terms, q.direction(o, sql, "", path))
	}
	return strings.Join(terms, ", ")
}

// outerName writes a selected name outside of its query. After a set operation only the
// plain name is allowed.
func (q *query) outerName(c schema.Column) string {
	v := value{sql: q.dialect.Ident(c.Name), kind: KindOf(c.Type)}
	if q.sortsSelectedOnly() {
		return v.sql
	}
	return q.orderExpr(v)
}

// sortable writes what to sort by: a selected alias by its name, else the value.
func (q *query) sortable(e Expr, path string) string {
	if e.plain() {
		for _, item := range q.plan.Select {
			if item.Alias != "" && strings.EqualFold(item.Alias, e.Column) {
				if q.grammar.wholeAliasInOrder && !(q.plan.Distinct && q.collatesTexts()) {
					return q.orderExpr(q.expr(item, path, groupScope, 0))
				}
				return q.dialect.Ident(item.Alias)
			}
		}
	}
	v := q.expr(e, path, groupScope, 0)
	grouped := len(q.plan.GroupBy) > 0 || slices.ContainsFunc(q.plan.Select, Expr.Aggregate)
	if grouped && !v.aggregate {
		ok := slices.ContainsFunc(q.plan.GroupBy, func(t Term) bool {
			return q.expr(q.resolveAlias(t.Expr), path, rowScope, 0).sql == v.sql
		})
		if !ok {
			q.fail(path, "%s is neither grouped by nor inside a function", cmpColumn(e))
		}
	}
	if v.aggregate && !grouped {
		q.fail(path, "an aggregate sorts groups, but nothing is grouped")
	}
	if q.plan.Distinct && !slices.ContainsFunc(q.plan.Select, func(s Expr) bool { return q.expr(s, path, groupScope, 0).sql == v.sql }) {
		q.fail(path, "distinct rows can only be sorted by what is selected")
	}
	return q.orderExpr(v)
}

// direction writes a term of ORDER BY. A dialect may have other forms inside a window,
// whose names begin with where.
func (q *query) direction(o Order, sql, where, path string) string {
	form := cmp.Or(strings.ToLower(string(o.Direction)), string(Asc))
	if !slices.Contains(directions, Direction(form)) {
		q.fail(path+".direction", "unknown direction %q; use one of %s", o.Direction, list(directions))
		return ""
	}
	switch nulls := strings.ToLower(o.Nulls); nulls {
	case "":
	case "first", "last":
		form += " " + nulls
	default:
		q.fail(path+".nulls", "unknown word %q; use first or last", o.Nulls)
	}
	if q.grammar.forms[where+form] != "" {
		form = where + form
	}
	return q.grammar.fill(form, sql, "")
}

// selectedIndex finds a value in the select list, by its alias or its expression; -1 if absent.
func (q *query) selectedIndex(e Expr, columns []schema.Column) int {
	for i, item := range q.plan.Select {
		if e.plain() && i < len(columns) && strings.EqualFold(columns[i].Name, e.Column) {
			return i
		}
		item.Alias = e.Alias
		if string(Literal(item)) == string(Literal(e)) {
			return i
		}
	}
	return -1
}

// rankColumn writes the number of a row in its group, for Top.
func (q *query) rankColumn() string {
	t, path := q.plan.Top, q.path+".top"
	if t == nil {
		return ""
	}
	if t.N < 1 || t.N > maxLimit {
		q.fail(path+".n", "must be 1 to %d", int(maxLimit))
	}
	if len(t.Per) == 0 {
		q.fail(path+".per", "names no group; use order_by and limit for the first rows of all")
	}
	if len(t.OrderBy) == 0 {
		q.fail(path+".order_by", "says not by what the first rows are chosen")
	}
	if q.sortsSelectedOnly() {
		q.fail(path, "cannot be used with distinct or combine")
	}
	var per, by []string
	for i, e := range t.Per {
		per = append(per, q.expr(q.resolveAlias(e.Expr), fmt.Sprintf("%s.per[%d]", path, i), groupScope, 0).sql)
	}
	for i, o := range t.OrderBy {
		at := fmt.Sprintf("%s.order_by[%d]", path, i)
		by = append(by, q.direction(o, q.orderExpr(q.expr(q.resolveAlias(o.Expr), at, groupScope, 0)), "window ", at))
	}
	number := q.grammar.forms["row_number"]
	if t.Ties {
		number = q.grammar.forms["rank"]
	}
	return number + " OVER (PARTITION BY " + strings.Join(per, ", ") + " ORDER BY " + strings.Join(by, ", ") + ") AS " + q.dialect.Ident(rankName)
}

// wrapTop wraps the query so that each group keeps its first N rows.
func (q *query) wrapTop(head string, items []string, columns []schema.Column, tail []string) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = q.dialect.Ident(c.Name)
	}
	inner := head + strings.Join(items, ", ") + " " + strings.Join(tail, " ")
	return []string{
		"SELECT " + strings.Join(names, ", "),
		"FROM (" + inner + ") AS ranked",
		"WHERE " + q.dialect.Ident(rankName) + " <= " + strconv.Itoa(q.plan.Top.N),
	}
}

// combine adds the set operations to a query, each with a plan of as many columns.
func (q *query) combine(clauses []string, columns []schema.Column) []string {
	if len(q.plan.Combine) == 0 {
		return clauses
	}
	for i, c := range q.plan.Combine {
		path := fmt.Sprintf("%s.combine[%d]", q.path, i)
		if !slices.Contains(setOperations, c.Operation) {
			q.fail(path+".operation", "unknown operation %q; use one of %s", c.Operation, list(setOperations))
			continue
		}
		if q.grammar.equalSetPrecedence && c.Operation != q.plan.Combine[0].Operation {
			q.fail(path+".operation", "%s has no order among different set operations; use one kind in a plan", q.dialect.Title())
		}
		if len(c.Plan.OrderBy) > 0 || c.Plan.Limit > 0 || len(c.Plan.Combine) > 0 {
			q.fail(path+".plan", "order, limit and further sets belong to the outer plan")
		}
		sql, other := q.compiler.plan(&c.Plan, path+".plan", " ", q.depth+1)
		if len(other) != len(columns) {
			q.fail(path+".plan.select", "has %d values but the outer plan has %d", len(other), len(columns))
		}
		clauses = append(clauses, q.grammar.sets[c.Operation], sql)
	}
	if !q.grammar.wrapsSetOperations {
		return clauses
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = q.dialect.Ident(c.Name)
	}
	return []string{"SELECT " + strings.Join(names, ", "), "FROM (" + strings.Join(clauses, " ") + ") AS combined"}
}
