package figure

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	codeTokens  = regexp.MustCompile(`(?s)""".*?(?:"""|$)|'''.*?(?:'''|$)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*`)
	codeNumbers = regexp.MustCompile(`\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?`)
)

// readCode finds the numbers that code, such as Python, states: it may print them without
// any data. Operands of comparisons and factors that convert units are none of them.
func readCode(code string) *program {
	text := []byte(code)
	for _, loc := range codeTokens.FindAllStringIndex(code, -1) {
		if code[loc[0]] == '#' {
			blank(text, loc[0], loc[1])
		}
	}
	bare := string(text)
	p := &program{known: true, isCode: true, readsData: true, factors: codeFactors(bare), text: plainName(strings.ToLower(code))}
	add := func(v float64, start, end int) {
		before, after := strings.TrimRight(bare[:start], " -+"), strings.TrimLeft(bare[end:], " ")
		compared := hasAnySuffix(before, "==", "<", ">", "<=", ">=", "!=") || hasAnyPrefix(after, "==", "<", ">", "!=")
		factor := slices.Contains(factors, v) && (hasAnySuffix(before, "*", "/") || hasAnyPrefix(after, "*", "/"))
		if !compared && !factor {
			p.values = append(p.values, v)
		}
	}
	for _, loc := range codeNumbers.FindAllStringIndex(bare, -1) {
		digits := strings.ReplaceAll(bare[loc[0]:loc[1]], "_", "")
		if len(strings.Trim(digits, ".")) < statedDigits || loc[0] > 0 && (letterAt(bare, loc[0]-1) || bare[loc[0]-1] == '_') {
			continue
		}
		if v, err := strconv.ParseFloat(digits, 64); err == nil {
			add(v, loc[0], loc[1])
		}
	}
	found, _ := scanBounded(bare)
	for _, m := range found { // written for people, such as 48,211.37 in a text
		for _, r := range m.readings {
			if r.digits >= statedDigits {
				add(r.value, m.start, m.end)
			}
		}
	}
	return p
}

// operand is a number beside a sign of arithmetic, with what stands before the sign. A star
// twice is a power; a number behind a comma or a bracket only has a sign.
var operand = regexp.MustCompile(`([\w)\]]\s*(?:\*\*?|//?|%|\+|-)=?\s*)(\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b|(?:^|[^\w.])(\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(?:\*|/|\+|-)\s*[\w(]`)

// codeFactors lists the numbers that code computes with, beside those that change a unit.
// Texts do not count.
func codeFactors(code string) []string {
	text := []byte(code)
	for _, loc := range codeTokens.FindAllStringIndex(code, -1) {
		blank(text, loc[0], loc[1])
	}
	var out []string
	for _, loc := range operand.FindAllSubmatchIndex(text, -1) {
		start, end := max(loc[4], loc[6]), max(loc[5], loc[7])
		number := strings.ReplaceAll(string(text[start:end]), "_", "")
		before := ""
		if loc[2] >= 0 {
			before = lastSign(strings.TrimRight(string(text[loc[2]:loc[3]]), "= \t\n"))
		}
		after := strings.TrimLeft(string(text[end:min(len(text), end+maxBlanks)]), " \t")
		// A step of one is how code counts.
		if v, err := strconv.ParseFloat(number, 64); err == nil && v != 1 && !isHarmless(v, before, after[:min(1, len(after))]) {
			out = appendNew(out, number)
		}
	}
	return out
}

// maxBlanks bounds how far behind a number a sign is looked for.
const maxBlanks = 20

func lastSign(text string) string { return text[max(0, len(text)-1):] }

func isUpperAt(s string, i int) bool { return s[i] >= 'A' && s[i] <= 'Z' }

func hasAnySuffix(s string, all ...string) bool {
	return slices.ContainsFunc(all, func(end string) bool { return strings.HasSuffix(s, end) })
}

func hasAnyPrefix(s string, all ...string) bool {
	return slices.ContainsFunc(all, func(begin string) bool { return strings.HasPrefix(s, begin) })
}
