package sqlpolicy

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"interlock/internal/dialect"
	"interlock/internal/fault"
)

func mysqlScope() Scope {
	return Scope{Dialect: dialect.MySQL, Schema: "store", Alias: "shop", Tables: []Table{
		{Name: "orders", Columns: []string{"id", "Amount", "note"}}, {Name: "customers", Columns: []string{"id", "name"}},
	}}
}

// What runs is printed from the tree: names in quotes, tables with their database, texts
// in one form, no comment, and every bracket that matters.
func TestMySQLPrints(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1+2*3-4":                                                   "SELECT (1 + (2 * 3) - 4) AS `1+2*3-4`",
		"select ((id)) from orders # x":                                    "SELECT `id` FROM `store`.`orders`",
		"SELECT o.id i FROM shop.orders o, customers":                      "SELECT `o`.`id` AS `i` FROM (`store`.`orders` AS `o` JOIN `store`.`customers`)",
		"SELECT shop.orders.id FROM SHOP.orders":                           "SELECT `store`.`orders`.`id` FROM `store`.`orders`",
		"WITH orders AS (SELECT 1 AS x FROM orders) SELECT x FROM orders":  "WITH `orders` AS (SELECT 1 AS `x` FROM `store`.`orders`) SELECT `x` FROM `orders`",
		`SELECT id FROM orders WHERE note = 'a\'b' "\\" '\0'`:              `SELECT ` + "`id` FROM `store`.`orders` WHERE (`note`" + ` = 'a''b\\\0')`,
		"SELECT note->>'$.a' AS a FROM orders":                             "SELECT JSON_UNQUOTE(JSON_EXTRACT(`note`, '$.a')) AS `a` FROM `store`.`orders`",
		"SELECT note || 'x' AS a FROM orders":                              "SELECT CONCAT(`note`, 'x') AS `a` FROM `store`.`orders`",
		"SELECT NOT id = 1 AS a, !id = 1 AS b FROM orders":                 "SELECT (NOT (`id` = 1)) AS `a`, ((NOT `id`) = 1) AS `b` FROM `store`.`orders`",
		"SELECT - -1 AS a, 5 - (3 - 1) AS b, 8 / 4 DIV 2 AS c FROM orders": "SELECT (-(-1)) AS `a`, (5 - (3 - 1)) AS `b`, (8 / 4 DIV 2) AS `c` FROM `store`.`orders`",
		"SELECT 1 AS a UNION (SELECT 2 LIMIT 1) LIMIT 3":                   "SELECT 1 AS `a` UNION (SELECT 2 AS `2` LIMIT 1) LIMIT 3",
	} {
		d, err := New(Config{}).Check(t.Context(), nil, mysqlScope(), sql)
		if err != nil || d.SQL != want {
			t.Errorf("%s\n got %s, %v\nwant %s", sql, d.SQL, err, want)
		}
	}
}

// A name that nothing has may be any column, in another spelling or of another scope.
func TestMySQLTouches(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT AMOUNT FROM orders":                                       "orders(Amount)",
		"SELECT amóunt FROM orders":                                       "orders(Amount,id,note)",
		"SELECT q.x FROM (SELECT note AS x FROM orders) q":                "orders(note)",
		"SELECT o.* FROM orders o JOIN customers c USING (id)":            "customers(id) orders(Amount,id,note)",
		"SELECT 1 FROM orders NATURAL JOIN customers":                     "customers(id,name) orders(Amount,id,note)",
		"SELECT (SELECT name FROM customers WHERE id = note) FROM orders": "customers(id,name) orders(note)",
		"SELECT id AS note FROM orders ORDER BY note":                     "orders(id,note)",
		"SELECT id AS x FROM orders ORDER BY x":                           "orders(id)",
	} {
		d, err := New(Config{}).Check(t.Context(), nil, mysqlScope(), sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		var got []string
		for _, touch := range d.Touches {
			got = append(got, touch.Table+"("+strings.Join(touch.Columns, ",")+")")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", sql, got, want)
		}
	}
}

// Big and deep statements are refused, whatever they nest.
func TestMySQLBounds(t *testing.T) {
	for sql, rule := range map[string]string{
		"SELECT " + strings.Repeat("!", 60_000) + "1":                                                        RuleTooDeep,
		"SELECT " + strings.Repeat("- ", 30_000) + "1":                                                       RuleTooDeep,
		"SELECT " + strings.Repeat("1=", 30_000) + "1":                                                       RuleTooDeep,
		"SELECT " + strings.Repeat("1+", 30_000) + "1":                                                       RuleTooBig,
		"SELECT " + strings.Repeat("CASE 1 WHEN ", 2000) + "1" + strings.Repeat(" THEN 1 END", 2000):         RuleTooDeep,
		"SELECT * FROM " + strings.Repeat("(SELECT * FROM ", 100) + "orders" + strings.Repeat(") q", 100):    RuleTooDeep,
		"SELECT " + strings.Repeat("(SELECT ", 100) + "1" + strings.Repeat(")", 100):                         RuleTooDeep,
		"SELECT 1 FROM orders" + strings.Repeat(", orders", 60):                                              RuleTooBig,
		strings.Repeat("SELECT 1 UNION ", 4000) + "SELECT 1":                                                 RuleTooBig,
		"SELECT " + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300):                                RuleTooDeep,
		"SELECT 1" + strings.Repeat(" COLLATE utf8mb4_bin", 3000):                                            RuleTooDeep,
		"SELECT " + strings.Repeat("IF(1,1,", 150) + "1" + strings.Repeat(")", 150):                          RuleTooDeep,
		"SELECT 1 FROM orders a " + strings.Repeat("JOIN (orders b ", 90) + strings.Repeat(") ON TRUE ", 90): RuleTooBig,
	} {
		_, err := New(Config{}).Check(t.Context(), nil, mysqlScope(), sql)
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok || f.Code != fault.SQLPolicy || f.Details.(Refusal).Rule != rule {
			t.Errorf("%.60s: %v, want %s", sql, err, rule)
		}
	}
}

// A node that nobody reviewed is refused, wherever a parser might put it.
func TestMySQLFailsClosed(t *testing.T) {
	for _, n := range []ast.ExprNode{
		&ast.MaxValueExpr{}, &ast.DefaultExpr{}, &ast.TableNameExpr{Name: &ast.TableName{Name: ast.NewCIStr("hidden")}}, &ast.ValuesExpr{}, &ast.MatchAgainst{}, &ast.JSONSumCrc32Expr{},
		&ast.TimeUnitExpr{}, &ast.TrimDirectionExpr{}, &ast.GetFormatSelectorExpr{}, &ast.PositionExpr{}, &ast.FuncCallExpr{FnName: ast.NewCIStr("load_file")},
		&ast.FuncCallExpr{FnName: ast.NewCIStr("lower"), Schema: ast.NewCIStr("x")}, &ast.BinaryOperationExpr{}, &ast.UnaryOperationExpr{}, &ast.FuncCastExpr{Expr: &ast.MaxValueExpr{}},
		&ast.ExistsSubqueryExpr{Sel: &ast.RowExpr{}}, &ast.SubqueryExpr{Query: &ast.TableSource{}}, &ast.VariableExpr{}, &ast.SetCollationExpr{Expr: &ast.RowExpr{}, Collate: "x y"},
	} {
		p := &mysqlPrinter{scope: mysqlScope(), words: mysqlWords, limits: Limits{}.orDefault(), functions: map[string]bool{}}
		if text := p.expr(n, mysqlEnv{}, 0); p.refused == nil {
			t.Errorf("%T was printed as %s", n, text)
		}
	}
	scope := mysqlScope()
	scope.Schema = ""
	if _, err := New(Config{}).Check(t.Context(), nil, scope, "SELECT 1"); err == nil {
		t.Error("a statement was allowed without the name of its database")
	}
}

// FuzzMySQL: what is allowed is printed so that it is judged alike again, whatever it
// touches is of the dataset, and no text makes the parser or the printer panic.
func FuzzMySQL(f *testing.F) {
	for _, s := range []string{"SELECT 1", "SELECT `a``b` FROM orders o", "WITH RECURSIVE x AS (SELECT 1 UNION SELECT 1 FROM x) SELECT * FROM x", "SELECT 'a\\'' /* x */ || \"b\"", "SELECT /*!50000 1 */", "SELECT id FROM hidden"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		d, err := New(Config{Cache: 1}).Check(t.Context(), nil, mysqlScope(), sql)
		if err != nil {
			return
		}
		if again, err := New(Config{Cache: 1}).Check(t.Context(), nil, mysqlScope(), d.SQL); err != nil || again.SQL != d.SQL {
			t.Errorf("%q runs as %s, which would run as %s, %v", sql, d.SQL, again.SQL, err)
		}
		for _, touch := range d.Touches {
			if !slices.Contains([]string{"orders", "customers"}, touch.Table) {
				t.Errorf("%q touches %s", sql, touch.Table)
			}
		}
	})
}
