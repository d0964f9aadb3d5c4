package queryplan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/schema"
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

// SQL compiles the plan for the engine that has the tables.
func (p *Plan) SQL(s schema.Dataset) (string, error) { return p.SQLFor(dialectOf(s), s) }

// SQLFor compiles the plan for a dialect. The text is the same for the same plan
// and dataset. A plan with problems is a fault that lists them all.
func (p *Plan) SQLFor(d dialect.Dialect, s schema.Dataset) (string, error) {
	c := newCompiler(d, s)
	sql, _ := c.plan(p, "", "\n", 0)
	if len(c.problems) > 0 {
		return "", invalid(c.problems)
	}
	return sql, nil
}

// Validate lists every problem of the plan; none means that SQL succeeds.
func (p *Plan) Validate(s schema.Dataset) []Problem {
	c := newCompiler(dialectOf(s), s)
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
	dialect  dialect.Dialect
	grammar  *grammar
	dataset  schema.Dataset
	problems []Problem
}

// dialectOf gives the dialect of a dataset's statements.
func dialectOf(s schema.Dataset) dialect.Dialect {
	d, _ := dialect.Find(s.Dialect) // none is the embedded engine's
	return d
}

func newCompiler(d dialect.Dialect, s schema.Dataset) *compiler {
	return &compiler{dialect: d, grammar: grammars[d], dataset: s}
}

func (c *compiler) fail(path, format string, args ...any) {
	p := Problem{strings.TrimPrefix(path, "."), fmt.Sprintf(format, args...)}
	if !slices.Contains(c.problems, p) {
		c.problems = append(c.problems, p)
	}
}

// plan compiles a plan at a depth and gives the columns of its result. Clauses are
// parted by sep.
func (c *compiler) plan(p *Plan, path, sep string, depth int) (string, []schema.Column) {
	if depth >= maxDepth {
		c.fail(path, "plans are nested deeper than %d", maxDepth)
		return "", nil
	}
	p = c.expandMetrics(p, path)
	q := &query{compiler: c, plan: p, path: path, depth: depth, used: map[string]bool{}}
	q.from()
	where := q.filters(p.Filters, path+".filters", rowScope)
	groups := q.groups()
	having := q.filters(p.Having, path+".having", groupScope)
	items, columns := q.items(groups)
	order := q.order(columns)
	rank := q.rankColumn()

	head := "SELECT "
	if p.Distinct {
		head = "SELECT DISTINCT "
	}
	var tail []string
	tail = append(tail, q.sources()...)
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
		clauses = q.wrapTop(head, append(items, rank), columns, tail)
	} else {
		clauses = append([]string{head + strings.Join(items, ", ")}, tail...)
	}
	clauses = q.combine(clauses, columns)
	if order != "" {
		clauses = append(clauses, "ORDER BY "+order)
	}
	if limit := q.limit(); limit != "" {
		clauses = append(clauses, limit)
	}
	return strings.Join(clauses, sep), columns
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
		groups = append(groups, q.expr(q.resolveAlias(t.Expr), path, rowScope, 0).sql)
	}
	return groups
}

// resolveAlias follows an alias of the select list to what it stands for, unless a
// column has that name.
func (q *query) resolveAlias(e Expr) Expr {
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
func (q *query) items(groups []string) ([]string, []schema.Column) {
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
	var columns []schema.Column
	taken := map[string]bool{}
	for i, e := range p.Select {
		path := fmt.Sprintf("%s.select[%d]", q.path, i)
		v := q.expr(e, path, groupScope, 0)
		if grouped && !v.aggregate && !v.constant && !slices.Contains(groups, v.sql) {
			q.fail(path, "%s is neither grouped by nor inside a function; add it to group_by", cmp.Or(e.Column, "this value"))
		}
		name := q.itemName(e, v, taken)
		if e.Alias != "" && taken[strings.ToLower(e.Alias)] {
			q.fail(path+".alias", "two values are called %q", e.Alias)
		}
		taken[strings.ToLower(name)] = true
		columns = append(columns, schema.Column{Name: name, Type: schema.ParseType(v.typ())})
		if v.kind == Text && q.sortsSelectedOnly() && len(p.OrderBy) > 0 && q.collatesTexts() {
			v.sql, v.plain = q.orderExpr(v), false
		}
		if name == v.column && v.plain && !q.grammar.qualifiesColumns {
			items = append(items, v.sql)
		} else {
			items = append(items, v.sql+" AS "+q.dialect.Ident(name))
		}
	}
	return items, columns
}

// itemName chooses the name of a selected value: its alias, its column, or what it does.
func (q *query) itemName(e Expr, v value, taken map[string]bool) string {
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
	case n == AllRows, n == 0:
		if q.plan.Offset != 0 {
			q.fail(q.path+".offset", "needs a limit")
		}
		return ""
	case n < 0 || n > maxLimit:
		q.fail(q.path+".limit", "must be 1 to %d, or -1 for all rows", int(maxLimit))
		return ""
	default:
		return q.offset("LIMIT " + strconv.Itoa(n))
	}
}

// offset adds the rows that are left out before those of the limit.
func (q *query) offset(limit string) string {
	n := q.plan.Offset
	switch {
	case n == 0:
		return limit
	case n < 0 || n > maxLimit || len(q.plan.OrderBy) == 0:
		q.fail(q.path+".offset", "must be 0 to %d, with order_by", int(maxLimit))
		return ""
	case q.grammar.offsetFirst:
		return "OFFSET " + strconv.Itoa(n) + " " + limit
	}
	return limit + " OFFSET " + strconv.Itoa(n)
}

func (c *compiler) tableNames() string {
	var names []string
	for _, t := range c.dataset.Tables {
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
