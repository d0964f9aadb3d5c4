package nlq

import (
	"regexp"
	"strings"
)

var (
	betweenQuestions = regexp.MustCompile(`(?i)[?!;]+\s+|\.\s+|,?\s+(?:and|und|sowie|as well as|plus)\s+(?:also\s+|auch\s+)?`)
	// askingWords begin a question after an "and" as well; helping verbs do so only in a sentence of their own, since
	// "which orders were paid and did not ship" is one question.
	askingWords  = regexp.MustCompile(`(?i)^(?:(?:by|for|from|in|of|on|since|to|until|with|within|ab|an|aus|bei|bis|für|in|innerhalb|mit|nach|seit|von|zu)\s+)?(?:how|what|which|who|whom|whose|when|where|why|wie|was|wer|wen|wem|wessen|wo|wann|warum|wieso|wofür|woher|wohin|welche[mnrs]?)\b`)
	helpingWords = regexp.MustCompile(`(?i)^(?:is|are|was|were|do|does|did|may|can|could|must|should|will|has|have|darf|dürfen|kann|können|muss|müssen|soll|sollen|gibt|ist|sind|hat|haben|wird|werden|show|list|give|count|zeige|liste|nenne)\b`)
	backWords    = regexp.MustCompile(`(?i)\b(?:it|its|they|them|their|theirs|those|these|that one|such|er|ihn|ihm|sie|ihre[mnrs]?|ihnen|deren|dessen|davon|daran)\b`)
)

// shortestQuestion is how many words a question has that stands by itself.
const shortestQuestion = 3

// Questions gives the questions that a text asks one after the other, each standing by itself: "How many orders are
// there, and how long may goods be returned?" is two. A text that is one question is returned as it is.
func Questions(text string) []string {
	var out []string
	begin := 0
	for _, at := range betweenQuestions.FindAllStringIndex(text, -1) {
		between, rest := strings.TrimSpace(text[at[0]:at[1]]), text[at[1]:]
		joined := strings.Trim(between, ",?!;.") != "" // by a word
		if askingWords.MatchString(rest) || !joined && helpingWords.MatchString(rest) {
			out = append(out, strings.TrimSpace(text[begin:at[0]]))
			begin = at[1]
		}
	}
	out = append(out, strings.TrimSpace(text[begin:]))
	for i, question := range out {
		if len(strings.Fields(question)) < shortestQuestion || i > 0 && backWords.MatchString(question) {
			return []string{text}
		}
	}
	if len(out) == 1 {
		return []string{text}
	}
	for i, question := range out {
		out[i] = strings.TrimRight(question, "?!;., ") + "?"
	}
	return out
}
