package nlq

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// follows are the beginnings of a question that needs the one before.
var follows = regexp.MustCompile(`(?i)^\s*(and|what about|how about|same|only|just|but|also|now|then|instead|broken down|split|by|per|for|in)\b[\s,]*(for|in|the same for|what about|how about|show|only)?\b\s*`)

// rephrase replaces terms of the glossary by what they stand for, and completes a
// question that needs the one before. It notes what it did.
func (x *Index) rephrase(q Question, now time.Time) (string, []Word) {
	text, notes := x.explainTerms(q.Text)
	if len(q.History) == 0 || !follows.MatchString(text) || len(strings.Fields(text)) > 8 {
		return text, notes
	}
	before := q.History[len(q.History)-1].Text
	if len(q.History) > 1 {
		before, _ = x.rephrase(Question{Text: before, History: q.History[:len(q.History)-1]}, now)
	}
	full := x.mergeFollowUp(before, text, now)
	return full, append(notes, Word{q.Text, fmt.Sprintf("together with the question before: %s", full)})
}

// mergeFollowUp puts a follow-up into the question before it: a value takes the place of
// another value of the same column, a period that of a period, a measure that of a
// measure; anything else is added.
func (x *Index) mergeFollowUp(before, text string, now time.Time) string {
	rest := strings.TrimSpace(strings.TrimRight(follows.ReplaceAllString(text, ""), " ?.!"))
	old := newReader(x, before, now)
	add := newReader(x, rest, now)
	base := strings.TrimRight(strings.TrimSpace(before), " ?.!")
	replace := func(o, n *chunk) string {
		return replaceOnce(base, old.chunkSource(o), add.chunkSource(n))
	}
	for i := range add.chunks {
		n := &add.chunks[i]
		for k := range old.chunks {
			o := &old.chunks[k]
			switch {
			case n.role == rMention && n.isValue && o.role == rMention && o.isValue && shareColumn(n.mention, o.mention),
				n.role == rPeriod && (o.role == rPeriod || o.role == rNumber && yearLike(o.number)),
				n.role == rNumber && yearLike(n.number) && o.role == rNumber && yearLike(o.number),
				(n.role == rAgg || n.role == rCount) && (o.role == rAgg || o.role == rCount) && len(add.chunks) <= 3:
				return replace(o, n)
			}
		}
	}
	// What was stripped says how the rest belongs to it: by month, in March.
	lead := strings.ToLower(strings.Join(strings.Fields(text[:len(text)-len(strings.TrimLeft(text, " "))+strings.Index(text, firstWord(text, rest))]), " "))
	for _, w := range []string{"by", "per", "for", "in", "only"} {
		if strings.HasSuffix(lead, w) && !strings.HasPrefix(strings.ToLower(rest), w+" ") {
			if w == "only" {
				w = "for"
			}
			rest = w + " " + rest
			break
		}
	}
	return base + " " + rest
}

// firstWord is where the rest of a follow-up begins.
func firstWord(text, rest string) string {
	if rest == "" {
		return text
	}
	return rest
}

func yearLike(n float64) bool { return n >= 1900 && n <= 2200 }

func shareColumn(a, b *mention) bool {
	return slices.ContainsFunc(a.values, func(v scoredValue) bool {
		return slices.ContainsFunc(b.values, func(w scoredValue) bool { return v.column == w.column })
	})
}

// chunkSource is a chunk as the question writes it.
func (r *reader) chunkSource(c *chunk) string {
	t := r.chunkText(c)
	if r.toks[c.from].quoted {
		return "'" + t + "'"
	}
	return t
}

func replaceOnce(s, old, new string) string {
	if strings.Contains(s, old) {
		return strings.Replace(s, old, new, 1)
	}
	return strings.Replace(s, strings.Trim(old, "'"), strings.Trim(new, "'"), 1)
}
