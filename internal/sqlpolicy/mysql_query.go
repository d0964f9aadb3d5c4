package sqlpolicy

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// A mysqlPrinter walks a tree and prints what it admits. The first thing that it does
// not admit is kept; what it prints after that is of no use.
type mysqlPrinter struct {
	scope     Scope
	words     vocabulary
	limits    Limits
	nodes     int
	refs      int
	touched   map[string]map[string]bool // columns by table
	functions map[string]bool
	volatile  bool
	limit     *ast.Limit // of the outermost query
	order     bool
	refused   error
}

func (p *mysqlPrinter) refuse(err error) string {
	if p.refused == nil {
		p.refused = err
	}
	return ""
}

// enter counts a node and says whether to go on.
func (p *mysqlPrinter) enter(depth int) bool {
	if p.nodes++; p.nodes > p.limits.Nodes {
		p.refuse(deny(RuleTooBig, -1, "Split the question into several smaller ones.", "The statement is too big: more than %d parts.", p.limits.Nodes))
	} else if depth > p.limits.Depth {
		p.refuse(deny(RuleTooDeep, -1, "Use WITH to name the inner parts, or IN (...) for long lists.", "The statement is nested deeper than %d levels.", p.limits.Depth))
	}
	return p.refused == nil
}

// query prints a SELECT or a set operation and gives the folded names of its columns.
func (p *mysqlPrinter) query(n ast.Node, env mysqlEnv, depth int) (text string, columns []string) {
	if !p.enter(depth) {
		return "", nil
	}
	switch n := n.(type) {
	case *ast.SelectStmt:
		return p.selectStmt(n, env, depth)
	case *ast.SetOprStmt:
		return p.setOperation(&ast.SetOprSelectList{With: n.With, Selects: n.SelectList.Selects, OrderBy: n.OrderBy, Limit: n.Limit}, n.SelectList, env, depth)
	case *ast.SetOprSelectList:
		return p.setOperation(n, nil, env, depth)
	}
	return p.refuse(unknown(-1, "%s", kindOf(n))), nil
}

// kindOf names a node for people.
func kindOf(n any) string {
	if n == nil {
		return "nothing"
	}
	return strings.TrimSuffix(strings.TrimSuffix(reflect.TypeOf(n).Elem().Name(), "Stmt"), "Expr")
}

var mysqlSetOperations = map[ast.SetOprType]string{
	ast.Union: " UNION ", ast.UnionAll: " UNION ALL ", ast.Except: " EXCEPT ", ast.ExceptAll: " EXCEPT ALL ", ast.Intersect: " INTERSECT ", ast.IntersectAll: " INTERSECT ALL ",
}

// setOperation prints selects with operators between them. A list that the parser put
// inside of a statement has nothing of its own but the selects.
func (p *mysqlPrinter) setOperation(n, inner *ast.SetOprSelectList, env mysqlEnv, depth int) (string, []string) {
	if inner != nil && (inner.With != nil || inner.OrderBy != nil || inner.Limit != nil || inner.AfterSetOperator != nil) {
		return p.refuse(unknown(-1, "a set operation with two ends")), nil
	}
	var (
		out   strings.Builder
		first []string
	)
	with, env := p.with(n.With, env, depth)
	out.WriteString(with)
	for i, s := range n.Selects {
		var (
			operator *ast.SetOprType
			brackets bool
		)
		switch s := s.(type) {
		case *ast.SelectStmt:
			operator, brackets = s.AfterSetOperator, s.IsInBraces
		case *ast.SetOprSelectList:
			operator, brackets = s.AfterSetOperator, true
		}
		if i > 0 {
			if operator == nil || mysqlSetOperations[*operator] == "" {
				return p.refuse(unknown(-1, "a set operation")), nil
			}
			out.WriteString(mysqlSetOperations[*operator])
		}
		text, columns := p.query(s, env, depth+1)
		if brackets {
			text = "(" + text + ")"
		}
		out.WriteString(text)
		if i == 0 {
			first = columns
		}
	}
	env.names = &mysqlNames{aliases: first, outer: env.names}
	out.WriteString(p.orderBy(n.OrderBy, env, depth))
	out.WriteString(p.limitOf(n.Limit))
	return out.String(), first
}

// with prints WITH and adds its names to what is known.
func (p *mysqlPrinter) with(n *ast.WithClause, env mysqlEnv, depth int) (string, mysqlEnv) {
	if n == nil {
		return "", env
	}
	text := "WITH "
	if n.IsRecursive {
		text = "WITH RECURSIVE "
	}
	for i, c := range n.CTEs {
		if i > 0 {
			text += ", "
		}
		name, given := c.Name.O, make([]string, len(c.ColNameList))
		for i, column := range c.ColNameList {
			given[i] = column.O
		}
		inner := env
		if n.IsRecursive { // it sees itself; its columns are those of its first SELECT, which are not known yet
			inner.ctes = &mysqlCTE{name: name, columns: folded(given), outer: env.ctes}
		}
		query, columns := p.query(c.Query.Query, inner, depth+1)
		text += quoteMySQL(name)
		if len(given) > 0 {
			columns = folded(given)
			text += " (" + quoteAllMySQL(given) + ")"
		}
		text += " AS (" + query + ")"
		env.ctes = &mysqlCTE{name: name, columns: columns, outer: env.ctes}
	}
	return text + " ", env
}

func quoteAllMySQL(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quoteMySQL(n)
	}
	return strings.Join(quoted, ", ")
}

func (p *mysqlPrinter) selectStmt(n *ast.SelectStmt, env mysqlEnv, depth int) (string, []string) {
	if err := plainSelect(n); err != nil {
		return p.refuse(err), nil
	}
	var out strings.Builder
	with, env := p.with(n.With, env, depth)
	names := &mysqlNames{outer: env.names}
	inner := mysqlEnv{env.ctes, names}
	from := ""
	if n.From != nil {
		from = " FROM " + p.tables(n.From.TableRefs, names, env, depth+1)
	}
	out.WriteString(with + "SELECT ")
	if n.Distinct {
		out.WriteString("DISTINCT ")
	}
	var columns []string
	for i, f := range n.Fields.Fields {
		if i > 0 {
			out.WriteString(", ")
		}
		text, named := p.field(f, inner, depth+1)
		out.WriteString(text)
		columns = append(columns, named...)
	}
	out.WriteString(from)
	if n.Where != nil {
		out.WriteString(" WHERE " + p.expr(n.Where, inner, depth+1))
	}
	names.aliases = columns
	if n.GroupBy != nil {
		out.WriteString(" GROUP BY " + p.byItems(n.GroupBy.Items, inner, depth))
		if n.GroupBy.Rollup {
			out.WriteString(" WITH ROLLUP")
		}
	}
	if n.Having != nil {
		out.WriteString(" HAVING " + p.expr(n.Having.Expr, inner, depth+1))
	}
	for i := range n.WindowSpecs {
		w := &n.WindowSpecs[i]
		out.WriteString([]string{" WINDOW ", ", "}[min(i, 1)] + quoteMySQL(w.Name.O) + " AS " + p.window(w, inner, depth+1))
	}
	out.WriteString(p.orderBy(n.OrderBy, inner, depth))
	out.WriteString(p.limitOf(n.Limit))
	return out.String(), columns
}

// plainSelect refuses what a SELECT may not have.
func plainSelect(n *ast.SelectStmt) error {
	switch o := n.SelectStmtOpts; {
	case n.SelectIntoOpt != nil:
		return deny(RuleSelectOnly, -1, "Leave INTO out: rows come back as the answer.", "INTO is not allowed.")
	case n.LockInfo != nil:
		return deny(RuleSelectOnly, -1, "Leave it out: data is only read.", "A SELECT that locks rows is not allowed.")
	case n.Kind != ast.SelectStmtKindSelect || n.Fields == nil || len(n.Lists) > 0:
		return unknown(-1, "TABLE or VALUES in the place of SELECT")
	case len(n.TableHints) > 0 || o != nil && len(o.TableHints) > 0:
		return unknown(-1, "a hint")
	case o != nil && (o.SQLBigResult || o.SQLBufferResult || o.SQLSmallResult || o.CalcFoundRows || o.StraightJoin || o.Priority != 0 || !o.SQLCache):
		return unknown(-1, "an option after SELECT")
	}
	return nil
}

// field prints one column of the result. The server names a column after its text, so
// the text that was written becomes its name.
func (p *mysqlPrinter) field(f *ast.SelectField, env mysqlEnv, depth int) (text string, columns []string) {
	if f.WildCard != nil {
		schema, table := f.WildCard.Schema.O, f.WildCard.Table.O
		if !p.ownSchema(schema) {
			p.refuseTable(schema, table)
		}
		return p.qualified(schema, table, "*"), p.star(fold(table), env.names)
	}
	text = p.expr(f.Expr, env, depth)
	if f.AsName.O != "" {
		return text + " AS " + quoteMySQL(f.AsName.O), []string{fold(f.AsName.O)}
	}
	switch e := withoutBrackets(f.Expr).(type) {
	case *ast.ColumnNameExpr:
		return text, []string{fold(e.Name.Name.O)}
	case *driver.ValueExpr:
		if e.Kind() == driver.KindString {
			return text, []string{fold(e.GetString())}
		}
	}
	if name := columnTitle(f.Text()); name != "" {
		return text + " AS " + quoteMySQL(name), []string{fold(name)}
	}
	return text, nil
}

// maxTitle is how many characters a name may have in MySQL.
const maxTitle = 64

// columnTitle makes the text of an expression a name that the server takes; without one
// the server names the column after what is printed.
func columnTitle(text string) string {
	if strings.Contains(text, "/*") || strings.Contains(text, "--") || strings.Contains(text, "#") {
		return "" // a comment may be part of the text
	}
	for _, r := range text {
		if r > 0xffff || r == utf8.RuneError {
			return "" // no character of a name
		}
	}
	runes := []rune(strings.TrimSpace(text))
	return strings.TrimSpace(string(runes[:min(len(runes), maxTitle)]))
}

func (p *mysqlPrinter) byItems(items []*ast.ByItem, env mysqlEnv, depth int) string {
	parts := make([]string, len(items))
	for i, item := range items {
		if position, ok := item.Expr.(*ast.PositionExpr); ok && position.P == nil {
			parts[i] = strconv.Itoa(position.N)
		} else {
			parts[i] = p.expr(item.Expr, env, depth+1)
		}
		if item.Desc {
			parts[i] += " DESC"
		}
	}
	return strings.Join(parts, ", ")
}

func (p *mysqlPrinter) orderBy(n *ast.OrderByClause, env mysqlEnv, depth int) string {
	if n == nil {
		return ""
	}
	return " ORDER BY " + p.byItems(n.Items, env, depth)
}

func (p *mysqlPrinter) limitOf(n *ast.Limit) string {
	if n == nil {
		return ""
	}
	text := " LIMIT " + p.wholeNumber(n.Count)
	if n.Offset != nil {
		text += " OFFSET " + p.wholeNumber(n.Offset)
	}
	return text
}

// limitRows gives the rows of the outermost limit.
func (p *mysqlPrinter) limitRows() int64 {
	if p.limit == nil {
		return 0
	}
	if v, ok := p.limit.Count.(*driver.ValueExpr); ok && v.GetUint64() <= math.MaxInt64 {
		return int64(v.GetUint64())
	}
	return NoNumber
}

func (p *mysqlPrinter) wholeNumber(n ast.ExprNode) string {
	if v, ok := n.(*driver.ValueExpr); ok && (v.Kind() == driver.KindInt64 || v.Kind() == driver.KindUint64) {
		return fmt.Sprint(v.GetUint64())
	}
	return p.refuse(deny(RuleParameter, -1, "Write the number into the statement.", "LIMIT takes a number."))
}
