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

// A grammar is what one dialect does its own way.
type grammar struct {
	escape *strings.Replacer // of wildcards in a pattern
	wild   *strings.Replacer // makes a pattern whose wildcards count out of the plan's
	sets   map[SetOperation]string
	forms  forms

	asWritten  bool // dates in filters keep the form that the plan gives them
	fullTimes  bool // a date is compared with as a time, unless the column holds days
	cutsToDays bool // a time that is cut to days or more becomes a day
	filter     bool // aggregates have FILTER (WHERE ...)
	qualify    bool // a bare name may be taken for an alias
	fillJoins  bool // columns of no partner are not NULL unless they are nullable
	wrapSets   bool // ORDER BY and LIMIT belong to the last of several queries
	flatSets   bool // INTERSECT does not bind tighter than the others
	wrapLimits bool // a query behind IN cannot have a LIMIT
	aliasAlone bool // ORDER BY knows an alias only by itself, not in an expression
	asciiCase  bool // case is folded in ASCII letters only
}

// forms are the templates of a dialect by what they say: a function, `part year`,
// `truncate month`, `date_diff day`, `number of text`, a direction. $x and $y stand
// for values. What has no form, or an empty one, cannot be said.
type forms map[string]string

// with gives these forms with others in their place.
func (f forms) with(own forms) forms {
	all := maps.Clone(f)
	maps.Copy(all, own)
	return all
}

// each names one template for every word; $u in it stands for the word.
func each[W ~string](kind, template string, words []W) forms {
	f := forms{}
	for _, w := range words {
		f[kind+" "+string(w)] = strings.ReplaceAll(template, "$u", string(w))
	}
	return f
}

// ansi are the forms that most dialects share.
var ansi = forms{
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

// distinctSets are for dialects that want to hear that equal rows count once.
var distinctSets = map[SetOperation]string{Union: "UNION DISTINCT", UnionAll: "UNION ALL", Intersect: "INTERSECT DISTINCT", Except: "EXCEPT DISTINCT"}

// Numbers and dates in text, where the dialect has no cast that gives NULL for what
// it cannot read. Both are written without a backslash, which dialects read
// differently. Dates are those of the calendar, leap years and all.
const (
	numeral = `'^ *[-+]?([0-9]{1,200}([.][0-9]{0,200})?|[.][0-9]{1,200})([eE][-+]?[0-9]{1,2})? *$'`
	moment  = `'^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)` +
		`|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)` +
		`([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$'`
)

// compound says whether a form needs brackets inside arithmetic.
func (g *grammar) compound(form string) bool {
	return slices.ContainsFunc([]string{" + ", " - ", " * ", " / ", " || "}, func(op string) bool { return strings.Contains(g.forms[form], op) })
}

// fill puts values into a form that the dialect has.
func (g *grammar) fill(form, x, y string) string {
	return strings.NewReplacer("$x", x, "$y", y).Replace(g.forms[form])
}

// say puts values into a form; a dialect that has none refuses the plan.
func (q *query) say(path, form, part string, xy ...string) string {
	if q.grammar.forms[form] == "" {
		q.fail(path, "%s has no %s; leave it out, or ask for the rows and work it out from them", q.dialect.Title(), cmp.Or(part, form))
		return ""
	}
	xy = append(xy, "", "")
	return q.grammar.fill(form, xy[0], xy[1])
}

// called finds calls, and types with a size, which stand behind AS.
var called = regexp.MustCompile(`(AS )?([A-Za-z_][A-Za-z0-9_]*)\(`)

// functions reads the calls out of the forms, so that the two cannot disagree.
var functions = sync.OnceValue(func() [len(grammars)][]string {
	literal := regexp.MustCompile(`'[^']*'`)
	var all [len(grammars)][]string
	for d, g := range grammars {
		names := []string{}
		if g.fillJoins {
			names = append(names, strings.ToLower(nullable))
		}
		for _, form := range g.forms {
			for _, m := range called.FindAllStringSubmatch(literal.ReplaceAllString(form, ""), -1) {
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

// guarded reads text only where it has the form that pattern describes.
func guarded(test, pattern, read string) string {
	return fmt.Sprintf("CASE WHEN %s THEN %s END", strings.ReplaceAll(test, "$p", pattern), read)
}
