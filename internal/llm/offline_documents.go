package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"interlock/internal/nlq"
)

// The tools by which the offline model knows a machine of documents and databases.
const (
	selectCall     = "sql_select"
	capabilityCall = "request_capability"
	tablesCall     = "schema_search"
)

// A promptPassage is a passage of a document as machines inject it into the prompt: a line of JSON.
type promptPassage struct {
	Content    string  `json:"content"`
	SourceFile string  `json:"source_file"`
	Place      string  `json:"place"`
	Relevancy  float64 `json:"relevancy"`
	ReadAs     string  `json:"read_as"`  // the question, where words of it were misspelt
	Question   string  `json:"question"` // the one of several that it is about
}

// A promptTable is a table as machines inject it into the prompt.
type promptTable struct {
	Name      string  `json:"fully_qualified_name"`
	Source    string  `json:"source_id"`
	Relevancy float64 `json:"relevancy"`
}

// promptContext finds the passages and tables in a prompt, the most relevant first. What a document says
// cannot make one: its line breaks are escaped in the JSON.
func promptContext(system string) (passages []promptPassage, tables []promptTable) {
	for line := range strings.Lines(system) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var p promptPassage
		if json.Unmarshal([]byte(line), &p) == nil && p.Content != "" && p.SourceFile != "" {
			passages = append(passages, p)
			continue
		}
		var t promptTable
		if json.Unmarshal([]byte(line), &t) == nil && t.Name != "" && t.Source != "" {
			tables = append(tables, t)
		}
	}
	slices.SortStableFunc(passages, func(a, b promptPassage) int { return -cmp.Compare(a.Relevancy, b.Relevancy) })
	slices.SortStableFunc(tables, func(a, b promptTable) int { return -cmp.Compare(a.Relevancy, b.Relevancy) })
	return passages, tables
}

// searchesFirst reports whether the machine finds documents and tables before it asks a model.
func searchesFirst(req Request) bool {
	passages, tables := promptContext(req.System)
	return len(passages) > 0 || len(tables) > 0 || offersTool(req, selectCall) || offersTool(req, capabilityCall) || hasResultOf(req.Messages, selectCall)
}

// searchStep answers from what the machine found: by a query where a table fits and the planner is sure
// of it, else by quoting passages.
func (o offline) searchStep(ctx context.Context, req Request, question string) (Reply, error) {
	passages, tables := promptContext(req.System)
	if m := lastMessage(req.Messages); m.Role == ToolRole && m.Name == selectCall {
		return o.wordSelected(ctx, req, question, m)
	}
	var unsure Reply
	if offersTool(req, selectCall) && len(tables) > 0 {
		asked, a, err := o.planOneOf(ctx, req, question, tables[0].Source)
		switch {
		case err != nil:
			return Reply{}, err
		case runs(a):
			args := map[string]any{"source_id": tables[0].Source, "sql": a.SQL, "purpose": asked}
			return Reply{Calls: []Call{{ID: "query", Name: selectCall, Args: encodeArguments(args)}}}, nil
		case a.Plan != nil && a.Declined == "":
			unsure = Reply{Text: askBack(a), Stop: StopQuestion}
		default:
			unsure = Reply{Text: wordRefusal(a), Stop: StopRefusal}
		}
	}
	switch figure := figureQuestion(question); {
	case len(tables) == 0 && figure != "" && offersTool(req, tablesCall) && !hasResultOf(req.Messages, tablesCall):
		// Documents speak of it, too; the figure itself lies in tables if there are such.
		return Reply{Calls: []Call{{ID: "tables", Name: tablesCall, Args: encodeArguments(map[string]any{"query": figure})}}}, nil
	case len(passages) > 0 && figure != "" && figure != question:
		return Reply{Text: fmt.Sprintf("%s\n\nI left out %q: no table answers it surely. Ask it alone to see why.", quotePassages(question, passages), figure)}, nil
	case len(passages) > 0:
		return Reply{Text: quotePassages(question, passages)}, nil
	case unsure.Text != "":
		return unsure, nil
	case len(tables) > 0:
		return Reply{Text: "No passage of the documents answers this. " + tableHint(tables[0]) + " " + stronger, Stop: StopRefusal}, nil
	}
	return Reply{Text: "I am the built-in model: I quote documents and query tables. No passage of the documents answers this, and no table fits it. " + stronger, Stop: StopRefusal}, nil
}

// runs reports whether an answer is a statement that is sure enough to be run.
func runs(a nlq.Answer) bool { return a.Plan != nil && a.Declined == "" && a.Sure() }

// planOneOf plans a question, or the first of several that a text asks which can be planned surely, and says which it was.
func (o offline) planOneOf(ctx context.Context, req Request, question, dataset string) (asked string, a nlq.Answer, err error) {
	a, err = o.planFor(ctx, req, question, dataset)
	if err != nil || runs(a) {
		return question, a, err
	}
	if several := nlq.Questions(question); len(several) > 1 {
		for _, one := range several {
			if part, err := o.planFor(ctx, req, one, dataset); err != nil || runs(part) {
				return one, part, err
			}
		}
	}
	return question, a, nil
}

// figureQuestion is the first of the questions of a text that asks for something counted or computed; "" where none does.
func figureQuestion(text string) string {
	for _, question := range nlq.Questions(text) {
		if asksForFigure(question) {
			return question
		}
	}
	return ""
}

var figureWords = regexp.MustCompile(`(?i)\b(how (many|much)|number of|average|mean|median|total|sum|count|share|percentage|highest|lowest|top \d+|(per|by) \w+|wie ?viele?|anzahl|durchschnitt\w*|summe|anteil|insgesamt)\b`)

// asksForFigure reports whether a question asks for something that is counted or computed.
func asksForFigure(question string) bool { return figureWords.MatchString(question) }

func tableHint(t promptTable) string {
	return fmt.Sprintf("The nearest table is %s of %s, but it fits too little to be queried.", t.Name, t.Source)
}

func (o offline) planFor(ctx context.Context, req Request, question, dataset string) (nlq.Answer, error) {
	x, err := o.planner.Index(ctx, dataset)
	if err != nil {
		return nlq.Answer{}, err
	}
	return planQuestion(x, question, req.History), nil
}

// wordSelected puts the rows of a statement into words. The source and the question are those of the call which they
// answer; other questions of the same text are answered from documents.
func (o offline) wordSelected(ctx context.Context, req Request, question string, result Message) (Reply, error) {
	var args struct {
		Source  string `json:"source_id"`
		Purpose string `json:"purpose"`
	}
	for _, m := range req.Messages {
		for _, c := range m.Calls {
			if c.ID == result.CallID && json.Unmarshal([]byte(c.Args), &args) != nil {
				return Reply{}, fmt.Errorf("the call %s has no arguments", c.ID)
			}
		}
	}
	asked := cmp.Or(args.Purpose, question)
	a, err := o.planFor(ctx, req, asked, args.Source)
	if err != nil {
		return Reply{}, err
	}
	r := Reply{Text: wordResult(asked, a, result)}
	if result.Failed {
		r.Stop = StopRefusal
	}
	others := slices.DeleteFunc(nlq.Questions(question), func(q string) bool { return q == asked })
	if asked == question || len(others) == 0 {
		return r, nil
	}
	passages, _ := promptContext(req.System)
	passages = slices.DeleteFunc(passages, func(p promptPassage) bool { return p.Question == asked })
	rest := strings.Join(others, " ")
	if len(passages) == 0 {
		r.Text += fmt.Sprintf("\n\nI left out %q: no passage of the documents answers it. Ask it alone.", rest)
		return r, nil
	}
	r.Text += fmt.Sprintf("\n\n%s %s", rest, quotePassages(rest, passages))
	return r, nil
}

const (
	maxQuoted    = 3   // passages in an answer
	quotedShare  = 0.7 // of the best relevancy that a passage needs to be quoted beside it
	maxQuotation = 480 // characters of a passage
)

// quotePassages answers with the words of the documents and their places.
func quotePassages(question string, passages []promptPassage) string {
	var b strings.Builder
	if len(passages) > 0 && passages[0].ReadAs != "" {
		fmt.Fprintf(&b, "I read the question as: %s\n\n", passages[0].ReadAs)
	}
	b.WriteString("The documents say:\n")
	quoted := map[string]bool{} // the same passage may stand in several documents
	for _, p := range passages {
		if len(quoted) == maxQuoted || p.Relevancy < quotedShare*passages[0].Relevancy {
			break
		}
		if quoted[p.Content] {
			continue
		}
		quoted[p.Content] = true
		quotation := strings.ReplaceAll(answeringPart(question, p.Content), "\n", "\n> ")
		fmt.Fprintf(&b, "\n> %s\n\n%s, %s (relevancy %.2f)\n", quotation, p.SourceFile, cmp.Or(p.Place, "at the beginning"), p.Relevancy)
	}
	b.WriteString("\nI quote and do not conclude: read whether it answers your question. " + stronger)
	return b.String()
}

// answeringPart shortens a passage to the sentences around the one that has most words of the question.
func answeringPart(question, content string) string {
	content = strings.TrimSpace(content)
	if utf8.RuneCountInString(content) <= maxQuotation {
		return content
	}
	sentences := splitSentences(content)
	wanted := wordStems(question)
	best, most := 0, -1
	for i, s := range sentences {
		shared := 0
		for stem := range wordStems(s) {
			if wanted[stem] {
				shared++
			}
		}
		if shared > most {
			best, most = i, shared
		}
	}
	first, last := best, best
	size := utf8.RuneCountInString(sentences[best])
	for {
		switch {
		case last+1 < len(sentences) && size+utf8.RuneCountInString(sentences[last+1]) <= maxQuotation:
			last++
			size += utf8.RuneCountInString(sentences[last])
		case first > 0 && size+utf8.RuneCountInString(sentences[first-1]) <= maxQuotation:
			first--
			size += utf8.RuneCountInString(sentences[first])
		default:
			return markCuts(strings.TrimSpace(strings.Join(sentences[first:last+1], "")), first > 0, last+1 < len(sentences))
		}
	}
}

func markCuts(text string, before, after bool) string {
	if before {
		text = "… " + text
	}
	if after {
		text += " …"
	}
	return text
}

// splitSentences splits a text behind the ends of sentences and lines; nothing is lost.
func splitSentences(text string) []string {
	var out []string
	begin := 0
	for i, r := range text {
		if r == '\n' || unicode.IsSpace(r) && i > 0 && strings.IndexByte(".!?:;", text[i-1]) >= 0 {
			end := i + utf8.RuneLen(r)
			out, begin = append(out, text[begin:end]), end
		}
	}
	return append(out, text[begin:])
}

// wordStems are the beginnings of the words of a text that are long enough to mean something.
func wordStems(text string) map[string]bool {
	const shortest, stem = 4, 6
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if runes := []rune(w); len(runes) >= shortest {
			out[string(runes[:min(stem, len(runes))])] = true
		}
	}
	return out
}
