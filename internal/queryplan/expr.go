package queryplan

import (
	"fmt"
	"slices"
	"strings"
)

// A value is an expression as SQL, with what is known of it.
type value struct {
	sql           string
	kind          Kind
	column, table string // of a plain column
	reference     string // the column, whatever sql makes of it
	plain         bool   // sql is the reference
	written       string // the text of a literal
	aggregate     bool
	constant      bool
	compound      bool // needs brackets inside arithmetic
	declared      string
	midnight      bool // of moments: all are the begin of a day
}

// isMoment says that a value has a time of day.
func (v value) isMoment() bool {
	return v.kind == Date && v.declared != "" && v.castKind() == "time" && !v.midnight
}

// exact is the type of numbers that are no doubles.
const exact = "DECIMAL"

func (v value) typ() string {
	if v.declared != "" {
		return v.declared
	}
	return map[Kind]string{Number: "DOUBLE", Text: "VARCHAR", Date: "TIMESTAMP", Bool: "BOOLEAN"}[v.kind]
}

// expr compiles a value, from the inside out.
func (q *query) expr(e Expr, path string, in scope, depth int) value {
	if depth > maxDepth {
		q.fail(path, "values are nested deeper than %d", maxDepth)
		return value{}
	}
	v := q.innermostPart(e, path, in, depth)
	v = q.replace(e, v, path)
	v = q.cast(e, v, path)
	v = q.calendar(e, v, path)
	return q.function(e, v, path, in)
}

// innermostPart compiles the innermost part of an expression: exactly one of column,
// literal, of and math, or none of them where rows are counted.
func (q *query) innermostPart(e Expr, path string, in scope, depth int) value {
	n := 0
	for _, set := range []bool{e.Column != "", e.Literal != nil, e.Of != nil, e.Math != nil} {
		if set {
			n++
		}
	}
	switch {
	case n > 1:
		q.fail(path, "use only one of column, literal, of and math")
		return value{}
	case e.Column == "*" && e.Function == Count:
		return value{}
	case e.Column != "":
		if _, _, found := q.find(e.Column, q.tables); found == 0 && in == groupScope {
			if item := q.resolveAlias(Expr{Column: e.Column}); !item.plain() {
				return q.expr(item, path, in, depth+1)
			}
		}
		b, _, _ := q.find(e.Column, q.tables)
		sql, col := q.column(e.Column, q.tables, path+".column")
		v := value{sql: sql, kind: KindOf(col.Type), column: col.Name, table: b.name, declared: col.Type.String()}
		v.plain = v.kind != Text || q.grammar.forms["column of text"] == "$x"
		v.reference = q.reference(b, col.Name)
		return v
	case e.Literal != nil:
		s, err := readScalar(e.Literal)
		if err != nil {
			q.fail(path+".literal", "%v", err)
			return value{}
		}
		kind := Text
		if s.number {
			kind = Number
		} else if s.truth != nil {
			kind = Bool
		}
		v := value{sql: q.scalarSQL(s), kind: kind, constant: true, written: s.text}
		if s.number && !strings.ContainsAny(s.text, "eE") {
			v.declared = exact
		}
		return v
	case e.Of != nil:
		return q.expr(*e.Of, path+".of", in, depth+1)
	case e.Math != nil:
		return q.math(*e.Math, path+".math", in, depth)
	case e.Function == Count || e.Function == Share || e.Function == Percent:
		return value{}
	}
	q.fail(path, "names no column")
	return value{}
}

// replace writes texts that stand for one thing as one of them.
func (q *query) replace(e Expr, v value, path string) value {
	if len(e.Replace) == 0 {
		return v
	}
	if v.kind != Text && v.kind != Unknown {
		q.fail(path+".replace", "replaces texts; %s is %s", v.sql, v.kind)
		return v
	}
	sql, n := "CASE", 0
	for i, r := range e.Replace {
		if len(r.Spellings) == 0 {
			q.fail(fmt.Sprintf("%s.replace[%d].spellings", path, i), "must name the texts that are replaced")
			continue
		}
		texts := make([]string, len(r.Spellings))
		for k, s := range r.Spellings {
			texts[k] = q.dialect.Text(s)
		}
		n += len(texts)
		sql += " WHEN " + v.bracketed() + " IN (" + strings.Join(texts, ", ") + ") THEN " + q.dialect.Text(r.Value)
	}
	if n > maxTexts {
		q.fail(path+".replace", "replaces more than %d texts", maxTexts)
	}
	return value{sql: sql + " ELSE " + v.sql + " END", kind: Text, column: v.column, table: v.table}
}

func (q *query) math(m Math, path string, in scope, depth int) value {
	left := q.expr(m.Left, path+".left", in, depth+1)
	right := q.expr(m.Right, path+".right", in, depth+1)
	v := value{kind: Number, compound: true, aggregate: left.aggregate || right.aggregate, constant: left.constant && right.constant}
	if !slices.Contains(mathOperators, m.Operator) {
		q.fail(path+".operator", "unknown operator %q; use one of %s", m.Operator, list(mathOperators))
		return v
	}
	if m.Operator == DateDiff {
		if !slices.Contains(units, m.Unit) {
			q.fail(path+".unit", "unknown unit %q; use one of %s", m.Unit, list(units))
			return v
		}
		v.sql = q.fillForm(path, "date_diff "+string(m.Unit), "", q.asMoment(left, path+".left"), q.asMoment(right, path+".right"))
		v.compound = q.grammar.isCompound("date_diff " + string(m.Unit))
		return v
	}
	for _, side := range []struct {
		v    value
		name string
	}{{left, ".left"}, {right, ".right"}} {
		if side.v.kind == Text || side.v.kind == Bool {
			q.fail(path+side.name, "is %s; arithmetic needs numbers (cast it to number)", side.v.kind)
		}
	}
	if left.kind == Date || right.kind == Date {
		q.fail(path, "arithmetic needs numbers; for dates use date_diff with a unit")
	}
	if m.Operator == Divide {
		v.sql = q.grammar.fill("divide", left.bracketed(), right.sql)
		return v
	}
	if left.castKind() == "number" && right.castKind() == "number" {
		v.declared = exact
	}
	v.sql = left.bracketed() + " " + string(m.Operator) + " " + right.bracketed()
	return v
}

func (v value) bracketed() string {
	if v.compound {
		return "(" + v.sql + ")"
	}
	return v.sql
}

// function applies an aggregate or a scalar.
func (q *query) function(e Expr, v value, path string, in scope) value {
	if e.Function == "" {
		if len(e.Where) > 0 {
			q.fail(path+".where", "only an aggregate can have conditions of its own")
		}
		return v
	}
	if !e.Function.known() {
		q.fail(path+".function", "unknown function %q; use one of %s", e.Function, list(slices.Concat(aggregates, scalars)))
		return v
	}
	if !e.Function.aggregate() {
		return q.scalar(e, v, path)
	}
	if in == rowScope {
		q.fail(path+".function", "%s is of a group, not of a row; move it to having", e.Function)
	}
	if v.aggregate {
		q.fail(path, "%s of an aggregate; take it from a plan that groups first (`from`)", e.Function)
	}
	out := value{kind: Number, aggregate: true}
	if e.Function == Sum && v.castKind() == "number" {
		out.declared = exact
	}
	switch e.Function {
	case Sum, Avg, Median, StdDev, Share, Percent:
		if v.sql != "" && (v.kind == Text || v.kind == Date || v.kind == Bool && e.Function != Sum) && !(v.kind == Date && e.Function == Median) {
			q.fail(path+".function", "%s needs numbers; %s is %s (cast it to number if it holds numbers)", e.Function, cmpColumn(e), v.kind)
		}
		if v.kind == Bool {
			v.sql = q.grammar.fill("whole of bool", v.sql, "")
		}
	case Min, Max:
		out.kind, out.declared, out.midnight = v.kind, v.declared, v.midnight
		v.sql = q.orderExpr(v)
	}
	return q.aggregate(e, v, out, path)
}

// aggregate writes an aggregate, over the rows that pass its own conditions.
func (q *query) aggregate(e Expr, v, out value, path string) value {
	all := v.sql
	if all == "" {
		all = "*"
	}
	form := string(e.Function)
	switch {
	case e.Function == Median && v.kind == Date:
		form = "median of date"
	case out.kind == Bool:
		form += " of bool"
	case e.Function == Count || e.Function == CountDistinct:
		out.declared = "BIGINT"
	}
	share := e.Function == Share || e.Function == Percent
	of, only := all, ""
	if len(e.Where) > 0 {
		where := q.filters(e.Where, path+".where", rowScope)
		switch {
		case q.grammar.aggregateFilter && (share || !q.grammar.isCompound(form)):
			only = " FILTER (WHERE " + where + ")"
		case v.sql == "":
			of = "CASE WHEN " + where + " THEN 1 END"
		default:
			of = "CASE WHEN " + where + " THEN " + v.sql + " END"
		}
	}
	if share {
		part := Sum
		if v.sql == "" {
			part = Count
		}
		out.sql = q.grammar.fill(form, q.grammar.fill(string(part), of, "")+only, q.grammar.fill(string(part), all, ""))
		out.compound = true
		return out
	}
	out.sql = q.fillForm(path+".function", form, "", of) + only
	out.compound = q.grammar.isCompound(form)
	return out
}

func (q *query) scalar(e Expr, v value, path string) value {
	out := value{aggregate: v.aggregate, constant: v.constant, kind: Number}
	switch e.Function {
	case Lower, Upper:
		out.kind = Text
		if v.kind == Number || v.kind == Date || v.kind == Bool {
			q.fail(path+".function", "%s needs text; %s is %s", e.Function, cmpColumn(e), v.kind)
		}
	case Length:
		if v.kind == Number || v.kind == Date || v.kind == Bool {
			q.fail(path+".function", "length needs text; %s is %s", cmpColumn(e), v.kind)
		}
	case Abs, Round:
		if v.kind == Text || v.kind == Date || v.kind == Bool {
			q.fail(path+".function", "%s needs numbers; %s is %s", e.Function, cmpColumn(e), v.kind)
		}
	}
	form := string(e.Function)
	if e.Function == Round && v.castKind() == "float" {
		form = "round of float"
	} else if e.Function == Abs || e.Function == Round {
		out.declared = v.declared
	}
	out.sql = q.fillForm(path+".function", form, "", v.sql)
	out.compound = q.grammar.isCompound(form)
	return out
}

func cmpColumn(e Expr) string {
	if e.Column != "" {
		return strings.TrimSpace(e.Column)
	}
	return "the value"
}
