package llm

import (
	"regexp"
	"slices"
	"strings"
)

// A wish is what the person wants to hold beside the answer.
type wish struct {
	chart, report bool
	kind          string // of the chart; "" leaves it to the tool
	format        string // of the report
	file          string // format of a file of the rows; "" for none
}

func (w wish) isNone() bool { return !w.chart && !w.report && w.file == "" }

const (
	kindWord   = `(?:(?:stacked\s+)?(?:bar|column|line|pie|area|scatter|point)[- ]?|balken|säulen|linien|kreis|torten|flächen|punkte?)`
	chartWord  = `(?:` + kindWord + `?(?:charts?|graphs?|plots?|diagrams?|diagramme?|grafik)|histogramm?)`
	reportWord = `(?:report|bericht|pdf|html)`
	fileWord   = `(?:csv|excel|xlsx|parquet)`
	article    = `(?:an?\s+|the\s+|eine?[nmr]?\s+|das\s+|den\s+)?`
	thing      = `(?:` + chartWord + `|(?:(?:pdf|html)[- ]?)?` + reportWord + `)`
)

var (
	wantsChart  = regexp.MustCompile(`(?i)\b` + chartWord + `\b`)
	wantsReport = regexp.MustCompile(`(?i)\b` + reportWord + `\b`)
	wantsHTML   = regexp.MustCompile(`(?i)\bhtml\b`)
	wantsFile   = regexp.MustCompile(`(?i)\b(?:as|to|into|in|als|nach)\s+` + article + `(` + fileWord + `)(?:[- ](?:file|datei))?\b`)
	// leading is "draw a chart of", trailing "as a PDF report".
	leading = regexp.MustCompile(`(?i)^\s*(?:please\s+|bitte\s+)?(?:make|draw|create|write|give\s+me|show\s+me|erstelle|zeichne|schreibe|zeige)?\s*` + article +
		thing + `(?:\s+(?:and|und)\s+` + article + thing + `)?\s+(?:of|for|about|on|with|über|von|zu|zum|zur|mit|der|des)\s+`)
	trailing = regexp.MustCompile(`(?i)[,;]?\s*\b(?:(?:and|und)\s+)?(?:as|in|with|als|im|mit|and|und)\s+` + article + thing + `(?:\s+report)?(?:\s+(?:file|please|bitte))?(?:$|[\s.,;!?])`)

	goOn  = regexp.MustCompile(`(?i)^\s*(?:please\s+|bitte\s+)?(?:continue|go on|carry on|weiter|mach(?:e)? weiter|fahre fort)\s*[.!]?\s*$`)
	rerun = regexp.MustCompile(`(?i)^\s*(?:please\s+|bitte\s+)?(?:re-?run|recompute|refresh|(?:run|do)\s+(?:(?:it|that|this)\s+)?again)(?:\s+(?:it|that|this|please))?\s*(?:[:,.!-]+\s*|$)`)
	// followsUp begins a question that changes the one before.
	followsUp = regexp.MustCompile(`(?i)^\s*(?:and\s+|und\s+|but\s+|aber\s+)?(?:only|just|what about|how about|for|in|by|per|without|nur|was ist mit|für|ohne)\b|^\s*(?:and|und)\b`)
	andWord   = regexp.MustCompile(`(?i)^\s*(?:and|und)\s+`)
	// backward are words that mean what was answered before, and how to hand it over.
	backward = regexp.MustCompile(`(?i)^(?:that|this|it|them|these|those|the|a|an|same|now|then|please|again|also|and|as|to|into|in|of|from|for|me|my|with|draw|make|show|plot|give|create|write|turn|put|save|` +
		`export|want|i|need|result|results|rows|numbers|figures|table|answer|file|up|das|die|den|der|dies|diese|es|sie|jetzt|nun|bitte|noch|auch|und|als|daraus|davon|mir|zeichne|zeige|mach|mache|erstelle|` +
		`schreibe|speichere|exportiere|ein|eine|einen|einem|datei|ergebnis|zahlen|tabelle)$`)
)

// chartKinds are the kinds of charts that make_chart knows, by words of the person.
var chartKinds = []struct {
	words *regexp.Regexp
	kind  string
}{
	{regexp.MustCompile(`(?i)\bstacked`), "stacked_bar"},
	{regexp.MustCompile(`(?i)\b(?:bar|column|balken|säulen)`), "bar"},
	{regexp.MustCompile(`(?i)\b(?:line|linien)`), "line"},
	{regexp.MustCompile(`(?i)\b(?:pie|kreis|torten)`), "pie"},
	{regexp.MustCompile(`(?i)\b(?:area|flächen)`), "area"},
	{regexp.MustCompile(`(?i)\b(?:scatter|point|punkt)`), "point"},
	{regexp.MustCompile(`(?i)\bhistogram`), "histogram"},
}

// splitWish takes the words about charts, reports and files out of a question.
func splitWish(text string) (question string, w wish) {
	drawn := wantsChart.FindString(text)
	w = wish{chart: drawn != "", report: wantsReport.MatchString(text), format: "pdf"}
	for _, k := range chartKinds {
		if w.kind == "" && k.words.MatchString(drawn) {
			w.kind = k.kind
		}
	}
	if wantsHTML.MatchString(text) {
		w.format = "html"
	}
	if m := wantsFile.FindStringSubmatch(text); m != nil {
		w.file = strings.Replace(strings.ToLower(m[1]), "excel", "xlsx", 1)
	}
	if w.isNone() {
		return text, w
	}
	question = leading.ReplaceAllString(text, "")
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

// refersBack reports whether a message asks for nothing but another form of what was
// answered before: "draw that as a bar chart", "now as a PDF".
func refersBack(text string) bool {
	text = wantsFile.ReplaceAllString(wantsChart.ReplaceAllString(wantsReport.ReplaceAllString(text, " "), " "), " ")
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n,.;:!?-'\"", r) })
	return !slices.ContainsFunc(words, func(word string) bool { return !backward.MatchString(word) })
}

// A fileRequest is what a message asks for, read together with those before it.
type fileRequest struct {
	question string    // about the data, without words about files
	topic    string    // what files are called
	wish     wish      // what to make
	history  []Message // before the question; each message of the person is the question that it asked
}

// readFileRequest reads a message. "Continue" and "run it again" mean the request before;
// "draw that" means its question; an answer to a question back keeps its wish.
func readFileRequest(said string, history []Message) fileRequest {
	before, asked, hasBefore := requestBefore(history)
	text := rerun.ReplaceAllString(said, "")
	if hasBefore && (strings.TrimSpace(text) == "" || goOn.MatchString(text)) {
		return before
	}
	if strings.TrimSpace(text) == "" {
		text = said
	}
	question, w := splitWish(text)
	if hasBefore && !w.isNone() && refersBack(text) {
		before.wish = w
		return before
	}
	r := fileRequest{question: question, topic: question, wish: w}
	if !hasBefore {
		return r
	}
	r.history = append(slices.Clone(before.history), Message{Role: User, Text: before.question})
	r.history = append(r.history, asked...)
	switch {
	case len(asked) > 0 && strings.HasPrefix(asked[len(asked)-1].Text, askedBack):
		r.topic = before.topic
		if w.isNone() {
			r.wish = before.wish
		}
	case followsUp.MatchString(question):
		r.topic = strings.TrimRight(before.topic, " ?.!") + ", " + andWord.ReplaceAllString(question, "")
	}
	return r
}

// requestBefore is the last request of the history, and the replies to it.
func requestBefore(history []Message) (r fileRequest, replies []Message, ok bool) {
	for i, m := range slices.Backward(history) {
		if m.Role == User {
			return readFileRequest(withoutDataset(m.Text), history[:i]), history[i+1:], true
		}
	}
	return r, nil, false
}
