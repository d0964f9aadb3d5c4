package llm

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/nlq"
)

// A wish is what the person wants to hold beside the answer.
type wish struct {
	chart, report bool
	kind          string // of the chart; "" leaves it to the tool
	format        string // of the report; "" leaves it to the setting
	file          string // format of a file of the rows; "" for none
}

func (w wish) isNone() bool { return !w.chart && !w.report && w.file == "" }

// verb says what is done with a result.
func (w wish) verb() string {
	switch {
	case w.report:
		return "reports"
	case w.chart:
		return "draws"
	case w.file != "":
		return "saves"
	}
	return "is"
}

const (
	kindWord   = `(?:(?:stacked\s+)?(?:bar|column|line|pie|area|scatter|point)[- ]?|balken|säulen|linien|kreis|torten|flächen|punkte?)`
	chartWord  = `(?:` + kindWord + `?(?:charts?|graphs?|plots?|diagrams?|diagramme?|grafik)|histogramm?)`
	reportWord = `(?:report|bericht|pdf|html)`
	fileWord   = `(?:csv|excel|xlsx|parquet)`
	article    = `(?:an?\s+|the\s+|eine?[nmr]?\s+|das\s+|den\s+)?`
	order      = `(?:(?:please|bitte|then|dann|also|now)\s+)*(?:(?:make|draw|create|write|plot|give\s+me|show\s+me|erstelle|zeichne|schreibe|zeige)\s+)?(?:me\s+|mir\s+|it\s+as\s+|that\s+as\s+|das\s+als\s+)?` + article + thing + `(?:\s+report|\s+(?:of|from|for)\s+(?:it|that|this))?(?:\s+(?:please|bitte))?`
	thing      = `(?:` + chartWord + `|(?:(?:pdf|html)[- ]?)?` + reportWord + `)`
)

var (
	wantsChart  = regexp.MustCompile(`(?i)\b` + chartWord + `\b`)
	wantsReport = regexp.MustCompile(`(?i)\b` + reportWord + `\b`)
	wantsPDF    = regexp.MustCompile(`(?i)\bpdf\b`)
	wantsHTML   = regexp.MustCompile(`(?i)\bhtml\b`)
	wantsFile   = regexp.MustCompile(`(?i)\b(?:as|to|into|in|als|nach)\s+` + article + `(` + fileWord + `)(?:[- ](?:file|datei))?\b`)
	// leading is "draw a chart of", trailing "as a PDF report".
	leading = regexp.MustCompile(`(?i)^\s*(?:please\s+|bitte\s+)?(?:make|draw|create|write|give\s+me|show\s+me|erstelle|zeichne|schreibe|zeige)?\s*` + article +
		thing + `(?:\s+(?:and|und)\s+` + article + thing + `)?(?:\s+(?:of|for|about|on|with|über|von|zu|zum|zur|mit|der|des)\s+|\s*:\s*)`)
	trailing = regexp.MustCompile(`(?i)[,;]?\s*\b(?:(?:and|und)\s+)?(?:as|in|with|als|im|mit|and|und)\s+` + article + thing + `(?:\s+report)?(?:\s+(?:file|please|bitte))?(?:$|[\s.,;!?])`)

	// ordered is a sentence behind a question that orders files: "Draw a bar chart and write a PDF report."
	ordered = regexp.MustCompile(`(?i)[.?!;]\s+` + order + `(?:[\s,]+(?:and|then|und|dann)[\s,]+(?:then\s+|dann\s+)?` + order + `)*\s*[.!?]*\s*$`)

	// Behind "draw that as" a kind needs no "chart", and a format of files says all: "make an Excel file of it".
	bareKind = regexp.MustCompile(`(?i)\b(?:as|als)\s+` + article + `(?:stacked\s+)?(?:bar|column|line|pie|area|scatter|point|histogram|balken|säulen|linien?|kreis|torte|fläche|punkte?)s?\b`)
	bareFile = regexp.MustCompile(`(?i)\b(` + fileWord + `)(?:[- ]?(?:file|datei|sheet|tabelle))?\b`)

	draws = regexp.MustCompile(`(?i)\b(?:draw|plot|zeichne)\b`)
	goOn  = regexp.MustCompile(`(?i)^\s*(?:please\s+|bitte\s+)?(?:continue|go on|carry on|weiter|mach(?:e)? weiter|fahre fort)\s*[.!]?\s*$`)
	rerun = regexp.MustCompile(`(?i)^\s*(?:please\s+|bitte\s+)?(?:re-?run|recompute|refresh|(?:run|do)\s+(?:(?:it|that|this)\s+)?again|(?:noch ?mal|noch einmal|erneut)\s+ausführen|neu\s+(?:be)?rechnen)(?:\s+(?:it|that|this|please))?\s*(?:[:,.!-]+\s*|$)`)
	// refines begins a change of what was answered before.
	refines = regexp.MustCompile(`(?i)^\s*(?:please\s+|bitte\s+)?(?:refine|verfeinere)(?:\s+(?:this|that|it|das|dies|es))?\s*(?:[:,.!-]+\s*|$)`)
	// followsUp begins a question that changes the one before.
	followsUp = regexp.MustCompile(`(?i)^\s*(?:and\s+|und\s+|but\s+|aber\s+)?(?:only|just|what about|how about|for|in|by|per|without|nur|was ist mit|für|ohne)\b|^\s*(?:and|und)\b`)
	andWord   = regexp.MustCompile(`(?i)^\s*(?:and|und)\s+`)
	// backward are words that mean what was answered before, and how to hand it over.
	backward = regexp.MustCompile(`(?i)^(?:that|this|it|them|these|those|the|a|an|same|now|then|please|again|also|and|as|to|into|in|of|from|for|me|my|with|draw|make|show|plot|give|create|write|turn|put|save|` +
		`export|want|i|need|result|results|rows|numbers|figures|table|answer|file|up|das|die|den|der|dies|diese|es|sie|jetzt|nun|bitte|noch|nochmals?|einmal|auch|und|als|daraus|davon|mir|zeichne|zeige|mach|mache|erstelle|` +
		`schreibe|speichere|speichern|exportiere|exportieren|zeichnen|zeigen|ein|eine|einen|einem|datei|ergebnis|zahlen|tabelle)$`)
)

// chartKinds are the kinds of charts that make_chart knows, by words of the person.
var chartKinds = []struct {
	words *regexp.Regexp
	kind  string
}{
	{regexp.MustCompile(`(?i)\bstacked`), "stacked_bar"},
	{regexp.MustCompile(`(?i)\b(?:bar|column|balken|säulen)`), "bar"},
	{regexp.MustCompile(`(?i)\b(?:line|linien)`), "line"},
	{regexp.MustCompile(`(?i)\b(?:pie|kreis|torten?)`), "pie"},
	{regexp.MustCompile(`(?i)\b(?:area|flächen?)`), "area"},
	{regexp.MustCompile(`(?i)\b(?:scatter|point|punkt)`), "point"},
	{regexp.MustCompile(`(?i)\bhistogram`), "histogram"},
}

// splitWish takes the words about charts, reports and files out of a question.
func splitWish(text string) (question string, w wish) {
	drawn := wantsChart.FindString(text)
	w = wish{chart: drawn != "", kind: chartKind(drawn), report: wantsReport.MatchString(text)}
	switch {
	case wantsHTML.MatchString(text):
		w.format = "html"
	case wantsPDF.MatchString(text):
		w.format = "pdf"
	}
	if m := wantsFile.FindStringSubmatch(text); m != nil {
		w.file = fileFormat(m[1])
	}
	if w.isNone() {
		return text, w
	}
	question = leading.ReplaceAllString(ordered.ReplaceAllString(text, "?"), "")
	question = wantsFile.ReplaceAllString(question, "")
	for again := ""; again != question; { // "as a chart and a PDF": each is behind the other
		again = question
		question = strings.TrimSpace(trailing.ReplaceAllString(question+" ", " "))
	}
	question = strings.TrimRight(question, " ,;")
	if question == "" {
		return text, w
	}
	return question, w
}

// chartKind is the kind of chart that words name, "" for none.
func chartKind(words string) string {
	for _, k := range chartKinds {
		if k.words.MatchString(words) {
			return k.kind
		}
	}
	return ""
}

// fileFormat is the format of a file under the name that the person has for it.
func fileFormat(word string) string {
	return strings.Replace(strings.ToLower(word), "excel", "xlsx", 1)
}

// bareWish reads a message that asks for another form of what was answered before and names
// the form alone: "draw that as a pie". Elsewhere the same word can be one of the data.
func bareWish(text string) (w wish, ok bool) {
	if kind := bareKind.FindString(text); kind != "" {
		w = wish{chart: true, kind: chartKind(kind)}
	} else if m := bareFile.FindStringSubmatch(text); m != nil {
		w = wish{file: fileFormat(m[1])}
	}
	return w, !w.isNone() && refersBack(bareFile.ReplaceAllString(bareKind.ReplaceAllString(text, " "), " "))
}

// refersBack reports whether a message asks for nothing but another form of what was
// answered before: "draw that as a bar chart", "now as a PDF".
func refersBack(text string) bool {
	text = wantsFile.ReplaceAllString(wantsChart.ReplaceAllString(wantsReport.ReplaceAllString(text, " "), " "), " ")
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n,.;:!?-'\"", r) })
	return !slices.ContainsFunc(words, func(word string) bool { return !backward.MatchString(word) })
}

// A fileRequest is what a message asks for, read together with those before it.
type fileRequest struct {
	question string     // about the data, without words about files; what was typed where typed is set
	typed    *typedCode // what the person had run instead of a question
	topic    string     // what files are called
	wish     wish       // what to make
	chart    *wish      // the chart of it that was asked for last
	history  []Message  // before the question; each message of the person is the question that it asked
	// Of a request that means the one before:
	refersBack bool
	dataset    string   // that it was asked of
	fetched    *Message // its rows, where the history has them
	skips      bool     // a later one gave no result, so that the answer says which is meant
	// The message means what was before, and there is nothing, or nothing that the history
	// still has.
	nothingBefore, tooLongAgo bool
}

// A typedCode is a statement or code that a person typed, as the call that runs it.
type typedCode struct{ tool, code string }

var typedPrefix = regexp.MustCompile(`(?i)^\s*(sql|python)\s*:`)

// readTypedCode reads `SQL: …` and `PYTHON: …`.
func readTypedCode(said string) *typedCode {
	m := typedPrefix.FindStringSubmatch(said)
	if m == nil {
		return nil
	}
	code := strings.TrimSpace(said[len(m[0]):])
	if strings.EqualFold(m[1], "sql") {
		return &typedCode{statementCall, code}
	}
	return &typedCode{pythonCall, code}
}

// title names what the code gave by its columns.
func (c *typedCode) title(rows Message) string {
	if c.tool == pythonCall {
		return titleOfRows(rows, "Result of Python code")
	}
	return titleOfRows(rows, "Result of a query")
}

// args are the arguments of the call; they are those of the shortcut that ran it, so that an
// equal call finds its result.
func (c *typedCode) args(dataset string) map[string]any {
	if c.tool == statementCall {
		return map[string]any{"dataset_id": dataset, "sql": c.code}
	}
	return map[string]any{"code": c.code}
}

// readFileRequest reads a message. "Continue" and "run it again" mean the request before;
// "draw that" means its result; an answer to a question back keeps its wish.
func readFileRequest(said string, history []Message) fileRequest {
	if code := readTypedCode(said); code != nil {
		return fileRequest{question: said, typed: code}
	}
	before, asked, hasBefore := requestBefore(history)
	text := refines.ReplaceAllString(rerun.ReplaceAllString(said, ""), "")
	if code := readTypedCode(text); code != nil { // run again: SQL: …
		return fileRequest{question: text, typed: code}
	}
	again := strings.TrimSpace(text) == ""
	if again || goOn.MatchString(text) {
		if again || before.typed == nil {
			before.fetched = nil // every step is asked for again; what has not changed is not done twice
		}
		before.nothingBefore = !hasBefore
		return before
	}
	question, w := splitWish(text)
	if w.isNone() && draws.MatchString(text) && refersBack(text) {
		w.chart = true // draw that
	}
	back := !w.isNone() && refersBack(text)
	if bare, ok := bareWish(text); ok && w.isNone() {
		w, back = bare, true
	}
	if back {
		before.nothingBefore = !hasBefore
		before.addWish(w)
		return before
	}
	r := fileRequest{question: question, topic: question}
	r.addWish(w)
	if !hasBefore {
		return r
	}
	r.history = append(slices.Clone(before.history), Message{Role: User, Text: withDataset(before.question, before.dataset)})
	r.history = append(r.history, asked...)
	switch {
	case len(asked) > 0 && strings.HasPrefix(asked[len(asked)-1].Text, askedBack):
		r.topic = before.topic
		if w.isNone() {
			r.wish, r.chart = before.wish, before.chart
		}
	case followsUp.MatchString(question):
		r.topic = strings.TrimRight(before.topic, " ?.!") + ", " + andWord.ReplaceAllString(question, "")
	}
	return r
}

// addWish sets what to make. A report holds the chart that was drawn before, unless the
// message names another kind.
func (r *fileRequest) addWish(w wish) {
	if r.chart != nil && w.kind == "" && (w.chart || w.report) {
		w.chart, w.kind = true, r.chart.kind
	}
	if w.chart {
		r.chart = &w
	}
	r.wish = w
}

// requestBefore is the last request of the history that was not declined, and the replies
// to it.
func requestBefore(history []Message) (r fileRequest, replies []Message, ok bool) {
	end, skips, tooLongAgo := len(history), false, false
	for i, m := range slices.Backward(history) {
		if m.Role != User {
			continue
		}
		replies, end = history[i+1:end], i
		said, dataset := splitDataset(m.Text)
		if isDeclined(said, replies) {
			skips = true
			continue
		}
		r = readFileRequest(said, history[:i])
		if r.nothingBefore {
			skips, tooLongAgo = true, tooLongAgo || len(replies) > 0 // it was answered from what is no longer here
			continue
		}
		r.skips = skips
		if !r.refersBack { // else it has those of the request that it means
			r.dataset = dataset
		}
		for _, reply := range replies {
			r.addReply(reply)
		}
		r.refersBack = true
		return r, replies, true
	}
	return fileRequest{tooLongAgo: tooLongAgo}, nil, false
}

// addReply takes the rows and their dataset from a reply to the request.
func (r *fileRequest) addReply(m Message) {
	for _, call := range m.Calls {
		var args struct {
			Dataset string `json:"dataset_id"`
		}
		if call.Name == statementCall && json.Unmarshal([]byte(call.Args), &args) == nil && args.Dataset != "" {
			r.dataset = args.Dataset
		}
	}
	if m.Role == ToolRole && !m.Failed && (m.Name == statementCall || m.Name == pythonCall) && textField(m, "name") != "" {
		r.fetched = &m
	}
}

// isDeclined reports whether a message was given no answer, so that "that" does not mean it.
// A question back is open, and a message without a reply was interrupted.
func isDeclined(said string, replies []Message) bool {
	answer, ran, failed := "", false, false
	for _, m := range replies {
		switch {
		case m.Role == ToolRole && m.Failed:
			failed = true
		case m.Role == ToolRole:
			ran = true
		case m.Role == Assistant && len(m.Calls) == 0:
			answer = m.Text
		}
	}
	if readTypedCode(said) != nil {
		return !ran && (failed || answer != "")
	}
	return nlq.IsStatement(said) || strings.HasSuffix(answer, stronger) || answer == nothingYet || answer == noDataset || strings.HasPrefix(answer, whichDataset)
}
