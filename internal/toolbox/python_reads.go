package toolbox

import (
	"regexp"
	"slices"
	"strings"
)

var (
	codeTexts   = regexp.MustCompile(`(?s)#[^\n]*|[a-zA-Z]{0,2}(?:""".*?(?:"""|$)|'''.*?(?:'''|$)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')`)
	inBraces    = regexp.MustCompile(`\{([^{}]*)\}`)
	codeWords   = regexp.MustCompile(`[\p{L}_][\p{L}\p{N}_]*`)
	readsInText = regexp.MustCompile(`(?i)\b(?:from|join)\s+"?([\p{L}_][\p{L}\p{N}_]*)`)
)

// TablesInCode lists the tables that Python names, of those that it is handed: by a name, by
// a text that is the name, or in the SQL of a text. Comments and other texts do not count, so
// that code which only speaks of a table reads none.
func TablesInCode(code string, tables []string) []string {
	named := map[string]bool{}
	nameWords := func(text string) {
		for _, w := range codeWords.FindAllString(text, -1) {
			named[w] = true
		}
	}
	last := 0
	for _, loc := range codeTexts.FindAllStringIndex(code, -1) {
		nameWords(code[last:loc[0]])
		last = loc[1]
		text := code[loc[0]:loc[1]]
		if text[0] == '#' {
			continue
		}
		i := strings.IndexAny(text, `"'`)
		prefix, content := strings.ToLower(text[:i]), strings.Trim(text[i:], text[i:i+1])
		named[content] = true
		for _, m := range readsInText.FindAllStringSubmatch(content, -1) {
			named[m[1]] = true
		}
		if strings.Contains(prefix, "f") {
			for _, m := range inBraces.FindAllStringSubmatch(content, -1) {
				nameWords(m[1])
			}
		}
	}
	nameWords(code[last:])
	out := []string{}
	for _, t := range tables {
		if named[t] && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}
