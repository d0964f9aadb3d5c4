package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/sqlpolicy"
	"interlock/internal/tool"
)

// checkSQL asks policy about a statement. The sanitized query is the statement with the cap
// on its rows around it; the two are fields of their own, too.
func (b box) checkSQL() tool.Tool {
	return b.versioned(tool.New(spec("check_sql", tool.Computes), func(ctx context.Context, in CheckSQLIn) (CheckSQLOut, error) {
		id := dataset(ctx, in.DatasetID)
		d, err := b.Check.Check(ctx, id, in.SQL)
		if err != nil {
			err = b.explainSQLError(ctx, Query{Dataset: id, SQL: in.SQL}, err)
		}
		if f, ok := errors.AsType[*fault.Fault](err); ok && (f.Code == fault.SQLPolicy || f.Code == fault.SQLError) {
			return CheckSQLOut{Safety{Reason: f.Message, Code: string(f.Code)}}, nil
		}
		if err != nil {
			return CheckSQLOut{}, err
		}
		safe := Safety{IsSafe: true, Statement: strings.TrimRight(strings.TrimSpace(d.SQL), ";"), MaxRows: in.PreviewRows}
		safe.SanitizedQuery = safe.Statement
		if d.HasLimit {
			safe.MaxRows = in.MaxRows
		}
		if safe.LimitEnforced = !d.HasLimit || d.Limit == sqlpolicy.NoNumber || d.Limit > int64(safe.MaxRows); safe.LimitEnforced {
			safe.SanitizedQuery = fmt.Sprintf("SELECT * FROM (\n%s\n) AS capped LIMIT %d", safe.Statement, safe.MaxRows)
		}
		return CheckSQLOut{safe}, nil
	}))
}

// runQuery runs a checked statement. `limited` says whether the cap cut rows off.
func (b box) runQuery() tool.Tool {
	return b.versioned(tool.New(spec("run_query", tool.Reads, taints), func(ctx context.Context, in RunQueryIn) (RunQueryOut, error) {
		q := Query{Dataset: dataset(ctx, in.DatasetID), SQL: in.SQL, MaxRows: in.MaxRows}
		if in.Statement != "" { // the engine keeps the cap, because it can tell whether rows were cut off
			q.SQL, q.MaxRows = in.Statement, min(in.StatementRows, in.MaxRows)
		}
		out, _, err := b.query(ctx, q)
		if err != nil {
			return RunQueryOut{}, err
		}
		return RunQueryOut{
			Result: Executed{
				Columns: out.Columns, ColumnTypes: out.ColumnTypes, Rows: out.Rows, RowCount: out.RowCount,
				Limited: out.Limited, TotalRows: out.TotalRows, AtLeast: out.AtLeast, Query: in.SQL,
			},
			Stats: Stats{ExecutionTimeMS: out.ExecTimeMS, Limited: out.Limited, LimitEnforced: in.LimitEnforced},
			ran:   out.ran,
		}, nil
	}))
}

// rowsOf decodes the rows of a result.
func rowsOf(raw json.RawMessage) [][]any {
	var rows [][]any
	if json.Unmarshal(raw, &rows) != nil {
		return nil
	}
	return rows
}
