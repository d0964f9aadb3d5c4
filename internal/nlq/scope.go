package nlq

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/queryplan"
)

var (
	otherThan    = regexp.MustCompile(`(?i)\bother than\s+(\S+)`)
	sharedClause = regexp.MustCompile(`(?i)\beither\b[^,]*\bor\b[^,]*\b((?:with|having|whose|that have|who have)\b[^,?.]*)`)
)

// unclearScope is the reason why a plan must not be shown as the answer: the question can be read
// in two ways that its words do not tell apart, and the plan is one of them. It is "" where there
// is none.
func (x *Index) unclearScope(text string, p *queryplan.Plan) string {
	if m := sharedClause.FindStringSubmatch(text); m != nil && len(p.Filters) > 1 && slices.ContainsFunc(p.Filters, namesSeveral) {
		return fmt.Sprintf("%q can be said of the last one or of all of them; ask for each by itself", strings.TrimSpace(m[1]))
	}
	if name, tables := x.heldByOneTable(p); name != "" {
		return fmt.Sprintf("%s can be that of %s; say whose is meant", name, strings.Join(tables, " or of "))
	}
	for _, f := range p.Filters {
		if f.Plan == nil || f.Operator != queryplan.In && f.Operator != queryplan.NotIn || len(f.Plan.GroupBy) > 0 {
			continue
		}
		for _, inner := range f.Plan.Filters {
			if date := x.strayDate(text, f.Plan.Table, inner); date != "" {
				return fmt.Sprintf("no date of %s is known that the question could be about but %s of %s, which it does not name", humanName(p.Table), date, plural(humanName(f.Plan.Table)))
			}
			if m := otherThan.FindStringSubmatch(text); m != nil && f.Operator == queryplan.NotIn && inner.Operator == queryplan.Eq {
				return fmt.Sprintf("other than %s can mean another one as well, or not that one at all; say which", strings.Trim(m[1], "?.,!"))
			}
			if f.Operator == queryplan.NotIn && x.saysAmountOfMany(text, f.Plan.Table, inner) {
				return fmt.Sprintf("it is not clear whether %s is said of one of the %s or of all of them together", string(inner.Value), plural(humanName(f.Plan.Table)))
			}
		}
	}
	return ""
}

// strayDate is the date of another table that a condition is on although the question names neither
// that table nor the date.
func (x *Index) strayDate(text, table string, f queryplan.Filter) string {
	t, col := x.findTable(table), x.findColumn(table, f.Column[strings.LastIndexByte(f.Column, '.')+1:])
	if t < 0 || col < 0 || !x.columns[col].date {
		return ""
	}
	for _, tok := range tokenise(text) {
		for _, w := range append(slices.Clone(x.tables[t].core), x.columns[col].words...) {
			if !columnTail[w] && sameWord(&tok, w) > 0 {
				return ""
			}
		}
		if x.called[tok.lemma] == t+1 {
			return ""
		}
	}
	return humanName(x.columns[col].name)
}

// heldByOneTable finds a column of a list over several tables which one of the others has as well,
// under the same name and beside all else that is listed: then nothing says which is meant.
func (x *Index) heldByOneTable(p *queryplan.Plan) (name string, tables []string) {
	if len(p.Joins) == 0 || len(p.Filters) > 0 || len(p.GroupBy) > 0 || len(p.Select) < 2 {
		return "", nil
	}
	for _, holder := range append([]queryplan.Join{{Table: p.Table}}, p.Joins...) {
		foreign, seen := "", map[string]bool{}
		for _, e := range p.Select {
			table, column, qualified := strings.Cut(e.Column, ".")
			if !qualified || e.Aggregate() || x.findColumn(holder.Table, column) < 0 || seen[strings.ToLower(column)] {
				foreign = ""
				break
			}
			seen[strings.ToLower(column)] = true
			if table != holder.Table {
				foreign = e.Column
			}
		}
		if foreign != "" {
			table, column, _ := strings.Cut(foreign, ".")
			return humanName(column), []string{humanName(table), humanName(holder.Table)}
		}
	}
	return "", nil
}

// namesSeveral reports whether a condition is that a column has one of several values.
func namesSeveral(f queryplan.Filter) bool {
	return f.Operator == queryplan.In && f.Plan == nil || len(f.Any) > 1
}

// saysAmountOfMany reports whether an amount of the rows of a table is compared with a number
// before which the question does not name these rows: dogs that cost more than 1000 may have
// cost that in all their treatments together.
func (x *Index) saysAmountOfMany(text, table string, f queryplan.Filter) bool {
	if !slices.Contains([]queryplan.Operator{queryplan.Gt, queryplan.Ge, queryplan.Lt, queryplan.Le}, f.Operator) {
		return false
	}
	t := x.findTable(table)
	col := x.findColumn(table, f.Column[strings.LastIndexByte(f.Column, '.')+1:])
	if t < 0 || col < 0 || !x.summable(col) {
		return false
	}
	var n float64
	if json.Unmarshal(f.Value, &n) != nil {
		return false
	}
	for _, tok := range tokenise(text) {
		if slices.Contains(x.tables[t].core, tok.lemma) || slices.Contains(x.tables[t].core, tok.lower) {
			return false
		}
		if v, err := strconv.ParseFloat(strings.ReplaceAll(tok.text, ",", ""), 64); err == nil && v == n {
			return true
		}
	}
	return false
}

// paddedNotes says which values were taken although blanks stand around them in the data.
func paddedNotes(filters []queryplan.Filter) []string {
	var out []string
	for _, f := range filters {
		var texts []string
		var one string
		if json.Unmarshal(f.Value, &one) == nil {
			texts = []string{one}
		} else if json.Unmarshal(f.Value, &texts) != nil {
			texts = nil
		}
		for _, text := range texts {
			if bare := strings.TrimSpace(text); bare != text && bare != "" {
				out = append(out, fmt.Sprintf("In the data blanks stand around this value: %q was taken for %q.", text, bare))
			}
		}
		if f.Plan != nil {
			out = append(out, paddedNotes(f.Plan.Filters)...)
		}
		out = append(out, paddedNotes(append(slices.Clone(f.Any), f.All...))...)
	}
	return out
}
