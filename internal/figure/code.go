package figure

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/schema"
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
	for _, m := range operand.FindAllStringSubmatch(string(text), -1) {
		number := strings.ReplaceAll(m[2]+m[3], "_", "")
		if v, err := strconv.ParseFloat(number, 64); err == nil && !schema.ChangesUnit(v) {
			out = appendNew(out, number)
		}
	}
	return out
}

func isUpperAt(s string, i int) bool { return s[i] >= 'A' && s[i] <= 'Z' }

func hasAnySuffix(s string, all ...string) bool {
	return slices.ContainsFunc(all, func(end string) bool { return strings.HasSuffix(s, end) })
}

func hasAnyPrefix(s string, all ...string) bool {
	return slices.ContainsFunc(all, func(begin string) bool { return strings.HasPrefix(s, begin) })
}
