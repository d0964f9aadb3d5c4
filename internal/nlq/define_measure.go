package nlq

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/queryplan"
)

// An aggregate is what a sentence of the glossary computes of many rows: a number of rows, a sum or an
// average of a formula, each over some of the rows, and arithmetic of these.
type aggregate struct {
	agg   queryplan.Function // "" where it is arithmetic or a number
	of    *formula           // nil are the rows themselves
	conds []condition

	op          queryplan.MathOperator
	left, right *aggregate
	number      float64
}

// columns are those that are added up or averaged.
func (a *aggregate) columns() []int {
	if a == nil {
		return nil
	}
	return slices.Concat(a.of.columns(), a.left.columns(), a.right.columns())
}

func (a *aggregate) countsRows() bool { return a.agg == queryplan.Count && a.of == nil }

// aggregateExpr compiles an aggregate; where holds for each part of it.
func (p *planner) aggregateExpr(a *aggregate, where []queryplan.Filter) queryplan.Expr {
	switch {
	case a.op != "":
		return queryplan.Expr{Math: &queryplan.Math{Operator: a.op, Left: p.aggregateExpr(a.left, where), Right: p.aggregateExpr(a.right, where)}}
	case a.agg == "":
		return queryplan.Expr{Literal: queryplan.Literal(a.number)}
	}
	where = slices.Clone(where)
	for _, c := range a.conds {
		where = append(where, p.filter(c))
	}
	var e queryplan.Expr
	switch {
	case a.of == nil:
	case a.of.op == "":
		e = p.expr(a.of.col, true)
	default:
		of := p.formula(a.of)
		e = queryplan.Expr{Of: &of}
	}
	e.Function, e.Where = a.agg, where
	return e
}

// A measureReader reads the sentence that says how a measure is computed.
type measureReader struct {
	x      *Index
	base   int    // the table whose rows are computed with, -1 as long as it is not known
	unread string // the part that stopped it
}

var (
	divisionForm  = regexp.MustCompile(`(?i)^(.+?),? divided by (.+)$`)
	ratioForm     = regexp.MustCompile(`(?i)^(?:the )?ratio of (.+) to (.+)$`)
	betweenSums   = regexp.MustCompile(`(?i)^(.+?),? (less|minus|plus) ((?:the )?(?:sum|total|number|count|average) of .+)$`)
	perForm       = regexp.MustCompile(`(?i)^(.+) per (\w+)$`)
	amountForm    = regexp.MustCompile(`(?i)^(?:the )?(sum|total|average|mean|median|number|count|highest|maximum|lowest|minimum)(?: of)? (?:all |the )*(.+)$`)
	rowsConnector = regexp.MustCompile(`(?i),? (over|across|of|for|in|with|without|where|whose|that|which)(?: all)? `)
	percentTail   = regexp.MustCompile(`(?i),? (?:in percent|as a percentage|in %|as percent|times 100)$`)
	amongForm     = regexp.MustCompile(`(?i)^(.+?) (?:(?:among|out of)(?: the| all)*|(?:in|of) all) (.+)$`)
	shareStart    = regexp.MustCompile(`(?i)^(?:the )?(?:share|percentage|proportion|fraction) of (?:all |the )?(.+)$`)
	shareClause   = regexp.MustCompile(`(?i) (that also|that|which|who|with|whose|without) `)
	aggregateOfIt = map[string]queryplan.Function{
		"sum": queryplan.Sum, "total": queryplan.Sum, "average": queryplan.Avg, "mean": queryplan.Avg, "median": queryplan.Median,
		"highest": queryplan.Max, "maximum": queryplan.Max, "lowest": queryplan.Min, "minimum": queryplan.Min, "number": queryplan.Count, "count": queryplan.Count,
	}
)

func (r *measureReader) stop(part string) *aggregate {
	if r.unread == "" {
		r.unread = part
	}
	return nil
}

// read reads arithmetic of aggregates. Counted says that rows alone stand for their number.
func (r *measureReader) read(s string, counted bool) *aggregate {
	s = strings.TrimSpace(s)
	for _, f := range []*regexp.Regexp{divisionForm, ratioForm} {
		if m := f.FindStringSubmatch(s); m != nil && balanced(m[1]) {
			return r.pair(m[1], m[2], queryplan.Divide, true)
		}
	}
	if m := betweenSums.FindStringSubmatch(s); m != nil && balanced(m[1]) {
		return r.pair(m[1], m[3], formulaOps[strings.ToLower(m[2])], false)
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return &aggregate{number: n}
	}
	if d := r.x.defined[joinLemmas(tokenise(strings.ToLower(articleForm.ReplaceAllString(s, ""))))]; d != nil && d.isMeasure() {
		return r.defined(d)
	}
	if a := r.amount(s); a != nil {
		return a
	}
	if m := perForm.FindStringSubmatch(s); m != nil {
		return r.perRow(m[1], m[2])
	}
	if counted && r.unread == "" {
		return r.rows(s)
	}
	return r.stop(s)
}

func balanced(s string) bool { return strings.Count(s, "(") == strings.Count(s, ")") }

// pair reads two sides; the one that names its table tells it to the other.
func (r *measureReader) pair(left, right string, op queryplan.MathOperator, counted bool) *aggregate {
	a := r.read(left, counted)
	first := r.unread
	if a == nil {
		r.unread = ""
	}
	b := r.read(right, counted)
	if b != nil && a == nil {
		r.unread = ""
		if a = r.read(left, counted); a == nil {
			return r.stop(first)
		}
	}
	if a == nil || b == nil {
		r.unread = cmp.Or(first, r.unread, left)
		return nil
	}
	return &aggregate{op: op, left: a, right: b}
}

// takeBase makes a table the one whose rows are computed with.
func (r *measureReader) takeBase(t int) bool {
	if r.base < 0 {
		r.base = t
	}
	return r.base == t
}

func (r *measureReader) rows(phrase string) *aggregate {
	t, conds, unread := r.x.readRows(phrase, -1)
	if t < 0 && r.base >= 0 {
		t, conds, unread = r.x.readRows(phrase, r.base)
	}
	if unread != "" || t < 0 {
		return r.stop(unread)
	}
	if !r.takeBase(t) {
		return r.stop(fmt.Sprintf("%s, which are not rows of %s", phrase, humanName(r.x.tableName(r.base))))
	}
	return &aggregate{agg: queryplan.Count, conds: conds}
}

func (r *measureReader) defined(d *definition) *aggregate {
	if !r.takeBase(d.base) {
		return r.stop(d.name)
	}
	switch {
	case d.form == aggregateOf:
		of := d.formula
		if of == nil {
			of = &formula{col: d.col}
		}
		return &aggregate{agg: d.agg, of: of, conds: d.conds}
	case d.form == arithmeticOf && len(d.conds) == 0:
		return d.sum
	}
	return r.stop(d.name)
}

// amount reads `sum of x times y over z`, and gives nil where it is something else.
func (r *measureReader) amount(s string) *aggregate {
	m := amountForm.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	agg := aggregateOfIt[strings.ToLower(m[1])]
	if agg == queryplan.Count {
		return r.rows(m[2])
	}
	if f := r.formula(m[2], r.base); f != nil && r.takeBase(r.x.formulaTable(f)) {
		return &aggregate{agg: agg, of: f}
	}
	for _, at := range rowsConnector.FindAllStringSubmatchIndex(m[2], -1) {
		left, word, rest := m[2][:at[0]], strings.ToLower(m[2][at[2]:at[3]]), m[2][at[1]:]
		f := r.formula(left, r.base)
		if f == nil {
			t, _, _ := r.x.readRows(rest, -1)
			if t < 0 || r.base >= 0 && t != r.base {
				continue
			}
			if f = r.formula(left, t); f == nil {
				continue
			}
		}
		if t := r.x.formulaTable(f); !r.takeBase(t) {
			return r.stop(left)
		}
		conds, ok := r.over(f, word, rest)
		if !ok {
			return nil
		}
		return &aggregate{agg: agg, of: f, conds: conds}
	}
	return r.stop(m[2])
}

// over reads the rows that an amount is taken over.
func (r *measureReader) over(f *formula, word, rest string) ([]condition, bool) {
	if m := rangeForm.FindStringSubmatch(rest); m != nil && f.op == "" && word != "in" {
		low, _ := strconv.ParseFloat(m[2], 64)
		high, _ := strconv.ParseFloat(m[3], 64)
		return []condition{{table: r.base, col: f.col, op: queryplan.Between, values: []any{low, high}, other: -1}}, true
	}
	if slices.Contains([]string{"with", "without", "where", "whose", "that", "which"}, word) {
		rest = humanName(r.x.tableName(r.base)) + " " + word + " " + rest
	}
	t, conds, unread := r.x.readRows(rest, -1)
	if t < 0 {
		t, conds, unread = r.x.readRows(rest, r.base)
	}
	if unread == "" && t != r.base {
		conds = r.x.conditionsOn(conds, t, r.base)
		if conds == nil {
			unread = rest
		}
	}
	if unread != "" {
		r.stop(unread)
		return nil, false
	}
	return conds, true
}

// conditionsOn are conditions on rows of a table as conditions on those of the base; nil where they are none.
func (x *Index) conditionsOn(conds []condition, table, base int) []condition {
	switch {
	case table == base:
		return conds
	case len(conds) == 0:
		return nil
	case x.singleWay(base, table) != nil:
		if slices.ContainsFunc(conds, func(c condition) bool { return c.exists || c.def != nil }) {
			return nil
		}
		return conds
	case x.singleWay(table, base) != nil:
		return []condition{{table: table, exists: true, related: conds, other: -1, col: -1}}
	}
	return nil
}

// formula reads arithmetic between columns of a table and of those that it leads to.
func (r *measureReader) formula(text string, table int) *formula {
	if col := r.x.columnNamed(strings.ReplaceAll(strings.TrimSpace(text), " ", "_"), table); col >= 0 {
		if !r.x.columns[col].isNumeric() {
			return nil
		}
		return &formula{col: col}
	}
	return r.x.readFormula(text, table)
}

// formulaTable is the table of whose rows a formula is: each of them has one of all other columns.
func (x *Index) formulaTable(f *formula) int {
	cols := f.columns()
	for _, c := range cols {
		t := x.columns[c].table
		if !slices.ContainsFunc(cols, func(o int) bool { return x.singleWay(t, x.columns[o].table) == nil }) {
			return t
		}
	}
	return -1
}

// perRow reads an amount per row of its own table.
func (r *measureReader) perRow(left, noun string) *aggregate {
	r.unread = ""
	a := r.read(left, false)
	if a == nil {
		return nil
	}
	if t := r.x.tableCalled([]string{strings.ToLower(noun)}); t < 0 || t != r.base {
		return r.stop("per " + noun)
	}
	b := &aggregate{agg: queryplan.Count, conds: a.conds}
	return &aggregate{op: queryplan.Divide, left: a, right: b}
}

// share reads a part of rows among them as the number of those divided by that of all.
func (r *measureReader) share(s string) *aggregate {
	m := shareStart.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	whole, part := "", m[1]
	clauses := shareClause.FindAllStringSubmatchIndex(part, -1)
	last := len(clauses) - 1
	switch among := amongForm.FindStringSubmatch(part); {
	case among != nil:
		part, whole = among[1], among[2]
	case len(clauses) == 1, len(clauses) == 2 && strings.EqualFold(part[clauses[last][2]:clauses[last][3]], "that also"):
		whole = part[:clauses[last][0]]
	case len(clauses) > 1:
		return r.stop(part)
	}
	b := &aggregate{agg: queryplan.Count}
	if whole != "" {
		if b = r.rows(whole); b == nil {
			return nil
		}
	}
	a := r.rows(part)
	if a == nil {
		return nil
	}
	for _, c := range b.conds { // a share is one of the whole
		if !slices.ContainsFunc(a.conds, func(o condition) bool { return sameCondition(o, c) }) {
			a.conds = append(a.conds, c)
		}
	}
	if len(a.conds) == len(b.conds) {
		return r.stop(part)
	}
	return &aggregate{op: queryplan.Divide, left: a, right: b}
}
