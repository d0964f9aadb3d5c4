package queryplan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rankName is the column that numbers the rows of a group for Top.
const rankName = "rank_in_group"

// order writes the terms of ORDER BY. Behind Top or a set operation only selected
// names can be sorted by.
func (q *query) order(columns []Column) string {
	p := q.plan
	if p.Top != nil && len(p.OrderBy) == 0 {
		var terms []string
		for _, t := range p.Top.Per {
			if i := q.position(t.Expr, columns); i >= 0 {
				terms = append(terms, Ident(columns[i].Name))
			}
		}
		return strings.Join(append(terms, rankName), ", ")
	}
	var terms []string
	for i, o := range p.OrderBy {
		path := fmt.Sprintf("%s.order_by[%d]", q.path, i)
		var sql string
		if p.Top != nil || len(p.Combine) > 0 {
			at := q.position(o.Expr, columns)
			if at < 0 {
				q.fail(path, "only selected values can be sorted by here; add it to select")
				continue
			}
			sql = Ident(columns[at].Name)
		} else {
			sql = q.sortable(o.Expr, path)
		}
		terms = append(terms, sql+q.direction(o, path))
	}
	return strings.Join(terms, ", ")
}

// sortable writes what to sort by: a selected alias by its name, else the value.
func (q *query) sortable(e Expr, path string) string {
	if e.plain() {
		for _, item := range q.plan.Select {
			if item.Alias != "" && strings.EqualFold(item.Alias, e.Column) {
				return Ident(item.Alias)
			}
		}
	}
	v := q.expr(e, path, groupScope, 0)
	grouped := len(q.plan.GroupBy) > 0 || slices.ContainsFunc(q.plan.Select, Expr.Aggregate)
	if grouped && !v.aggregate {
		ok := slices.ContainsFunc(q.plan.GroupBy, func(t Term) bool {
			return q.expr(q.selected(t.Expr), path, rowScope, 0).sql == v.sql
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
	return v.sql
}

func (q *query) direction(o Order, path string) string {
	var s string
	switch Direction(strings.ToLower(string(o.Direction))) {
	case "", Asc:
	case Desc:
		s = " DESC"
	default:
		q.fail(path+".direction", "unknown direction %q; use one of %s", o.Direction, list(directions))
	}
	switch strings.ToLower(o.Nulls) {
	case "":
	case "first":
		s += " NULLS FIRST"
	case "last":
		s += " NULLS LAST"
	default:
		q.fail(path+".nulls", "unknown word %q; use first or last", o.Nulls)
	}
	return s
}

// position finds a value in the select list, by alias or by what it is; -1 if absent.
func (q *query) position(e Expr, columns []Column) int {
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

// top wraps the query so that each group keeps its first N rows.
func (q *query) top(head string, items []string, columns []Column, tail []string) []string {
	t, path := q.plan.Top, q.path+".top"
	if t.N < 1 || t.N > maxLimit {
		q.fail(path+".n", "must be 1 to %d", int(maxLimit))
	}
	if len(t.Per) == 0 {
		q.fail(path+".per", "names no group; use order_by and limit for the first rows of all")
	}
	if len(t.OrderBy) == 0 {
		q.fail(path+".order_by", "says not by what the first rows are chosen")
	}
	if len(q.plan.Combine) > 0 || q.plan.Distinct {
		q.fail(path, "cannot be used with distinct or combine")
	}
	var per, by []string
	for i, e := range t.Per {
		per = append(per, q.expr(q.selected(e.Expr), fmt.Sprintf("%s.per[%d]", path, i), groupScope, 0).sql)
	}
	for i, o := range t.OrderBy {
		at := fmt.Sprintf("%s.order_by[%d]", path, i)
		by = append(by, q.expr(q.selected(o.Expr), at, groupScope, 0).sql+q.direction(o, at))
	}
	number := "row_number()"
	if t.Ties {
		number = "rank()"
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = Ident(c.Name)
	}
	window := number + " OVER (PARTITION BY " + strings.Join(per, ", ") + " ORDER BY " + strings.Join(by, ", ") + ") AS " + rankName
	inner := head + strings.Join(append(slices.Clone(items), window), ", ") + " " + strings.Join(tail, " ")
	return []string{
		"SELECT " + strings.Join(names, ", "),
		"FROM (" + inner + ") AS ranked",
		"WHERE " + rankName + " <= " + strconv.Itoa(t.N),
	}
}

// combine writes the set operations, each with a plan of as many columns.
func (q *query) combine(columns []Column) []string {
	var clauses []string
	for i, c := range q.plan.Combine {
		path := fmt.Sprintf("%s.combine[%d]", q.path, i)
		if !slices.Contains(setOperations, c.Operation) {
			q.fail(path+".operation", "unknown operation %q; use one of %s", c.Operation, list(setOperations))
			continue
		}
		if len(c.Plan.OrderBy) > 0 || c.Plan.Limit > 0 || len(c.Plan.Combine) > 0 {
			q.fail(path+".plan", "order, limit and further sets belong to the outer plan")
		}
		sql, other := q.compiler.plan(&c.Plan, path+".plan", " ", q.depth+1)
		if len(other) != len(columns) {
			q.fail(path+".plan.select", "has %d values but the outer plan has %d", len(other), len(columns))
		}
		clauses = append(clauses, strings.ToUpper(strings.ReplaceAll(string(c.Operation), "_", " ")), sql)
	}
	return clauses
}
