package sqlpolicy

import (
	"errors"
	"maps"
	"slices"
	"strings"

	pgquery "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"interlock/internal/fault"
)

// postgresGrammar judges statements by PostgreSQL's own grammar (libpg_query). Names
// are resolved as the server resolves them, tables and functions get their schemas,
// and what runs is printed from the tree that was judged.
type postgresGrammar struct{ words vocabulary }

func (g postgresGrammar) judge(scope Scope, sql string, limits Limits) (Decision, error) {
	if err := checkPostgresTokens(sql, limits); err != nil {
		return Decision{}, err
	}
	tree, err := parsePostgres(sql)
	if err != nil {
		return Decision{}, err
	}
	stmt, err := onlySelect(tree, sql)
	if err != nil {
		return Decision{}, err
	}
	j := newPgJudge(g.words, scope, sql, limits)
	if _, err := j.query(stmt, nil, 0, pgUse{}); err != nil {
		return Decision{}, err
	}
	if len(j.params) != scope.Params {
		return Decision{}, otherParameters(scope.Params, -1)
	}
	text, err := printPostgres(tree)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{
		SQL: text, Touches: j.touches(), Functions: slices.Sorted(maps.Keys(j.functions)), Volatile: j.volatile, HasOrder: len(stmt.GetSortClause()) > 0,
	}
	d.Limit, d.HasLimit = postgresLimit(stmt)
	return d, nil
}

// postgresLimit gives the rows of a query's limit, if it has one: LIMIT ALL is the
// constant NULL.
func postgresLimit(q *pgquery.SelectStmt) (rows int64, limited bool) {
	count := q.GetLimitCount()
	if count == nil || count.GetAConst().GetIsnull() {
		return 0, false
	}
	if number, ok := count.GetAConst().GetVal().(*pgquery.A_Const_Ival); ok && q.GetLimitOption() == pgquery.LimitOption_LIMIT_OPTION_COUNT {
		return int64(number.Ival.GetIval()), true
	}
	return NoNumber, true
}

func parsePostgres(sql string) (*pgquery.ParseResult, error) {
	tree, err := pgquery.Parse(sql)
	if err == nil {
		return tree, nil
	}
	return nil, postgresSyntaxError(sql, err)
}

// postgresSyntaxError gives the parser's words with the place in the text.
func postgresSyntaxError(sql string, err error) error {
	said, ok := errors.AsType[*parser.Error](err)
	if !ok {
		return deny(RuleTooDeep, -1, "Use WITH to name the inner parts.", "The statement is nested too deep.")
	}
	at := -1
	if said.Cursorpos > 0 {
		at = byteOfRune(sql, said.Cursorpos-1)
	}
	return SyntaxError(sql, said.Message, at)
}

// byteOfRune gives the byte at which the nth character begins.
func byteOfRune(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// onlySelect gives the one SELECT of a text.
func onlySelect(tree *pgquery.ParseResult, sql string) (*pgquery.SelectStmt, error) {
	switch stmts := tree.GetStmts(); len(stmts) {
	case 0:
		return nil, fault.New(fault.SQLError, "There is no statement in the text.").Suggest("Write one SELECT.")
	case 1:
		stmt := stmts[0].GetStmt().GetSelectStmt()
		if stmt == nil {
			return nil, deny(RuleSelectOnly, 0, "Write a SELECT; data is read-only here and settings are fixed.", "Only a SELECT (or WITH ... SELECT) may run here.")
		}
		return stmt, nil
	default:
		at := int(stmts[1].GetStmtLocation())
		at += len(sql[at:]) - len(strings.TrimLeft(sql[at:], " \t\r\n"))
		return nil, deny(RuleOneStatement, at, "Send one SELECT at a time.", "The text has %d statements; one is allowed.", len(stmts))
	}
}

// printPostgres prints a tree, and makes sure that the text means that tree.
func printPostgres(tree *pgquery.ParseResult) (string, error) {
	text, err := pgquery.Deparse(tree)
	if err != nil {
		return "", unknown(-1, "it cannot be printed")
	}
	again, err := pgquery.Parse(text)
	if err != nil {
		return "", unknown(-1, "it cannot be printed")
	}
	clearPlaces(tree.ProtoReflect())
	clearPlaces(again.ProtoReflect())
	if !proto.Equal(tree, again) {
		return "", unknown(-1, "it cannot be printed exactly")
	}
	return text, nil
}

// clearPlaces takes out of a tree where in the text its nodes are.
func clearPlaces(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Name() == "location" || f.Name() == "stmt_location" || f.Name() == "stmt_len":
			m.Clear(f)
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				clearPlaces(v.List().Get(i).Message())
			}
		case f.Message() != nil:
			clearPlaces(v.Message())
		}
		return true
	})
}

// A pgJudge goes through the whole tree of one statement. It changes the tree where a
// name is written without its schema.
type pgJudge struct {
	words     vocabulary
	scope     Scope
	schema    string // of the tables
	sql       string
	limits    Limits
	tables    map[string]Table
	touched   map[string]map[string]bool // table to the columns read of it
	functions map[string]bool
	params    map[int32]bool
	volatile  bool
	nodes     int
	refs      int
}

func newPgJudge(words vocabulary, scope Scope, sql string, limits Limits) *pgJudge {
	j := &pgJudge{
		words: words, scope: scope, schema: scope.Schema, sql: sql, limits: limits, tables: make(map[string]Table, len(scope.Tables)),
		touched: map[string]map[string]bool{}, functions: map[string]bool{}, params: map[int32]bool{},
	}
	if j.schema == "" {
		j.schema = "public"
	}
	for _, t := range scope.Tables {
		j.tables[t.Name] = t
	}
	return j
}

// enter counts a node.
func (j *pgJudge) enter(at int32, depth int) error {
	if j.nodes++; j.nodes > j.limits.Nodes {
		return deny(RuleTooBig, int(at), "Split the question into several smaller ones.", "The statement is too big: more than %d parts.", j.limits.Nodes)
	}
	if depth > j.limits.Depth {
		return deny(RuleTooDeep, int(at), "Use WITH to name the inner parts, or IN (...) for long lists.", "The statement is nested deeper than %d levels.", j.limits.Depth)
	}
	return nil
}

// touch notes that columns are read.
func (j *pgJudge) touch(columns ...pgColumn) {
	for _, c := range columns {
		for _, o := range c.origins {
			j.touched[o.table][o.column] = true
		}
	}
}

func (j *pgJudge) touches() []Touch {
	out := make([]Touch, 0, len(j.touched))
	for table, columns := range j.touched {
		out = append(out, Touch{Table: table, Columns: slices.Sorted(maps.Keys(columns))})
	}
	slices.SortFunc(out, func(a, b Touch) int { return strings.Compare(a.Table, b.Table) })
	return out
}

// call notes a function.
func (j *pgJudge) call(name string) {
	j.functions[name] = true
	j.volatile = j.volatile || j.words.volatile[name]
}

// onlyFields makes sure that no field of a node is set but those that are named: what the
// grammar learns later is refused until somebody has looked at it.
func onlyFields(m proto.Message, at int32, fields ...protoreflect.Name) error {
	r := m.ProtoReflect()
	if len(r.GetUnknown()) > 0 {
		return unknown(int(at), "a field of %s that nobody knows", r.Descriptor().Name())
	}
	var err error
	r.Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if f.Name() != "location" && !slices.Contains(fields, f.Name()) {
			err = unknown(int(at), "%s of %s", f.Name(), r.Descriptor().Name())
		}
		return err == nil
	})
	return err
}

// stringValue gives the value of a String node.
func stringValue(n *pgquery.Node) (string, bool) {
	s, ok := n.GetNode().(*pgquery.Node_String_)
	if !ok {
		return "", false
	}
	return s.String_.GetSval(), true
}

// stringValues gives the values of a list of String nodes.
func stringValues(list []*pgquery.Node, at int32) ([]string, error) {
	out := make([]string, len(list))
	for i, n := range list {
		s, ok := stringValue(n)
		if !ok {
			return nil, unknown(int(at), "a name that is none")
		}
		out[i] = s
	}
	return out, nil
}

func otherParameters(params, at int) error {
	if params == 0 {
		return deny(RuleParameter, at, "Write the values into the statement.", "Parameters such as ? or $1 are not possible here.")
	}
	return deny(RuleParameter, at, "Number them from $1, one for each value.", "The parameters of the statement are not those of the %d values that come with it.", params)
}
