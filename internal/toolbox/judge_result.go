package toolbox

import (
	"context"

	"interlock/internal/nlq"
	"interlock/internal/queryplan"
	"interlock/internal/queryplan/lift"
	"interlock/internal/tool"
)

// judgeResult judges by rules, without a model, whether a result answers the question: on the
// plan, or on the statement read as one, whoever wrote it. The planner's own reading is a
// witness against statements of others. An error is needs_work where another plan may cure
// it, else failed.
func (b box) judgeResult() tool.Tool {
	return b.versioned(tool.New(spec("judge_result", tool.Reads), func(ctx context.Context, in JudgeResultIn) (JudgeResultOut, error) {
		x, err := b.Knowledge.IndexWith(ctx, dataset(ctx, in.DatasetID), in.Dictionary)
		if err != nil {
			return JudgeResultOut{}, err
		}
		res := nlq.Result{Limited: in.Stats.Limited, Error: in.Stats.Error, Curable: in.Stats.Curable}
		if in.Result != nil {
			res.Columns, res.Rows = in.Result.Columns, rowsOf(in.Result.Rows)
		}
		q := nlq.Question{Text: in.Question, Clarification: in.Clarification, Index: x, History: asked(in.History)}
		plan := planOf(in.Plan)
		foreign := plan == nil && in.Plan.SQL != ""
		if foreign {
			plan, _ = lift.Plan(in.Plan.SQL, x.Schema()) // what cannot be lifted is judged by its rows
		}
		v := nlq.Judge(q, plan, res)
		if foreign && v.Satisfaction == nlq.Satisfied {
			v = b.hearWitness(ctx, dataset(ctx, in.DatasetID), q, res, v)
		}
		if in.Said != "" && v.Satisfaction == nlq.Satisfied {
			v.Notes = in.Said
		}
		return JudgeResultOut{
			Satisfaction: string(v.Satisfaction), Notes: v.Notes, Issues: append([]string{}, v.Issues...), Improvements: append([]string{}, v.Improvements...),
		}, nil
	}))
}

// hearWitness runs the planner's own reading of a question, where it is sure of one, and
// doubts a result that differs from it. A reading that does not run is no witness.
func (b box) hearWitness(ctx context.Context, dataset string, q nlq.Question, res nlq.Result, v nlq.Verdict) nlq.Verdict {
	witness, ok := nlq.WitnessOf(q)
	if !ok {
		return v
	}
	out, _, err := b.query(ctx, Query{Dataset: dataset, SQL: witness.SQL, MaxRows: max(len(res.Rows), queryplan.DefaultLimit)})
	if err != nil {
		return v
	}
	own := nlq.Result{Columns: out.Columns, Rows: rowsOf(out.Rows), Limited: out.Limited}
	issue := nlq.Compare(witness, own, res)
	if issue == "" {
		return v
	}
	return nlq.Verdict{Satisfaction: nlq.NeedsWork, Notes: issue, Issues: []string{issue}, Improvements: []string{"Check the statement against this reading, or say which one is meant."}}
}

// planOf is the query plan behind a plan, nil where a model wrote the SQL.
func planOf(p SQLPlan) *queryplan.Plan {
	if len(p.Query) == 0 {
		return nil
	}
	plan, err := queryplan.Parse(p.Query)
	if err != nil {
		return nil
	}
	return plan
}
