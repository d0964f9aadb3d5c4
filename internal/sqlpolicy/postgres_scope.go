package sqlpolicy

import (
	"slices"
	"strings"

	pgquery "github.com/pganalyze/pg_query_go/v6"
)

// A pgOrigin is the column of a table that a column's values come from.
type pgOrigin struct{ table, column string }

// A pgColumn is a column that a FROM item offers.
type pgColumn struct {
	name    string
	origins []pgOrigin // none where a query below has read them already
}

// A pgItem is an entry of FROM as names see it.
type pgItem struct {
	name    string // "" for a join without an alias
	table   string // of the dataset, if it is one without an alias: schema.table.column means it then
	columns []pgColumn
	at      int32

	relHidden   bool // its name cannot be used: a join without an alias
	colsHidden  bool // its columns need the name: below a join, whose columns they are now
	lateralOnly bool // seen only by what FROM has after it, with LATERAL
}

// column gives the columns of a name.
func (i *pgItem) column(name string) (found []pgColumn) {
	for _, c := range i.columns {
		if c.name == name {
			found = append(found, c)
		}
	}
	return found
}

// A pgScope is one level of a query: what its names may mean, and the level around it.
type pgScope struct {
	parent  *pgScope
	items   []*pgItem
	ctes    []*pgCTE
	lateral bool // what is being read now sees the items that are lateralOnly
}

// A pgCTE is a query that WITH names.
type pgCTE struct {
	name    string
	columns []pgColumn
	node    *pgquery.CommonTableExpr
	known   bool // columns is filled
	reading bool
}

// cte finds what a bare name of a table means if it is a CTE's.
func (s *pgScope) cte(name string) (*pgCTE, *pgScope) {
	for ; s != nil; s = s.parent {
		for _, c := range s.ctes {
			if c.name == name {
				return c, s
			}
		}
	}
	return nil, nil
}

// visible gives the items of this level that a name may mean.
func (s *pgScope) visible(yield func(*pgItem) bool) {
	for _, i := range s.items {
		if (!i.lateralOnly || s.lateral) && !yield(i) {
			return
		}
	}
}

// relation finds the FROM item of a name, the innermost level first.
func (s *pgScope) relation(match func(*pgItem) bool) *pgItem {
	for ; s != nil; s = s.parent {
		for i := range s.visible {
			if !i.relHidden && match(i) {
				return i
			}
		}
	}
	return nil
}

// columns finds what a bare name means at the innermost level that has such a column.
func (s *pgScope) columns(name string) []pgColumn {
	for ; s != nil; s = s.parent {
		if found := s.ownColumns(name); len(found) > 0 {
			return found
		}
	}
	return nil
}

func (s *pgScope) ownColumns(name string) (found []pgColumn) {
	for i := range s.visible {
		if !i.colsHidden {
			found = append(found, i.column(name)...)
		}
	}
	return found
}

// star gives the columns that * means.
func (s *pgScope) star() (all []pgColumn) {
	for _, i := range s.items {
		if !i.colsHidden && !i.lateralOnly {
			all = append(all, i.columns...)
		}
	}
	return all
}

// add puts items into a level; two of one name are refused, as the server does.
func (s *pgScope) add(items ...*pgItem) error {
	for _, i := range items {
		if i.relHidden {
			continue
		}
		if slices.ContainsFunc(s.items, func(o *pgItem) bool { return !o.relHidden && o.name == i.name }) {
			return deny(RuleTable, int(i.at), "Give one of them another alias.", "The name %s is used for two tables of one FROM.", i.name)
		}
	}
	s.items = append(s.items, items...)
	return nil
}

// column resolves a reference to a column or a whole row, as the server does, and notes
// what it reads. Where x.f is no column the server would call a function f; that is refused.
func (j *pgJudge) column(ref *pgquery.ColumnRef, s *pgScope) error {
	at := ref.GetLocation()
	if err := onlyFields(ref, at, "fields"); err != nil {
		return err
	}
	fields := ref.GetFields()
	star := len(fields) > 0 && fields[len(fields)-1].GetAStar() != nil
	if star {
		fields = fields[:len(fields)-1]
	}
	names, err := stringValues(fields, at)
	if err != nil {
		return err
	}
	switch {
	case star && len(names) == 0:
		j.touch(s.star()...)
		return nil
	case len(names) == 1 && !star:
		return j.bareColumn(names[0], at, s)
	}
	item, rest, err := j.owner(ref, names, star, s)
	if err != nil {
		return err
	}
	if star {
		j.touch(item.columns...)
		return nil
	}
	found := item.column(rest)
	if len(found) == 0 {
		return deny(RuleColumn, int(at), columnAdvice(item), "There is no column %s.", strings.Join(names, "."))
	}
	if len(found) > 1 {
		return SyntaxError(j.sql, "Several columns are called "+strings.Join(names, ".")+".", int(at)).Suggest("Give them names that differ.")
	}
	j.touch(found...)
	return nil
}

// owner finds what stands before a column, and gives the column's name.
func (j *pgJudge) owner(ref *pgquery.ColumnRef, names []string, star bool, s *pgScope) (*pgItem, string, error) {
	at, column := int(ref.GetLocation()), ""
	if !star {
		column, names = names[len(names)-1], names[:len(names)-1]
	}
	var item *pgItem
	switch len(names) {
	case 1:
		item = s.relation(func(i *pgItem) bool { return i.name == names[0] })
	case 2: // the schema, or the dataset's name in its place
		if j.ownSchema(names[0]) {
			item = s.relation(func(i *pgItem) bool { return i.table != "" && i.table == names[1] })
			ref.Fields[0] = pgquery.MakeStrNode(j.schema)
		}
	}
	if item == nil {
		return nil, "", deny(RuleTable, at, "Use the tables of FROM by their names or aliases.", "There is no table %s in FROM that could be used here.", strings.Join(names, "."))
	}
	return item, column, nil
}

// bareColumn resolves a name that stands alone: a column of the innermost level that
// has one, or else a whole row.
func (j *pgJudge) bareColumn(name string, at int32, s *pgScope) error {
	switch found := s.columns(name); len(found) {
	case 1:
		j.touch(found...)
		return nil
	case 0:
		item := s.relation(func(i *pgItem) bool { return i.name == name })
		if item == nil {
			return SyntaxError(j.sql, "There is no column "+name+".", int(at)).Suggest("%s", j.columnsInScope(s))
		}
		j.touch(item.columns...)
		return nil
	default:
		return SyntaxError(j.sql, "The column "+name+" is in several tables.", int(at)).Suggest("Write the table's name or alias before it.")
	}
}

// ownSchema says that a qualifier means where the tables are.
func (j *pgJudge) ownSchema(name string) bool {
	return name == j.schema || j.scope.Alias != "" && fold(name) == fold(j.scope.Alias)
}

func columnAdvice(item *pgItem) string {
	if item.name == "" || len(item.columns) == 0 {
		return "Use the columns of the tables by their names."
	}
	return "Use the columns of " + item.name + ": " + columnNames(item.columns) + "."
}

func (j *pgJudge) columnsInScope(s *pgScope) string {
	var all []pgColumn
	for ; s != nil; s = s.parent {
		all = append(all, s.star()...)
	}
	if len(all) == 0 {
		return "Name the table of the column in FROM."
	}
	return "Use the columns of the tables in FROM: " + columnNames(all) + "."
}

func columnNames(columns []pgColumn) string {
	const most = 30
	names := make([]string, 0, most+1)
	for i, c := range columns {
		if i == most {
			names = append(names, "…")
			break
		}
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}
