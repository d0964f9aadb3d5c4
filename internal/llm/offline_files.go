package llm

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/nlq"
)

// The tools with which the offline model makes something to hand over.
const (
	statementCall = "run_sql"
	chartCall     = "make_chart"
	reportCall    = "write_report"
)

// makesFiles reports whether the machine keeps results and makes files of them: its
// states offer statements or reports, and no plans.
func makesFiles(req Request) bool {
	return !offersTool(req, planCall) && (offersTool(req, statementCall) || offersTool(req, reportCall))
}

// A wish is what the person wants to hold beside the answer.
type wish struct {
	chart, report bool
	format        string // of the report
}

const (
	chartWord  = `(?:chart|graph|plot|diagram|diagramm|grafik)`
	reportWord = `(?:report|bericht|pdf|html)`
	article    = `(?:an?\s+|the\s+|eine?[nmr]?\s+|das\s+|den\s+)?`
)

var (
	wantsChart  = regexp.MustCompile(`(?i)\b` + chartWord + `s?\b`)
	wantsReport = regexp.MustCompile(`(?i)\b` + reportWord + `\b`)
	wantsHTML   = regexp.MustCompile(`(?i)\bhtml\b`)
	// leading is "draw a chart of", trailing "as a PDF report".
	leading = regexp.MustCompile(`(?i)^\s*(?:please\s+|bitte\s+)?(?:make|draw|create|write|give\s+me|show\s+me|erstelle|zeichne|schreibe|zeige)?\s*` + article +
		`(?:(?:pdf|html)\s+)?(?:` + chartWord + `|` + reportWord + `)s?(?:\s+(?:and|und)\s+` + article + `(?:` + chartWord + `|` + reportWord + `))?\s+(?:of|for|about|on|with|über|von|zu|zum|zur|mit|der|des)\s+`)
	trailing = regexp.MustCompile(`(?i)[,;]?\s*\b(?:(?:and|und)\s+)?(?:as|in|with|als|im|mit|and|und)\s+` + article + `(?:(?:pdf|html)[- ]?)?(?:` + chartWord + `|` + reportWord + `)\b`)
	goOn     = regexp.MustCompile(`(?i)^\s*(?:please\s+|bitte\s+)?(?:continue|go on|carry on|weiter|mach(?:e)? weiter|fahre fort)\s*[.!]?\s*$`)
)

// splitWish takes the words about charts and reports out of a question.
func splitWish(text string) (question string, w wish) {
	w = wish{chart: wantsChart.MatchString(text), report: wantsReport.MatchString(text), format: "pdf"}
	if wantsHTML.MatchString(text) {
		w.format = "html"
	}
	if !w.chart && !w.report {
		return text, w
	}
	question = leading.ReplaceAllString(text, "")
	question = strings.TrimSpace(trailing.ReplaceAllString(question, ""))
	return cmp.Or(question, text), w
}

// lastQuestion is what the person asked before, for a message that says to go on.
func lastQuestion(question string, history []Message) (string, []Message) {
	if !goOn.MatchString(question) {
		return question, history
	}
	for i, m := range slices.Backward(history) {
		if text := withoutDataset(m.Text); m.Role == User && !goOn.MatchString(text) {
			return text, history[:i]
		}
	}
	return question, history
}

// fileStep takes the next step of an answer with files: fetch the rows, draw the chart,
// write the report, say what was found.
func fileStep(x *nlq.Index, dataset, said string, req Request) (Reply, error) {
	said, history := lastQuestion(said, req.History)
	question, w := splitWish(said)
	a := planQuestion(x, question, history)
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
		return callStep(statementCall, map[string]any{"dataset_id": dataset, "sql": sql, "name": shortName(question)}), nil
	case fetched.Failed:
		return Reply{Text: wordResult(question, a, fetched), Stop: StopRefusal}, nil
	}
	rows, title := textField(fetched, "name"), titleOf(question)
	drawn, hasChart := resultOf(req.Messages, chartCall)
	if w.chart && !hasChart && offersTool(req, chartCall) {
		return callStep(chartCall, map[string]any{"from": rows, "title": title}), nil
	}
	answer := wordResult(question, a, fetched)
	written, hasReport := resultOf(req.Messages, reportCall)
	if w.report && !hasReport && offersTool(req, reportCall) {
		return callStep(reportCall, map[string]any{"title": title, "format": w.format, "markdown": reportText(answer, rows, drawn)}), nil
	}
	for _, m := range []Message{drawn, written} {
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
func reportText(answer, rows string, drawn Message) string {
	answer, how, _ := strings.Cut(answer, "\n\nHow I read the question: ")
	text := answer + "\n"
	if name := textField(drawn, "name"); name != "" && !drawn.Failed {
		text += "\n![](" + name + ")\n"
	}
	text += "\n![](" + rows + ")\n"
	if how != "" {
		text += "\n## How the question was read\n\n" + how + "\n"
	}
	return text
}

// shortName names the rows by the first words of the question.
func shortName(question string) string {
	words := strings.Fields(question)
	return strings.Join(words[:min(6, len(words))], " ")
}

// titleOf makes a title of a question.
func titleOf(question string) string {
	runes := []rune(strings.TrimRight(strings.TrimSpace(question), "?.! "))
	if len(runes) == 0 {
		return "Report"
	}
	return strings.ToUpper(string(runes[:1])) + string(runes[1:])
}
