package recon

import (
	"fmt"
	"slices"
	"strings"
)

// levelWords say what the levels of each kind mean, of two values that are named before.
var levelWords = map[Kind]map[string]string{
	Text: {
		"different": "differ", "vague": "are hardly alike", "similar": "are somewhat alike", "overlap": "have words in common", "close": "are close",
		"prefix": "begin alike", "near": "are nearly equal", "joined": "are equal but for spaces", "equal": "are equal",
	},
	Words: {"equal": "are equal"},
	Reference: {
		"different": "have no number in common", "edited": "differ in one character", "truncated": "are equal but for the end", "contained": "overlap: one is part of the other",
		"number": "have a number in common", "quoted": "hold the same code, one among other text", "equal": "are equal",
	},
	Number: {
		"different": "differ by more than 35 %", "35%": "differ by up to 35 %", "20%": "differ by up to 20 %", "10%": "differ by up to 10 %", "3%": "differ by up to 3 %",
		"1%": "differ by up to 1 %", "transposed": "have the same digits in another order", "cent": "differ by a cent", "equal": "are equal",
	},
	Date: {typoLevel: "differ by a slip of the pen"},
}

// levelMissing is the level of a comparison in which a row has no value.
const levelMissing = "missing"

// levelInWords says what a level of a kind means.
func (k Kind) levelInWords(level string) string {
	if level == levelMissing {
		return "cannot be compared, because one is empty"
	}
	if words := levelWords[k][level]; words != "" {
		return words
	}
	if k == Words {
		var n int
		_, _ = fmt.Sscanf(level, "%d/16", &n) // the levels are of this package
		return [...]string{"have hardly any words in common", "have few words in common", "have some words in common", "have most words in common"}[min(n/4, 3)]
	}
	for _, b := range lagBins {
		if b.name == level {
			return b.inWords()
		}
	}
	return level
}

// inWords says where the right date lies.
func (b lagBin) inWords() string {
	switch {
	case b.from == 0 && b.to == 0:
		return "are the same day"
	case b.from == -farDays:
		return fmt.Sprintf("are more than %d days apart, the right one first", -b.to-1)
	case b.to == farDays:
		return fmt.Sprintf("are more than %d days apart, the left one first", b.from-1)
	}
	near, far, first := b.from, b.to, "left"
	if b.from < 0 {
		near, far, first = -b.to, -b.from, "right"
	}
	days := fmt.Sprintf("%d to %d days", near, far)
	if near == far {
		days = strings.TrimSuffix(fmt.Sprintf("%d days", near), map[bool]string{true: "s"}[near == 1])
	}
	return fmt.Sprintf("are %s apart, the %s one first", days, first)
}

// subject names the two values of a comparison at the beginning of a sentence.
func (c Comparison) subject() string {
	switch {
	case c.allText():
		return "all texts"
	case slices.Equal(c.Left, c.Right):
		return "both " + sideName(c.Left)
	}
	return sideName(c.Left) + " and " + sideName(c.Right)
}

// levelWordsSQL says what the level that a column names means.
func (k Kind) levelWordsSQL(column string) string {
	var b strings.Builder
	b.WriteString("CASE " + column)
	for _, level := range append([]string{levelMissing}, k.Levels()...) {
		fmt.Fprintf(&b, " WHEN %s THEN %s", text(level), text(k.levelInWords(level)))
	}
	return b.String() + " ELSE " + column + " END"
}

// levelSentenceSQL says what a level means, as a sentence about the two values.
func (c Comparison) levelSentenceSQL(g string) string {
	words := []string{c.subject() + " " + c.As.levelInWords(levelMissing)}
	for _, level := range c.As.Levels() {
		words = append(words, c.subject()+" "+c.As.levelInWords(level))
	}
	return fmt.Sprintf("[%s][%s + 2]", each(words, ", ", func(_ int, w string) string { return text(w) }), g)
}
