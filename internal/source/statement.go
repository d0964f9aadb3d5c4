package source

import (
	"fmt"
	"strings"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// A Statement is SQL with its parameters in order. A value is only ever in Args.
type Statement struct {
	Text string
	Args []any
}

// A Selection is what to read of a table.
type Selection struct {
	Table   []string        // its name, with catalog and schema before it where needed
	Columns []schema.Column // to read, in order
	All     []schema.Column // that conditions may name; nil means Columns
	Filter  schema.Filter
	Order   []string // columns that fix the order
	Limit   int      // 0 means all
	Offset  int
	Count   bool // count the rows instead of reading them
}

// A translator writes parts of statements in one dialect so that a comparison means
// what [schema.Filter] promises.
type translator interface {
	// selectExpr writes a column of the select list.
	selectExpr(c schema.Column) string
	// compareExpr writes the column's side of a comparison.
	compareExpr(c schema.Column, op schema.Op) string
	// bindParam writes the n-th parameter, from 1, and gives the value to bind.
	bindParam(n int, c schema.Column, op schema.Op, value any) (string, any)
	// likeExpr writes the whole comparison for Like.
	likeExpr(left, param string) string
}

// A narrower is a translator whose exact comparison of texts cannot use an index. Where
// hasIndexedForm, a plain comparison, which the exact one implies, is written before it.
type narrower interface {
	hasIndexedForm(c schema.Column, op schema.Op) bool
}

// castParam casts a parameter to the type that a column of type t is compared with.
func castParam(d dialect.Dialect, param string, t schema.Type) string {
	if name := d.CastType(t); name != "" {
		return "CAST(" + param + " AS " + name + ")"
	}
	return param
}

// Where translates a filter over these columns into a condition; "" if there is none.
func Where(d dialect.Dialect, columns []schema.Column, f schema.Filter) (Statement, error) {
	w := writer{d: d, t: translators[d]}
	if err := w.where("", columns, f); err != nil {
		return Statement{}, err
	}
	return Statement{w.String(), w.args}, nil
}

// Select translates a selection into one statement.
func Select(d dialect.Dialect, s Selection) (Statement, error) {
	w := writer{d: d, t: translators[d]}
	w.WriteString("SELECT ")
	if s.Count {
		w.WriteString("count(*)")
	}
	for i, c := range s.Columns {
		if s.Count {
			break
		}
		if i > 0 {
			w.WriteString(", ")
		}
		w.WriteString(w.t.selectExpr(c))
	}
	w.WriteString(" FROM ")
	for i, part := range s.Table {
		if i > 0 {
			w.WriteByte('.')
		}
		w.WriteString(w.d.Quote(part))
	}
	all := s.All
	if all == nil {
		all = s.Columns
	}
	if err := w.where(" WHERE ", all, s.Filter); err != nil {
		return Statement{}, err
	}
	for i, name := range s.Order {
		w.WriteString([]string{" ORDER BY ", ", "}[min(i, 1)])
		w.WriteString(w.d.Quote(name))
	}
	w.page(s.Limit, s.Offset)
	return Statement{w.String(), w.args}, nil
}

type writer struct {
	strings.Builder
	d    dialect.Dialect
	t    translator
	args []any
}

// page writes which rows are wanted. In the embedded engine all pages are one text,
// about which the policy decides once.
func (w *writer) page(limit, offset int) {
	number := func(word string, n int) string {
		switch {
		case n <= 0:
			return ""
		case w.d != dialect.DuckDB:
			return fmt.Sprintf(" %s %d", word, n)
		}
		w.args = append(w.args, n)
		return fmt.Sprintf(" %s CAST($%d AS BIGINT)", word, len(w.args))
	}
	first, skip := number("LIMIT", limit), number("OFFSET", offset)
	if w.d == dialect.Trino { // the only one that wants it so
		first, skip = skip, first
	}
	w.WriteString(first + skip)
}

func (w *writer) where(lead string, columns []schema.Column, f schema.Filter) error {
	predicates, err := bindFilter(f, columns)
	if err != nil {
		return err
	}
	for i, p := range predicates {
		if i > 0 {
			lead = " AND "
		}
		w.WriteString(lead)
		w.predicate(p)
	}
	return nil
}

var signs = map[schema.Op]string{schema.Eq: " = ", schema.Neq: " <> ", schema.Gt: " > ", schema.Gte: " >= ", schema.Lt: " < ", schema.Lte: " <= "}

func (w *writer) predicate(p predicate) {
	name := w.d.Quote(p.column.Name)
	switch p.form {
	case never:
		w.WriteString("1 = 0")
		return
	case present:
		w.WriteString(name + " IS NOT NULL")
		return
	}
	if n, ok := w.t.(narrower); ok && n.hasIndexedForm(p.column, p.op) {
		plain := p
		plain.column.Type = schema.Type{Kind: schema.Other} // bound as it is
		w.comparison(name, plain)
		w.WriteString(" AND ")
	}
	w.comparison(w.t.compareExpr(p.column, p.op), p)
}

func (w *writer) comparison(left string, p predicate) {
	switch p.op {
	case schema.Like:
		w.WriteString(w.t.likeExpr(left, w.bind(p, 0)))
	case schema.Between:
		w.WriteString(left + " BETWEEN " + w.bind(p, 0) + " AND " + w.bind(p, 1))
	case schema.In:
		w.WriteString(left + " IN (")
		for i := range p.values {
			if i > 0 {
				w.WriteString(", ")
			}
			w.WriteString(w.bind(p, i))
		}
		w.WriteString(")")
	default:
		w.WriteString(left + signs[p.op] + w.bind(p, 0))
	}
}

func (w *writer) bind(p predicate, i int) string {
	text, arg := w.t.bindParam(len(w.args)+1, p.column, p.op, p.values[i])
	w.args = append(w.args, arg)
	return text
}

// quotedLength gives the length of a quoted thing at the start of a text; not ok: it is open.
func quotedLength(s string, quote byte, backslashes bool) (int, bool) {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && backslashes:
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1, true
		}
	}
	return 0, false
}
