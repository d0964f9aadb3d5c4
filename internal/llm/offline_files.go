package llm

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"interlock/internal/nlq"
)

// The tools with which the offline model makes something to hand over.
const (
	statementCall = "run_sql"
	chartCall     = "make_chart"
	reportCall    = "write_report"
	saveCall      = "save_artifact"
)

// makesFiles reports whether the machine keeps results and makes files of them: its
// states offer statements or reports, and no plans.
func makesFiles(req Request) bool {
	return !offersTool(req, planCall) && (offersTool(req, statementCall) || offersTool(req, reportCall))
}

// fileStep takes the next step of an answer with files: fetch the rows, draw the chart,
// write the report, say what was found.
func fileStep(x *nlq.Index, dataset, said string, req Request) (Reply, error) {
	r := readFileRequest(said, req.History)
	question, w := r.question, r.wish
	a := planQuestion(x, question, r.history)
	fetched, hasRows := resultOf(req.Messages, statementCall)
	switch {
	case a.Declined != "" || a.Plan == nil:
		return Reply{Text: wordRefusal(a), Stop: StopRefusal}, nil
	case !a.Sure():
		return Reply{Text: askBack(a), Stop: StopQuestion}, nil
	case !hasRows:
		sql, err := x.SQL(a.Plan)
		if err != nil {
			return Reply{}, err
		}
		return callStep(statementCall, map[string]any{"dataset_id": dataset, "sql": sql, "name": shortName(r.topic)}), nil
	case fetched.Failed:
		return Reply{Text: wordResult(question, a, fetched), Stop: StopRefusal}, nil
	}
	rows, title := textField(fetched, "name"), titleOf(r.topic)
	drawn, hasChart := resultOf(req.Messages, chartCall)
	if w.chart && !hasChart && offersTool(req, chartCall) {
		args := map[string]any{"from": rows, "title": title}
		if w.kind != "" {
			args["kind"] = w.kind
		}
		return callStep(chartCall, args), nil
	}
	answer := wordResult(question, a, fetched)
	written, hasReport := resultOf(req.Messages, reportCall)
	if w.report && !hasReport && offersTool(req, reportCall) {
		return callStep(reportCall, map[string]any{"title": title, "format": w.format, "markdown": reportText(title, answer, rows, drawn)}), nil
	}
	saved, hasFile := resultOf(req.Messages, saveCall)
	if w.file != "" && !hasFile && offersTool(req, saveCall) {
		return callStep(saveCall, map[string]any{"from": rows, "name": title, "format": w.file}), nil
	}
	for _, m := range []Message{drawn, written, saved} {
		if note := cmp.Or(textField(m, "note"), textField(m, "message")); note != "" {
			answer += "\n\n" + note
		}
	}
	return Reply{Text: answer}, nil
}

func callStep(name string, args map[string]any) Reply {
	return Reply{Calls: []Call{{ID: name, Name: name, Args: encodeArguments(args)}}}
}

// resultOf finds the last result of a tool in the turn.
func resultOf(list []Message, name string) (Message, bool) {
	for _, m := range slices.Backward(list) {
		if m.Role == ToolRole && m.Name == name {
			return m, true
		}
	}
	return Message{}, false
}

// textField reads a text of a result.
func textField(m Message, field string) string {
	var all map[string]json.RawMessage
	text, _, _ := strings.Cut(m.Text, "\n(cut: ")
	if json.Unmarshal([]byte(text), &all) != nil {
		return ""
	}
	var out string
	if json.Unmarshal(all[field], &out) != nil {
		return ""
	}
	return out
}

// reportText is the answer with the chart and the rows below it.
func reportText(title, answer, rows string, drawn Message) string {
	answer, how, _ := strings.Cut(answer, "\n\nHow I read the question: ")
	text := answer + "\n"
	if name := textField(drawn, "name"); name != "" && !drawn.Failed {
		text += "\n![](chart:" + name + ")\n"
	}
	text += "\n![" + strings.NewReplacer("[", "", "]", "").Replace(title) + "](table:" + rows + ")\n"
	if how != "" {
		text += "\n## How the question was read\n\n" + how + "\n"
	}
	return text
}

// shortName names the rows by the first words of the question, and by what a follow-up
// changes in it: rows of both must not have one name.
func shortName(topic string) string {
	question, change, _ := strings.Cut(topic, ", ")
	words := strings.Fields(question)
	return strings.TrimSpace(strings.Join(words[:min(8, len(words))], " ") + " " + change)
}

// titleOf makes a title of a question.
func titleOf(question string) string {
	runes := []rune(strings.TrimRight(strings.TrimSpace(question), "?.! "))
	if len(runes) == 0 {
		return "Report"
	}
	return strings.ToUpper(string(runes[:1])) + string(runes[1:])
}
