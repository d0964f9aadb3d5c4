package toolbox

import (
	"context"
	"encoding/json"
	"slices"
)

// Bounds of the questions to begin with.
const (
	maxStarters   = 6 // of a dataset
	triedStarters = 12
	rowsOfStarter = 3 // that are fetched to see whether it has an answer
)

// Starters are questions to begin with that the built-in planner answers: those that the dataset
// declares and, up to six, those made from its schema. Each has run and found something. They are worked out once a
// version of the dataset; no model is asked.
func (k *Knowledge) Starters(ctx context.Context, dataset string) ([]string, error) {
	known, err := k.load(ctx, dataset, "")
	if err != nil {
		return nil, err
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.starters != nil {
		return known.starters, nil
	}
	out := []string{}
	for _, s := range known.index.Starters(known.schema.Prompts, triedStarters) {
		if len(out) == maxStarters {
			break
		}
		if k.finds(ctx, dataset, s.SQL) {
			out = append(out, s.Question)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	known.starters = out
	return out, nil
}

// finds reports whether a statement runs and gives a row with something in it.
func (k *Knowledge) finds(ctx context.Context, dataset, sql string) bool {
	r, err := k.data.Query(ctx, Query{Dataset: dataset, SQL: sql, MaxRows: rowsOfStarter, User: "planner"})
	if err != nil {
		return false
	}
	var rows [][]any
	return json.Unmarshal(r.Rows, &rows) == nil && slices.ContainsFunc(rows, func(row []any) bool {
		return slices.ContainsFunc(row, func(v any) bool { return v != nil && v != 0.0 })
	})
}
