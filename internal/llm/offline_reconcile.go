package llm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"interlock/internal/nlq"
)

// The tools of a reconciliation, in the order in which their phases come.
const (
	sourcesCall  = "list_sources"
	previewCall  = "get_source_preview"
	scopeCall    = "load_scoped"
	proposeCall  = "propose_match"
	inferCall    = "infer_rules"
	buildCall    = "build_recipe"
	validateCall = "validate_recipe"
	sampleCall   = "run_sample"
	fullCall     = "run_full"
)

// leadsReconciliation says whether a request is a step of a reconciliation.
func leadsReconciliation(req Request) bool {
	if offersTool(req, planCall) {
		return false
	}
	return slices.ContainsFunc([]string{sourcesCall, proposeCall, inferCall, sampleCall, fullCall}, func(name string) bool { return offersTool(req, name) })
}

// reconcileStep takes the next step of a reconciliation. What the state offers says
// which phase it is; the person decides on cards.
func reconcileStep(req Request, now time.Time) Reply {
	if failed, ok := lastFailure(req.Messages); ok {
		return Reply{Text: failed, Stop: StopRefusal}
	}
	switch {
	case offersTool(req, fullCall):
		return runStep(req)
	case offersTool(req, sampleCall):
		return validationStep(req)
	case offersTool(req, inferCall):
		return inferenceStep(req)
	case offersTool(req, proposeCall):
		return callTools(proposeCall, "{}")
	case offersTool(req, scopeCall):
		return scopeStep(req, now)
	case offersTool(req, previewCall):
		return sourcesStep(req)
	}
	return callTools(sourcesCall, "{}")
}

// callTools is a reply that calls one tool, once for each arguments.
func callTools(name string, args ...string) Reply {
	var r Reply
	for i, a := range args {
		r.Calls = append(r.Calls, Call{ID: fmt.Sprintf("%s_%d", name, i+1), Name: name, Args: a})
	}
	return r
}

// lastFailure words the failure of a call of the last reply.
func lastFailure(list []Message) (string, bool) {
	for i := len(list) - 1; i >= 0 && list[i].Role == ToolRole; i-- {
		if !list[i].Failed {
			continue
		}
		var f struct{ Message, Suggestion string }
		if json.Unmarshal([]byte(list[i].Text), &f) != nil || f.Message == "" {
			return "The last step failed, and I cannot say why. " + stronger, true
		}
		return strings.TrimSpace(fmt.Sprintf("I cannot go on: %s %s", endSentence(f.Message), f.Suggestion)), true
	}
	return "", false
}

func endSentence(text string) string { return strings.TrimRight(text, ". ") + "." }

// lastResultOf is the last result of a tool in this turn.
func lastResultOf(list []Message, name string) (Message, int) {
	for i := len(list) - 1; i >= 0; i-- {
		if m := list[i]; m.Role == ToolRole && m.Name == name && !m.Failed {
			return m, i
		}
	}
	return Message{}, -1
}

// A namedSource is a source as the prompt lists it.
type namedSource struct {
	Alias    string   `json:"alias"`
	Columns  []string `json:"columns"`
	RowCount int      `json:"row_count"`
}

// askSources begins the question for the two sources.
const askSources = "Which sources should agree? Name both, the left one first:"

// sourcesStep previews the two sources that the person names.
func sourcesStep(req Request) Reply {
	var sources []namedSource
	for _, line := range promptSection(req.System, "Sources") {
		var s namedSource
		if json.Unmarshal([]byte(line), &s) == nil && s.Alias != "" {
			sources = append(sources, s)
		}
	}
	chosen := namedIn(requestText(req), sources)
	if len(chosen) != 2 {
		var list []string
		for _, s := range sources {
			list = append(list, fmt.Sprintf("- %s (%s)", s.Alias, rowCount(s.RowCount)))
		}
		if len(list) < 2 {
			return Reply{Text: "A reconciliation needs two sources, and there are fewer. Add files or connect a database first.", Stop: StopRefusal}
		}
		return Reply{Text: askSources + "\n\n" + strings.Join(list, "\n"), Stop: StopQuestion}
	}
	left, right := encodeArguments(map[string]any{"alias": chosen[0], "side": "left"}), encodeArguments(map[string]any{"alias": chosen[1], "side": "right"})
	r := callTools(previewCall, left, right)
	r.Text = fmt.Sprintf("I compare %s (left) with %s (right).", chosen[0], chosen[1])
	return r
}

func rowCount(n int) string {
	if n < 0 {
		return "not counted"
	}
	return fmt.Sprintf("%d rows", n)
}

// promptSection gives the lines below a title of the prompt.
func promptSection(system, title string) []string {
	_, rest, ok := strings.Cut("\n"+system, "\n## "+title+"\n")
	if !ok {
		return nil
	}
	rest, _, _ = strings.Cut(rest, "\n\n")
	return strings.Split(rest, "\n")
}

var wordInText = regexp.MustCompile(`[\pL\pN]+`)

// A mention is where a text names a source.
type mention struct {
	alias string
	words int // of the alias that are there
	at    int
}

// namedIn finds the sources that a text names, in its order. An alias that is written as
// it is counts first; in the rest of the text one of several words is named by any of
// them. Two sources are all there is to choose where no others exist.
func namedIn(text string, sources []namedSource) []string {
	named := mentionsIn(text, sources)
	if len(named) == 0 && len(sources) == 2 {
		return []string{sources[0].Alias, sources[1].Alias}
	}
	var out []string
	for _, m := range named {
		out = append(out, m.alias)
	}
	return out
}

// mentionsIn says where a text names sources, in its order and each once.
func mentionsIn(text string, sources []namedSource) (out []mention) {
	text = strings.ToLower(text)
	var all []mention
	for _, s := range sources {
		if alias := strings.ToLower(s.Alias); strings.Contains(text, alias) {
			all = append(all, mention{s.Alias, 0, strings.Index(text, alias)})
			text = strings.ReplaceAll(text, alias, strings.Repeat(" ", len(alias)))
		}
	}
	byWords := mentionsByWords(text, sources, sameStem)
	if len(all)+len(byWords) < 2 {
		byWords = mentionsByWords(text, sources, misspelt)
	}
	all = append(all, byWords...)
	slices.SortFunc(all, func(a, b mention) int { return a.at - b.at })
	for _, m := range all {
		if !slices.ContainsFunc(out, func(o mention) bool { return o.alias == m.alias }) {
			out = append(out, m)
		}
	}
	return out
}

// mentionsByWords finds sources by words of their aliases. Where several share the word
// that names them, the one with more of its words wins; of equals nobody knows which.
func mentionsByWords(text string, sources []namedSource, same func(word, part string) bool) []mention {
	best := map[int]mention{}
	places := wordInText.FindAllStringIndex(text, -1)
	for _, s := range sources {
		m := mention{alias: s.Alias, at: -1}
		for _, part := range wordInText.FindAllString(strings.ToLower(strings.ReplaceAll(s.Alias, "_", " ")), -1) {
			if i := slices.IndexFunc(places, func(p []int) bool { return same(text[p[0]:p[1]], part) }); i >= 0 {
				if m.words++; m.at < 0 || places[i][0] < m.at {
					m.at = places[i][0]
				}
			}
		}
		switch b, ok := best[m.at]; {
		case m.words == 0:
		case !ok || m.words > b.words:
			best[m.at] = m
		case m.words == b.words:
			best[m.at] = mention{words: m.words, at: m.at}
		}
	}
	var out []mention
	for _, m := range best {
		if m.alias != "" {
			out = append(out, m)
		}
	}
	return out
}

func sameStem(word, part string) bool { return stem(word) == stem(part) }

// misspelt says that a word is a part of an alias but for one slip: invoces and invoices.
func misspelt(word, part string) bool {
	return sameStem(word, part) || len(word) >= 5 && len(part) >= 5 && nlq.EditDistance(word, part, 1) <= 1
}

// stem takes the plural off a word.
func stem(word string) string { return strings.TrimSuffix(strings.TrimSuffix(word, "s"), "e") }

// A learnedRule is what infer_rules tells of a rule.
type learnedRule struct {
	ID        string  `json:"id"`
	Sentence  string  `json:"sentence"`
	Covered   int     `json:"covered"`
	Precision float64 `json:"precision"`
	Share     float64 `json:"share"`
}

// surePrecision is from which a rule is used.
const surePrecision = 0.9

// inferenceStep learns rules and makes a recipe of the sure ones. Where the person asked
// for other rules, one more pair is asked about first.
func inferenceStep(req Request) Reply {
	result, at := lastResultOf(req.Messages, inferCall)
	if !offersTool(req, buildCall) || at < 0 {
		if _, asked := lastResultOf(req.Messages, proposeCall); at >= 0 && asked < at || at < 0 && asked < 0 && learnedBefore(req) {
			return callTools(proposeCall, "{}")
		}
		return callTools(inferCall, "{}")
	}
	var learned struct {
		Rules    []learnedRule `json:"rules"`
		Problems []string      `json:"problems"`
	}
	if json.Unmarshal([]byte(result.Text), &learned) != nil {
		return Reply{Text: "The rules are in the table above; they are too many for me to choose from. " + stronger, Stop: StopRefusal}
	}
	ids, text := []string{}, []string{}
	for _, r := range learned.Rules {
		if r.Precision >= surePrecision {
			ids = append(ids, r.ID)
			text = append(text, fmt.Sprintf("- %s It covers %d of the confirmed pairs and %.0f %% of the left rows; about %.0f %% of its matches are right.", endSentence(r.Sentence), r.Covered, 100*r.Share, 100*r.Precision))
		}
	}
	if len(ids) == 0 {
		text = append(text, "No single rule is sure enough; rows are matched by how much they have in common.")
	}
	for _, p := range learned.Problems {
		text = append(text, "- Please check: "+endSentence(p))
	}
	r := callTools(buildCall, encodeArguments(map[string]any{"rules": ids}))
	r.Text = "This is what the pairs teach:\n\n" + strings.Join(text, "\n")
	return r
}

// learnedBefore says that the history has rules that were learned from these rows and all
// pairs so far: to learn again would give the same rules.
func learnedBefore(req Request) bool {
	_, learned := lastResultOf(req.History, inferCall)
	_, asked := lastResultOf(req.History, proposeCall)
	_, loaded := lastResultOf(req.History, scopeCall)
	_, loadedNow := lastResultOf(req.Messages, scopeCall)
	return learned > asked && learned > loaded && loadedNow < 0
}

// validationStep checks the draft and runs it on the samples; the person decides on the card.
func validationStep(req Request) Reply {
	_, built := lastResultOf(req.Messages, buildCall)
	if _, ran := lastResultOf(req.Messages, sampleCall); ran > built {
		return Reply{Text: "The recipe stays as it is until you decide. Choose other rules, another scope or other sources, or say anything to see the outcome again.", Stop: StopQuestion}
	}
	checked, at := lastResultOf(req.Messages, validateCall)
	if at <= built {
		return callTools(validateCall, "{}")
	}
	var found struct {
		Findings struct {
			OK       bool `json:"ok"`
			Problems []struct{ Pointer, Message string }
		} `json:"findings"`
	}
	if json.Unmarshal([]byte(checked.Text), &found) == nil && !found.Findings.OK {
		text := "The recipe cannot run:"
		for _, p := range found.Findings.Problems {
			text += fmt.Sprintf("\n- %s: %s", p.Pointer, p.Message)
		}
		return Reply{Text: text, Stop: StopRefusal}
	}
	return callTools(sampleCall, "{}")
}

// goBack says how a person changes something after the run: by commands, which no model gives.
const goBack = "To change something, give one of the commands `other_rules`, `other_scope` or `other_sources`, the last of which starts over (in the terminal with a / before it). For questions about the data open a thread of the machine analyst."

// runStep runs the approved recipe once and says what came of it.
func runStep(req Request) Reply {
	result, at := lastResultOf(req.Messages, fullCall)
	if at < 0 {
		if _, before := lastResultOf(req.History, fullCall); before >= 0 {
			return Reply{Text: "The run is done; its evidence is among the files of this thread. " + goBack}
		}
		return callTools(fullCall, "{}")
	}
	var out struct {
		Note    string `json:"note"`
		Outcome struct {
			AmountMatched float64        `json:"amount_matched"`
			AmountOpen    float64        `json:"amount_open"`
			ByRule        map[string]int `json:"by_rule"`
		} `json:"outcome"`
	}
	if json.Unmarshal([]byte(result.Text), &out) != nil || out.Note == "" {
		return Reply{Text: "The run is done; its outcome is in the table above."}
	}
	text := out.Note
	if out.Outcome.AmountMatched != 0 || out.Outcome.AmountOpen != 0 {
		text += fmt.Sprintf("\n\nOf the left side %s are matched and %s are open.", nlq.FormatAmount(out.Outcome.AmountMatched), nlq.FormatAmount(out.Outcome.AmountOpen))
	}
	return Reply{Text: text}
}
