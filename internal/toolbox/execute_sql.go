package toolbox

import (
	"context"

	"interlock/internal/tool"
)

// ExecuteSQLIn is what execute_sql takes; the machine binds MaxRows.
type ExecuteSQLIn struct {
	DatasetID string `json:"dataset_id" jsonschema:"id of the dataset"`
	SQL       string `json:"sql" jsonschema:"one SELECT or WITH statement"`
	Answer    bool   `json:"answer,omitempty" jsonschema:"true on the one call whose table answers the question"`
	MaxRows   int    `json:"max_rows" jsonschema:"rows at most"`
}

// answerApart leaves the mark of the answer out of what tells two calls apart.
func answerApart(s *tool.Spec) { s.IgnoreInIdentity = []string{"answer"} }

func (b box) executeSQL() tool.Tool {
	return b.versioned(tool.New(spec("execute_sql", tool.Reads, taints, mainArgument("sql"), answerApart), func(ctx context.Context, in ExecuteSQLIn) (QueryOut, error) {
		out, _, err := b.query(ctx, Query{Dataset: dataset(ctx, in.DatasetID), SQL: in.SQL, MaxRows: in.MaxRows})
		return out, err
	}))
}
