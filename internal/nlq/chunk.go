package nlq

import (
	"strings"
	"time"
)

// A chunk is a piece of the question with one role.
type chunk struct {
	role     role
	from, to int // tokens
	phrase   phrase
	mention  *mention
	number   float64
	period   period
	filler   bool
	used     bool // some part of the plan comes from it
	cond     bool // it stands behind `that`, `with` and the like
	isValue  bool // of a mention: read as a value
}

// splitIntoChunks parts the question into chunks: the cover with the largest weight
// wins.
func splitIntoChunks(toks []token, found []mention, now time.Time) []chunk {
	n := len(toks)
	type step struct {
		weight float64
		chunk  chunk
	}
	best := make([]step, n+1)
	for i := range best {
		best[i].weight = -1e9
	}
	best[0].weight = 0
	at := make([][]mention, n)
	for _, m := range found {
		at[m.from] = append(at[m.from], m)
	}
	try := func(i, to int, w float64, c chunk) {
		c.from, c.to = i, to
		if best[i].weight+w > best[to].weight+1e-9 {
			best[to] = step{best[i].weight + w, c}
		}
	}
	for i := range n {
		t := &toks[i]
		switch {
		case fillers[t.lower] || fillers[t.lemma]:
			try(i, i+1, 0, chunk{filler: true})
		default:
			try(i, i+1, -0.3, chunk{})
		}
		if t.number {
			try(i, i+1, 0.8, chunk{role: rNumber, number: t.value})
		}
		if p, k := phraseAt(toks, i); k > 0 {
			w := 0.72 * float64(k)
			if p.role == rRel || p.role == rBe || p.role == rAnd {
				w = 0.3 * float64(k)
			}
			if p.role == rSup && p.adj != "" && k > 1 {
				w += 0.25
			}
			if p.role == rOrder && k > 1 {
				w = 0.98 * float64(k)
			}
			if p.role == rTop {
				w = 0.45 * float64(k) // the first name
			}
			if p.role == rShare {
				w = 0.45 * float64(k)
			}
			if p.role == rCount && strings.HasPrefix(t.lower, "number") && i > 0 && !t.comma && !grammar[toks[i-1].lower] && !fillers[toks[i-1].lower] {
				w = 0.1 // flight numbers of
			}
			try(i, i+k, w, chunk{role: p.role, phrase: p})
			// A shorter phrase must stay possible: "the number" of "the number of staff".
			if k > 1 {
				if q, kk := phraseAt(toks[:i+k-1], i); kk > 0 {
					try(i, i+kk, 0.45*float64(kk), chunk{role: q.role, phrase: q})
				}
			}
		}
		if p, k := periodAt(toks, i, now); k > 0 {
			try(i, i+k, 0.95*float64(k), chunk{role: rPeriod, period: p})
		}
		for _, m := range at[i] {
			w := 0.0
			length := float64(m.to - m.from)
			if len(m.columns) > 0 {
				w = max(w, m.columns[0].score*length+0.03*(length-1))
			}
			if len(m.tables) > 0 {
				w = max(w, m.tables[0].score*length*1.01)
			}
			if len(m.values) > 0 {
				v := m.values[0].score * length
				if t.quoted || t.capital && i > 0 {
					v += 0.3
				}
				w = max(w, v)
			}
			if t.quoted {
				w = max(w, 1)
			}
			try(i, m.to, w, chunk{role: rMention, mention: mergeReadings(at[i], m)})
		}
	}
	var out []chunk
	for i := n; i > 0; {
		c := best[i].chunk
		out = append(out, c)
		i = c.from
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// mergeReadings joins the readings of one span: as a name and as a value.
func mergeReadings(all []mention, m mention) *mention {
	out := m
	for _, o := range all {
		if o.to != m.to {
			continue
		}
		if len(out.values) == 0 {
			out.values = o.values
		}
		if len(out.columns) == 0 && len(out.tables) == 0 {
			out.columns, out.tables = o.columns, o.tables
		}
	}
	return &out
}

func (r *reader) chunkText(c *chunk) string {
	var ws []string
	for _, t := range r.toks[c.from:c.to] {
		ws = append(ws, t.text)
	}
	return strings.Join(ws, " ")
}
