package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/nlq"
	"interlock/internal/tool"
)

// planQuestion is the built-in planner as a tool: no model. What it cannot answer it
// declines with the reason.
func (b box) planQuestion() tool.Tool {
	return b.versioned(tool.New(spec("plan_question", tool.Reads, taints), func(ctx context.Context, in PlanQuestionIn) (PlanQuestionOut, error) {
		x, err := b.Knowledge.IndexWith(ctx, dataset(ctx, in.DatasetID), in.Dictionary)
		if err != nil {
			return PlanQuestionOut{}, err
		}
		if said, ok := x.AnswerAboutData(in.Question); ok && in.Clarification == "" {
			return PlanQuestionOut{Quality: string(nlq.High), Questions: []string{}, Said: said}, nil
		}
		q := nlq.Question{Text: in.Question, Index: x, Clarification: in.Clarification, History: asked(in.History)}
		if in.Previous != nil && (in.Notes != "" || len(in.Issues) > 0) {
			q.Avoid = []string{in.Previous.SQL}
		}
		a := nlq.Plan(q)
		if a.Declined != "" || a.Plan == nil {
			return PlanQuestionOut{}, fault.New(fault.CannotAnswer, "%s", orText(a.Declined, "I do not understand the question well enough to answer it.")).With(a)
		}
		raw, err := json.Marshal(a.Plan)
		if err != nil {
			return PlanQuestionOut{}, err
		}
		return PlanQuestionOut{
			Plan:    SQLPlan{SQL: a.SQL, Type: "sql_plan", TargetTable: a.Plan.Table, Query: raw, Confidence: a.Confidence},
			Quality: string(a.Quality), Explain: a.Explain, Questions: questions(a), Choice: madeChoice(dataset(ctx, in.DatasetID), a.Chosen),
		}, nil
	}))
}

// asked is what was asked before, and how questions back were answered: without the answers the questions back
// would still be open, and the next message would be taken for an answer.
func asked(history []Past) []nlq.Turn {
	var out []nlq.Turn
	for _, h := range history {
		out = append(out, nlq.Turn{Text: h.Query})
		for line := range strings.Lines(h.Clarification) {
			out = append(out, nlq.Turn{Text: strings.TrimSpace(line)})
		}
	}
	return out
}

// questions says what is to be asked back, with the alternatives.
func questions(a nlq.Answer) []string {
	out := []string{}
	for _, q := range a.Questions {
		text := q.Question
		for i, alt := range q.Alternatives {
			text += fmt.Sprintf("\n%d) %s", i+1, alt.Text)
		}
		out = append(out, text)
	}
	if len(out) == 0 && a.Quality != nlq.High {
		text := "I read it as: " + a.Explain + " Is this what you mean?"
		if len(a.NotUnderstood) > 0 {
			text = "I do not understand " + strings.Join(a.NotUnderstood, ", ") + ". " + text
		}
		out = append(out, text)
	}
	return out
}

func orText(text, def string) string {
	if text == "" {
		return def
	}
	return text
}
