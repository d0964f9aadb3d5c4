package sqlpolicy

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// A mysqlSource is what FROM names: a table of the dataset, or a query with columns.
type mysqlSource struct {
	name    string   // folded
	table   *Table   // nil: a query, whose own columns were noted where it was printed
	columns []string // folded
}

// mysqlNames are the names that expressions of one SELECT can mean.
type mysqlNames struct {
	sources []mysqlSource
	aliases []string // of the list of columns, folded; known after FROM, WHERE and the list
	outer   *mysqlNames
}

// A mysqlCTE is a name that WITH gave. Names are compared as they are written: a
// server that tells cases apart would take another spelling for a table.
type mysqlCTE struct {
	name    string
	columns []string
	outer   *mysqlCTE
}

func (c *mysqlCTE) find(name string) *mysqlCTE {
	for ; c != nil && c.name != name; c = c.outer {
	}
	return c
}

// mysqlEnv is what is known at a place of the statement.
type mysqlEnv struct {
	ctes  *mysqlCTE
	names *mysqlNames
}

// touch notes the columns that a name may mean: all of a table's, if it is none of them.
func (p *mysqlPrinter) touch(s mysqlSource, column string) {
	if s.table == nil {
		return
	}
	noted := p.touched[s.table.Name]
	if at := slices.Index(s.columns, column); at >= 0 {
		noted[s.table.Columns[at]] = true
		return
	}
	for _, c := range s.table.Columns {
		noted[c] = true
	}
}

// resolve notes what a column's name means; a name that nothing has may mean anything.
func (p *mysqlPrinter) resolve(n *ast.ColumnName, names *mysqlNames) {
	table, column := fold(n.Table.O), fold(n.Name.O)
	for at := names; at != nil; at = at.outer {
		found := table == "" && slices.Contains(at.aliases, column)
		for _, s := range at.sources {
			if table == "" && slices.Contains(s.columns, column) || table != "" && s.name == table {
				p.touch(s, column)
				found = true
			}
		}
		if found {
			return
		}
	}
	for at := names; at != nil; at = at.outer {
		for _, s := range at.sources {
			p.touch(s, "")
		}
	}
}

// star notes all columns of one source, or of all, and gives their names.
func (p *mysqlPrinter) star(table string, names *mysqlNames) (columns []string) {
	for _, s := range names.sources {
		if table == "" || s.name == table {
			p.touch(s, "")
			columns = append(columns, s.columns...)
		}
	}
	return columns
}

// touches lists the tables with the columns read of each.
func (p *mysqlPrinter) touches() []Touch {
	out := []Touch{}
	for name, columns := range p.touched {
		t := Touch{Table: name, Columns: []string{}}
		for c := range columns {
			t.Columns = append(t.Columns, c)
		}
		slices.Sort(t.Columns)
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Touch) int { return strings.Compare(a.Table, b.Table) })
	return out
}

// tableName admits a table of the dataset or a name of WITH, and prints it.
func (p *mysqlPrinter) tableName(n *ast.TableName, env mysqlEnv) (string, mysqlSource) {
	schema, name := n.Schema.O, n.Name.O
	if p.refs++; p.refs > p.limits.Tables {
		p.refuse(deny(RuleTooBig, -1, "Split the question into several smaller ones.", "More than %d tables are named.", p.limits.Tables))
		return "", mysqlSource{}
	}
	switch {
	case n.AsOf != nil:
		p.refuse(deny(RuleTimeTravel, -1, "Leave AS OF out; the dataset has one version.", "AS OF is not possible here."))
	case len(n.IndexHints) > 0 || len(n.PartitionNames) > 0 || n.TableSample != nil || n.IsAlias:
		p.refuse(unknown(-1, "hints, partitions or a sample of the table %s", name))
	}
	if cte := env.ctes.find(name); schema == "" && cte != nil {
		return quoteMySQL(name), mysqlSource{name: fold(name), columns: cte.columns}
	}
	at := slices.IndexFunc(p.scope.Tables, func(t Table) bool { return t.Name == name })
	if at < 0 || !p.ownSchema(schema) {
		p.refuseTable(schema, name)
		return "", mysqlSource{}
	}
	t := &p.scope.Tables[at]
	if p.touched[name] == nil {
		p.touched[name] = map[string]bool{}
	}
	return quoteMySQL(p.scope.Schema) + "." + quoteMySQL(name), mysqlSource{name: fold(name), table: t, columns: folded(t.Columns)}
}

// ownSchema says that what is before a table's name is the dataset or its database.
func (p *mysqlPrinter) ownSchema(schema string) bool {
	return schema == "" || schema == p.scope.Schema || p.scope.Alias != "" && fold(schema) == fold(p.scope.Alias)
}

func (p *mysqlPrinter) refuseTable(schema, name string) {
	full := name
	if schema != "" {
		full = schema + "." + name
	}
	if fold(schema) == "information_schema" {
		p.refuse(deny(RuleCatalog, -1, tableList(p.scope.Tables)+" Their columns are in the dataset's schema.", "The engine's catalog (%s) is not available.", full))
		return
	}
	p.refuse(deny(RuleTable, -1, TablesNear(p.scope.Tables, full), "There is no table %s in this dataset.", full))
}

// column admits the name of a column and prints it.
func (p *mysqlPrinter) column(n *ast.ColumnName, env mysqlEnv) string {
	if !p.ownSchema(n.Schema.O) {
		p.refuseTable(n.Schema.O, n.Table.O)
		return ""
	}
	p.resolve(n, env.names)
	return p.qualified(n.Schema.O, n.Table.O, quoteMySQL(n.Name.O))
}

// qualified prints what stands before a column or a star.
func (p *mysqlPrinter) qualified(schema, table, last string) string {
	if table != "" {
		last = quoteMySQL(table) + "." + last
	}
	if schema != "" {
		last = quoteMySQL(p.scope.Schema) + "." + last
	}
	return last
}

// quoteMySQL prints a name so that it means itself in every mode of the server.
func quoteMySQL(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func folded(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fold(n)
	}
	return out
}
