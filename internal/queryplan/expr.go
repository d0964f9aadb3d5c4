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
	aggregate     bool
	constant      bool
	compound      bool // needs brackets inside arithmetic
	declared      string
}

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
	v := q.base(e, path, in, depth)
	v = q.cast(e, v, path)
	v = q.date(e, v, path)
	return q.function(e, v, path, in)
}

// base is the innermost part: exactly one of column, literal, of and math, or
// nothing at all where rows are counted.
func (q *query) base(e Expr, path string, in scope, depth int) value {
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
			if item := q.selected(Expr{Column: e.Column}); !item.plain() {
				return q.expr(item, path, in, depth+1)
			}
		}
		b, _, _ := q.find(e.Column, q.tables)
		sql, col := q.column(e.Column, q.tables, path+".column")
		return value{sql: sql, kind: col.Kind(), column: col.Name, table: b.name, declared: col.Type}
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
		return value{sql: s.sql(q.dialect), kind: kind, constant: true}
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
		}
		v.compound = false
		v.sql = fmt.Sprintf("date_diff('%s', %s, %s)", m.Unit, q.dated(left), q.dated(right))
		if q.dialect == SQLite {
			days := map[Unit]string{"year": "365.25", "quarter": "91.3125", "month": "30.4375", "week": "7", "day": "1", "hour": "(1.0/24)"}[m.Unit]
			v.sql = fmt.Sprintf("CAST((julianday(%s) - julianday(%s)) / %s AS INTEGER)", right.sql, left.sql, days)
		}
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
	l, r := left.bracketed(), right.bracketed()
	if m.Operator == Divide {
		l, r = "1.0 * "+l, "nullif("+right.sql+", 0)"
	}
	v.sql = l + " " + string(m.Operator) + " " + r
	return v
}

func (v value) bracketed() string {
	if v.compound {
		return "(" + v.sql + ")"
	}
	return v.sql
}

func (q *query) cast(e Expr, v value, path string) value {
	if e.Cast == "" {
		return v
	}
	if !slices.Contains(casts, e.Cast) {
		q.fail(path+".cast", "unknown cast %q; use one of %s", e.Cast, list(casts))
		return v
	}
	kind := map[Cast]Kind{ToNumber: Number, ToDate: Date, ToText: Text}[e.Cast]
	if v.kind == kind {
		return v
	}
	names := map[Cast]string{ToNumber: "DOUBLE", ToDate: "TIMESTAMP", ToText: "VARCHAR"}
	verb := "TRY_CAST("
	if q.dialect == SQLite {
		names, verb = map[Cast]string{ToNumber: "REAL", ToDate: "TEXT", ToText: "TEXT"}, "CAST("
	}
	return value{sql: verb + v.sql + " AS " + names[e.Cast] + ")", kind: kind, aggregate: v.aggregate, constant: v.constant}
}

// dated writes a value where a timestamp is needed: text is read as one.
func (q *query) dated(v value) string {
	if v.kind == Text && !v.constant {
		return "TRY_CAST(" + v.sql + " AS TIMESTAMP)"
	}
	if v.constant && v.kind == Text {
		return "CAST(" + v.sql + " AS TIMESTAMP)"
	}
	return v.sql
}

// date takes a part out of a date or cuts it to a unit.
func (q *query) date(e Expr, v value, path string) value {
	if e.Part == "" && e.Truncate == "" {
		return v
	}
	switch {
	case e.Part != "" && e.Truncate != "":
		q.fail(path, "use part or truncate, not both")
	case e.Part != "" && !slices.Contains(parts, e.Part):
		q.fail(path+".part", "unknown part %q; use one of %s", e.Part, list(parts))
	case e.Truncate != "" && !slices.Contains(units, e.Truncate):
		q.fail(path+".truncate", "unknown unit %q; use one of %s", e.Truncate, list(units))
	case v.kind == Number || v.kind == Bool:
		q.fail(path, "%s is a %s and has no calendar; it needs a date", cmpColumn(e), v.kind)
	}
	out := value{kind: Number, aggregate: v.aggregate, constant: v.constant}
	if e.Truncate != "" {
		out.kind = Date
	}
	if q.dialect == SQLite {
		out.sql = sqliteDate(e, v.sql)
		return out
	}
	if e.Truncate != "" {
		out.sql = "date_trunc('" + string(e.Truncate) + "', " + q.dated(v) + ")"
		return out
	}
	name := map[Part]string{"weekday": "isodow"}[e.Part]
	if name == "" {
		name = string(e.Part)
	}
	out.sql = name + "(" + q.dated(v) + ")"
	return out
}

// sqliteDate says the same in SQLite, which keeps dates as text.
func sqliteDate(e Expr, x string) string {
	as := func(format string) string { return "CAST(strftime('" + format + "', " + x + ") AS INTEGER)" }
	switch e.Part {
	case "year":
		return as("%Y")
	case "quarter":
		return "(" + as("%m") + " + 2) / 3"
	case "month":
		return as("%m")
	case "week":
		return as("%V")
	case "day":
		return as("%d")
	case "weekday":
		return as("%u")
	case "hour":
		return as("%H")
	}
	switch e.Truncate {
	case "year":
		return "strftime('%Y-01-01', " + x + ")"
	case "quarter":
		return "strftime('%Y-', " + x + ") || substr('00' || ((" + as("%m") + " + 2) / 3 * 3 - 2), -2) || '-01'"
	case "month":
		return "strftime('%Y-%m-01', " + x + ")"
	case "week":
		return "date(" + x + ", 'weekday 0', '-6 days')"
	case "hour":
		return "strftime('%Y-%m-%d %H:00:00', " + x + ")"
	}
	return "date(" + x + ")"
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
	switch e.Function {
	case Sum, Avg, Median, StdDev, Share, Percent:
		if v.sql != "" && (v.kind == Text || v.kind == Date || v.kind == Bool && e.Function != Sum) && !(v.kind == Date && e.Function == Median) {
			q.fail(path+".function", "%s needs numbers; %s is %s (cast it to number if it holds numbers)", e.Function, cmpColumn(e), v.kind)
		}
		if v.kind == Bool {
			v.sql = "CAST(" + v.sql + " AS INTEGER)"
		}
	case Min, Max:
		out.kind, out.declared = v.kind, v.declared
	}
	only := ""
	if len(e.Where) > 0 {
		only = " FILTER (WHERE " + q.filters(e.Where, path+".where", rowScope) + ")"
	}
	switch e.Function {
	case Count:
		if v.sql == "" {
			v.sql = "*"
		}
		out.sql = "count(" + v.sql + ")" + only
		out.declared = "BIGINT"
	case CountDistinct:
		out.sql = "count(DISTINCT " + v.sql + ")" + only
		out.declared = "BIGINT"
	case Share, Percent:
		part := "sum(" + v.sql + ")"
		if v.sql == "" {
			part = "count(*)"
		}
		scale := "1.0"
		if e.Function == Percent {
			scale = "100.0"
		}
		out.sql = scale + " * " + part + only + " / nullif(sum(" + part + ") OVER (), 0)"
		out.compound = true
	default:
		out.sql = string(e.Function) + "(" + v.sql + ")" + only
	}
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
		if e.Function == Round {
			out.sql = "round(" + v.sql + ", 2)"
			return out
		}
	}
	out.sql = string(e.Function) + "(" + v.sql + ")"
	return out
}

func cmpColumn(e Expr) string {
	if e.Column != "" {
		return strings.TrimSpace(e.Column)
	}
	return "the value"
}
