package nlq

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/queryplan"
)

// codeForm is a value and what it stands for, as descriptions write it: M = monthly pass, 30 = delivered.
var codeForm = regexp.MustCompile(`(?:^|[\s(,;:.'"])(-?[\p{L}\d/_-]+)['"]? (?:=|means|stands for) ([^,;.()=]+)`)

// nothingForm are words for a value that says that there is none.
var nothingForm = regexp.MustCompile(`(?i)^(?:an? |that )?(?:not|no|none|nobody|nothing|unknown|missing|unset|absent|undefined)(?:[\s,;]|$)`)

// learnCodes lets the values of a column be called what its description says that they stand for. A number
// that stands for something is no amount: where all of a column's are such, it is an enumeration, else they
// are left out of what is computed.
func (x *Index) learnCodes(c int, said string) {
	col := &x.columns[c]
	names := map[string]string{}
	for _, m := range codeForm.FindAllStringSubmatch(said, -1) {
		value, text := m[1], strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(m[2]), "or "))
		switch number, err := strconv.ParseFloat(value, 64); {
		case col.kind == queryplan.Bool || strings.EqualFold(value, "null"):
			continue
		case col.kind == queryplan.Number && err == nil:
			if number < 0 && !slices.Contains(x.unknown[c], any(number)) {
				x.unknown[c] = append(x.unknown[c], number)
			}
		case col.kind != queryplan.Text || !x.hasValue(c, value):
			continue
		case nothingForm.MatchString(text):
			x.unknown[c] = append(x.unknown[c], value)
		}
		if nothingForm.MatchString(text) {
			x.nameByLack(c, text)
			continue
		}
		if col.kind != queryplan.Number {
			x.nameValue(c, value, text)
		} else if !strings.HasPrefix(value, "-") {
			names[value] = text
		}
	}
	if len(names) > 1 { // one number alone is an amount of which something is said: 0 = has left
		col.coded = true
		for _, value := range slices.Sorted(maps.Keys(names)) {
			x.nameValue(c, value, names[value])
		}
	}
}

// lackForm is what a value says that there is none of: no rating.
var lackForm = regexp.MustCompile(`(?i)^no (\p{L}+)$`)

// nameByLack lets a column be called what its description says that a value of it lacks: 9 = no rating.
func (x *Index) nameByLack(c int, text string) {
	if m := lackForm.FindStringSubmatch(text); m != nil && !x.vocabulary[lemma(strings.ToLower(m[1]))] {
		x.columns[c].names = append(x.columns[c].names, x.learnName(m[1]))
	}
}

func (x *Index) hasValue(c int, value string) bool {
	return slices.ContainsFunc(x.values[normaliseValue(value)], func(r valueRef) bool { return r.column == c && strings.EqualFold(r.value, value) })
}

// nameValue lets a value be called a phrase, in the singular and the plural.
func (x *Index) nameValue(c int, value, phrase string) {
	words := strings.Fields(normaliseValue(phrase))
	if len(words) == 0 || len(words) > 4 {
		return
	}
	base := slices.Clone(words)
	for i, w := range base {
		base[i] = lemma(w)
	}
	for _, key := range slices.Compact([]string{strings.Join(words, " "), strings.Join(append(slices.Clone(words[:len(words)-1]), base[len(base)-1]), " "), strings.Join(base, " ")}) {
		if slices.ContainsFunc(x.values[key], func(r valueRef) bool { return r.column == c }) {
			continue
		}
		x.values[key] = append(x.values[key], valueRef{c, value})
		if len(words) == 1 {
			x.stems[stem(key)] = append(x.stems[stem(key)], valueRef{c, value})
		}
		x.longest = max(x.longest, len(words))
	}
	for _, w := range append(words, base...) {
		x.vocabulary[w], x.stemmed[stem(w)] = true, true
	}
}

// absentForm is what a description says that it means where a column has no value.
var absentForm = regexp.MustCompile(`(?:NULL|null|empty|blank) (?:=|means|stands for) ([^,;.()=]+)`)

// absent is the value of a column that has none.
type absent struct{}

// absentValue marks a reference to rows without a value.
const absentValue = "\x00"

// learnAbsent lets rows without a value be called what the description says that this means: in service.
func (x *Index) learnAbsent(c int, said string) {
	for _, m := range absentForm.FindAllStringSubmatch(said, -1) {
		text := strings.TrimSpace(strings.ToLower(m[1]))
		if nothingForm.MatchString(text) || strings.HasPrefix(text, "unless") {
			continue
		}
		x.nameAbsent(c, text)
		rest, still := strings.CutPrefix(text, "still ")
		if still {
			x.nameAbsent(c, rest)
		}
		if col := &x.columns[c]; col.date && (still || slices.ContainsFunc(col.words, func(w string) bool { return laterDates[w] })) {
			x.ends[c] = true
		}
	}
}

func (x *Index) nameAbsent(c int, text string) {
	toks := tokenise(text)
	own := func(r valueRef) bool { return x.columns[r.column].table == x.columns[c].table }
	if len(toks) == 0 || len(toks) > 4 || len(toks) == 1 && !slices.ContainsFunc(toks, func(t token) bool { return !harmlessWords[t.lower] }) || slices.ContainsFunc(x.values[normaliseValue(text)], own) {
		return
	}
	key := joinLemmas(toks)
	x.absences[key] = append(x.absences[key], valueRef{c, absentValue})
	for _, t := range toks {
		x.vocabulary[t.lower], x.stemmed[t.stem] = true, true
	}
}

// literal is a value as its column holds it.
func (x *Index) literal(v valueRef) any {
	if v.value == absentValue {
		return absent{}
	}
	if x.columns[v.column].kind == queryplan.Number {
		if n, err := strconv.ParseFloat(v.value, 64); err == nil {
			return n
		}
	}
	return v.value
}

// unknownValues are the values of a column that mean unknown.
func (x *Index) unknownValues(col int) []any {
	unknown := slices.Clone(x.unknown[col])
	if x.sentinels[col] {
		unknown = append(unknown, 0.0)
	}
	return unknown
}

// orUnknown takes values that mean unknown for no value: without a rating is NULL or -1.
func orUnknown(f queryplan.Filter, unknown []any) queryplan.Filter {
	either := queryplan.Filter{Expr: f.Expr, Operator: queryplan.In, Value: queryplan.Literal(unknown)}
	if f.Operator == queryplan.IsNull {
		return queryplan.Filter{Any: []queryplan.Filter{f, either}}
	}
	either.Operator = queryplan.NotIn
	return queryplan.Filter{All: []queryplan.Filter{f, either}}
}

// passesUnknown are the values of a column that mean unknown and would pass a comparison.
func (x *Index) passesUnknown(col int, op queryplan.Operator, values []any) []any {
	unknown := x.unknownValues(col)
	if !slices.Contains([]queryplan.Operator{queryplan.Lt, queryplan.Le, queryplan.Gt, queryplan.Ge, queryplan.Ne}, op) {
		return nil
	}
	return slices.DeleteFunc(unknown, func(v any) bool {
		n, isNumber := v.(float64)
		if len(values) == 0 || !isNumber {
			return !isNumber
		}
		bound, ok := values[0].(float64)
		if !ok {
			return true
		}
		switch op {
		case queryplan.Lt:
			return n >= bound
		case queryplan.Le:
			return n > bound
		case queryplan.Gt:
			return n <= bound
		case queryplan.Ge:
			return n < bound
		}
		return n == bound
	})
}
