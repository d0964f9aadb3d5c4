package sqlpolicy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	mysqlparser "github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"interlock/internal/fault"
)

// MySQLMode is the SQL mode in which statements for MySQL and MariaDB are parsed here.
// The sessions that run them must have it: with another one the server could read a
// quote, a backslash or || in another way.
const MySQLMode = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,PIPES_AS_CONCAT"

// mysqlGrammar judges statements by the grammar of MySQL. Whoever judges also prints:
// the text that runs is made of what was allowed, node by node. Every table in it has
// its database in front, so that a session without a database of its own can mean no
// other table and no stored function by a bare name.
type mysqlGrammar struct{ words vocabulary }

func (g mysqlGrammar) judge(scope Scope, sql string, limits Limits) (Decision, error) {
	if scope.Schema == "" {
		return Decision{}, unknown(-1, "the name of the database is not known")
	}
	if err := checkMySQLText(sql); err != nil {
		return Decision{}, err
	}
	p, text, err := g.print(scope, sql, limits)
	if err != nil {
		return Decision{}, err
	}
	// What was printed must be read as what was judged.
	if _, again, err := g.print(scope, text, limits); err != nil || again != text {
		return Decision{}, unknown(-1, "it reads differently when it is written out")
	}
	return Decision{
		SQL: text, Touches: p.touches(), Functions: slices.Sorted(maps.Keys(p.functions)),
		Volatile: p.volatile, HasLimit: p.limit != nil, Limit: p.limitRows(), HasOrder: p.order,
	}, nil
}

// print parses one statement and prints what is allowed of it.
func (g mysqlGrammar) print(scope Scope, sql string, limits Limits) (*mysqlPrinter, string, error) {
	statement, err := parseMySQL(sql)
	if err != nil {
		return nil, "", err
	}
	p := &mysqlPrinter{scope: scope, words: g.words, limits: limits, touched: map[string]map[string]bool{}, functions: map[string]bool{}}
	var text string
	switch n := statement.(type) {
	case *ast.SelectStmt:
		p.limit, p.order = n.Limit, n.OrderBy != nil
		text, _ = p.query(n, mysqlEnv{}, 0)
	case *ast.SetOprStmt:
		p.limit, p.order = n.Limit, n.OrderBy != nil
		text, _ = p.query(n, mysqlEnv{}, 0)
	default:
		return nil, "", deny(RuleSelectOnly, 0, "Write a SELECT; data is read-only here and settings are fixed.", "Only a SELECT (or WITH ... SELECT) may run here.")
	}
	if p.refused != nil {
		return nil, "", p.refused
	}
	return p, text, nil
}

// parseMySQL makes the tree of the one statement in a text.
func parseMySQL(sql string) (statement ast.StmtNode, err error) {
	defer func() {
		if caught := recover(); caught != nil { // a bug of the parser must not end the program
			statement, err = nil, unknown(-1, "its parser failed")
		}
	}()
	mode, err := mysql.GetSQLMode(mysql.FormatSQLModeStr(MySQLMode))
	if err != nil {
		return nil, err
	}
	parser := mysqlparser.New()
	parser.SetSQLMode(mode)
	statements, _, err := parser.Parse(sql, mysql.UTF8MB4Charset, mysql.UTF8MB4GeneralCICollation)
	switch {
	case err != nil:
		return nil, mysqlSyntaxError(sql, err)
	case len(statements) == 0:
		return nil, fault.New(fault.SQLError, "There is no statement in the text.").Suggest("Write one SELECT.")
	case len(statements) > 1:
		return nil, deny(RuleOneStatement, -1, "Send one SELECT at a time.", "The text has %d statements; one is allowed.", len(statements))
	}
	return statements[0], nil
}

var mysqlPlace = regexp.MustCompile(`^line (\d+) column (\d+) near `)

// mysqlSyntaxError gives the parser's error the place in the text.
func mysqlSyntaxError(sql string, err error) error {
	var line, column int
	if m := mysqlPlace.FindString(err.Error()); m == "" {
		return SyntaxError(sql, "The statement cannot be read as MySQL's SQL: "+err.Error(), -1)
	} else if _, err := fmt.Sscanf(m, "line %d column %d near", &line, &column); err != nil {
		return SyntaxError(sql, "The statement cannot be read as MySQL's SQL.", -1)
	}
	at := 0
	for ; line > 1; line-- {
		next := strings.IndexByte(sql[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return SyntaxError(sql, "The statement cannot be read as MySQL's SQL.", min(at+max(0, column-1), len(sql)))
}

// checkMySQLText refuses what servers read in several ways: comments that some of them
// run or take for a hint (/*! … */, /*M! … */, /*T! … */, /*+ … */), and signs beyond
// ASCII outside of quotes that look like blanks.
func checkMySQLText(sql string) error {
	for i := 0; i < len(sql); {
		switch c := sql[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = skipQuoted(sql, i+1, c, c != '`')
		case c == '#' || strings.HasPrefix(sql[i:], "--") && (i+2 == len(sql) || sql[i+2] <= ' '):
			n := strings.IndexByte(sql[i:], '\n')
			if n < 0 {
				return nil
			}
			i += n
		case strings.HasPrefix(sql[i:], "/*"):
			body, _, _ := strings.Cut(sql[i+2:], "*/")
			for _, mark := range []string{"!", "M!", "T!", "+"} {
				if strings.HasPrefix(body, mark) {
					return deny(RuleUnknown, i, "Leave the comment out.", "A comment that the server would run, or a hint, is not allowed.")
				}
			}
			i += len(body) + 4
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(sql[i:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return deny(RuleUnknown, i, "Put names with other signs than letters and digits in quotes.", "The character %c is not possible outside of quotes.", r)
			}
			i += size
		default:
			i++
		}
	}
	return nil
}
