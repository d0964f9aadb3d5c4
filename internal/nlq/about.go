package nlq

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/schema"
)

// A topic is what a message is about that asks nothing of the rows.
type topic int

const (
	noTopic   topic = iota
	greeting        // hello
	thanks          // thank you
	canAsk          // what can I ask?
	whatData        // which tables are there?
	whatMeans       // what does this term mean?
)

// aboutPatterns are whole messages that ask nothing of the rows, in English and German. They are words of
// conversation, none of any particular data.
var aboutPatterns = []struct {
	topic  topic
	german bool
	text   *regexp.Regexp
}{
	{greeting, false, wholeMessage(`(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings)(?: (?:there|all|everyone|everybody|you))?`)},
	{greeting, true, wholeMessage(`(?:hallo|guten (?:tag|morgen|abend)|moin|servus|grüezi|grüß gott|grüß dich)(?: (?:zusammen|du|alle))?`)},
	{thanks, false, wholeMessage(`(?:ok(?:ay)?,? |great,? |perfect,? |many |good,? )?(?:thanks|thank you|thx|cheers|ty)(?: (?:a lot|so much|very much|again|for (?:that|this|your help|the help)))?|bye|goodbye|great|perfect|well done|nice`)},
	{thanks, true, wholeMessage(`(?:ok(?:ay)?,? |super,? |prima,? |vielen |besten |herzlichen )?(?:dank|danke|dankeschön)(?: (?:sehr|schön|dir|ihnen|vielmals))?|tschüss|auf wiedersehen|super|prima`)},
	{canAsk, false, wholeMessage(`help(?: me)?(?: please)?|(?:so )?what (?:else )?(?:can|could|should|may|do) (?:i|we|you) (?:ask|do|know|answer|query)(?: you| here| about| for me| of you)*|(?:what|which) (?:kinds? of |sorts? of )?questions (?:can|could|should|may) i ask(?: you| here)?|how (?:does|do) (?:this|it|i) (?:work|use (?:this|it)|begin|start)|(?:give me|show me|any) (?:some )?(?:examples?|example questions|ideas)|who are you|what are you`)},
	{canAsk, true, wholeMessage(`hilfe|hilf mir(?: bitte)?|was (?:alles )?(?:kann|könnte|soll|darf) ich (?:dich |sie |hier )*(?:alles )?fragen|was (?:kannst|weißt) du(?: alles)?|was können sie|welche fragen (?:kann|darf) ich (?:dir |ihnen |hier )?stellen|wie (?:funktioniert|geht) (?:das|es|dies)(?: hier)?|(?:gib|zeig)e? mir (?:ein paar )?beispiele|wer bist du`)},
	{whatData, false, wholeMessage(`(?:what|which) (?:are the )?(?:tables?|data|datasets?|files?|sources?)(?: and (?:columns|tables))?(?: (?:do|does|can|are|is|have|has|in|you|we|i|the|this|it|your|database|dataset|data|see|use|know|got|get|contain|exist|available|there|here|about))*|(?:list|show|describe|explain)(?: me)?(?: all)?(?: (?:the|your|my|this|our))? (?:tables|data|dataset|database|schema|datasets)|what(?: is|'s) in (?:the|this|your|my|our) (?:data|dataset|database|file|files)|what do you know about|tables`)},
	{whatData, true, wholeMessage(`(?:welche|was für|was) (?:tabellen?|daten|dateien|datensätze|quellen)(?: (?:gibt|es|hast|habt|haben|du|ihr|wir|sie|sind|kennst|enthält|der|die|das|datensatz|vorhanden|da|hier|denn))*|(?:zeig|zeige|liste|nenne|beschreibe)(?: mir)?(?: alle)?(?: (?:die|deine|meine|unsere))? (?:tabellen|daten|datensätze)(?: auf)?|was (?:ist|steht|steckt) in (?:den|diesen|meinen|unseren) daten|tabellen`)},
}

// meansPatterns ask what a term means; the term is the first group that is not empty.
var meansPatterns = []struct {
	german bool
	text   *regexp.Regexp
}{
	{false, wholeMessage(`(?:what|whats) (?:does|do|did) (.+?) mean(?: here| for us| in (?:this|the|our) data)?|what (?:exactly )?(?:counts|count|is counted) as (.+)|what(?: is|'s) meant by (.+)|how (?:is|are) (.+?) (?:defined|computed|calculated)(?: here)?|how do (?:you|we) (?:define|compute|calculate) (.+)|(?:define|explain) (.+)|(?:what(?: is|'s) )?the (?:definition|meaning) of (.+)|what(?: is|'s|s) an? (.+)`)},
	{true, wholeMessage(`was (?:bedeutet|bedeuten|heißt|heißen|meint) (?:hier )?(.+?)(?: hier)?|was zählt als (.+)|wie (?:ist|wird|sind|werden) (.+?) (?:definiert|berechnet)|was ist mit (.+?) gemeint|was ist eine? (.+)`)},
}

// termAsked is the term of the glossary or the semantic model that a message asks the meaning of, with what is written.
func (x *Index) termAsked(text string) (name, means string) {
	for _, p := range meansPatterns {
		m := p.text.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		asked := strings.Trim(strings.Join(m[1:], ""), ` "'“”„`)
		key := defineKey(articleForm.ReplaceAllString(asked, ""))
		for _, name := range slices.Sorted(maps.Keys(x.meanings)) {
			if defineKey(name) == key {
				return name, x.meanings[name]
			}
		}
		if x.schema.Meaning == nil {
			continue
		}
		for _, metric := range x.schema.Meaning.Metrics {
			if slices.ContainsFunc(append([]string{metric.Name}, metric.Synonyms...), func(n string) bool { return defineKey(n) == key }) {
				return strings.ReplaceAll(metric.Name, "_", " "), metric.Definition()
			}
		}
	}
	return "", ""
}

// asksNothing reports whether a message asks nothing of the rows of this data.
func (x *Index) asksNothing(text string) bool {
	t, _ := readTopic(text)
	if t == whatMeans {
		name, _ := x.termAsked(text)
		return name != ""
	}
	return t != noTopic
}

// meaningText says what a term means, word for word, and whether it is computed.
func (x *Index) meaningText(name, means string, german bool) string {
	means = strings.TrimSuffix(strings.TrimSpace(means), ".")
	text := fmt.Sprintf("By your glossary, %s means: %s.", name, means)
	if german {
		text = fmt.Sprintf("Nach Ihrem Glossar bedeutet %s: %s.", name, means)
	}
	if unread := x.unread[name]; unread != "" && slices.Contains(x.undefined, name) {
		if german {
			return text + fmt.Sprintf(" Berechnen kann ich das nicht: „%s“ lese ich nicht.", unread)
		}
		return text + fmt.Sprintf(" I cannot compute it, as I do not read %q.", unread)
	}
	return text
}

func wholeMessage(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*(?:(?:please|bitte|and|und|so|ok(?:ay)?)[ ,]+)?(?:` + pattern + `)(?:[ ,]+(?:please|bitte))?\s*[.!?…:)]*\s*$`)
}

// readTopic says what a message is about that asks nothing of the rows, and whether it is in German.
func readTopic(text string) (topic, bool) {
	for _, p := range aboutPatterns {
		if p.text.MatchString(text) {
			return p.topic, p.german
		}
	}
	for _, p := range meansPatterns {
		if p.text.MatchString(text) {
			return whatMeans, p.german
		}
	}
	return noTopic, false
}

// AsksAboutData reports whether a message asks nothing of the rows, as a greeting does.
func AsksAboutData(text string) bool {
	t, _ := readTopic(text)
	return t != noTopic
}

// AnswersWithSchema reports whether the answer to such a message names the tables.
func AnswersWithSchema(text string) bool {
	t, _ := readTopic(text)
	return t != noTopic && t != thanks
}

// AnswerAboutDatasets answers such a message where no dataset is chosen yet.
func AnswerAboutDatasets(text string, list []*Index) string {
	t, german := readTopic(text)
	switch t {
	case thanks:
		return thanksText(german)
	case whatMeans:
		for _, x := range list {
			if said, ok := x.AnswerAboutData(text); ok {
				return said
			}
		}
		return ""
	}
	head, tail := "There are these datasets:\n", "\n\nChoose one and ask about it."
	if german {
		head, tail = "Es gibt diese Datensätze:\n", "\n\nWählen Sie einen und fragen Sie danach."
	}
	for _, x := range list {
		d := x.schema
		var tables []string
		for _, t := range d.Tables[:min(len(d.Tables), maxTablesSaid)] {
			tables = append(tables, t.Name)
		}
		head += fmt.Sprintf("\n- %s: %s", datasetName(d), strings.Join(tables, ", "))
	}
	return head + tail
}

func thanksText(german bool) string {
	if german {
		return "Gern. Fragen Sie weiter, wenn Sie noch etwas wissen möchten."
	}
	return "You are welcome. Ask on if there is more you want to know."
}

// maxExamples is how many questions an answer about the data suggests.
const maxExamples = 5

// AnswerAboutData answers a message that asks nothing of the rows: a greeting, thanks, what can be asked,
// which tables there are. A message about a thing that the data itself calls by such a word is a question.
func (x *Index) AnswerAboutData(text string) (answer string, ok bool) {
	t, german := readTopic(text)
	if name, means := x.termAsked(text); name != "" {
		return x.meaningText(name, means, german), true
	}
	switch {
	case t == noTopic, t == whatMeans, t == whatData && x.namesAre("table", "file", "source", "tabelle"):
		return "", false
	case t == whatData:
		return dataText(x.schema, german) + x.exampleText(german), true
	case t == thanks:
		return thanksText(german), true
	}
	lead := "I answer questions about this data with queries, and show the query with each answer: how many, how much, the average, the highest, per month, by group, only some. Then go on from an answer with \"and by month?\" or \"only last year\"."
	hello := "Hello. "
	if german {
		lead = "Ich beantworte Fragen zu diesen Daten mit Abfragen und zeige zu jeder Antwort die Abfrage: wie viele, wie viel, der Durchschnitt, das Höchste, pro Monat, nach Gruppe, nur einige. Danach geht es weiter mit \"und pro Monat?\" oder \"nur letztes Jahr\"."
		hello = "Hallo. "
	}
	if t == greeting {
		lead = hello + lead
	}
	return lead + "\n\n" + dataText(x.schema, german) + x.exampleText(german), true
}

// namesAre reports whether a table of the data is called by one of the words.
func (x *Index) namesAre(words ...string) bool {
	return slices.ContainsFunc(x.tables, func(t table) bool {
		return slices.ContainsFunc(t.words, func(w string) bool { return slices.Contains(words, lemma(w)) })
	})
}

// exampleText suggests questions that the planner answers.
func (x *Index) exampleText(german bool) string {
	list := x.Starters(nil, maxExamples)
	if len(list) == 0 {
		return ""
	}
	text := "\n\nYou can ask, for example:\n"
	if german {
		text = "\n\nFragen Sie zum Beispiel:\n"
	}
	for _, s := range list {
		if !strings.ContainsAny(s.Question, "0123456789") { // a figure of an answer needs an origin
			text += "\n- " + s.Question
		}
	}
	return text
}

// Bounds of what is said of datasets in words.
const (
	maxTablesSaid  = 30
	maxColumnsSaid = 12
)

// dataText says which tables a dataset has, with their rows and columns.
func dataText(d schema.Dataset, german bool) string {
	head, rows := "The data of %s has these tables:\n", "rows"
	if german {
		head, rows = "Die Daten von %s haben diese Tabellen:\n", "Zeilen"
	}
	var b strings.Builder
	fmt.Fprintf(&b, head, datasetName(d))
	for _, t := range d.Tables[:min(len(d.Tables), maxTablesSaid)] {
		b.WriteString("\n- " + t.Name)
		if t.Rows >= 0 {
			fmt.Fprintf(&b, " (%s %s)", formatMeasure(t.Rows), rows)
		}
		var columns []string
		for _, c := range t.Columns[:min(len(t.Columns), maxColumnsSaid)] {
			columns = append(columns, c.Name)
		}
		b.WriteString(": " + strings.Join(columns, ", "))
		if len(t.Columns) > maxColumnsSaid {
			b.WriteString(", …")
		}
	}
	if len(d.Tables) > maxTablesSaid {
		b.WriteString("\n- …")
	}
	return b.String()
}

func datasetName(d schema.Dataset) string { return cmp.Or(d.Name, d.ID) }
