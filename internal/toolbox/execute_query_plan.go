package toolbox

import (
	"context"
	"encoding/json"

	"interlock/internal/fault"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
	"interlock/internal/tool"
)

// ExecutePlanIn is what execute_query_plan takes; the machine binds MaxRows.
type ExecutePlanIn struct {
	DatasetID string          `json:"dataset_id" jsonschema:"id of the dataset"`
	Plan      json.RawMessage `json:"plan" jsonschema:"the query plan"`
	Answer    bool            `json:"answer,omitempty" jsonschema:"true on the one call whose table answers the question"`
	MaxRows   int             `json:"max_rows" jsonschema:"rows at most"`
	// Chosen is what the person chose at a question back before. It changes nothing of the result:
	// the person may have it remembered.
	Chosen *schema.Choice `json:"chosen,omitempty" jsonschema:"what the person chose at a question back"`
}

func (b box) executeQueryPlan() tool.Tool {
	return b.versioned(tool.New(spec("execute_query_plan", tool.Reads, taints, planInput, answerApart), func(ctx context.Context, in ExecutePlanIn) (QueryOut, error) {
		id := dataset(ctx, in.DatasetID)
		plan, err := queryplan.Parse(in.Plan)
		if err != nil {
			return QueryOut{}, err
		}
		if plan.DatasetID != "" && plan.DatasetID != id {
			return QueryOut{}, fault.New(fault.PlanInvalid, "the plan is for the dataset %q, the call for %q", plan.DatasetID, id)
		}
		d, err := b.Data.Schema(ctx, id)
		if err != nil {
			return QueryOut{}, err
		}
		sql, err := plan.SQL(d)
		if err != nil {
			return QueryOut{}, err
		}
		most := in.MaxRows
		if plan.Limit == 0 {
			most = min(most, queryplan.DefaultLimit)
		}
		out, _, err := b.query(ctx, Query{Dataset: id, SQL: sql, MaxRows: most})
		if err != nil {
			return QueryOut{}, err
		}
		out.CompiledSQL, out.Plan, out.Choice = sql, in.Plan, madeChoice(id, in.Chosen)
		return out, nil
	}))
}

// planInput shows models every operator and function of a plan; the plan itself is
// checked by its own package, which lists every problem.
func planInput(s *tool.Spec) {
	var doc struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(queryplan.JSONSchema(), &doc); err != nil {
		panic("toolbox: the schema of query plans is no JSON: " + err.Error())
	}
	shown := map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{"dataset_id", "plan", "max_rows"},
		"properties": map[string]any{
			"dataset_id": map[string]any{"type": "string", "description": "id of the dataset"},
			"plan":       map[string]any{"$ref": "#/$defs/plan"},
			"answer":     map[string]any{"type": "boolean", "description": "true if this is the table that answers the question"},
			"max_rows":   map[string]any{"type": "integer", "description": "rows at most"},
		},
		"$defs": doc.Defs,
	}
	raw, err := json.Marshal(shown)
	if err != nil {
		panic("toolbox: " + err.Error())
	}
	s.Shown = raw
}
