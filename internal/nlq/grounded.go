package nlq

import (
	"regexp"
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// findUngrounded returns a column that a plan shows or groups by although no word of the question names
// it, or only a word such as "number" that fits many and whose table the question does not name. Such a plan
// answers another question. "" says that there is none.
func (x *Index) findUngrounded(question string, a Answer) string {
	if a.Plan == nil || a.Plan.From != nil || a.Plan.Top != nil {
		return ""
	}
	said, _ := x.translate(question)
	toks := tokenise(strings.ToLower(said))
	exprs := slices.Clone(a.Plan.Select)
	for _, g := range a.Plan.GroupBy {
		exprs = append(exprs, g.Expr)
	}
	for _, e := range exprs {
		if t, name, ok := strings.Cut(e.Column, "."); e.Function == queryplan.CountDistinct {
			if !ok {
				t, name = a.Plan.Table, e.Column
			}
			if id := x.findColumn(t, name); id >= 0 && x.columns[id].date && !slices.ContainsFunc(toks, func(t token) bool { return wordSet("day date year month week time")[t.lemma] }) {
				return humanName(name)
			}
		}
		if id := x.columnOf(a.Plan, e); id >= 0 && !x.isGrounded(toks, a, id) {
			return humanName(x.columns[id].name)
		}
	}
	return ""
}

// listsAmounts reports whether a plan lists nothing but amounts although the question asks for no list: the
// value of everything in stock is a sum.
func (x *Index) listsAmounts(question string, p *queryplan.Plan) bool {
	if len(p.GroupBy) > 0 || len(p.OrderBy) > 0 || p.From != nil || p.Top != nil {
		return false
	}
	for _, e := range p.Select {
		if id := x.columnOf(p, e); id < 0 || !isNumericColumn(&x.columns[id]) || !x.summable(id) {
			return false
		}
	}
	return !slices.ContainsFunc(tokenise(strings.ToLower(question)), func(t token) bool { return leads[t.lower] || wh[t.lower] || t.lower == "how" || t.lower == "each" })
}

// asksWho finds questions for somebody.
var asksWho = regexp.MustCompile(`(?i)^\s*(?:\w+,? )?who\b`)

// fullName is what the names of people and of firms look like.
var fullName = regexp.MustCompile(`^\p{Lu}[\p{L}.'-]+ (?:\S+ )*\p{Lu}`)

// showsWho reports whether a plan shows anything that somebody is called by.
func (x *Index) showsWho(p *queryplan.Plan) bool {
	for _, e := range p.Select {
		id := x.columnOf(p, queryplan.Expr{Column: e.Column})
		if id < 0 {
			continue
		}
		c := &x.columns[id]
		if slices.ContainsFunc(c.words, func(w string) bool { return w == "name" || w == "surname" || w == "contact" }) || c.key || c.ref >= 0 || x.namesPeople(id) {
			return true
		}
	}
	return false
}

// namesPeople reports whether most values of a column look like names of somebody.
func (x *Index) namesPeople(col int) bool {
	all, named := 0, 0
	for _, refs := range x.values {
		for _, r := range refs {
			if r.column != col {
				continue
			}
			if all++; fullName.MatchString(r.value) {
				named++
			}
		}
	}
	return all > 0 && named*2 > all
}

// columnOf is the column that an expression of a plan is, or -1 where it is computed.
func (x *Index) columnOf(p *queryplan.Plan, e queryplan.Expr) int {
	if e.Aggregate() || e.Column == "" || e.Truncate != "" {
		return -1
	}
	t, name, ok := strings.Cut(e.Column, ".")
	if !ok {
		t, name = p.Table, e.Column
	}
	return x.findColumn(t, name)
}

// isGrounded reports whether the question names a column: by a word of its own, by the table whose rows it
// names, or by a word that was taken for it.
func (x *Index) isGrounded(toks []token, a Answer, id int) bool {
	c := &x.columns[id]
	named := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			return !columnTail[w] && slices.ContainsFunc(toks, func(t token) bool { return sameWord(&t, w) > 0 })
		})
	}
	table, full := "the table "+x.tableName(c.table), x.tableName(c.table)+"."+c.name
	taken := func(w Word) bool {
		return strings.HasSuffix(w.Meaning, full) && !numberTail[lemma(strings.ToLower(w.Text))]
	}
	if named(c.words) || c.ref >= 0 || slices.ContainsFunc(a.Understood, taken) {
		return true
	}
	standsForRow := c.key || slices.Contains(x.rowNames(c.table), id) || x.isUnique(id)
	return standsForRow && (named(x.tables[c.table].words) || slices.ContainsFunc(a.Understood, func(w Word) bool {
		return w.Meaning == table || strings.Contains(w.Meaning, " "+x.tableName(c.table)+".") && !numberTail[lemma(strings.ToLower(w.Text))]
	}))
}
