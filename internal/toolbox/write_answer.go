package toolbox

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"interlock/internal/figure"
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
		out.Entry = Past{Query: in.Question, Clarification: in.Clarification, Response: text, Satisfaction: in.Satisfaction, Time: started(in.Metrics)}
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

// notesHold reports whether every figure of a judge's words about a result comes from that
// result, the query or the question.
func notesHold(in WriteAnswerIn) bool {
	output, err := json.Marshal(in.Result)
	if err != nil {
		return false
	}
	var e figure.Evidence
	from := figure.Result{ID: "result", Output: output}
	if in.Plan != nil {
		from.SQL = in.Plan.SQL
	}
	e.AddResult(from)
	e.Questions = []string{in.Question, in.Clarification, in.Explain}
	figures, cut := figure.Trace(in.Notes, e)
	return cut || !slices.ContainsFunc(figures, figure.Figure.Unsupported)
}

// readCells reads the only row of a result; of several it says that they are in the table.
func readCells(r *Executed) string {
	var rows [][]json.RawMessage
	if json.Unmarshal(r.Rows, &rows) != nil || len(rows) != 1 || len(rows[0]) != len(r.Columns) {
		return "The answer is in the table."
	}
	cells := make([]string, len(r.Columns))
	for i, name := range r.Columns {
		cells[i] = name + ": " + orText(cellWords(rows[0][i]), "none")
	}
	return strings.Join(cells, ", ") + "."
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
		case judged && notesHold(in): // a model planned and judged: its words about the result, and no sentence made of the names of columns
			say(in.Notes)
		case judged:
			say(readCells(in.Result))
		case !limited:
			say(nlq.AnswerText(in.Question, planOf(p), in.Result.Columns, rowsOf(in.Result.Rows)))
		}
		if in.Explain != "" {
			say("How I read the question: " + in.Explain)
		}
		if in.Satisfaction != "satisfied" {
			say("I am not satisfied with this result: " + orText(in.Notes, "it may not be what was asked."))
		} else if in.Choice != nil {
			say(nlq.RememberHint)
		}
	}
	if in.UsedUp {
		say("All attempts at a better plan are used up.")
	}
	return strings.Join(parts, "\n\n")
}
