package queryplan

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"interlock/internal/dialect"
)

// grammars has what plans are compiled to in each dialect.
var grammars = [...]*grammar{
	dialect.DuckDB:     &duckdb,
	dialect.SQLite:     &sqlite,
	dialect.PostgreSQL: &postgres,
	dialect.MySQL:      &mysql,
	dialect.ClickHouse: &clickhouse,
	dialect.Trino:      &trino,
	dialect.BigQuery:   &bigquery,
	dialect.Snowflake:  &snowflake,
}

// Functions lists the functions that compiled plans may call in a dialect, in lower
// case and sorted. EXTRACT is listed as date_part too, which DuckDB's grammar makes of
// it.
func Functions(d dialect.Dialect) []string { return slices.Clone(functions()[d]) }

// A grammar is what plans are compiled to in one dialect.
type grammar struct {
	forms          forms
	sets           map[SetOperation]string
	wildcardEscape *strings.Replacer // escapes the wildcards of LIKE in a text
	patternEscape  *strings.Replacer // turns a plan's pattern into the dialect's; nil: they are alike

	keepsDateForm          bool // dates in filters are written as the plan writes them
	datesAsTimes           bool // a date is compared as a timestamp, unless the column holds dates
	truncatesToDates       bool // truncating a timestamp to a day or more gives a date
	aggregateFilter        bool // aggregates have FILTER (WHERE ...)
	qualifiesColumns       bool // a bare column name could mean an alias of the select list
	outerJoinDefaults      bool // unmatched columns of outer joins are defaults of their type, not NULL
	wrapsSetOperations     bool // ORDER BY and LIMIT would belong to the last of the combined queries
	equalSetPrecedence     bool // INTERSECT does not bind tighter than UNION and EXCEPT
	wrapsLimitedSubqueries bool // a subquery of IN cannot have a LIMIT
	offsetFirst            bool // OFFSET stands before LIMIT
	wholeAliasInOrder      bool // ORDER BY takes an alias only by itself, not inside an expression
	foldsASCIIOnly         bool // case-insensitive comparison knows ASCII letters only
}

// forms are the SQL templates of a dialect by what they express: a function, `part
// year`, `truncate month`, `date_diff day`, `number of text`, a direction. $x and $y are
// placeholders of values. A plan that needs a missing or empty form is refused.
type forms map[string]string

// override gives a copy of the forms in which own replaces or adds some.
func (f forms) override(own forms) forms {
	all := maps.Clone(f)
	maps.Copy(all, own)
	return all
}

// formEach makes one form per word of a template, in which $u is the word.
func formEach[W ~string](kind, template string, words []W) forms {
	f := forms{}
	for _, w := range words {
		f[kind+" "+string(w)] = strings.ReplaceAll(template, "$u", string(w))
	}
	return f
}

// standardForms are the forms that most dialects share.
var standardForms = forms{
	"count": "count($x)", "count_distinct": "count(DISTINCT $x)",
	"sum": "sum($x)", "avg": "avg($x)", "min": "min($x)", "max": "max($x)",
	"median": "median($x)", "stddev": "stddev($x)",
	"min of bool": "min($x)", "max of bool": "max($x)", "median of date": "",
	"share": "1.0 * $x / nullif(sum($y) OVER (), 0)", "percent": "100.0 * $x / nullif(sum($y) OVER (), 0)",
	"divide": "1.0 * $x / nullif($y, 0)",
	"lower":  "lower($x)", "upper": "upper($x)", "length": "length($x)", "abs": "abs($x)", "round": "round($x, 2)",
	"round of float": "sign($x) * floor(abs($x) * 100 + 0.5) / 100",
	"row_number":     "row_number()", "rank": "rank()",
	"true": "TRUE", "false": "FALSE",

	"like": "$x LIKE $y", "not_like": "$x NOT LIKE $y",
	"match": "$x ILIKE $y ESCAPE '!'", "not_match": "$x NOT ILIKE $y ESCAPE '!'",
	"equals_any_case": "lower($x) = lower($y)",

	"asc": "$x", "desc": "$x DESC",
	"asc first": "$x NULLS FIRST", "desc first": "$x DESC NULLS FIRST",
	"asc last": "$x NULLS LAST", "desc last": "$x DESC NULLS LAST",

	"column of text": "$x", "order of text": "$x", "date literal": "$x",
	"moment of day": "$x", "moment of time": "$x",
	"number of bool": "CAST($x AS INTEGER)", "whole of bool": "CAST($x AS INTEGER)", "key": "CAST($x AS VARCHAR)",
	"text of number": "CAST($x AS VARCHAR)", "text of float": "CAST($x AS VARCHAR)", "text of day": "CAST($x AS VARCHAR)",
	"text of time": "CAST($x AS VARCHAR)", "text of bool": "CAST($x AS VARCHAR)", "text of unknown": "CAST($x AS VARCHAR)",
}

var standardSets = map[SetOperation]string{Union: "UNION", UnionAll: "UNION ALL", Intersect: "INTERSECT", Except: "EXCEPT"}

// distinctSets are for dialects in which DISTINCT must be written.
var distinctSets = map[SetOperation]string{Union: "UNION DISTINCT", UnionAll: "UNION ALL", Intersect: "INTERSECT DISTINCT", Except: "EXCEPT DISTINCT"}

// Patterns of numbers and dates, for dialects without a cast that gives NULL for text
// that is neither. They have no backslash, which dialects read differently. Dates are
// those of the calendar, with its leap years.
const (
	numeral = `'^ *[-+]?([0-9]{1,200}([.][0-9]{0,200})?|[.][0-9]{1,200})([eE][-+]?[0-9]{1,2})? *$'`
	moment  = `'^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)` +
		`|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)` +
		`([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$'`
)

// isCompound says that the SQL of a form needs brackets inside arithmetic.
func (g *grammar) isCompound(form string) bool {
	return slices.ContainsFunc([]string{" + ", " - ", " * ", " / ", " || "}, func(op string) bool { return strings.Contains(g.forms[form], op) })
}

// fill writes a form that the dialect has.
func (g *grammar) fill(form, x, y string) string {
	return strings.NewReplacer("$x", x, "$y", y).Replace(g.forms[form])
}

// fillForm writes a form; the plan is refused where the dialect has none.
func (q *query) fillForm(path, form, part string, xy ...string) string {
	if q.grammar.forms[form] == "" {
		q.fail(path, "%s has no %s; leave it out, or ask for the rows and work it out from them", q.dialect.Title(), cmp.Or(part, form))
		return ""
	}
	xy = append(xy, "", "")
	return q.grammar.fill(form, xy[0], xy[1])
}

// calledFunction matches calls, and types with a size, which come after AS.
var calledFunction = regexp.MustCompile(`(AS )?([A-Za-z_][A-Za-z0-9_]*)\(`)

// functions lists the calls in the forms of each dialect, by Dialect.
var functions = sync.OnceValue(func() [len(grammars)][]string {
	literal := regexp.MustCompile(`'[^']*'`)
	var all [len(grammars)][]string
	for d, g := range grammars {
		names := []string{}
		if g.outerJoinDefaults {
			names = append(names, strings.ToLower(nullableFunction))
		}
		for _, form := range g.forms {
			for _, m := range calledFunction.FindAllStringSubmatch(literal.ReplaceAllString(form, ""), -1) {
				name := strings.ToLower(m[2])
				if m[1] == "" && name != "cast" && name != "try_cast" {
					names = append(names, name)
				}
				if name == "extract" {
					names = append(names, "date_part")
				}
			}
		}
		slices.Sort(names)
		all[d] = slices.Compact(names)
	}
	return all
})

// castWhere writes a cast of those texts that match a pattern; others give NULL.
func castWhere(test, pattern, read string) string {
	return fmt.Sprintf("CASE WHEN %s THEN %s END", strings.ReplaceAll(test, "$p", pattern), read)
}
