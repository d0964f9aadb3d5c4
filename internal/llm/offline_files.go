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
	pythonCall    = "run_python"
	chartCall     = "make_chart"
	reportCall    = "write_report"
	saveCall      = "save_artifact"
)

// madeBy names what each of them makes.
var madeBy = map[string]string{chartCall: "The chart", reportCall: "The report", saveCall: "The file"}

// makesFiles reports whether the machine keeps results and makes files of them: its
// states offer statements or reports, and no plans.
func makesFiles(req Request) bool {
	return !offersTool(req, planCall) && (offersTool(req, statementCall) || offersTool(req, reportCall))
}

// nothingYet answers "draw that" where nothing was answered before.
const nothingYet = "There is no result yet that I could draw, write down or go on from. Ask a question about the data first."

// longAgo answers "draw that" where what is meant is before the messages that the model gets.
const longAgo = "The result that this means is further back than the messages I get to see. Ask the question or type the statement again; the setting history says how many messages I get."

// reportOrder is in the prompt where the setting says that every answer is a report.
const reportOrder = "The person wants a written report."

// fileStep takes the next step of an answer with files: fetch the rows, draw the chart,
// write the report, say what was found.
func fileStep(x *nlq.Index, dataset string, r fileRequest, req Request) (Reply, error) {
	a, moved := planInThread(x, dataset, r.question, r.history)
	fetched, hasRows := fetchedRows(r, req, statementCall)
	if hasRows && r.fetched != nil && !a.Sure() {
		a = nlq.Answer{} // another model may have understood more: its result is what is meant
	} else {
		switch {
		case a.Declined != "" || a.Plan == nil:
			return Reply{Text: wordRefusal(a), Stop: StopRefusal}, nil
		case !a.Sure():
			return Reply{Text: askBack(a), Stop: StopQuestion}, nil
		}
	}
	if !hasRows {
		sql, err := x.SQL(a.Plan)
		if err != nil {
			return Reply{}, err
		}
		return callStep(statementCall, map[string]any{"dataset_id": dataset, "sql": sql, "name": shortName(r.topic)}), nil
	}
	answer := wordResult(r.question, a, fetched)
	if fetched.Failed {
		return Reply{Text: answer, Stop: StopRefusal}, nil
	}
	return handOver(r, req, textField(fetched, "name"), titleOf(r.topic), answer+moved), nil
}

// typedStep takes the next step for what a person typed and now wants in another form. Its
// result exists; where the history no longer has it an equal call finds it.
func typedStep(r fileRequest, req Request) Reply {
	fetched, hasRows := fetchedRows(r, req, r.typed.tool)
	switch {
	case !hasRows && !offersTool(req, r.typed.tool):
		return Reply{Text: "I cannot get at the result of what was typed: this state has no " + r.typed.tool + ". Type it again.", Stop: StopRefusal}
	case !hasRows:
		return callStep(r.typed.tool, r.typed.args(r.dataset))
	case fetched.Failed:
		return Reply{Text: "What was typed did not run: " + textField(fetched, "message"), Stop: StopRefusal}
	}
	rows := textField(fetched, "name")
	if rows == "" {
		return Reply{Text: "What was typed left no table. In Python, put the table into result_df; then I can draw it and write it down.", Stop: StopRefusal}
	}
	return handOver(r, req, rows, r.typed.title(fetched), wordResult("", nlq.Answer{}, fetched))
}

// fetchedRows are the rows that a request is about: those of this turn, else those that the
// request which is meant has fetched.
func fetchedRows(r fileRequest, req Request, tool string) (Message, bool) {
	if m, ok := resultOf(req.Messages, tool); ok {
		return m, true
	}
	if r.fetched != nil {
		return *r.fetched, true
	}
	return Message{}, false
}

// handOver makes what the person wants of rows, one call at a time, then answers.
func handOver(r fileRequest, req Request, rows, title, answer string) Reply {
	w := r.wish
	drawn, hasChart := resultOf(req.Messages, chartCall)
	if w.chart && !hasChart && offersTool(req, chartCall) {
		args := map[string]any{"from": rows, "title": title}
		if w.kind != "" {
			args["kind"] = w.kind
		}
		return callStep(chartCall, args)
	}
	written, hasReport := resultOf(req.Messages, reportCall)
	if w.report && !hasReport && offersTool(req, reportCall) {
		return callStep(reportCall, map[string]any{"title": title, "format": reportFormat(w, req), "markdown": reportText(title, answer, rows, drawn)})
	}
	saved, hasFile := resultOf(req.Messages, saveCall)
	if w.file != "" && !hasFile && offersTool(req, saveCall) {
		return callStep(saveCall, map[string]any{"from": rows, "name": title, "format": w.file})
	}
	for _, m := range []Message{drawn, written, saved} {
		note := textField(m, "note")
		if why := textField(m, "message"); m.Failed && why != "" {
			note = madeBy[m.Name] + " was not made: " + strings.TrimRight(why, ".") + "."
		}
		if note != "" {
			answer += "\n\n" + note
		}
	}
	if r.skips {
		answer = "The last request gave no result; this " + w.verb() + " “" + title + "”.\n\n" + answer
	}
	return Reply{Text: answer}
}

// reportFormat is the format that the person named, else that of the setting, else pdf.
func reportFormat(w wish, req Request) string {
	set := ""
	if lines := promptSection(req.System, "Format of reports"); len(lines) > 0 {
		set = strings.TrimSpace(lines[0])
	}
	return cmp.Or(w.format, set, "pdf")
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

// asMarkdown writes text that quotes cells as Markdown that shows it: a cell is no link, picture
// or emphasis.
var asMarkdown = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `*`, `\*`, "`", "\\`", `<`, `\<`)

// reportText is the answer with the chart and the rows below it.
func reportText(title, answer, rows string, drawn Message) string {
	answer, how, _ := strings.Cut(answer, "\n\nHow I read the question: ")
	text := asMarkdown.Replace(answer) + "\n"
	if name := textField(drawn, "name"); name != "" && !drawn.Failed {
		text += "\n![](chart:" + name + ")\n"
	}
	text += "\n![" + strings.NewReplacer("[", "", "]", "").Replace(title) + "](table:" + rows + ")\n"
	if how != "" {
		text += "\n## How the question was read\n\n" + asMarkdown.Replace(how) + "\n"
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
