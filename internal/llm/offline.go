package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/nlq"
)

// Planner is what the offline model knows about data.
type Planner interface {
	Datasets(ctx context.Context) ([]string, error)
	Index(ctx context.Context, dataset string) (*nlq.Index, error)
}

// NewOffline makes the built-in model: deterministic, no key, no network. It reads
// questions about data with the planner and answers them through the same tools as
// any model. Where it does not know it says so, and how to set a model that may.
func NewOffline(p Planner) Model { return offline{p} }

// offlineName is how the model is known; definitions may look at it.
const offlineName = "offline"

type offline struct{ planner Planner }

func (offline) Name() string { return offlineName }

func (o offline) Reply(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		if req.Output != nil {
			yield(Delta{}, fault.New(fault.ModelCannot, "the offline model cannot do this step").Suggest(stronger))
			return
		}
		r, err := o.nextStep(ctx, req)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		for word := range strings.SplitAfterSeq(r.Text, " ") {
			if word != "" && !yield(Delta{Text: word}, nil) {
				return
			}
		}
		r.Model, r.Stop = offlineName, cmp.Or(r.Stop, stopEnd)
		if len(r.Calls) > 0 {
			r.Stop = stopCalls
		}
		r.Usage = event.Usage{Input: countWords(req.System) + countWords(lastMessage(req.Messages).Text), Output: countWords(r.Text)}
		yield(Delta{Reply: &r}, nil)
	}
}

func countWords(text string) int { return len(strings.Fields(text)) }

func lastMessage(list []Message) Message {
	if len(list) == 0 {
		return Message{}
	}
	return list[len(list)-1]
}

// Replies to a message whose dataset is not known.
const (
	whichDataset = "Which dataset do you mean?"
	noDataset    = "There is no dataset yet. Add files or connect a database first."
)

// askForDataset asks which of several datasets a question is about.
func askForDataset(ids []string) string {
	const most = 8
	names := strings.Join(ids[:min(most, len(ids))], ", ")
	if more := len(ids) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return whichDataset + " Choose one and ask again. There are: " + names + "."
}

// stronger says how to get a model that understands more.
const stronger = "For questions beyond the built-in planner set OPENAI_API_KEY or ANTHROPIC_API_KEY, or --openai-url for a server of your own, and start again."

// nextStep takes the next step of an answer: read the schema, run the query, word
// the result.
func (o offline) nextStep(ctx context.Context, req Request) (Reply, error) {
	question, dataset := findQuestion(req.Messages)
	if question == "" {
		return Reply{Text: "Ask me about the data. " + stronger, Stop: StopQuestion}, nil
	}
	if nlq.IsStatement(question) {
		return Reply{Text: nlq.StatementHint(question), Stop: StopRefusal}, nil
	}
	if leadsReconciliation(req) {
		return reconcileStep(req, time.Now()), nil
	}
	if nlq.AsksAboutData(question) {
		if r, err := o.aboutStep(ctx, req, question, dataset); err != nil || r != nil {
			return *cmp.Or(r, &Reply{}), err
		}
	}
	if searchesFirst(req) {
		return o.searchStep(ctx, req, question)
	}
	if !offersTool(req, planCall) && !makesFiles(req) {
		return Reply{Text: "I am the built-in model. I answer questions about data with queries, and this state offers me none. Ask a machine that queries, such as analyst or pipeline; `interlock machine list` says which are complete.", Stop: StopRefusal}, nil
	}
	wanted := fileRequest{question: question, history: req.History}
	if makesFiles(req) {
		wanted = readFileRequest(question, req.History)
		wanted.wish.report = wanted.wish.report || strings.Contains(req.System, reportOrder)
		switch {
		case wanted.nothingBefore && wanted.tooLongAgo:
			return Reply{Text: longAgo, Stop: StopRefusal}, nil
		case wanted.nothingBefore:
			return Reply{Text: nothingYet, Stop: StopRefusal}, nil
		case wanted.typed != nil:
			wanted.dataset = cmp.Or(wanted.dataset, dataset)
			return typedStep(wanted, req), nil
		case wanted.refersBack:
			dataset = cmp.Or(wanted.dataset, dataset)
		}
	}
	if dataset == "" {
		ids, err := o.planner.Datasets(ctx)
		if err != nil {
			return Reply{}, err
		}
		if len(ids) == 0 {
			return Reply{Text: noDataset, Stop: StopRefusal}, nil
		}
		if dataset = o.chooseDataset(ctx, ids, wanted.question, wanted.history); dataset == "" {
			return Reply{Text: askForDataset(ids), Stop: StopQuestion}, nil
		}
	}
	if offersTool(req, schemaCall) && !hasResultOf(req.Messages, schemaCall) {
		return Reply{Calls: []Call{{ID: "schema", Name: schemaCall, Args: encodeArguments(map[string]any{"dataset_id": dataset})}}}, nil
	}
	x, err := o.planner.Index(ctx, dataset)
	if err != nil {
		return Reply{}, err
	}
	if makesFiles(req) {
		return fileStep(x, dataset, wanted, req)
	}
	a, moved := planInThread(x, dataset, question, req.History)
	if m := lastMessage(req.Messages); m.Role == ToolRole && m.Name == planCall {
		r := Reply{Text: wordResult(question, a, m) + moved}
		if m.Failed {
			r.Stop = StopRefusal
		}
		return r, nil
	}
	switch {
	case a.Declined != "" || a.Plan == nil:
		return Reply{Text: wordRefusal(a), Stop: StopRefusal}, nil
	case !a.Sure():
		return Reply{Text: askBack(a), Stop: StopQuestion}, nil
	}
	args := map[string]any{"dataset_id": dataset, "plan": a.Plan}
	if a.Chosen != nil {
		args["chosen"] = a.Chosen
	}
	return Reply{Calls: []Call{{ID: "query", Name: planCall, Args: encodeArguments(args)}}}, nil
}

// planInThread plans a question after those before it. A question that goes on from one about
// another dataset is declined for that where it cannot be planned; else moved says so.
func planInThread(x *nlq.Index, dataset, question string, history []Message) (a nlq.Answer, moved string) {
	a = planQuestion(x, question, history)
	before := ""
	for _, m := range history {
		if m.Role == User {
			_, before = splitDataset(m.Text)
		}
	}
	if before == "" || before == dataset {
		return a, ""
	}
	if alone := planQuestion(x, question, nil); a.Plan != nil && a.SQL != alone.SQL {
		return a, fmt.Sprintf("\n\nThis goes on from a question about the dataset %s; the answer is about %s.", before, dataset)
	}
	if a.Plan == nil && followsUp.MatchString(question) {
		a.Declined = fmt.Sprintf("This goes on from a question about the dataset %s, and cannot be asked of %s. Ask in full, or choose %s again.", before, dataset, before)
	}
	return a, ""
}

// planQuestion plans the question; if the model asked back before, it reads the
// message as the answer to that.
func planQuestion(x *nlq.Index, question string, history []Message) nlq.Answer {
	alone := nlq.Plan(nlq.Question{Text: question, Index: x, History: turns(history)})
	first, lines, offered := question, "", false
	for n := len(history); n >= 2 && history[n-1].Role == Assistant && strings.HasPrefix(history[n-1].Text, askedBack); n = len(history) {
		u := n - 2
		for u >= 0 && history[u].Role != User {
			u--
		}
		if u < 0 {
			break
		}
		offered = offered || lines == "" && offers(history[n-1].Text, question) // the latest question back
		first, lines, history = withoutDataset(history[u].Text), first+"\n"+lines, history[:u]
	}
	if lines == "" || alone.Sure() && !offered && nlq.AsksAnew(question) {
		return alone
	}
	together := nlq.Plan(nlq.Question{Text: first, Index: x, History: turns(history), Clarification: lines})
	if offered || together.Sure() || together.Plan != nil && !alone.Sure() {
		return together
	}
	return alone
}

// offers reports whether a question back has the message as one of its choices, by number or by
// words: then it goes on from what was asked, also where its words are a question of their own.
func offers(asked, message string) bool {
	var readings []string
	for line := range strings.Lines(asked) {
		number, text, ok := strings.Cut(strings.TrimSpace(line), ". ")
		if n, err := strconv.Atoi(number); ok && err == nil && n == len(readings)+1 {
			readings = append(readings, text)
		}
	}
	return nlq.Chooses(message, readings)
}

// The two tools with which the offline model answers questions.
const (
	schemaCall = "get_dataset_schema"
	planCall   = "execute_query_plan"
)

func offersTool(req Request, name string) bool {
	return slices.ContainsFunc(req.Tools, func(t Tool) bool { return t.Name == name })
}

func hasResultOf(list []Message, name string) bool {
	return slices.ContainsFunc(list, func(m Message) bool { return m.Role == ToolRole && m.Name == name })
}

func encodeArguments(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(raw)
}

var datasetLine = regexp.MustCompile(`(?s)\n\n\[dataset_id: (.*?)\]`)

// findQuestion returns the question of the turn and the dataset that its message
// names.
func findQuestion(list []Message) (question, dataset string) {
	if len(list) == 0 || list[0].Role != User {
		return "", ""
	}
	return splitDataset(list[0].Text)
}

// splitDataset returns what the person wrote, and the dataset that the line below it names.
func splitDataset(text string) (said, dataset string) {
	if m := datasetLine.FindStringSubmatch(text); m != nil {
		dataset = m[1]
	}
	return strings.TrimSpace(datasetLine.ReplaceAllString(text, "")), dataset
}

// withoutDataset returns what the person wrote, without the line that names the
// dataset.
func withoutDataset(text string) string {
	said, _ := splitDataset(text)
	return said
}

// withDataset is a message with the line that names the dataset.
func withDataset(said, dataset string) string {
	if dataset == "" {
		return said
	}
	return said + "\n\n[dataset_id: " + dataset + "]"
}

func turns(history []Message) []nlq.Turn {
	var out []nlq.Turn
	for _, m := range history {
		if m.Role == User {
			out = append(out, nlq.Turn{Text: withoutDataset(m.Text)})
		}
	}
	return out
}

// chooseDataset returns the one dataset that the question fits best, or "" if none
// stands out.
func (o offline) chooseDataset(ctx context.Context, ids []string, question string, history []Message) string {
	if len(ids) == 1 {
		return ids[0]
	}
	best, second, chosen := 0.0, 0.0, ""
	for _, id := range ids {
		x, err := o.planner.Index(ctx, id)
		if err != nil {
			continue // an unreadable dataset is told of elsewhere
		}
		a := nlq.Plan(nlq.Question{Text: question, Index: x, History: turns(history)})
		if a.Declined != "" || a.Plan == nil {
			continue
		}
		if a.Confidence > best {
			best, second, chosen = a.Confidence, best, id
		} else {
			second = max(second, a.Confidence)
		}
	}
	if best-second < 0.1 {
		return ""
	}
	return chosen
}

// cutRows finds how many rows a result has of which a prompt holds the first.
var cutRows = regexp.MustCompile(`^rows: the first [\d,]+ of ([\d,]+) are shown`)

// wordResult puts a result into words, from its cells and nothing else.
func wordResult(question string, a nlq.Answer, m Message) string {
	var r struct {
		Columns []string `json:"columns"`
		Rows    [][]any  `json:"rows"`
		Limited bool     `json:"limited"`
		Count   int      `json:"row_count"`
		Total   int64    `json:"total_rows"`
		AtLeast bool     `json:"at_least"`
		Message string   `json:"message"`
		Cut     string   `json:"cut"` // the prompt holds only the first of the rows
	}
	text, _, _ := strings.Cut(m.Text, "\n(cut: ")
	if json.Unmarshal([]byte(text), &r) != nil {
		return "The result is in the table above; it is too long for me to put into words."
	}
	if m.Failed {
		return "The query did not run: " + r.Message + " " + stronger
	}
	given := len(r.Rows)
	if m := cutRows.FindStringSubmatch(r.Cut); m != nil {
		given, _ = strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
	}
	if r.Total == 0 { // of a kept result, row_count is all of its rows
		r.Count, r.Total = given, int64(r.Count)
	}
	var out string
	switch {
	case r.Limited:
		out = nlq.PartialResultText(r.Count, r.Total, r.AtLeast)
	case given > len(r.Rows): // nothing is concluded from a part of them
		out = nlq.WholeTableText(given)
	default:
		out = nlq.AnswerText(question, a.Plan, r.Columns, r.Rows)
	}
	if a.Explain != "" {
		out += "\n\nHow I read the question: " + a.Explain
	}
	if a.Chosen != nil {
		out += "\n\n" + nlq.RememberHint
	}
	return out
}

func wordRefusal(a nlq.Answer) string {
	reason := a.Declined
	if reason == "" {
		reason = "I do not understand the question well enough."
	}
	reason = nlq.Sentence(reason)
	if len(a.NotUnderstood) > 0 && !strings.Contains(reason, a.NotUnderstood[0]) {
		reason += " I did not understand: " + strings.Join(a.NotUnderstood, ", ") + "."
	}
	return reason + "\n\n" + stronger
}

// askedBack is how a question back begins.
const askedBack = "I am not sure what you mean."

// askBack asks the person which of the alternatives is meant.
func askBack(a nlq.Answer) string {
	var b strings.Builder
	b.WriteString(askedBack)
	for _, q := range a.Questions {
		if len(q.Alternatives) < 2 {
			if why := strings.TrimSpace(strings.TrimSuffix(q.Question, "Is this what you mean?")); why != "" {
				b.WriteString(" " + why)
			}
			continue
		}
		fmt.Fprintf(&b, " %s\n", q.Question)
		for i, alt := range q.Alternatives {
			fmt.Fprintf(&b, "\n%d. %s", i+1, alt.Text)
		}
		b.WriteString("\n\nAnswer with the number, or ask in other words.")
		return b.String()
	}
	if len(a.NotUnderstood) > 0 {
		fmt.Fprintf(&b, " I do not understand: %s.", strings.Join(a.NotUnderstood, ", "))
	}
	fmt.Fprintf(&b, "\n\nI would read it as: %s\n\nSay yes if this is right, or ask in other words.", a.Explain)
	return b.String()
}
