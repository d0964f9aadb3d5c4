package recon

import (
	"context"
	"fmt"
	"testing"

	"interlock/internal/dialect"
	"interlock/internal/query"
	"interlock/internal/sqlpolicy"
)

// A policedSpace is a memorySpace that has the policy decide about every statement, as
// the engine's workers do.
type policedSpace struct {
	*memorySpace
	policy  *sqlpolicy.Policy
	refused map[string]error
	asked   int
}

func (s *policedSpace) Create(ctx context.Context, table, sql string, args ...string) error {
	s.decide(ctx, sql, len(args))
	return s.memorySpace.Create(ctx, table, sql, args...)
}

func (s *policedSpace) Query(ctx context.Context, sql string, args ...string) (*query.Result, error) {
	s.decide(ctx, sql, len(args))
	return s.memorySpace.Query(ctx, sql, args...)
}

func (s *policedSpace) decide(ctx context.Context, sql string, params int) {
	s.asked++
	scope := sqlpolicy.Scope{Version: fmt.Sprint(s.asked), Dialect: dialect.DuckDB, Params: params}
	tables := map[string][]string{}
	err := s.exec(ctx, "SELECT table_name || chr(9) || column_name FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal ORDER BY table_name, column_index", nil, func(row string) {
		var table, column string
		for i := range row {
			if row[i] == '\t' {
				table, column = row[:i], row[i+1:]
				break
			}
		}
		tables[table] = append(tables[table], column)
	})
	for table, columns := range tables {
		scope.Tables = append(scope.Tables, sqlpolicy.Table{Name: table, Columns: columns})
	}
	if err == nil {
		_, err = s.policy.Check(ctx, s, scope, sql)
	}
	if err != nil {
		s.refused[sql] = err
	}
}

// Tree implements sqlpolicy.Parser.
func (s *policedSpace) Tree(ctx context.Context, sql string) ([]byte, error) {
	return s.ask(ctx, "SELECT CAST(json_serialize_sql(CAST($1 AS VARCHAR), skip_null := true, skip_empty := true) AS VARCHAR)", sql)
}

// Plan implements sqlpolicy.Parser.
func (s *policedSpace) Plan(ctx context.Context, sql string) ([]byte, error) {
	return s.ask(ctx, "SELECT CAST(json_serialize_plan(CAST($1 AS VARCHAR), skip_null := true, skip_empty := true) AS VARCHAR)", sql)
}

func (s *policedSpace) ask(ctx context.Context, sql, arg string) ([]byte, error) {
	var out []byte
	err := s.exec(ctx, sql, []string{arg}, func(row string) { out = []byte(row) })
	return out, err
}

// Nothing that this package says to the engine goes past the policy.
func TestStatementsAreAllowed(t *testing.T) {
	s := &policedSpace{memorySpace: newSpace(t), policy: sqlpolicy.New(sqlpolicy.Config{}), refused: map[string]error{}}
	in := s.smallTables(t)
	r, err := New(Config{Workspace: s})
	if err != nil {
		t.Fatal(err)
	}
	lesson, err := r.Learn(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(t.Context(), in, lesson.Recipe); err != nil {
		t.Fatal(err)
	}
	if s.asked < 50 {
		t.Errorf("only %d statements were checked", s.asked)
	}
	for sql, err := range s.refused {
		t.Errorf("%v\n%.600s", err, sql)
	}
}
