package toolbox

import (
	"context"
	"encoding/json"
	"strings"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/tool"
)

// RunSQLIn is what run_sql takes; the machine binds MaxRows.
type RunSQLIn struct {
	DatasetID string `json:"dataset_id" jsonschema:"id of the dataset"`
	SQL       string `json:"sql" jsonschema:"one SELECT or WITH statement"`
	Name      string `json:"name,omitempty" jsonschema:"what the result holds, in a word or two; later steps use it by this name"`
	MaxRows   int    `json:"max_rows"`
}

// RunSQLOut is the rows, and the frame under which they are kept.
type RunSQLOut struct {
	Name     string          `json:"name"`
	ResultID string          `json:"result_id"`
	Columns  []string        `json:"columns"`
	Rows     json.RawMessage `json:"rows"`
	RowCount int             `json:"row_count"`
	Limited  bool            `json:"limited"`
	Intent   Intent          `json:"intent"`
	Artifact string          `json:"artifact,omitempty"`

	made []event.ArtifactMade
}

// Made lists the kept rows.
func (o RunSQLOut) Made() []event.ArtifactMade { return o.made }

func (b box) runSQL() tool.Tool {
	return b.versioned(tool.New(spec("run_sql", tool.Writes, taints, mainArgument("sql")), func(ctx context.Context, in RunSQLIn) (RunSQLOut, error) {
		if b.Results == nil {
			return RunSQLOut{}, errNoResults("run_sql")
		}
		id := dataset(ctx, in.DatasetID)
		r, err := b.Data.Query(ctx, Query{Dataset: id, SQL: in.SQL, MaxRows: in.MaxRows, User: tool.In(ctx).Owner})
		if err != nil {
			return RunSQLOut{}, err
		}
		q := queryOut(r)
		name := frameName(in.Name)
		if name == "" {
			name = queryName(r, in.SQL)
		}
		kept, made, err := b.Results.Keep(ctx, Result{
			Name: name, Producer: "sql", Source: strings.Join(strings.Fields(in.SQL), " "), Version: b.Data.Version(ctx, id), Columns: r.Columns, Rows: q.Rows,
		})
		if err != nil {
			return RunSQLOut{}, err
		}
		return RunSQLOut{
			Name: name, ResultID: kept, Columns: q.Columns, Rows: q.Rows, RowCount: q.RowCount, Limited: q.Limited,
			Intent: intentOf(name, in.SQL, r), Artifact: made.ID, made: []event.ArtifactMade{made},
		}, nil
	}))
}

// errNoResults says that a tool has no place for rows.
func errNoResults(tool string) error {
	return fault.New(fault.Unavailable, "%s cannot keep results here", tool).Suggest("Use execute_sql.")
}

// queryName names a result that nobody named: by the first table and the statement.
func queryName(r Rows, sql string) string {
	stem := "result"
	if len(r.Decision.Touches) > 0 {
		if name := frameName(r.Decision.Touches[0].Table); name != "" {
			stem = name
		}
	}
	return stem + "_" + event.Hash([]byte(strings.Join(strings.Fields(sql), " ")))[:4]
}
