package nlq

import "slices"

// bindRequested corrects what is shown by the whole question: a sentence that lists what to show
// decides, and the reference to a thing that the question is about is that thing's key.
func (r *reader) bindRequested() {
	r.dropAskedHead()
	for k := range r.items {
		it := &r.items[k]
		if it.agg != "" || it.col < 0 {
			continue
		}
		c := &r.x.columns[it.col]
		if c.ref < 0 || c.ref == c.table || r.x.tables[c.ref].key < 0 || !r.isEntityNamed(c.ref) {
			continue
		}
		if r.subject == c.ref || r.subject == c.table && !r.isEntityNamed(c.table) {
			r.subject = c.ref
			it.col, it.table = r.x.tables[c.ref].key, c.ref
		}
	}
}

// dropAskedHead leaves out what `which owners have a dog` would show where a later sentence lists
// what to show.
func (r *reader) dropAskedHead() {
	shown := func(it item) bool { return it.agg == "" && it.at < len(r.chunks) }
	last := 0
	for _, it := range r.items {
		if shown(it) {
			last = max(last, r.toks[r.chunks[it.at].from].sentence)
		}
	}
	if last == 0 || !r.asksColumns(last) || len(r.toks) == 0 || !wh[r.toks[0].lower] {
		return
	}
	r.items = slices.DeleteFunc(r.items, func(it item) bool {
		return shown(it) && r.toks[r.chunks[it.at].from].sentence < last
	})
}

// isEntityNamed reports whether the rows of a table are named, and not only a property of them.
func (r *reader) isEntityNamed(t int) bool {
	for i := range r.chunks {
		if o, s := r.asTable(i); o == t && s >= 0.8 {
			return true
		}
		core := r.x.tables[t].core
		if c := &r.chunks[i]; r.isNamed(i) && r.isPropertyOf(c) && len(core) > 0 && core[len(core)-1] == r.toks[c.to-1].lemma {
			return true
		}
	}
	return false
}

// isRankedBehindOf reports whether a mention is what a superlative behind `of` ranks: then the
// question asks for a property of it that stands before.
func (r *reader) isRankedBehindOf(i int) bool {
	p := r.prevChunk(i)
	if !r.hasRole(p, rSup) || !r.chunks[p].used || len(r.items) == 0 || r.chunks[p].from == 0 || r.chunks[p].to != r.chunks[i].from {
		return false
	}
	before := r.toks[r.chunks[p].from-1].lower
	return before == "of" || before == "for"
}
