package source

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// A sqliteRemote is a file as an engine of its own.
type sqliteRemote struct{ *sqliteTable }

// sqliteJudgeTime bounds the preparing of a statement.
const sqliteJudgeTime = 10 * time.Second

// Judge implements sqlpolicy.Judge: SQLite itself decides, by the authorizer, while
// it prepares the statement.
func (r *sqliteRemote) Judge(ctx context.Context, scope sqlpolicy.Scope, sql string) (sqlpolicy.Decision, error) {
	clauses := sqliteClauses(sql)
	if clauses.strange {
		return sqlpolicy.Decision{}, sqlpolicy.Refuse(sqlpolicy.RuleUnknown, "Leave the comment out.", "A comment that another engine would run, or that does not end, is not allowed.")
	}
	rules, _ := sqlpolicy.RulesFor(dialect.SQLite)
	bounded, cancel := context.WithTimeout(ctx, sqliteJudgeTime)
	defer cancel()
	allow := &sqliteAllowed{Dataset: r.config.Dataset, Tables: scope.Tables, Functions: rules.Functions(), TableFunctions: rules.TableFunctions()}
	report, err := r.pool.ask(bounded, sqliteOrder{File: r.config.path(), SQL: sql, Check: true, Allow: allow}, nil, nil)
	if err != nil {
		return sqlpolicy.Decision{}, r.judgeFault(ctx, bounded, scope, sql, err)
	}
	if report.Reading == nil {
		return sqlpolicy.Decision{}, fault.New(fault.Internal, "a worker gave no decision")
	}
	d := sqlpolicy.Decision{SQL: sql, Touches: report.Reading.Touches, Functions: report.Reading.Functions, HasOrder: clauses.order}
	d.Limit, d.HasLimit = clauses.rows()
	for _, name := range d.Functions {
		d.Volatile = d.Volatile || rules.Volatile(name) || sqliteClocks[name] && strings.Contains(strings.ToLower(sql), "now") || sqliteClocks[name] && strings.Contains(sql, "()")
	}
	return d, nil
}

// sqliteClocks are functions that may be asked for the present time.
var sqliteClocks = map[string]bool{"date": true, "time": true, "datetime": true, "julianday": true, "unixepoch": true, "strftime": true, "timediff": true}

// judgeFault says why a statement is not allowed.
func (r *sqliteRemote) judgeFault(ctx, bounded context.Context, scope sqlpolicy.Scope, sql string, err error) error {
	e, ok := errors.AsType[*sqliteErr](err)
	if !ok {
		return r.config.sqliteStatementFault(ctx, bounded, err)
	}
	if e.Code != sqliteCodeRule {
		if e.primary() == 1 { // SQLITE_ERROR
			return sqlpolicy.SyntaxError(sql, e.Message, e.Offset)
		}
		return r.config.sqliteStatementFault(ctx, bounded, err)
	}
	rule, about := e.rule()
	switch rule {
	case sqlpolicy.RuleFunction:
		return sqlpolicy.Refuse(rule, "Answer the question from the dataset's tables alone.", "The function %s is not allowed.", about)
	case sqlpolicy.RuleTable:
		return sqlpolicy.Refuse(rule, sqlpolicy.TablesNear(scope.Tables, about), "There is no table %s in this dataset.", about)
	case sqlpolicy.RuleTableFunction:
		return sqlpolicy.Refuse(rule, sqlpolicy.TablesNear(scope.Tables, about), "The table function %s is not allowed.", about)
	case sqlpolicy.RuleColumn:
		return sqlpolicy.Refuse(rule, "Use the columns that the dataset lists.", "The column %s is not available.", about)
	case sqlpolicy.RuleParameter:
		return sqlpolicy.Refuse(rule, "Write the values into the statement.", "A statement has no parameters.")
	case sqlpolicy.RuleOneStatement:
		return sqlpolicy.Refuse(rule, "Send one SELECT.", "Exactly one statement is allowed.")
	}
	return sqlpolicy.Refuse(rule, "Write a SELECT.", "Only statements that read are allowed.")
}

// Run runs a statement that was allowed: prepared again under a guard that knows the
// tables and functions of the decision and no others.
func (r *sqliteRemote) Run(ctx context.Context, d sqlpolicy.Decision, limits Limits) (Answer, error) {
	limits = limits.orDefault()
	bounded, cancel := context.WithTimeout(ctx, limits.Timeout)
	defer cancel()
	got := &answer{limits: limits, since: time.Now()}
	allow := &sqliteAllowed{Dataset: r.config.Dataset, Functions: d.Functions, TableFunctions: d.Functions}
	for _, t := range d.Touches {
		allow.Tables = append(allow.Tables, sqlpolicy.Table{Name: t.Table})
	}
	var seen []sqliteSeen
	var look []sqliteLook
	o := sqliteOrder{File: r.config.path(), SQL: d.SQL, Allow: allow, MaxRows: int64(limits.Rows), MaxBytes: int64(limits.Bytes), MaxRow: int64(limits.Bytes)}
	report, err := r.pool.ask(bounded, o, func(columns []sqliteColumn) {
		seen, look = make([]sqliteSeen, len(columns)), make([]sqliteLook, len(columns))
		for i, c := range columns {
			got.Columns = append(got.Columns, schema.Column{Name: c.Name, Native: c.Declared, Type: schema.Type{Kind: schema.Text}})
			look[i] = lookFor(c.Declared)
		}
	}, func(row []sqliteValue) error {
		for i, v := range row {
			seen[i].add(v, look[i])
		}
		if !got.addRow(func(dst []byte, i int) []byte { return row[i].json(dst) }) {
			return errStopped
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStopped) {
		return Answer{}, r.judgeFault(ctx, bounded, sqlpolicy.Scope{Tables: allow.Tables}, d.SQL, err)
	}
	got.Limited = got.Limited || report.Limited
	for i := range got.Columns {
		got.Columns[i].Type = seen[i].resultType(got.Columns[i].Native)
	}
	return got.finish()
}

// json encodes a cell of a result by its own kind.
func (v sqliteValue) json(dst []byte) []byte {
	switch v.Kind {
	case sqliteNull:
		return append(dst, "null"...)
	case sqliteInt:
		return appendWhole(dst, v.Int)
	case sqliteReal:
		return appendFloat(dst, v.Real)
	case sqliteBlob:
		return appendString(dst, blobText(v.Bytes))
	}
	return appendString(dst, v.Bytes)
}

// resultType is the type of a column of a result, whose cells are encoded already.
func (s *sqliteSeen) resultType(declared string) schema.Type {
	switch t := s.columnType(declared); t.Kind {
	case schema.Bool:
		return schema.Type{Kind: schema.Int}
	case schema.Decimal:
		t.Fixed = true
		return t
	case schema.Timestamp:
		if s.Printed != s.Texts {
			return schema.Type{Kind: schema.Text}
		}
		return t
	case schema.TimestampTZ:
		if s.Texts > 0 {
			return schema.Type{Kind: schema.Text}
		}
		return t
	default:
		return t
	}
}

func (c Config) sqliteStatementFault(asked, bounded context.Context, err error) error {
	if asked.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		return fault.Wrap(err, fault.QueryTimeout, "the statement at %s took longer than allowed", c.displayName())
	}
	return c.sqliteFault(asked, err, "querying")
}

// clauses are the parts of a statement's outermost query that matter before it runs.
type clauses struct {
	order, limit bool
	strange      bool     // a comment means something to other engines, or does not end
	afterLimit   []string // words and marks behind the outermost LIMIT
}

// rows gives the rows of the limit, if there is one: a negative number is none. NoNumber
// stands for all but a number that at most an offset follows.
func (c clauses) rows() (rows int64, limited bool) {
	if !c.limit {
		return 0, false
	}
	after := c.afterLimit
	if len(after) > 0 && after[len(after)-1] == ";" {
		after = after[:len(after)-1]
	}
	if len(after) == 1 || len(after) == 3 && strings.EqualFold(after[1], "offset") {
		if n, err := strconv.ParseInt(after[0], 10, 64); err == nil {
			return n, true
		}
	}
	if len(after) == 2 && after[0] == "-" || len(after) == 4 && after[0] == "-" && strings.EqualFold(after[2], "offset") {
		if n, err := strconv.ParseInt(after[1], 10, 64); err == nil && n > 0 {
			return 0, false
		}
	}
	return sqlpolicy.NoNumber, true
}

// sqliteClauses looks for ORDER BY and LIMIT outside of brackets, in a text that
// SQLite can read, and for comments that mean something to other engines.
func sqliteClauses(sql string) clauses {
	var found clauses
	depth := 0
	for i := 0; i < len(sql); {
		rest, n := sql[i:], 1
		token := true
		switch c := rest[0]; {
		case c == '\'' || c == '"' || c == '`':
			closed := false
			if n, closed = quotedLength(rest, c, false); !closed {
				n = len(rest)
			}
		case c == '[':
			n = lengthUntil(rest, "]")
		case strings.HasPrefix(rest, "--"):
			n, token = lengthUntil(rest, "\n"), false
		case strings.HasPrefix(rest, "/*"):
			n, token = 2+lengthUntil(rest[2:], "*/"), false
			mark := strings.TrimPrefix(strings.ToLower(rest[2:]), "m")
			found.strange = found.strange || strings.HasPrefix(mark, "!") || strings.HasPrefix(mark, "+") || !strings.HasSuffix(rest[2:n], "*/")
		case c == '(' || c == ')':
			depth += map[byte]int{'(': 1, ')': -1}[c]
		case wordByte(c):
			for n < len(rest) && wordByte(rest[n]) {
				n++
			}
			if depth > 0 {
				break
			}
			found.order = found.order || strings.EqualFold(rest[:n], "order")
			if strings.EqualFold(rest[:n], "limit") {
				found.limit, found.afterLimit, token = true, nil, false
			}
		default:
			token = strings.TrimSpace(rest[:1]) != ""
		}
		if token && found.limit && len(found.afterLimit) < 5 { // more than any plain limit has
			found.afterLimit = append(found.afterLimit, rest[:n])
		}
		i += n
	}
	return found
}

func lengthUntil(text, end string) int {
	if n := strings.Index(text, end); n >= 0 {
		return n + len(end)
	}
	return len(text)
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
