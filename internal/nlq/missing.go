package nlq

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// isCount says whether rows are counted.
func (r *reader) isCount() bool {
	return slices.ContainsFunc(r.items, func(it item) bool { return it.agg == queryplan.Count || it.agg == queryplan.CountDistinct })
}

// missing gives the reason why a plan must not be shown as an answer: words that
// change what is asked and that no part of the plan comes from.
func (r *reader) missing() string {
	var lost []string
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.used {
			continue
		}
		word := r.toks[c.from].lower
		switch c.role {
		case rSup, rNot, rPeriod, rShare, rEmpty:
		case rLike:
			if len(c.phrase.words) < 2 {
				continue // contains, like: ordinary verbs
			}
		case rAgg:
			if c.phrase.agg == queryplan.Sum && r.isCount() {
				continue // how many in total
			}
		case rCompare:
			if c.phrase.op == queryplan.Eq || word == "from" || word == "following" {
				continue
			}
		case rNumber:
			if word == "one" || word == "single" || word == "once" && c.from > 0 && r.toks[c.from-1].lower == "at" {
				continue
			}
		case rMention:
			if !c.isValue {
				continue
			}
		default:
			continue
		}
		lost = append(lost, fmt.Sprintf("%q", r.text(c)))
	}
	if len(lost) == 0 {
		return ""
	}
	return "it is not clear what " + strings.Join(lost, ", ") + " refers to in this data"
}
