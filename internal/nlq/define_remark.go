package nlq

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/queryplan"
)

var (
	sentenceEnd   = regexp.MustCompile(`\.\s+|;\s+|\.$`)
	uncountedForm = regexp.MustCompile(`(?i)^(.+?) (?:do not count|does not count|don't count|are not counted|is not counted|are left out|is left out|are excluded|is excluded|are not included|are ignored|do not belong to it|are not part of it)$`)
	leavingForm   = regexp.MustCompile(`(?i)^(?:without|not counting|excluding|leaving out|except for|except|but not) (.+)$`)
	onlyForm      = regexp.MustCompile(`(?i)^(?:only (.+?)(?: counts?| are counted)?|it (?:counts|covers|is about) only (.+))$`)
	tailForm      = regexp.MustCompile(`(?i)^(.+?)(?:, (without|only|but not)|,? (not counting|excluding|leaving out|except for|except)) (.+)$`)
	asZeroForm    = regexp.MustCompile(`(?i)^(?:an? )?(.+?) (?:costs? nothing|counts? as (?:0|zero|nothing)|(?:is|are) (?:taken as )?(?:0|zero|free))$`)
	noValueForm   = regexp.MustCompile(`(?i)^(?:an? \w+ of )?(-?\d+) (?:is|means|=|stands for) (?:that )?(?:no|not|none|unknown|missing)\b[\w ]*$`)
	onDateForm    = regexp.MustCompile(`(?i)^(?:it|they|[\w ]+?) (?:\w+ )?(?:on|by) (?:its |their |the |this )?(?:day of |date of )?([\w.]+)$`)
	notPartForm   = regexp.MustCompile(`(?i)^(.+?) (?:is|are) not (?:part of it|included|contained|in it)$`)
	notNamedForm  = regexp.MustCompile(`(?i)^(.+?) (?:is|are) not (.+)$`)
	unitForm      = regexp.MustCompile(`(?i)^(?:(?:it is )?(?:given |shown |expressed |counted )?in (?:euro|eur|percent|%|days|hours|minutes|kg|km)|(?:the )?(?:higher|lower|more|less)(?: is|, the) better|(?:the|our) (?:target|goal) (?:is|lies|value is) .+)$`)
)

// splitSentences are the sentences of a definition.
func splitSentences(text string) []string {
	var out []string
	for _, s := range sentenceEnd.Split(strings.TrimSpace(text), -1) {
		if s = strings.TrimSpace(strings.TrimSuffix(s, ".")); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// readRemark reads a sentence that follows a definition and says more of it: which rows do not count, by which
// date it counts, what a missing value means. It reports whether all of it was read.
func (x *Index) readRemark(d *definition, s string) bool {
	form := func(re *regexp.Regexp) string {
		m := re.FindStringSubmatch(s)
		if m == nil {
			return ""
		}
		return strings.Join(m[1:], "")
	}
	if unitForm.MatchString(s) {
		return true
	}
	if m := noValueForm.FindStringSubmatch(s); m != nil {
		return x.excludeNumber(d, m[1])
	}
	if phrase := form(asZeroForm); phrase != "" && x.addsNothing(d, phrase) {
		return true
	}
	if phrase := form(onlyForm); phrase != "" {
		return x.keepOnly(d, phrase)
	}
	if phrase := form(uncountedForm); phrase != "" {
		return x.exclude(d, phrase)
	}
	if phrase := form(leavingForm); phrase != "" {
		return x.exclude(d, phrase)
	}
	if m := notPartForm.FindStringSubmatch(s); m != nil && x.leavesColumnOut(d, m[1]) {
		return true
	}
	if m := notNamedForm.FindStringSubmatch(s); m != nil && defineKey(m[2]) == defineKey(d.name) {
		return x.exclude(d, m[1])
	}
	if m := onDateForm.FindStringSubmatch(s); m != nil {
		if col := x.dateNamed(m[1], d.base); col >= 0 {
			d.date = col
			return true
		}
	}
	return false
}

// dateNamed is the date that a name stands for, of a table or of one that it leads to.
func (x *Index) dateNamed(name string, base int) int {
	col := x.columnNamed(name, base)
	if strings.Contains(name, ".") || col < 0 {
		col = x.columnNamed(name, -1)
	}
	if col < 0 || !x.columns[col].date || x.singleWay(base, x.columns[col].table) == nil {
		return -1
	}
	return col
}

// rowsFor are the conditions of rows that a phrase names, as conditions on rows of the base.
func (x *Index) rowsFor(phrase string, base int) []condition {
	t, conds, unread := x.readRows(phrase, base)
	if unread != "" {
		if t, conds, unread = x.readRows(phrase, -1); unread != "" {
			return nil
		}
	}
	return x.conditionsOn(conds, t, base)
}

func (x *Index) keepOnly(d *definition, phrase string) bool {
	conds := x.rowsFor(phrase, d.base)
	d.conds = append(d.conds, conds...)
	return len(conds) > 0
}

// exclude leaves rows out of a definition. What its own conditions leave out already needs no condition more.
func (x *Index) exclude(d *definition, phrase string) bool {
	if x.isLeftOut(d, phrase) {
		return true
	}
	conds := x.rowsFor(phrase, d.base)
	if len(conds) == 0 {
		return false
	}
	if slices.ContainsFunc(conds, func(c condition) bool { return x.contradicts(d, c) }) {
		return true
	}
	d.conds = append(d.conds, excluded(conds, d.base))
	return true
}

// isLeftOut reports whether a part of what a phrase says of rows is against the definition, so that it has none of them
// whatever the rest says: trials that never paid, of what has a day of payment.
func (x *Index) isLeftOut(d *definition, phrase string) bool {
	at := shareClause.FindStringIndex(phrase)
	if at == nil {
		return false
	}
	_, conds, unread := x.readRows("rows"+phrase[at[0]:], d.base)
	return unread == "" && len(conds) > 0 && slices.ContainsFunc(conds, func(c condition) bool { return x.contradicts(d, c) })
}

// contradicts reports whether no row that counts passes a condition.
func (x *Index) contradicts(d *definition, c condition) bool {
	if c.exists || c.neg || c.def != nil || len(c.any) > 0 {
		return false
	}
	if c.op == queryplan.IsNull && slices.Contains(d.valued(), c.col) {
		return true // what has no value adds nothing
	}
	return slices.ContainsFunc(d.conds, func(o condition) bool { return excludesOther(o, c) }) ||
		len(d.conds) == 0 && d.sum == nil && slices.ContainsFunc(d.part, func(o condition) bool { return excludesOther(o, c) })
}

// valued are the columns without which a row adds nothing.
func (d *definition) valued() []int {
	switch d.form {
	case daysBetween:
		return []int{d.col, d.other}
	case aggregateOf:
		return append(d.formula.columns(), d.col)
	}
	return nil
}

// excludesOther reports whether no row passes both conditions.
func excludesOther(a, b condition) bool {
	if a.neg || b.neg || a.exists || b.exists || a.def != nil || b.def != nil || len(a.any)+len(b.any) > 0 {
		return false
	}
	if b.op == queryplan.IsNull {
		return a.col == b.col && a.op != queryplan.IsNull || a.other >= 0 && a.other == b.col
	}
	listed := func(op queryplan.Operator) bool { return op == queryplan.Eq || op == queryplan.In }
	if a.col != b.col || a.other >= 0 || b.other >= 0 || !listed(b.op) {
		return false
	}
	has := func(v any) bool { return slices.Contains(a.values, v) }
	switch a.op {
	case queryplan.Eq, queryplan.In:
		return !slices.ContainsFunc(b.values, has)
	case queryplan.Ne, queryplan.NotIn:
		return !slices.ContainsFunc(b.values, func(v any) bool { return !has(v) })
	}
	return false
}

// excludeNumber leaves a number out of what is averaged that stands for no value.
func (x *Index) excludeNumber(d *definition, number string) bool {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || d.form != aggregateOf || d.formula != nil {
		return false
	}
	for _, c := range d.conds {
		if c.col == d.col && c.op == queryplan.Between && n < c.values[0].(float64) {
			return true
		}
	}
	d.conds = append(d.conds, condition{table: d.base, col: d.col, op: queryplan.Ne, values: []any{n}, other: -1})
	return true
}

// addsNothing reports whether a phrase speaks of a missing value of a column that a sum is made of: it adds
// nothing to a product, nor to a sum of each column.
func (x *Index) addsNothing(d *definition, phrase string) bool {
	sums := d.form == aggregateOf && d.agg == queryplan.Sum && d.formula.isProduct() || d.form == differenceOf
	if !sums {
		return false
	}
	cols := append(d.formula.columns(), d.col, d.other)
	missing := regexp.MustCompile(`(?i)^(?:missing|empty|unknown) ([\w.]+)$`).FindStringSubmatch(phrase)
	if missing != nil {
		col := x.columnNamed(missing[1], d.base)
		if col >= 0 {
			d.zeroed = col
		}
		return col >= 0 && slices.Contains(cols, col)
	}
	words := " " + joinLemmas(tokenise(strings.ToLower(phrase))) + " "
	for key, refs := range x.absences {
		if strings.HasSuffix(words, " "+key+" ") && slices.ContainsFunc(refs, func(v valueRef) bool { return slices.Contains(cols, v.column) }) {
			return true
		}
	}
	return false
}

// isProduct reports whether a formula only multiplies, or is a column.
func (f *formula) isProduct() bool {
	return f == nil || f.op == "" || f.op == queryplan.Multiply && f.left.isProduct() && f.right.isProduct()
}

// leavesColumnOut reports whether a phrase names a column that the measure is not made of.
func (x *Index) leavesColumnOut(d *definition, phrase string) bool {
	name := strings.ReplaceAll(strings.ToLower(articleForm.ReplaceAllString(phrase, "")), " ", "_")
	for _, id := range x.tables[d.base].columns {
		c := &x.columns[id]
		if strings.EqualFold(c.name, name) || c.words[0] == name {
			return !slices.Contains(append(d.formula.columns(), d.col, d.other), id)
		}
	}
	return false
}
