package figure

import (
	"slices"

	"interlock/internal/schema"
)

// isOperand says that a number stands beside a sign of arithmetic, or is what a CASE gives.
func (r *statementReader) isOperand(i int) bool {
	return isSign(r.text(i-1)) || isSign(r.text(i+1)) || r.text(i-1) == "then" || r.text(i-1) == "else"
}

func isSign(text string) bool { return isScale(text) || text == "+" || text == "-" }

func isScale(text string) bool { return text == "*" || text == "/" || text == "%" }

// computed lists the numbers with which an item computes, beside those that change nothing
// but a unit.
func computed(item []sqlToken) []string {
	text := func(i int) string {
		if i < 0 || i >= len(item) {
			return ""
		}
		return item[i].text
	}
	var out []string
	for i, t := range item {
		v, ok := t.number()
		if !ok || !t.isNumber() {
			continue
		}
		before, after := text(i-1), text(i+1)
		if isSign(before) && (i < 2 || !endsOperand(item[i-2])) {
			before = "" // its own sign
		}
		if (isSign(before) || isSign(after)) && !isHarmless(v, before, after) {
			out = appendNew(out, t.text)
		}
	}
	return out
}

// endsOperand says that a sign behind a token joins it with what follows.
func endsOperand(t sqlToken) bool {
	return t.text == ")" || t.text == "]" || t.isNumber() || t.isText() || t.isWord() && !slices.Contains(constantWords, t.text)
}

// isHarmless says that a number between two signs changes a unit at most, or is the whole
// that a share is taken from.
func isHarmless(v float64, before, after string) bool {
	if isScale(before) || isScale(after) {
		return schema.ChangesUnit(v)
	}
	return v == 0 || schema.IsWhole(v) && !isSign(before) && after == "-"
}
