package queryplan

import (
	"strings"

	"interlock/internal/schema"
)

// A query is one plan while it is compiled: the tables that it sees.
type query struct {
	*compiler
	plan   *Plan
	path   string
	depth  int
	tables []bound
	refs   []tableRef
	inner  string          // the plan that rows come from instead
	used   map[string]bool // columns by table.column
}

// A bound table is one under the name that the plan gives it.
type bound struct {
	name  string
	table *schema.Table
}

// A scope says what a value may use: rows before grouping, or groups after it.
type scope int

const (
	rowScope scope = iota
	groupScope
)

// bind adds a table and says whether its name was free.
func (q *query) bind(alias string, t *schema.Table) bool {
	name := alias
	if name == "" {
		name = t.Name
	}
	free := true
	for _, b := range q.tables {
		free = free && !strings.EqualFold(b.name, name)
	}
	q.tables = append(q.tables, bound{name, t})
	return free
}

// find looks a reference (`column` or `table.column`) up and counts its meanings.
func (q *query) find(ref string, in []bound) (bound, *schema.Column, int) {
	var (
		where bound
		what  *schema.Column
		n     int
	)
	for _, b := range in {
		if col, ok := b.table.Column(ref); ok {
			where, what = b, col
			n++
		}
	}
	if n > 0 {
		return where, what, n
	}
	for i := range len(ref) {
		if ref[i] != '.' {
			continue
		}
		for _, b := range in {
			if !strings.EqualFold(b.name, ref[:i]) {
				continue
			}
			if col, ok := b.table.Column(ref[i+1:]); ok {
				return b, col, 1
			}
		}
	}
	return where, nil, 0
}

// column writes a reference and gives what it refers to.
func (q *query) column(ref string, in []bound, path string) (string, schema.Column) {
	b, col, n := q.find(ref, in)
	switch {
	case n == 0:
		q.fail(path, "there is no column %q; there are %s", ref, q.columnNames(in))
		return "", schema.Column{}
	case n > 1:
		q.fail(path, "%q is a column of several tables; write it as table.column", ref)
		return "", schema.Column{}
	}
	q.used[b.name+"."+col.Name] = true
	sql := q.reference(b, col.Name)
	if KindOf(col.Type) == Text {
		sql = q.grammar.fill("column of text", sql, "")
	}
	return sql, *col
}

// reference writes a column as itself.
func (q *query) reference(b bound, column string) string {
	if len(q.tables) > 1 || q.grammar.qualifiesColumns {
		return q.dialect.Ident(b.name) + "." + q.dialect.Ident(column)
	}
	return q.dialect.Ident(column)
}

func (q *query) columnNames(in []bound) string {
	var names []string
	for _, b := range in {
		for _, c := range b.table.Columns {
			if len(in) > 1 {
				names = append(names, b.name+"."+c.Name)
			} else {
				names = append(names, c.Name)
			}
		}
	}
	return list(names)
}
