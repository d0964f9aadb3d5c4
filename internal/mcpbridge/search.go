package mcpbridge

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"

	"interlock/internal/tool"
)

// Search implements the search of tools: see the function Search.
func (b *Bridge) Search(tools []tool.Found, query string, limit int) []tool.Found {
	return Search(tools, query, limit)
}

// Search returns the tools that fit a few words, the best first, at most limit. A word
// counts by how rare it is among the tools, and more in a name than in a description.
func Search(tools []tool.Found, query string, limit int) []tool.Found {
	docs := make([]map[string]float64, len(tools))
	in := map[string]int{} // word -> tools that have it
	for i, t := range tools {
		docs[i] = toolWords(t)
		for w := range docs[i] {
			in[w]++
		}
	}
	type hit struct {
		at    int
		score float64
	}
	var hits []hit
	for i, doc := range docs {
		score := 0.0
		for _, w := range splitWords(query) {
			if weight := doc[w]; weight > 0 {
				score += weight * math.Log(1+float64(len(tools))/float64(in[w]))
			}
		}
		if score > 0 {
			hits = append(hits, hit{i, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	out := make([]tool.Found, 0, min(limit, len(hits)))
	for _, h := range hits[:min(limit, len(hits))] {
		out = append(out, tools[h.at])
	}
	return out
}

// toolWords returns the words by which a tool is found, with their weights.
func toolWords(t tool.Found) map[string]float64 {
	words := map[string]float64{}
	add := func(text string, weight float64) {
		for _, w := range splitWords(text) {
			words[w] = max(words[w], weight)
		}
	}
	add(t.Name, 3)
	add(t.Description, 1)
	var schema struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	if json.Unmarshal(t.Schema, &schema) == nil {
		for name, p := range schema.Properties {
			add(name, 1)
			add(p.Description, 0.5)
		}
	}
	return words
}

// splitWords returns the words of a text in lower case without their endings; a name such
// as getOpenInvoices is three words.
func splitWords(text string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if w := stem(strings.ToLower(b.String())); len(w) > 1 && !slices.Contains(stopWords, w) && !slices.Contains(out, w) {
			out = append(out, w)
		}
		b.Reset()
	}
	lower := false
	for _, r := range text {
		switch {
		case unicode.IsUpper(r) && lower:
			flush()
			fallthrough
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		default:
			flush()
		}
		lower = unicode.IsLower(r)
	}
	flush()
	return out
}

var stopWords = []string{"the", "of", "to", "and", "or", "in", "on", "for", "an", "is", "it", "by", "with", "from", "that", "this", "tool", "me", "my"}

// stem takes common English endings off a word.
func stem(w string) string {
	for _, end := range []string{"ing", "ies", "es", "ed", "s"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) >= 3 {
			if end == "ies" {
				return rest + "y"
			}
			return strings.TrimSuffix(rest, "e")
		}
	}
	return strings.TrimSuffix(w, "e")
}
