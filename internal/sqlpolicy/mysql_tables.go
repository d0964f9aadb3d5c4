package sqlpolicy

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// tables prints FROM and adds its sources to names. Every join stands in brackets.
func (p *mysqlPrinter) tables(n ast.ResultSetNode, names *mysqlNames, env mysqlEnv, depth int) string {
	if !p.enter(depth) {
		return ""
	}
	switch n := n.(type) {
	case *ast.Join:
		return p.join(n, names, env, depth)
	case *ast.TableSource:
		return p.tableSource(n, names, env, depth)
	}
	return p.refuse(unknown(-1, "%s in FROM", kindOf(n)))
}

func (p *mysqlPrinter) join(n *ast.Join, names *mysqlNames, env mysqlEnv, depth int) string {
	text := p.tables(n.Left, names, env, depth+1)
	if n.Right == nil {
		if n.On != nil || len(n.Using) > 0 || n.NaturalJoin || n.StraightJoin {
			return p.refuse(unknown(-1, "a join of one table"))
		}
		return text
	}
	right := p.tables(n.Right, names, env, depth+1)
	if n.NaturalJoin {
		text += " NATURAL"
		p.star("", names) // by whichever columns have the same name
	}
	switch n.Tp {
	case 0: // these two have no kind
		if !n.StraightJoin && !n.NaturalJoin {
			return p.refuse(unknown(-1, "a kind of join"))
		}
	case ast.CrossJoin:
	case ast.LeftJoin:
		text += " LEFT"
	case ast.RightJoin:
		text += " RIGHT"
	default:
		return p.refuse(unknown(-1, "a kind of join"))
	}
	if n.StraightJoin {
		text += " STRAIGHT_JOIN "
	} else {
		text += " JOIN "
	}
	text += right
	if n.On != nil {
		text += " ON " + p.expr(n.On.Expr, mysqlEnv{env.ctes, names}, depth+1)
	}
	if len(n.Using) > 0 {
		columns := make([]string, len(n.Using))
		for i, c := range n.Using {
			p.resolve(c, names)
			columns[i] = c.Name.O
			if c.Table.O != "" || c.Schema.O != "" {
				p.refuse(unknown(-1, "a table's name in USING"))
			}
		}
		text += " USING (" + quoteAllMySQL(columns) + ")"
	}
	return "(" + text + ")"
}

func (p *mysqlPrinter) tableSource(n *ast.TableSource, names *mysqlNames, env mysqlEnv, depth int) (text string) {
	var source mysqlSource
	switch s := n.Source.(type) {
	case *ast.TableName:
		if n.Lateral || len(n.ColumnNames) > 0 {
			return p.refuse(unknown(-1, "LATERAL or columns of a table"))
		}
		text, source = p.tableName(s, env)
	case *ast.Join:
		if n.AsName.O != "" || n.Lateral || len(n.ColumnNames) > 0 {
			return p.refuse(unknown(-1, "a name of a join"))
		}
		return p.join(s, names, env, depth)
	case *ast.SelectStmt, *ast.SetOprStmt:
		inner := env
		if n.Lateral {
			text, inner.names = "LATERAL ", names
		}
		query, columns := p.query(s, inner, depth+1)
		text += "(" + query + ")"
		source.columns = columns
	default:
		return p.refuse(unknown(-1, "%s in FROM", kindOf(s)))
	}
	if n.AsName.O != "" {
		text += " AS " + quoteMySQL(n.AsName.O)
		source.name = fold(n.AsName.O)
	}
	if len(n.ColumnNames) > 0 {
		columns := make([]string, len(n.ColumnNames))
		for i, c := range n.ColumnNames {
			columns[i] = c.O
		}
		text += " (" + quoteAllMySQL(columns) + ")"
		source.columns = folded(columns)
	}
	names.sources = append(slices.Clip(names.sources), source)
	return text
}
