package nlq

import (
	"regexp"
	"slices"
	"strings"
)

// Purposes are what people need figures for: the noun at the heart of a tail that changes nothing.
const purposes = `meeting|meetings|board|presentation|report|reporting|slides?|deck|call|review|audit|auditors?|accountant|tax adviser|tax advisor|boss|manager|management|director|ceo|cfo|committee|investors?|bank|bookkeeping|planning|budget round|workshop|conference|colleagues?|team|email|mail|letter|newspaper|press|file|records|handover|talk|discussion|negotiations?`

// purposeTail is a tail of a message that says what the answer is for: I need it for the meeting with the haulier.
var purposeTail = regexp.MustCompile(`(?i)(?:^|[\s,.;!?–-]+)(?:(?:and |because |as |since )?(?:i|we)(?: will|'ll)?(?: really| urgently)? (?:need|want|require) (?:it|this|that|them|the (?:figures?|numbers?|list|data|info|information|answer|total))(?: urgently| quickly| soon| asap| today| tomorrow)?|it is|it's|this is|that's)?[\s,]*` +
	`\b(?:for|before|ahead of|to prepare|in preparation for) (?:(?:the|a|an|my|our|his|her|their|this|next|tomorrow's|today's|tonight's|monday's|tuesday's|wednesday's|thursday's|friday's) )?((?:[\p{L}-]+ ){0,2}?(?:` + purposes + `))((?: (?:with|on|at|about|tomorrow|today|tonight|next|this|later|in the|of the)\b[^.?!,]*)?)[\s.?!]*$`)

// reasonTail is a tail that says why or by when something is needed: we need it by Friday, because my boss asked.
var reasonTail = regexp.MustCompile(`(?i)[\s,.;!?–-]+(?:and )?(?:i|we)(?: really| urgently)? (?:need|want) (?:it|this|that|them|the (?:figures?|numbers?|list|data|answer)) ((?:because|so that|to|by (?:tomorrow|tonight|noon|monday|tuesday|wednesday|thursday|friday|the end of))\b[^?]*)()$`)

// dropPurpose leaves out a tail that says what the answer is for, unless the data know a word of it or it has a number.
func (x *Index) dropPurpose(text string) string {
	m := purposeTail.FindStringSubmatchIndex(text)
	if m == nil {
		m = reasonTail.FindStringSubmatchIndex(text)
	}
	if m == nil || len(strings.Fields(text[:m[0]])) < 2 { // the message is not all tail
		return text
	}
	for _, t := range tokenise(text[m[2]:m[3]] + " " + text[m[4]:m[5]]) {
		if known := x.vocabulary[t.lower] || x.vocabulary[t.lemma]; t.number || known && !harmlessWords[t.lower] && !grammar[t.lower] {
			return text
		}
	}
	return text[:m[0]] + "."
}

// maxSharedNames is how many people of one name are asked about.
const maxSharedNames = 5

// readSharedNames reads a single name of a person as the whole names in the data: the only one, or a question which of
// them is meant. In German every noun has a capital, so that a single one may be none.
func (u *understanding) readSharedNames() {
	for i := range u.ps {
		p := &u.ps[i]
		if p.role != pUnknown || p.to != p.from+1 || !u.toks[p.from].capital || i == 0 && u.last == nil {
			continue
		}
		people := u.x.people[normaliseValue(u.toks[p.from].text)]
		if len(people) == 0 || len(people) == 1 && u.german || len(people) > maxSharedNames || slices.ContainsFunc(people, func(v valueRef) bool { return v.column != people[0].column }) {
			continue
		}
		key, pick := "p"+p.text, 0
		if len(people) > 1 {
			c := choice{key: key, about: u.toks[p.from].text}
			for k, v := range people {
				c.options = append(c.options, option{k, v.value})
			}
			if chosen, done := u.choices[key]; done && chosen < len(people) {
				pick = chosen
			} else {
				u.open = append(u.open, c)
			}
		} else {
			u.notes = append(u.notes, Word{u.toks[p.from].text, "read as " + people[0].value})
		}
		p.role, p.vals = pName, people[pick:pick+1]
	}
}

// personValue is a value that looks like the name of a person: two or three words that begin with a capital.
var personValue = regexp.MustCompile(`^\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'.-]*)? \p{Lu}[\p{L}'-]+$`)

// learnPeople notes the single names of people in columns that hold names of people alone.
func (x *Index) learnPeople(values []ColumnValues) {
	x.people = map[string][]valueRef{}
	for _, cv := range values {
		c := x.findColumn(cv.Table, cv.Column)
		if c < 0 || len(cv.Values) > maxPeople || slices.ContainsFunc(cv.Values, func(v string) bool { return v != "" && !personValue.MatchString(v) }) {
			continue
		}
		for _, v := range cv.Values {
			words := strings.Fields(normaliseValue(v))
			if len(words) < 2 {
				continue
			}
			for _, w := range []string{words[0], words[len(words)-1]} {
				x.people[w] = append(x.people[w], valueRef{c, v})
			}
		}
	}
}

// maxPeople is how many names a column has at most whose people are called by one name.
const maxPeople = 500
