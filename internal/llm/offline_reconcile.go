package llm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
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
func reconcileStep(req Request) Reply {
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
		return scopeStep(req)
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

// sourcesStep previews the two sources that the person names.
func sourcesStep(req Request) Reply {
	var sources []namedSource
	for _, line := range promptSection(req.System, "Sources") {
		var s namedSource
		if json.Unmarshal([]byte(line), &s) == nil && s.Alias != "" {
			sources = append(sources, s)
		}
	}
	question, _ := findQuestion(req.Messages)
	chosen := namedIn(question, sources)
	if len(chosen) != 2 {
		var list []string
		for _, s := range sources {
			list = append(list, fmt.Sprintf("- %s (%s)", s.Alias, rowCount(s.RowCount)))
		}
		if len(list) < 2 {
			return Reply{Text: "A reconciliation needs two sources, and there are fewer. Add files or connect a database first.", Stop: StopRefusal}
		}
		return Reply{Text: "Which two sources should agree? Name both, the left one first:\n\n" + strings.Join(list, "\n"), Stop: StopQuestion}
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
	text = strings.ToLower(text)
	var all []mention
	for _, s := range sources {
		if alias := strings.ToLower(s.Alias); strings.Contains(text, alias) {
			all = append(all, mention{s.Alias, 0, strings.Index(text, alias)})
			text = strings.ReplaceAll(text, alias, strings.Repeat(" ", len(alias)))
		}
	}
	all = append(all, mentionsByWords(text, sources)...)
	if len(all) == 0 && len(sources) == 2 {
		return []string{sources[0].Alias, sources[1].Alias}
	}
	slices.SortFunc(all, func(a, b mention) int { return a.at - b.at })
	var out []string
	for _, m := range all {
		if !slices.Contains(out, m.alias) {
			out = append(out, m.alias)
		}
	}
	return out
}

// mentionsByWords finds sources by words of their aliases. Where several share the word
// that names them, the one with more of its words wins; of equals nobody knows which.
func mentionsByWords(text string, sources []namedSource) []mention {
	best := map[int]mention{}
	places := wordInText.FindAllStringIndex(text, -1)
	for _, s := range sources {
		m := mention{alias: s.Alias, at: -1}
		for _, part := range wordInText.FindAllString(strings.ToLower(strings.ReplaceAll(s.Alias, "_", " ")), -1) {
			if i := slices.IndexFunc(places, func(p []int) bool { return stem(text[p[0]:p[1]]) == stem(part) }); i >= 0 {
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

// stem takes the plural off a word.
func stem(word string) string { return strings.TrimSuffix(strings.TrimSuffix(word, "s"), "e") }

// scopeStep loads both sides, with the limits that the person wrote as comparisons.
func scopeStep(req Request) Reply {
	aliases := enumOf(req, scopeCall, "alias")
	if len(aliases) != 2 {
		return Reply{Text: "I do not know which two sources to load. " + stronger, Stop: StopRefusal}
	}
	for _, m := range req.Messages {
		var loaded struct {
			Alias     string `json:"alias"`
			TotalRows *int   `json:"total_rows"`
		}
		if m.Role == ToolRole && m.Name == scopeCall && !m.Failed && json.Unmarshal([]byte(m.Text), &loaded) == nil && loaded.TotalRows != nil && *loaded.TotalRows == 0 {
			return Reply{Text: fmt.Sprintf("%s has no rows under these limits. Name others, such as `amount > 100`.", loaded.Alias), Stop: StopQuestion}
		}
	}
	question, _ := findQuestion(req.Messages)
	var args []string
	for i, title := range []string{"Left source", "Right source"} {
		args = append(args, encodeArguments(map[string]any{"alias": aliases[i], "conditions": writtenConditions(question, aliases[i], promptSection(req.System, title))}))
	}
	return callTools(scopeCall, args...)
}

// enumOf lists the values that an argument of an offered tool may have.
func enumOf(req Request, tool, argument string) []string {
	i := slices.IndexFunc(req.Tools, func(t Tool) bool { return t.Name == tool })
	if i < 0 {
		return nil
	}
	var s struct {
		Properties map[string]struct {
			Enum []string `json:"enum"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(req.Tools[i].Schema, &s) // a schema without it offers none
	return s.Properties[argument].Enum
}

var writtenCondition = regexp.MustCompile(`(?:([\pL\pN_]+)\.)?([\pL\pN_]+)\s*(>=|<=|!=|<>|=|<|>)\s*('[^']*'|"[^"]*"|[^\s,;]+)`)

var conditionOps = map[string]string{">=": "gte", "<=": "lte", "!=": "neq", "<>": "neq", "=": "eq", "<": "lt", ">": "gt"}

// writtenConditions reads comparisons such as `invoices.issued >= 2025-10-01` out of a
// text: those of columns that the source has, unless they name another source.
func writtenConditions(text, alias string, described []string) []map[string]any {
	var s struct {
		Columns []struct {
			Name string `json:"name"`
		} `json:"columns"`
	}
	_ = json.Unmarshal([]byte(strings.Join(described, "\n")), &s) // without columns nothing fits
	out := []map[string]any{}
	for _, m := range writtenCondition.FindAllStringSubmatch(text, -1) {
		for _, c := range s.Columns {
			if strings.EqualFold(c.Name, m[2]) && (m[1] == "" || strings.EqualFold(m[1], alias)) {
				value := any(strings.Trim(m[4], `'"`))
				if number := json.Number(m[4]); json.Valid([]byte(m[4])) && m[4][0] != '"' {
					value = number
				}
				out = append(out, map[string]any{"column": c.Name, "op": conditionOps[m[3]], "value": value})
			}
		}
	}
	return out
}

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
		if _, asked := lastResultOf(req.Messages, proposeCall); at >= 0 && asked < at {
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

// runStep runs the approved recipe once and says what came of it.
func runStep(req Request) Reply {
	result, at := lastResultOf(req.Messages, fullCall)
	if at < 0 {
		if _, before := lastResultOf(req.History, fullCall); before >= 0 {
			return Reply{Text: "The run is done; its evidence is among the files of this thread. Go back with one of the commands to change rules, scope or sources."}
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
		text += fmt.Sprintf("\n\nOf the left side %.2f are matched and %.2f are open.", out.Outcome.AmountMatched, out.Outcome.AmountOpen)
	}
	return Reply{Text: text}
}
