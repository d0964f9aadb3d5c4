package nlq

import (
	"slices"

	"interlock/internal/queryplan"
)

// An inquiry is a question of a business understood: measures of rows of one table, or a list
// of them, kept by conditions, split by groupings, sorted and cut. It is what follow-ups edit.
type inquiry struct {
	base      int // the table whose rows are measured or listed, or -1
	measures  []measure
	shown     []int // columns of a list
	conds     []condition
	having    []groupCondition
	groups    []grouping
	dateCol   int // the date that periods are about, or -1: the main date of the base
	order     ordering
	limit     int
	offset    int  // rows of the order before the first: 1 asks for the second
	percent   bool // measures as a share of their sum over all groups
	hidden    bool // the measure keeps the groups and is not shown
	columns   bool // a list of columns only, without what names the rows
	rates     bool // a single count as a share of the rows without the conditions added last
	addedLast int  // how many conditions the last message added
	notes     []string
}

// A measure condenses rows to a number.
type measure struct {
	agg    queryplan.Function
	table  int
	col    int         // -1: rows
	def    *definition // of a metric or a value that the dictionary defines
	factor float64     // a change of units; 0 is none
}

// A condition keeps rows of a table.
type condition struct {
	table   int
	col     int
	op      queryplan.Operator
	values  []any
	other   int         // compare with this column, or -1
	period  period      // where op is InPeriod
	second  *period     // or in this one
	def     *definition // a condition that the dictionary defines
	any     []condition // one of these
	related []condition // rows of table must exist that pass these
	exists  bool        // the condition is about rows of table that belong to a row of the base
	neg     bool
	atLeast int // with exists: how many rows, 0 is one
}

// A groupCondition keeps groups by one of the measures, or by a number of rows.
type groupCondition struct {
	op      queryplan.Operator
	value   float64
	measure *measure // nil is the first measure
}

// A grouping is what the result has one row for each of.
type grouping struct {
	col   int // -1 where rows of a table are meant
	table int
	via   int            // of a table: the reference of the base that was named, plus one
	unit  queryplan.Unit // of the calendar
	part  queryplan.Part // weekday
}

// An ordering sorts by the first measure, a shown column or the first grouping.
type ordering struct {
	set    bool
	desc   bool
	byName bool
	col    int // -1: by the measure
}

func newInquiry() *inquiry { return &inquiry{base: -1, dateCol: -1, order: ordering{col: -1}} }

func (q *inquiry) clone() *inquiry {
	c := *q
	c.measures, c.shown, c.conds = slices.Clone(q.measures), slices.Clone(q.shown), slices.Clone(q.conds)
	c.having, c.groups, c.notes = slices.Clone(q.having), slices.Clone(q.groups), nil
	c.addedLast = 0
	return &c
}

// A planner compiles an inquiry to a plan.
type planner struct {
	x        *Index
	q        *inquiry
	plan     queryplan.Plan
	in       []int // tables joined so far
	err      string
	compared *condition // two periods that are set side by side for each group
}

// compileInquiry makes the plan of an inquiry, or gives the reason why there is none.
func (x *Index) compileInquiry(q *inquiry) (*queryplan.Plan, string) {
	if q.base < 0 {
		return nil, "the question does not say which table it is about"
	}
	p := &planner{x: x, q: q, in: []int{q.base}}
	p.plan.Table, p.plan.Limit = x.tableName(q.base), queryplan.AllRows
	p.compared = q.comparedPeriods()
	for _, g := range q.groups {
		if p.compared == nil || g.unit == "" {
			p.addGrouping(g)
		}
	}
	for _, c := range p.conditions() {
		if f := p.filter(c); len(f.All) > 0 {
			p.plan.Filters = append(p.plan.Filters, f.All...)
		} else {
			p.plan.Filters = append(p.plan.Filters, f)
		}
	}
	p.keepMetricRows()
	if len(q.measures) > 0 {
		p.addMeasures()
	} else {
		p.addShown()
	}
	for _, h := range q.having {
		p.addHaving(h)
	}
	p.sort()
	if p.err != "" {
		return nil, p.err
	}
	if len(p.plan.Joins) == 0 {
		p.plan = unqualified(p.plan)
	}
	return &p.plan, ""
}

func (p *planner) fail(reason string) {
	if p.err == "" {
		p.err = reason
	}
}

func (p *planner) ref(col int) string {
	c := &p.x.columns[col]
	if from, ref, ok := p.referenceTo(c); ok {
		p.join(from)
		return ref
	}
	p.join(c.table)
	return p.x.tableName(c.table) + "." + c.name
}

// referenceTo finds the reference that holds the values of a key, so that its table need not be joined.
func (p *planner) referenceTo(c *column) (from int, ref string, ok bool) {
	if !c.key || slices.Contains(p.in, c.table) {
		return 0, "", false
	}
	way := p.x.singleWay(p.q.base, c.table)
	if len(way) == 0 {
		return 0, "", false
	}
	last := way[len(way)-1]
	if last.many || p.x.findTable(last.rel.Table) != last.from || last.rel.RefColumn != c.name {
		return 0, "", false
	}
	return last.from, last.rel.Table + "." + last.rel.Column, true
}

// join adds the tables on the way to t. Only ways that keep one row for each row of the base are taken.
func (p *planner) join(t int) {
	if slices.Contains(p.in, t) {
		return
	}
	way := p.x.singleWay(p.q.base, t)
	if way == nil {
		p.fail("a row of " + humanName(p.x.tableName(p.q.base)) + " has not one " + humanName(p.x.tableName(t)))
		return
	}
	for _, e := range way {
		if slices.Contains(p.in, e.to) {
			continue
		}
		p.plan.Joins = append(p.plan.Joins, p.x.joinEdge(e))
		p.in = append(p.in, e.to)
	}
}

// joinVia joins the table of a grouping along the reference that the question named.
func (p *planner) joinVia(g grouping) {
	if g.via == 0 || p.x.columns[g.via-1].table != p.q.base || slices.Contains(p.in, g.table) {
		return
	}
	for _, e := range p.x.edgesOf(p.q.base) {
		if !e.many && e.to == g.table && p.x.findColumn(e.rel.Table, e.rel.Column) == g.via-1 {
			p.plan.Joins = append(p.plan.Joins, p.x.joinEdge(e))
			p.in = append(p.in, e.to)
			return
		}
	}
}

func (x *Index) joinEdge(e edge) queryplan.Join {
	left, right := e.rel.Table+"."+e.rel.Column, e.rel.RefTable+"."+e.rel.RefColumn
	if x.findTable(e.rel.Table) == e.to {
		left, right = right, left
	}
	return queryplan.Join{Table: x.tableName(e.to), On: []queryplan.Pair{{Left: left, Right: right}}}
}

// singleWay is the shortest way between two tables that leads from many rows to one only;
// nil where there is none or where two are equally short.
func (x *Index) singleWay(from, to int) []edge {
	if from == to {
		return []edge{}
	}
	level := [][]edge{{}}
	seen := map[int]bool{from: true}
	for range 4 {
		var next, found [][]edge
		for _, way := range level {
			at := from
			if len(way) > 0 {
				at = way[len(way)-1].to
			}
			for _, e := range x.edgesOf(at) {
				if e.many || seen[e.to] {
					continue
				}
				w := append(slices.Clone(way), e)
				if e.to == to {
					found = append(found, w)
				}
				next = append(next, w)
			}
		}
		if len(found) == 1 {
			return found[0]
		}
		if len(found) > 1 {
			return x.chooseWay(found)
		}
		for _, w := range next {
			seen[w[len(w)-1].to] = true
		}
		level = next
	}
	return nil
}

// chooseWay takes the way whose reference is called as the table that it leads to.
func (x *Index) chooseWay(ways [][]edge) []edge {
	var best []edge
	for _, w := range ways { // the reference by which a row belongs to the other
		if last := w[len(w)-1]; x.mainRefs[x.findColumn(last.rel.Table, last.rel.Column)] {
			return w
		}
	}
	for _, w := range ways {
		last := w[len(w)-1]
		if c := x.findColumn(last.rel.Table, last.rel.Column); c >= 0 && slices.Equal(withoutWords(x.columns[c].words, []string{"id", "code", "no", "key"}), x.tables[last.to].core) {
			if best != nil {
				return nil
			}
			best = w
		}
	}
	return best
}

func (p *planner) expr(col int, number bool) queryplan.Expr {
	e := queryplan.Col(p.ref(col))
	if c := &p.x.columns[col]; number && c.number && c.kind == queryplan.Text {
		e.Cast = queryplan.ToNumber
	}
	return e
}

// date is the column that periods of the inquiry are about.
func (p *planner) date() int {
	if p.q.dateCol >= 0 {
		return p.q.dateCol
	}
	d := p.x.mainDate(p.q.base)
	if d < 0 {
		p.fail("it is not clear which date of " + humanName(p.x.tableName(p.q.base)) + " is meant")
		return p.x.tables[p.q.base].columns[0]
	}
	return d
}

func (p *planner) addGrouping(g grouping) {
	switch {
	case g.unit != "" || g.part != "":
		col := g.col
		if col < 0 {
			col = p.date()
		}
		e := queryplan.Col(p.ref(col))
		e.Truncate, e.Part = g.unit, g.part
		e.Alias = string(g.unit) + string(g.part)
		p.plan.Select = append(p.plan.Select, e)
		p.plan.GroupBy = append(p.plan.GroupBy, queryplan.By(e.Alias))
	case g.col < 0:
		t := &p.x.tables[g.table]
		p.joinVia(g)
		name := p.x.rowName(g.table)
		if t.key < 0 && name < 0 {
			p.fail("nothing names a row of " + humanName(t.name))
			return
		}
		for _, col := range p.x.rowNames(g.table) {
			p.plan.Select = append(p.plan.Select, queryplan.Col(p.ref(col)))
			p.plan.GroupBy = append(p.plan.GroupBy, queryplan.By(p.ref(col)))
		}
		if t.key >= 0 && t.key != name {
			if name < 0 || !p.x.isUnique(name) {
				p.plan.Select = append(p.plan.Select, queryplan.Col(p.ref(t.key)))
			}
			p.plan.GroupBy = append(p.plan.GroupBy, queryplan.By(p.ref(t.key)))
			if p.q.hidden && !slices.Contains(p.in, g.table) { // rows are asked for: a reference to none is no row
				p.plan.Filters = append(p.plan.Filters, queryplan.Filter{Expr: queryplan.Col(p.ref(t.key)), Operator: queryplan.IsNotNull})
			}
		}
	case len(p.x.same[g.col]) > 0:
		p.groupSame(g.col)
	case p.x.foldsCase(g.col):
		// One spelling of each is shown; with most engines it is the one in small letters.
		p.plan.Select = append(p.plan.Select, queryplan.Expr{Column: p.ref(g.col), Function: queryplan.Max, Alias: p.x.columns[g.col].name})
		p.plan.GroupBy = append(p.plan.GroupBy, queryplan.Term{Expr: queryplan.Expr{Column: p.ref(g.col), Function: queryplan.Lower}})
		p.q.notes = append(p.q.notes, "spellings of "+humanName(p.x.columns[g.col].name)+" that differ only in case are counted together")
	default:
		p.plan.Select = append(p.plan.Select, queryplan.Col(p.ref(g.col)))
		p.plan.GroupBy = append(p.plan.GroupBy, queryplan.By(p.ref(g.col)))
	}
}

// addShown selects what names the rows of a list, and the columns asked for.
func (p *planner) addShown() {
	show := func(col int) {
		e := queryplan.Col(p.ref(col))
		if !slices.ContainsFunc(p.plan.Select, func(o queryplan.Expr) bool { return o.Column == e.Column }) {
			p.plan.Select = append(p.plan.Select, e)
		}
	}
	if len(p.q.groups) == 0 {
		name, key := p.x.rowName(p.q.base), p.x.tables[p.q.base].key
		if p.q.columns {
			name, key = -1, -1
		}
		if name >= 0 {
			for _, col := range p.x.rowNames(p.q.base) {
				show(col)
			}
		}
		if key >= 0 && (name < 0 || !p.x.isUnique(name)) {
			show(key)
		}
		for _, m := range p.q.shown {
			show(m)
		}
		if all := p.x.tables[p.q.base].columns; name < 0 && p.q.limit == 0 && len(p.q.shown) == 0 && len(all) <= maxShown {
			for _, col := range all {
				show(col)
			}
		}
		if len(p.plan.Select) == 0 {
			p.fail("nothing names a row of " + humanName(p.x.tableName(p.q.base)))
		}
		return
	}
	for _, col := range p.q.shown {
		show(col)
		p.plan.GroupBy = append(p.plan.GroupBy, queryplan.By(p.ref(col)))
	}
}

// sort sorts by what the question says; else a trend by time and groups by their first measure.
func (p *planner) sort() {
	dir := queryplan.Direction("")
	if p.q.order.desc {
		dir = queryplan.Desc
	}
	first := slices.IndexFunc(p.plan.Select, func(e queryplan.Expr) bool {
		return e.Aggregate() && !(len(p.q.groups) > 0 && e.Function == queryplan.Max && p.isFolded(e))
	})
	switch {
	case p.err != "" || len(p.plan.Select) == 0:
		return
	case p.q.order.set && p.q.order.col >= 0:
		p.plan.OrderBy = []queryplan.Order{{Expr: p.expr(p.q.order.col, true), Direction: dir, Nulls: "last"}}
	case p.q.order.set && p.q.order.byName:
		p.plan.OrderBy = []queryplan.Order{{Expr: p.plan.Select[0], Direction: dir}}
	case p.q.order.set && p.q.hidden && len(p.q.measures) > 0 && len(p.q.groups) > 0:
		p.plan.OrderBy = []queryplan.Order{{Expr: p.measureExpr(p.q.measures[0], false), Direction: dir, Nulls: "last"}}
	case p.q.order.set && first >= 0 && len(p.q.groups) > 0:
		p.plan.OrderBy = []queryplan.Order{{Expr: p.plan.Select[first], Direction: dir, Nulls: "last"}}
	case p.q.order.set && len(p.q.groups) == 0 && len(p.q.measures) == 0:
		p.fail("it is not clear what to rank by")
		return
	case len(p.q.groups) > 0 && p.q.groups[0].unit != "":
		p.plan.OrderBy = []queryplan.Order{{Expr: p.plan.GroupBy[0].Expr}}
		return
	case len(p.q.groups) > 0 && first >= 0:
		p.plan.OrderBy = []queryplan.Order{{Expr: p.plan.Select[first], Direction: queryplan.Desc}}
	}
	if len(p.plan.OrderBy) > 0 {
		p.breakTies()
		if key := p.x.tables[p.q.base].key; key >= 0 && len(p.plan.GroupBy) == 0 {
			p.plan.OrderBy = append(p.plan.OrderBy, queryplan.Order{Expr: queryplan.Col(p.ref(key))})
		}
	}
	if p.q.limit > 0 {
		if len(p.plan.OrderBy) == 0 {
			p.fail("it is not clear what to rank by")
		}
		p.plan.Limit, p.plan.Offset = p.q.limit, p.q.offset
		p.leaveOutUnknown()
	}
}

// breakTies sorts equals by key, so that the first is the same one every time.
func (p *planner) breakTies() {
	for _, g := range p.q.groups {
		if g.col < 0 && g.unit == "" && g.part == "" && g.table >= 0 && p.x.tables[g.table].key >= 0 {
			p.plan.OrderBy = append(p.plan.OrderBy, queryplan.Order{Expr: queryplan.Col(p.ref(p.x.tables[g.table].key))})
			return
		}
	}
	for _, t := range p.plan.GroupBy {
		p.plan.OrderBy = append(p.plan.OrderBy, queryplan.Order{Expr: t.Expr})
	}
}

func (p *planner) isFolded(e queryplan.Expr) bool {
	return slices.ContainsFunc(p.plan.GroupBy, func(t queryplan.Term) bool { return t.Function == queryplan.Lower && t.Column == e.Column })
}

// leaveOutUnknown keeps rows without the property that is ranked out of the ranking: the unknown is never the first.
func (p *planner) leaveOutUnknown() {
	for i, g := range p.q.groups {
		if g.col >= 0 && slices.ContainsFunc(p.q.groups[:i], func(o grouping) bool { return o.table == p.x.columns[g.col].table }) {
			continue // shown beside the rows that are ranked
		}
		if g.col >= 0 && p.x.columns[g.col].kind == queryplan.Text {
			p.plan.Filters = append(p.plan.Filters, queryplan.Filter{Expr: queryplan.Col(p.ref(g.col)), Operator: queryplan.IsNotNull})
			if c, ok := p.x.leftOut(g.col); ok {
				p.plan.Filters = append(p.plan.Filters, p.filter(c))
			}
		}
	}
	if col := p.q.order.col; col >= 0 {
		for _, c := range p.x.amountConditions(col) {
			p.plan.Filters = append(p.plan.Filters, p.filter(c))
		}
	}
}
