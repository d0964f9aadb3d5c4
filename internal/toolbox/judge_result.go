package toolbox

import (
	"context"

	"interlock/internal/nlq"
	"interlock/internal/queryplan"
	"interlock/internal/tool"
)

// judgeResult judges by rules, without a model, whether a result answers the
// question. An error is needs_work where another plan may cure it, else failed.
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
		v := nlq.Judge(nlq.Question{Text: in.Question, Clarification: in.Clarification, Index: x, History: asked(in.History)}, planOf(in.Plan), res)
		return JudgeResultOut{
			Satisfaction: string(v.Satisfaction), Notes: v.Notes, Issues: append([]string{}, v.Issues...), Improvements: append([]string{}, v.Improvements...),
		}, nil
	}))
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
