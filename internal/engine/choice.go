package engine

import (
	"cmp"
	"strconv"
	"strings"

	"interlock/internal/event"
)

// YesAndNo holds the words that people say for the keys y and n.
var YesAndNo = map[string]string{"yes": "y", "yeah": "y", "yep": "y", "ja": "y", "no": "n", "nope": "n", "nein": "n"}

// ParseChoice reads "2 because of the date" or "yes, that is a match": an answer to a card by
// number, key, name or label, and a note. An answer that has fields cannot be given so.
func ParseChoice(card event.CardRaised, line string) (CardAnswer, bool) {
	word, note, _ := strings.Cut(strings.TrimSpace(line), " ")
	word = strings.Trim(word, ",.;:!)")
	key := cmp.Or(YesAndNo[strings.ToLower(word)], word)
	for i, a := range card.Answers {
		if strings.EqualFold(strings.Trim(line, " .!"), a.Label) {
			word, note = a.Name, ""
		}
		if word == strconv.Itoa(i+1) || strings.EqualFold(word, a.Name) || (a.Key != "" && strings.EqualFold(key, a.Key)) {
			if len(a.Fields) > 0 {
				return CardAnswer{}, false
			}
			return CardAnswer{Card: card.Card, Answer: a.Name, Note: strings.TrimSpace(note)}, true
		}
	}
	return CardAnswer{}, false
}
