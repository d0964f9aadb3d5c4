package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/tool"
)

// checkSQL asks policy about a statement and puts the row cap around it: the inner
// text and its order stay as they are.
func (b box) checkSQL() tool.Tool {
	return b.versioned(tool.New(spec("check_sql", tool.Computes), func(ctx context.Context, in CheckSQLIn) (CheckSQLOut, error) {
		d, err := b.Check.Check(ctx, dataset(ctx, in.DatasetID), in.SQL)
		if f, ok := errors.AsType[*fault.Fault](err); ok && (f.Code == fault.SQLPolicy || f.Code == fault.SQLError) {
			return CheckSQLOut{Safety{Reason: f.Message, Code: string(f.Code)}}, nil
		}
		if err != nil {
			return CheckSQLOut{}, err
		}
		rows := in.MaxRows
		text := strings.TrimRight(strings.TrimSpace(d.SQL), ";")
		if !d.HasLimit {
			rows = in.PreviewRows
		} else if own := ownLimit(text); own >= 0 && own <= rows {
			return CheckSQLOut{Safety{IsSafe: true, SanitizedQuery: text}}, nil
		}
		return CheckSQLOut{Safety{
			IsSafe: true, LimitEnforced: true, SanitizedQuery: fmt.Sprintf("SELECT * FROM (\n%s\n) LIMIT %d", text, rows),
		}}, nil
	}))
}

var lastLimit = regexp.MustCompile(`(?i)\blimit\s+(\d{1,9})(\s+offset\s+\d+)?\s*$`)

// ownLimit is the limit with which a statement that has one ends, -1 if it is no number.
// Whatever it is, run_query bounds the rows.
func ownLimit(sql string) int {
	m := lastLimit.FindStringSubmatch(sql)
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return -1
	}
	return n
}

// runQuery runs a checked statement. `limited` says whether the cap cut rows off.
func (b box) runQuery() tool.Tool {
	return b.versioned(tool.New(spec("run_query", tool.Reads, taints), func(ctx context.Context, in RunQueryIn) (RunQueryOut, error) {
		text, most := uncapped(in.SQL, in.MaxRows)
		q := Query{Dataset: dataset(ctx, in.DatasetID), SQL: text, MaxRows: most, User: tool.In(ctx).Owner}
		r, err := b.Data.Query(ctx, q)
		if err != nil {
			return RunQueryOut{}, err
		}
		out := queryOut(r)
		return RunQueryOut{
			Result: Executed{
				Columns: out.Columns, ColumnTypes: out.ColumnTypes, Rows: out.Rows, RowCount: out.RowCount,
				Limited: out.Limited, TotalRows: out.TotalRows, AtLeast: out.AtLeast, Query: in.SQL,
			},
			Stats: Stats{ExecutionTimeMS: out.ExecTimeMS, Limited: out.Limited, LimitEnforced: in.LimitEnforced},
			ran:   b.ran(ctx, q),
		}, nil
	}))
}

// uncapped takes the cap that check_sql put around a statement off again and gives
// it to the engine as a row limit, which can tell whether it cut.
func uncapped(sql string, most int) (string, int) {
	inner, ok := strings.CutPrefix(sql, "SELECT * FROM (\n")
	if !ok {
		return sql, most
	}
	i := strings.LastIndex(inner, "\n) LIMIT ")
	var n int
	if i < 0 {
		return sql, most
	}
	if _, err := fmt.Sscanf(inner[i:], "\n) LIMIT %d", &n); err != nil {
		return sql, most
	}
	return inner[:i], min(n, most)
}

// rowsOf decodes the rows of a result.
func rowsOf(raw json.RawMessage) [][]any {
	var rows [][]any
	if json.Unmarshal(raw, &rows) != nil {
		return nil
	}
	return rows
}
