package toolbox

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"interlock/internal/nlq"
	"interlock/internal/tool"
)

// writeAnswer writes the answer from what there is: a result, an error, or a reason.
func writeAnswer() tool.Tool {
	return tool.New(spec("write_answer", tool.Computes, taints), func(_ context.Context, in WriteAnswerIn) (WriteAnswerOut, error) {
		text := answerText(in)
		monitor, err := json.Marshal(map[string]any{
			"question": in.Question, "clarification": in.Clarification, "plan": in.Plan, "plan_quality": in.Quality, "plan_explain": in.Explain,
			"stats": in.Stats, "row_count": rowCount(in), "satisfaction": in.Satisfaction, "notes": in.Notes, "issues": in.Issues,
			"replans_used_up": in.UsedUp, "metrics": in.Metrics, "logs": in.Logs, "elapsed_ms": in.ElapsedMS,
		})
		if err != nil {
			return WriteAnswerOut{}, err
		}
		out := WriteAnswerOut{Output: Answered{Response: text, PromptMonitor: monitor}}
		out.Entry = Past{Query: in.Question, Response: text, Satisfaction: in.Satisfaction, Time: started(in.Metrics)}
		if in.Plan != nil {
			out.Entry.PlanSQL = in.Plan.SQL
		}
		return out, nil
	})
}

// started is when the run began: the entry's time, so that the tool needs no clock.
func started(metrics json.RawMessage) string {
	var m struct {
		Start string `json:"start_time"`
	}
	if json.Unmarshal(metrics, &m) != nil || m.Start == "" {
		return time.Time{}.Format(time.RFC3339)
	}
	return m.Start
}

func rowCount(in WriteAnswerIn) int {
	if in.Result == nil {
		return 0
	}
	return in.Result.RowCount
}

func answerText(in WriteAnswerIn) string {
	var parts []string
	say := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	switch {
	case in.Said != "" && in.Result == nil:
		say(in.Said)
	case in.Satisfaction == "failed" && in.Result == nil:
		say("I cannot answer this: " + strings.TrimSuffix(orText(in.Notes, "it failed"), ".") + ".")
	case in.Result == nil:
		say("I have no answer I could stand by.")
		say(in.Notes)
	default:
		var p SQLPlan
		if in.Plan != nil {
			p = *in.Plan
		}
		limited := in.Result.Limited || in.Stats != nil && in.Stats.Limited
		judged := in.Satisfaction == "satisfied" && len(p.Query) == 0 && strings.TrimSpace(in.Notes) != ""
		if limited {
			say(nlq.PartialResultText(in.Result.RowCount, in.Result.TotalRows, in.Result.AtLeast))
		}
		switch {
		case judged: // a model planned and judged: its words about the result, and no sentence made of the names of columns
			say(in.Notes)
		case !limited:
			say(nlq.AnswerText(in.Question, planOf(p), in.Result.Columns, rowsOf(in.Result.Rows)))
		}
		if in.Explain != "" {
			say("How I read the question: " + in.Explain)
		}
		if in.Satisfaction != "satisfied" {
			say("I am not satisfied with this result: " + orText(in.Notes, "it may not be what was asked."))
		}
	}
	if in.UsedUp {
		say("All attempts at a better plan are used up.")
	}
	return strings.Join(parts, "\n\n")
}
