package queryplan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/fault"
)

// Limits of a plan.
const (
	maxDepth = 5    // plans inside plans, values inside values
	maxParts = 200  // filters, selected values, joins: each list
	maxLimit = 1e6  // rows
	maxTexts = 1000 // values of one list
)

// A Problem is one thing that is wrong with a plan.
type Problem struct {
	Path    string `json:"path"`    // where: filters[0].value
	Message string `json:"message"` // what, and what would be right
}

// SQL compiles the plan for DuckDB.
func (p *Plan) SQL(s Schema) (string, error) { return p.SQLFor(DuckDB, s) }

// SQLFor compiles the plan for a dialect. The text is the same for the same plan
// and schema. A plan with problems is a fault that lists them all.
func (p *Plan) SQLFor(d Dialect, s Schema) (string, error) {
	c := &compiler{dialect: d, schema: s}
	sql, _ := c.plan(p, "", "\n", 0)
	if len(c.problems) > 0 {
		return "", invalid(c.problems)
	}
	return sql, nil
}

// Validate lists every problem of the plan; none means that SQL succeeds.
func (p *Plan) Validate(s Schema) []Problem {
	c := &compiler{schema: s}
	c.plan(p, "", "\n", 0)
	return c.problems
}

func invalid(problems []Problem) error {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = strings.TrimPrefix(p.Path+": "+p.Message, ": ")
	}
	return fault.New(fault.PlanInvalid, "%s", strings.Join(lines, "; ")).With(problems)
}

// A compiler writes SQL and collects problems on the way: validation is the same
// walk as compilation, so that the two cannot disagree.
type compiler struct {
	dialect  Dialect
	schema   Schema
	problems []Problem
}

func (c *compiler) fail(path, format string, args ...any) {
	p := Problem{strings.TrimPrefix(path, "."), fmt.Sprintf(format, args...)}
	if !slices.Contains(c.problems, p) {
		c.problems = append(c.problems, p)
	}
}

// plan compiles a plan at a depth and gives the columns of its result. Clauses are
// parted by sep.
func (c *compiler) plan(p *Plan, path, sep string, depth int) (string, []Column) {
	if depth >= maxDepth {
		c.fail(path, "plans are nested deeper than %d", maxDepth)
		return "", nil
	}
	q := &query{compiler: c, plan: p, path: path, depth: depth}
	from := q.from()
	where := q.filters(p.Filters, path+".filters", rowScope)
	groups := q.groups()
	having := q.filters(p.Having, path+".having", groupScope)
	items, columns := q.items(groups)

	head := "SELECT "
	if p.Distinct {
		head = "SELECT DISTINCT "
	}
	var tail []string
	tail = append(tail, from...)
	if where != "" {
		tail = append(tail, "WHERE "+where)
	}
	if len(groups) > 0 {
		tail = append(tail, "GROUP BY "+strings.Join(groups, ", "))
	}
	if having != "" {
		tail = append(tail, "HAVING "+having)
	}

	var clauses []string
	if p.Top != nil {
		clauses = q.top(head, items, columns, tail)
	} else {
		clauses = append([]string{head + strings.Join(items, ", ")}, tail...)
	}
	clauses = append(clauses, q.combine(columns)...)
	if order := q.order(columns); order != "" {
		clauses = append(clauses, "ORDER BY "+order)
	}
	if limit := q.limit(); limit != "" {
		clauses = append(clauses, limit)
	}
	return strings.Join(clauses, sep), columns
}

// from writes the tables.
func (q *query) from() []string {
	p := q.plan
	switch {
	case p.From != nil && (p.Table != "" || len(p.Joins) > 0):
		q.fail(q.path+".from", "a plan takes rows from a table or from a plan, not from both")
		return nil
	case p.From != nil:
		sql, columns := q.compiler.plan(p.From, q.path+".from", " ", q.depth+1)
		q.bind("", &Table{Name: "inner_rows", Columns: columns})
		return []string{"FROM (" + sql + ") AS inner_rows"}
	}
	table, ok := q.schema.Table(p.Table)
	if !ok {
		q.fail(q.path+".table", "there is no table %q; there are %s", p.Table, q.tableNames())
		table = &Table{}
	}
	q.bind(p.Alias, table)
	clauses := []string{"FROM " + named(table.Name, p.Alias)}
	if len(p.Joins) > maxParts {
		q.fail(q.path+".joins", "more than %d joins", maxParts)
		return clauses
	}
	for i, j := range p.Joins {
		clauses = append(clauses, q.join(j, fmt.Sprintf("%s.joins[%d]", q.path, i)))
	}
	return clauses
}

func (q *query) join(j Join, path string) string {
	verb := "JOIN "
	switch j.Kind {
	case "", Inner:
	case Left:
		verb = "LEFT JOIN "
	default:
		q.fail(path+".kind", "unknown kind %q; use one of %s", j.Kind, list(joinKinds))
	}
	table, ok := q.schema.Table(j.Table)
	if !ok {
		q.fail(path+".table", "there is no table %q; there are %s", j.Table, q.tableNames())
		return ""
	}
	before := slices.Clone(q.tables)
	if !q.bind(j.Alias, table) {
		q.fail(path+".alias", "%s is in the plan already; give this one an alias of its own", cmp.Or(j.Alias, table.Name))
	}
	added := q.tables[len(q.tables)-1:]
	on := j.On
	if len(on) == 0 {
		on = q.relation(before, added[0], path)
	}
	var equal []string
	for i, pair := range on {
		at := fmt.Sprintf("%s.on[%d]", path, i)
		left, lc := q.column(pair.Left, before, at+".left")
		right, rc := q.column(pair.Right, added, at+".right")
		left, right = q.alike(left, lc, right, rc)
		equal = append(equal, left+" = "+right)
	}
	return verb + named(table.Name, j.Alias) + " ON " + strings.Join(equal, " AND ")
}

// alike makes the sides of a join comparable: keys that two tables keep as different
// types are compared as text.
func (q *query) alike(left string, lc Column, right string, rc Column) (string, string) {
	lk, rk := lc.Kind(), rc.Kind()
	if q.dialect == DuckDB && lk != Unknown && rk != Unknown && lk != rk {
		if lk != Text {
			left = "CAST(" + left + " AS VARCHAR)"
		}
		if rk != Text {
			right = "CAST(" + right + " AS VARCHAR)"
		}
	}
	return left, right
}

// relation finds the one link between the joined table and those before it: declared,
// or else discovered by name.
func (q *query) relation(before []bound, added bound, path string) []Pair {
	type link struct {
		pair Pair
		text string
	}
	var links []link
	known := q.schema
	if !slices.ContainsFunc(before, func(b bound) bool { return len(known.Between(b.table.Name, added.table.Name)) > 0 }) {
		known.Relations = known.Discover()
	}
	for _, b := range before {
		for _, r := range known.Between(b.table.Name, added.table.Name) {
			l, rr := r.Column, r.RefColumn
			if strings.EqualFold(r.Table, added.table.Name) && !strings.EqualFold(r.Table, b.table.Name) {
				l, rr = rr, l
			}
			pair := Pair{b.name + "." + l, added.name + "." + rr}
			links = append(links, link{pair, pair.Left + " = " + pair.Right})
		}
	}
	switch len(links) {
	case 1:
		return []Pair{links[0].pair}
	case 0:
		q.fail(path+".on", "no relation links %s to the tables before it; say which columns are equal in `on`", added.name)
	default:
		texts := make([]string, len(links))
		for i, l := range links {
			texts[i] = l.text
		}
		q.fail(path+".on", "several relations link %s to the tables before it (%s); choose one in `on`", added.name, strings.Join(texts, ", "))
	}
	return nil
}

// groups writes the terms of GROUP BY.
func (q *query) groups() []string {
	var groups []string
	for i, t := range q.plan.GroupBy {
		path := fmt.Sprintf("%s.group_by[%d]", q.path, i)
		if t.Aggregate() {
			q.fail(path, "an aggregate cannot be grouped by; put it into having or order_by")
			continue
		}
		groups = append(groups, q.expr(q.selected(t.Expr), path, rowScope, 0).sql)
	}
	return groups
}

// selected follows an alias of the select list to what it stands for, unless a
// column has that name.
func (q *query) selected(e Expr) Expr {
	if !e.plain() {
		return e
	}
	if _, _, found := q.find(e.Column, q.tables); found == 1 {
		return e
	}
	for _, item := range q.plan.Select {
		if item.Alias != "" && strings.EqualFold(item.Alias, e.Column) {
			return item
		}
	}
	return e
}

// items writes the select list, each with a name of its own.
func (q *query) items(groups []string) ([]string, []Column) {
	p := q.plan
	if len(p.Select) == 0 {
		q.fail(q.path+".select", "nothing is selected")
	}
	if len(p.Select) > maxParts {
		q.fail(q.path+".select", "more than %d values", maxParts)
		return nil, nil
	}
	grouped := len(groups) > 0 || len(p.Having) > 0 || slices.ContainsFunc(p.Select, Expr.Aggregate)
	var items []string
	var columns []Column
	taken := map[string]bool{}
	for i, e := range p.Select {
		path := fmt.Sprintf("%s.select[%d]", q.path, i)
		v := q.expr(e, path, groupScope, 0)
		if grouped && !v.aggregate && !v.constant && !slices.Contains(groups, v.sql) {
			q.fail(path, "%s is neither grouped by nor inside a function; add it to group_by", cmp.Or(e.Column, "this value"))
		}
		name := q.name(e, v, taken)
		if e.Alias != "" && taken[strings.ToLower(e.Alias)] {
			q.fail(path+".alias", "two values are called %q", e.Alias)
		}
		taken[strings.ToLower(name)] = true
		columns = append(columns, Column{name, v.typ()})
		if name == v.column {
			items = append(items, v.sql)
		} else {
			items = append(items, v.sql+" AS "+Ident(name))
		}
	}
	return items, columns
}

// name chooses the name of a selected value: its alias, its column, or what it does.
func (q *query) name(e Expr, v value, taken map[string]bool) string {
	if e.Alias != "" {
		return e.Alias
	}
	base := v.column
	if base == "" {
		base = e.label()
	} else if taken[strings.ToLower(base)] && v.table != "" {
		base = v.table + "_" + v.column
	}
	name := base
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	return name
}

// label names a value by what it does: sum_amount, month_sold_at.
func (e Expr) label() string {
	var words []string
	for _, w := range []string{string(e.Function), string(e.Part), string(e.Truncate)} {
		if w != "" {
			words = append(words, w)
		}
	}
	switch {
	case e.Column != "":
		words = append(words, e.Column[strings.LastIndexByte(e.Column, '.')+1:])
	case e.Of != nil:
		words = append(words, e.Of.label())
	case e.Math != nil && len(words) == 0:
		words = append(words, "value")
	}
	return cmp.Or(strings.Join(words, "_"), "value")
}

func (q *query) limit() string {
	switch n := q.plan.Limit; {
	case n == AllRows, n == 0 && q.depth > 0:
		return ""
	case n == 0:
		return "LIMIT " + strconv.Itoa(DefaultLimit)
	case n < 0 || n > maxLimit:
		q.fail(q.path+".limit", "must be 1 to %d, or -1 for all rows", int(maxLimit))
		return ""
	default:
		return "LIMIT " + strconv.Itoa(n)
	}
}

func (c *compiler) tableNames() string {
	var names []string
	for _, t := range c.schema.Tables {
		names = append(names, t.Name)
	}
	return list(names)
}

func list[T ~string](words []T) string {
	const shown = 40
	texts := make([]string, 0, len(words))
	for _, w := range words[:min(len(words), shown)] {
		texts = append(texts, string(w))
	}
	if len(words) > shown {
		texts = append(texts, fmt.Sprintf("and %d more", len(words)-shown))
	}
	return strings.Join(texts, ", ")
}

func named(name, alias string) string {
	if alias == "" {
		return Ident(name)
	}
	return Ident(name) + " AS " + Ident(alias)
}
