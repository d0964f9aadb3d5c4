package nlq

import (
	"cmp"
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// A builder turns a frame into a plan.
type builder struct {
	*reader
	base    int
	grouped bool
	plan    queryplan.Plan
	need    []int
	reason  string // why it cannot be done
}

// build makes the plan of the frame, or gives the reason why there is none.
func (r *reader) build() (*queryplan.Plan, string) {
	if r.subject < 0 && len(r.items) == 0 {
		return nil, "nothing in the question is the name of a table or column of this data, which has " + r.x.listTables()
	}
	if len(r.items) == 0 && len(r.groups) == 0 {
		return nil, "the question does not say what to show"
	}
	if i, j := r.findContradiction(); i >= 0 {
		return r.buildIntersection(i, j)
	}
	b := &builder{reader: r}
	b.chooseBase()
	if b.base < 0 {
		return nil, "the question does not say which table it is about"
	}
	b.selectItems()
	b.addConditions()
	b.sortAndLimit()
	b.asPercentage()
	if b.reason != "" {
		return nil, b.reason
	}
	joins, ok := r.joinTables(b.base, b.need)
	if !ok {
		return nil, "no key links the tables that the question speaks of"
	}
	b.plan.Table, b.plan.Joins = r.x.tableName(b.base), joins
	if len(joins) == 0 {
		b.plan = unqualified(b.plan)
	}
	return &b.plan, ""
}

// asPercentage turns `what percentage of orders are returned` into the rows that pass
// the conditions as a part of all rows.
func (b *builder) asPercentage() {
	i := slices.IndexFunc(b.plan.Select, func(e queryplan.Expr) bool { return e.Function == queryplan.Percent })
	if i < 0 {
		return
	}
	if len(b.plan.GroupBy) > 0 {
		if slices.ContainsFunc(b.conds, func(c cond) bool { return c.col < 0 || !b.x.columns[c.col].isCalendar() }) {
			b.reason = "it is not clear whether the percentage is of each group or of all"
		}
		return
	}
	if len(b.plan.Filters) == 0 {
		b.reason = "the question asks for a percentage but does not say of what part"
		return
	}
	part := b.plan.Select[i]
	part.Function = queryplan.Count
	if part.Column != "" {
		part.Function = queryplan.Sum
	}
	all := part
	part.Where = b.plan.Filters
	b.plan.Filters = nil
	hundred := queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.Multiply, Left: queryplan.Expr{Literal: queryplan.Literal(100)}, Right: part}}
	b.plan.Select[i] = queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.Divide, Left: hundred, Right: all}, Alias: "percent"}
}

// findContradiction finds two conditions that no row can pass: before 1950 and after 1960.
func (r *reader) findContradiction() (int, int) {
	low := func(c cond) bool { return c.op == queryplan.Lt || c.op == queryplan.Le }
	high := func(c cond) bool { return c.op == queryplan.Gt || c.op == queryplan.Ge }
	for i, a := range r.conds {
		for j := i + 1; j < len(r.conds); j++ {
			b := r.conds[j]
			if a.col < 0 || a.col != b.col || b.or || a.neg || b.neg || a.agg != "" || b.agg != "" || len(a.values) != 1 || len(b.values) != 1 {
				continue
			}
			if d, ok := compareBounds(a.values[0], b.values[0]); ok && (low(a) && high(b) && d <= 0 || high(a) && low(b) && d >= 0) {
				return i, j
			}
			if a.op == queryplan.Eq && b.op == queryplan.Eq && a.values[0] != b.values[0] && !r.mayHaveSeveral(a.col) {
				return i, j
			}
		}
	}
	return -1, -1
}

// compareBounds compares two numbers or two days.
func compareBounds(a, b any) (int, bool) {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return cmp.Compare(a, b), ok
	case string:
		b, ok := b.(string)
		return strings.Compare(a, b), ok && looksLikeDate(a) && looksLikeDate(b)
	}
	return 0, false
}

// buildIntersection answers what rows with one and rows with the other condition share.
func (r *reader) buildIntersection(i, j int) (*queryplan.Plan, string) {
	if len(r.sups)+len(r.orders)+len(r.groups) > 0 || slices.ContainsFunc(r.items, func(it item) bool { return it.agg != "" }) {
		return nil, "the question asks for rows that no row can be"
	}
	all := r.conds
	r.conds = slices.Delete(slices.Clone(all), j, j+1)
	first, reason := r.build()
	if first == nil {
		return nil, reason
	}
	r.conds = slices.Delete(slices.Clone(all), i, i+1)
	second, reason := r.build()
	r.conds = all
	if second == nil {
		return nil, reason
	}
	second.Limit, first.Distinct, second.Distinct = 0, false, false
	first.Combine = []queryplan.Combine{{Operation: queryplan.Intersect, Plan: *second}}
	return first, ""
}

// chooseBase finds the table whose rows the result is made of.
func (b *builder) chooseBase() {
	b.base = -1
	for _, it := range b.reader.items {
		if it.agg != "" {
			b.base = it.table
			if it.col >= 0 {
				b.base = b.x.columns[it.col].table
			}
			break
		}
	}
	for _, s := range b.sups {
		if b.base < 0 && s.agg == queryplan.Count && b.subject < 0 {
			b.base = s.table
		}
	}
	if b.base < 0 {
		for _, it := range b.reader.items {
			if it.table == b.subject || b.base < 0 {
				b.base = it.table
			}
		}
	}
	if b.base < 0 {
		b.base = b.subject
	}
}

// columnRef names a column in the plan.
func (b *builder) columnRef(col int) string {
	c := &b.x.columns[col]
	return b.x.tableName(c.table) + "." + c.name
}

func (b *builder) isWanted(t int) {
	if t >= 0 && t != b.base && !slices.Contains(b.need, t) {
		b.need = append(b.need, t)
	}
}

// expr is a column as a value; numbers kept as text are read as numbers.
func (b *builder) expr(col int, number bool) queryplan.Expr {
	e := queryplan.Col(b.columnRef(col))
	if c := &b.x.columns[col]; number && c.number && c.kind == queryplan.Text {
		e.Cast = queryplan.ToNumber
	}
	return e
}

func (b *builder) aggregate(f queryplan.Function, col int) queryplan.Expr {
	if col < 0 {
		return queryplan.Expr{Function: f}
	}
	e := b.expr(col, f != queryplan.Count && f != queryplan.CountDistinct)
	e.Function = f
	return e
}

// selectItems selects what is asked for and groups by what is not an aggregate.
func (b *builder) selectItems() {
	aggregates, counted := false, false
	for _, it := range b.reader.items {
		aggregates = aggregates || it.agg != ""
	}
	for _, s := range b.sups {
		counted = counted || s.agg != ""
	}
	having := slices.ContainsFunc(b.conds, func(c cond) bool { return c.agg != "" && b.asHaving(c) })
	b.grouped = aggregates && (len(b.groups) > 0 || slices.ContainsFunc(b.reader.items, func(it item) bool { return it.agg == "" })) || counted || having
	for _, g := range b.groups {
		if g.unit != "" {
			e := queryplan.Col(b.columnRef(g.col))
			e.Truncate, e.Alias = g.unit, string(g.unit)
			b.plan.Select = append(b.plan.Select, e)
			b.plan.GroupBy = append(b.plan.GroupBy, queryplan.By(string(g.unit)))
			b.isWanted(b.x.columns[g.col].table)
		}
	}
	for _, it := range b.reader.items {
		if it.col >= 0 {
			b.isWanted(b.x.columns[it.col].table)
		} else {
			b.isWanted(it.table)
		}
		if it.agg == "" {
			b.plan.Select = append(b.plan.Select, b.expr(it.col, false))
			if b.grouped {
				b.groupBy(b.columnRef(it.col))
			}
			continue
		}
		b.plan.Select = append(b.plan.Select, b.aggregate(it.agg, it.col))
	}
	if b.grouped {
		b.groupKeys()
	}
	b.plan.Distinct = (b.distinct || b.listsKinds()) && !b.grouped
	b.plan.Limit = queryplan.AllRows
}

func (b *builder) groupBy(ref string) {
	if !slices.ContainsFunc(b.plan.GroupBy, func(t queryplan.Term) bool { return t.Column == ref }) {
		b.plan.GroupBy = append(b.plan.GroupBy, queryplan.By(ref))
	}
}

// groupKeys adds the key of a table whose rows are grouped by, so that two rows of
// one name stay two.
func (b *builder) groupKeys() {
	for _, g := range b.groups {
		if g.unit == "" {
			b.groupBy(b.columnRef(g.col))
			b.isWanted(b.x.columns[g.col].table)
		}
	}
	for _, it := range b.reader.items {
		if it.agg != "" || it.table != b.subject {
			continue
		}
		key := b.x.tables[it.table].key
		if key < 0 || b.countsRows(it.table) || !b.isEntity(it.table) {
			continue
		}
		b.groupBy(b.columnRef(key))
	}
}

// isEntity reports whether the question speaks of rows of the table, and not only of a
// property of them: products, and not product category.
func (b *builder) isEntity(t int) bool {
	for _, it := range b.reader.items {
		if c := it.col; it.agg == "" && c >= 0 && b.x.columns[c].table == t && (b.x.columns[c].key || b.x.tables[t].display == c) {
			return true
		}
	}
	for i := range b.chunks {
		if tt, s := b.asTable(i); tt == t && s >= 0.7 {
			return true
		}
		if c := &b.chunks[i]; b.isNamed(i) && b.isPropertyOf(c) && b.namesTableToo(c, t) {
			return true
		}
	}
	return false
}

// countsRows reports whether rows of the table itself are counted or summed: then a
// column of it is a property to group by, not a name of a row.
func (b *builder) countsRows(t int) bool {
	own := func(agg queryplan.Function, col, table int) bool {
		return agg != "" && (col < 0 && table == t || col >= 0 && b.x.columns[col].table == t)
	}
	for _, it := range b.reader.items {
		if own(it.agg, it.col, it.table) {
			return true
		}
	}
	for _, s := range b.sups {
		if own(s.agg, s.col, s.table) {
			return true
		}
	}
	return slices.ContainsFunc(b.conds, func(c cond) bool { return own(c.agg, c.col, c.table) })
}

// sortAndLimit sorts and cuts.
func (b *builder) sortAndLimit() {
	for _, s := range b.sups {
		o := queryplan.Order{Direction: queryplan.Desc}
		if !s.desc {
			o.Direction = ""
		}
		switch {
		case s.agg != "":
			o.Expr = b.aggregate(s.agg, s.col)
			if s.col < 0 {
				b.isWanted(s.table)
			}
		default:
			o.Expr = b.expr(s.col, true)
			if b.grouped && !b.isGrouped(o.Expr) {
				b.reason = "it is not clear how to rank groups by " + b.x.columns[s.col].name
			}
		}
		if s.col >= 0 {
			b.isWanted(b.x.columns[s.col].table)
			if !s.desc && s.agg == "" {
				b.addFilter(queryplan.Filter{Expr: queryplan.Col(b.columnRef(s.col)), Operator: queryplan.IsNotNull})
			}
		}
		if b.perGroup && s.given {
			b.topPerGroup(o, s.limit)
			continue
		}
		b.plan.OrderBy = append(b.plan.OrderBy, o)
		b.plan.Limit = s.limit
	}
	ranked := len(b.plan.OrderBy)
	if ranked > 0 {
		b.knownGroups()
	}
	for _, o := range b.orders {
		b.addOrder(o)
	}
	if len(b.plan.OrderBy) > 0 && (ranked > 0 || b.base == b.subject) {
		b.breakTies()
	}
	if len(b.plan.OrderBy) > 0 || len(b.plan.GroupBy) == 0 || b.plan.Top != nil {
		return
	}
	if len(b.groups) > 0 && b.groups[0].unit != "" {
		// A trend reads from left to right.
		b.plan.OrderBy = append(b.plan.OrderBy, queryplan.Order{Expr: b.plan.GroupBy[0].Expr})
		return
	}
	// The largest group comes first.
	if i := slices.IndexFunc(b.plan.Select, queryplan.Expr.Aggregate); i >= 0 {
		b.plan.OrderBy = append(b.plan.OrderBy, queryplan.Order{Expr: b.plan.Select[i], Direction: queryplan.Desc})
		b.breakTies()
	}
}

// knownGroups leaves out rows without the property that the first group is sought of:
// the unknown is never the answer.
func (b *builder) knownGroups() {
	if !b.grouped || !slices.ContainsFunc(b.sups, func(s superlative) bool { return s.agg != "" && s.desc }) {
		return
	}
	for _, t := range b.plan.GroupBy {
		for i := range b.x.columns {
			if c := &b.x.columns[i]; b.columnRef(i) == t.Column && c.table == b.base && c.kind == queryplan.Text && !c.part && c.ref < 0 && len(b.plan.GroupBy) == 1 {
				b.addFilter(queryplan.Filter{Expr: t.Expr, Operator: queryplan.IsNotNull})
			}
		}
	}
}

// breakTies sorts equals by key, so that the first is the same one every time.
func (b *builder) breakTies() {
	if !b.grouped {
		if key := b.x.tables[b.base].key; key >= 0 && !b.plan.Distinct {
			b.plan.OrderBy = append(b.plan.OrderBy, queryplan.Order{Expr: queryplan.Col(b.columnRef(key))})
		}
		return
	}
	by := b.plan.GroupBy
	for _, t := range by {
		for i := range b.x.columns {
			if b.x.columns[i].key && b.columnRef(i) == t.Column {
				by = []queryplan.Term{t}
			}
		}
	}
	for _, t := range by {
		b.plan.OrderBy = append(b.plan.OrderBy, queryplan.Order{Expr: t.Expr})
	}
}

func (b *builder) topPerGroup(o queryplan.Order, n int) {
	var per []queryplan.Term
	for _, g := range b.groups {
		per = append(per, queryplan.By(b.columnRef(g.col)))
	}
	b.plan.Top = &queryplan.Top{N: n, Per: per, OrderBy: []queryplan.Order{o}}
}

func (b *builder) isGrouped(e queryplan.Expr) bool {
	return slices.ContainsFunc(b.plan.GroupBy, func(t queryplan.Term) bool { return t.Column == e.Column && t.Cast == e.Cast })
}

func (b *builder) addOrder(o order) {
	out := queryplan.Order{}
	if o.desc {
		out.Direction = queryplan.Desc
	}
	switch {
	case o.agg != "" && (o.col >= 0 || o.table >= 0):
		out.Expr = b.aggregate(o.agg, o.col)
		if o.col < 0 {
			b.isWanted(o.table)
		}
		if !b.grouped {
			b.grouped = true
			for _, e := range b.plan.Select {
				b.groupBy(e.Column)
			}
			if b.subject >= 0 && b.x.tables[b.subject].key >= 0 && o.table != b.subject {
				b.groupBy(b.columnRef(b.x.tables[b.subject].key))
			}
		}
	case o.agg == queryplan.Count:
		out.Expr = queryplan.Expr{Function: queryplan.Count}
		if !b.grouped {
			b.grouped = true
			for _, e := range b.plan.Select {
				b.groupBy(e.Column)
			}
		}
	case o.col >= 0:
		out.Expr = b.expr(o.col, true)
		b.isWanted(b.x.columns[o.col].table)
		if b.grouped && !b.isGrouped(out.Expr) {
			if b.x.columns[o.col].table == b.subject && b.x.tables[b.subject].key >= 0 && b.isGrouped(queryplan.Col(b.columnRef(b.x.tables[b.subject].key))) {
				b.plan.GroupBy = append(b.plan.GroupBy, queryplan.Term{Expr: out.Expr})
			} else if i := slices.IndexFunc(b.plan.Select, func(e queryplan.Expr) bool { return e.Function != "" && e.Column == out.Column }); i >= 0 {
				out.Expr = b.plan.Select[i]
			} else {
				b.reason = "it is not clear how to sort groups by " + b.x.columns[o.col].name
			}
		}
		if b.plan.Distinct && !slices.ContainsFunc(b.plan.Select, func(e queryplan.Expr) bool { return e.Column == out.Column }) {
			b.plan.Distinct = false
		}
	case len(b.plan.Select) > 0:
		out.Expr = b.plan.Select[0]
	default:
		return
	}
	b.plan.OrderBy = append(b.plan.OrderBy, out)
}

// listsKinds reports whether the question asks for the values of one column without naming the rows that
// have them: the curators are each listed once.
func (b *builder) listsKinds() bool {
	if len(b.reader.items) != 1 || len(b.conds) > 0 || len(b.sups) > 0 || len(b.orders) > 0 || len(b.groups) > 0 {
		return false
	}
	it := b.reader.items[0]
	if it.agg != "" || it.col < 0 || b.x.columns[it.col].kind != queryplan.Text || b.x.isUnique(it.col) {
		return false
	}
	return !slices.ContainsFunc(b.chunks, func(c chunk) bool { return c.role == rMention && len(c.mention.tables) > 0 })
}
