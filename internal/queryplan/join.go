package queryplan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/schema"
)

// A tableRef is a table in FROM or JOIN.
type tableRef struct {
	verb     string
	bound    bound
	alias    string
	on       string
	optional bool // its rows may be missing in an outer join
}

// from binds the tables; sources writes them when it is known which columns are used.
func (q *query) from() {
	p := q.plan
	switch {
	case p.From != nil && (p.Table != "" || len(p.Joins) > 0):
		q.fail(q.path+".from", "a plan takes rows from a table or from a plan, not from both")
		return
	case p.From != nil:
		sql, columns := q.compiler.plan(p.From, q.path+".from", " ", q.depth+1)
		q.bind("", &schema.Table{Name: "inner_rows", Columns: columns})
		q.inner = sql
		return
	}
	table, ok := q.dataset.Table(p.Table)
	if !ok {
		q.fail(q.path+".table", "there is no table %q; there are %s", p.Table, q.tableNames())
		table = &schema.Table{}
	}
	q.bind(p.Alias, table)
	q.refs = append(q.refs, tableRef{verb: "FROM ", bound: q.tables[0], alias: p.Alias})
	if len(p.Joins) > maxParts {
		q.fail(q.path+".joins", "more than %d joins", maxParts)
		return
	}
	for i, j := range p.Joins {
		q.join(j, fmt.Sprintf("%s.joins[%d]", q.path, i))
	}
}

func (q *query) join(j Join, path string) {
	ref := tableRef{verb: "JOIN ", alias: j.Alias}
	switch j.Kind {
	case "", Inner:
	case Left:
		ref.verb, ref.optional = "LEFT JOIN ", true
	default:
		q.fail(path+".kind", "unknown kind %q; use one of %s", j.Kind, list(joinKinds))
	}
	table, ok := q.dataset.Table(j.Table)
	if !ok {
		q.fail(path+".table", "there is no table %q; there are %s", j.Table, q.tableNames())
		return
	}
	before := slices.Clone(q.tables)
	if !q.bind(j.Alias, table) {
		q.fail(path+".alias", "%s is in the plan already; give this one an alias of its own", cmp.Or(j.Alias, table.Name))
	}
	added := q.tables[len(q.tables)-1:]
	ref.bound = added[0]
	on := j.On
	if len(on) == 0 {
		on = q.relation(before, added[0], path)
	}
	var equal []string
	for i, pair := range on {
		at := fmt.Sprintf("%s.on[%d]", path, i)
		left, lc := q.column(pair.Left, before, at+".left")
		right, rc := q.column(pair.Right, added, at+".right")
		left, right = q.comparableSides(left, lc, right, rc)
		equal = append(equal, left+" = "+right)
	}
	ref.on = " ON " + strings.Join(equal, " AND ")
	q.refs = append(q.refs, ref)
}

// sources writes the tables.
func (q *query) sources() []string {
	if q.plan.From != nil {
		return []string{"FROM (" + q.inner + ") AS inner_rows"}
	}
	clauses := make([]string, len(q.refs))
	for i, r := range q.refs {
		name := q.dialect.Ident(r.bound.table.Name)
		if r.alias != "" {
			name += " AS " + q.dialect.Ident(r.alias)
		}
		if r.optional && q.grammar.outerJoinDefaults {
			name = q.nullableRows(r)
		}
		clauses[i] = r.verb + name + r.on
	}
	return clauses
}

// nullableRows is a subquery in which the used columns of a table are nullable.
func (q *query) nullableRows(r tableRef) string {
	var items []string
	for _, c := range r.bound.table.Columns {
		if q.used[r.bound.name+"."+c.Name] {
			name := q.dialect.Ident(c.Name)
			items = append(items, nullableFunction+"("+q.dialect.Ident(r.bound.table.Name)+"."+name+") AS "+name)
		}
	}
	return "(SELECT " + strings.Join(items, ", ") + " FROM " + q.dialect.Ident(r.bound.table.Name) + ") AS " + q.dialect.Ident(r.bound.name)
}

// comparableSides makes the sides of a join comparable: keys of different types are
// compared as text.
func (q *query) comparableSides(left string, lc schema.Column, right string, rc schema.Column) (string, string) {
	lk, rk := KindOf(lc.Type), KindOf(rc.Type)
	if lk != Unknown && rk != Unknown && lk != rk {
		if lk != Text {
			left = q.grammar.fill("key", left, "")
		}
		if rk != Text {
			right = q.grammar.fill("key", right, "")
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
	known := q.dataset
	if !slices.ContainsFunc(before, func(b bound) bool { return len(known.Between(b.table.Name, added.table.Name)) > 0 }) {
		known.Relations = Discover(known)
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
