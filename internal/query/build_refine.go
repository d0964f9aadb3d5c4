package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// missing are texts that people write where there is nothing.
const missing = `('', 'NA', 'N/A', 'n/a', '#N/A', 'NULL', 'null', 'None', 'none', 'nan', 'NaN', '-', '--', '–', '—', '?', '.')`

// bare is a text as a number would be written: without blanks and a sign of money, and
// with a minus for brackets.
const bare = `regexp_replace(regexp_replace(replace(trim(%[1]s), chr(160), ''), '^([+-]?)[$€£¥] ?| ?[$€£¥]$', '\1'), '^[(](.*)[)]$', '-\1')`

// A writing is a way to write numbers. What begins with 0 is none: it is a code.
type writing struct {
	how    string // for people
	form   string // of every value
	surely string // of some value: it cannot be read another way
	plain  string // the text as the engine casts it
}

var writings = []writing{
	{"", `[+-]?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]{1,3})?`, `.*`, bare},
	{"commas between thousands", `[+-]?(0|[1-9][0-9]{0,2}(,[0-9]{3})+|[1-9][0-9]*)([.][0-9]+)?`, `.*,[0-9]{3}([.,].*|$)`, `replace(` + bare + `, ',', '')`},
	{"a decimal comma", `[+-]?(0|[1-9][0-9]{0,2}([.][0-9]{3})+|[1-9][0-9]*)(,[0-9]+)?`, `.*([.][0-9]{3},.*|,([0-9]{1,2}|[0-9]{4,})$)`, `replace(replace(` + bare + `, '.', ''), ',', '.')`},
}

// refine makes numbers of the texts that people write for them and the reader leaves as
// they are: with marks between thousands, a decimal comma, a sign of money, brackets
// for minus, or NA where there is none. A column is changed only if all of it fits and
// reads one way; a warning says how. raw gives the rows with some columns as text.
func (b *builder) refine(ctx context.Context, im Import, r *TableReport, raw func(columns []string) string) error {
	var now TableReport
	if err := b.measure(ctx, im.Table, &now); err != nil {
		return err
	}
	kinds := map[string][]string{}
	for _, c := range now.Columns {
		if _, given := im.Options.Types[c.Name]; !given {
			kinds[c.Type] = append(kinds[c.Type], c.Name)
		}
	}
	// The first rows tell soon that most texts are no numbers.
	some := "(SELECT * FROM " + quoteName(im.Table) + " LIMIT 1000)"
	texts, err := b.holding(ctx, "bool_and(%[1]s IN "+missing+" OR regexp_matches("+bare+", '^[+-]?[0-9]')) AND bool_or(regexp_matches(%[1]s, '[0-9]'))", kinds["VARCHAR"], some)
	if err != nil {
		return err
	}
	comma := false
	for _, c := range texts {
		w, err := b.written(ctx, im.Table, c)
		if err != nil {
			return err
		}
		if w.plain == "" {
			if err := b.becomeDate(ctx, im.Table, c, r); err != nil {
				return err
			}
			continue
		}
		if err := b.becomeNumber(ctx, im.Table, c, w, r); err != nil {
			return err
		}
		comma = comma || strings.HasPrefix(w.how, writings[2].how)
	}
	if comma { // then 1.000 in the same file is a thousand, too
		if err := b.thousands(ctx, im.Table, kinds["DOUBLE"], r, raw); err != nil {
			return err
		}
	}
	return b.daysOrMonths(ctx, im.Table, slices.Concat(kinds["DATE"], kinds["TIMESTAMP"]), r, raw)
}

// written finds the one way in which all numbers of a column are written. One without
// anything special is left alone: the reader had its reason.
func (b *builder) written(ctx context.Context, table, column string) (writing, error) {
	tests := []string{
		"count(*) FILTER (%[1]s IN " + missing + " AND %[1]s <> '') > 0", "bool_or(regexp_matches(%[1]s, '[$€£¥]'))", "bool_or(trim(%[1]s) LIKE '(%%)')",
		"count(*) FILTER (%[1]s NOT IN " + missing + ") > 0",
	}
	for _, w := range writings {
		tests = append(tests, "bool_and(%[1]s IN "+missing+" OR regexp_full_match("+bare+", '"+w.form+"'))", "bool_or(regexp_full_match("+bare+", '"+w.surely+"'))")
	}
	for i, t := range tests {
		tests[i] = "coalesce(" + fmt.Sprintf(t, quoteName(column)) + ", false)::VARCHAR"
	}
	rows, err := b.texts(ctx, "SELECT "+strings.Join(tests, ", ")+" FROM "+quoteName(table))
	if err != nil || rows[0][3] != "true" {
		return writing{}, err
	}
	var how []string
	for i, word := range []string{"NA and the like as empty", "without a sign of money", "brackets for minus"} {
		if rows[0][i] == "true" {
			how = append(how, word)
		}
	}
	for i, w := range writings {
		if rows[0][4+2*i] != "true" || rows[0][5+2*i] != "true" || w.how == "" && how == nil {
			continue
		}
		if w.how != "" {
			how = append([]string{w.how}, how...)
		}
		w.how = strings.Join(how, ", ")
		return w, nil
	}
	return writing{}, nil
}

// becomeNumber changes the type of a column. One that does not fit after all stays text.
func (b *builder) becomeNumber(ctx context.Context, table, column string, w writing, r *TableReport) error {
	name := quoteName(column)
	number := fmt.Sprintf(w.plain, name)
	whole, err := b.holding(ctx, "bool_and(%[1]s IN "+missing+" OR regexp_full_match("+w.plain+", '[+-]?[0-9]{1,18}'))", []string{column}, quoteName(table))
	if err != nil {
		return err
	}
	kind := "DOUBLE"
	if len(whole) > 0 {
		kind = "BIGINT"
	}
	err = b.run(ctx, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s USING CASE WHEN %s IN %s THEN NULL ELSE CAST(%s AS %s) END", quoteName(table), name, kind, name, missing, number, kind))
	if err == nil {
		r.note(ImportNote{Column: column, Rule: RuleNumberFormat}, "The column %s was read as numbers: %s.", column, w.how)
	}
	return err
}

// becomeDate makes dates of a column that has them and NA or the like.
func (b *builder) becomeDate(ctx context.Context, table, column string, r *TableReport) error {
	is, err := b.holding(ctx, "bool_and(%[1]s IN "+missing+" OR try_cast(%[1]s AS DATE) IS NOT NULL AND length(trim(%[1]s)) = 10) AND bool_or(%[1]s IN "+missing+")", []string{column}, quoteName(table))
	if err != nil || len(is) == 0 {
		return err
	}
	name := quoteName(column)
	err = b.run(ctx, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE DATE USING try_cast(%s AS DATE)", quoteName(table), name, name))
	if err == nil {
		r.note(ImportNote{Column: column, Rule: RuleMissing}, "The column %s was read as dates: NA and the like as empty.", column)
	}
	return err
}

// thousands mends numbers such as 1.000 that were taken for decimals.
func (b *builder) thousands(ctx context.Context, table string, columns []string, r *TableReport, raw func([]string) string) error {
	found, err := b.holding(ctx, "bool_and(%[1]s IN "+missing+" OR regexp_full_match("+bare+", '[+-]?[1-9][0-9]{0,2}[.][0-9]{3}'))", columns, "("+raw(columns)+")")
	if err != nil {
		return err
	}
	for _, c := range found {
		name := quoteName(c)
		if err := b.run(ctx, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE BIGINT USING CAST(round(%s * 1000) AS BIGINT)", quoteName(table), name, name)); err != nil {
			return err
		}
		r.note(ImportNote{Column: c, Rule: RuleNumberFormat}, "The column %s was read as numbers: points between thousands.", c)
	}
	return nil
}

// daysOrMonths warns of dates that can be read two ways.
func (b *builder) daysOrMonths(ctx context.Context, table string, columns []string, r *TableReport, raw func([]string) string) error {
	const slashed = `regexp_full_match(trim(%[1]s), '[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2,4}.*')`
	suspects, err := b.holding(ctx, "bool_and("+slashed+")", columns, "(SELECT * FROM ("+raw(columns)+") LIMIT 1000)")
	if err != nil || len(suspects) == 0 {
		return err
	}
	const part = `CAST(regexp_extract(trim(%%[1]s), '([0-9]+)[^0-9]+([0-9]+)', %d) AS INTEGER)`
	first, second := fmt.Sprintf(part, 1), fmt.Sprintf(part, 2)
	unsure, err := b.holding(ctx, "bool_and("+slashed+") AND max("+first+") <= 12 AND max("+second+") <= 12 AND bool_or("+first+" <> "+second+")", suspects, "("+raw(suspects)+")")
	if err != nil {
		return err
	}
	for _, c := range unsure {
		sums, err := b.texts(ctx, fmt.Sprintf("SELECT (SELECT sum("+first+") FROM (%[2]s))::VARCHAR, (SELECT sum(day(%[1]s)) FROM %[3]s)::VARCHAR", quoteName(c), raw([]string{c}), quoteName(table)))
		if err != nil {
			return err
		}
		way := "the month"
		if sums[0][0] == sums[0][1] {
			way = "the day"
		}
		r.note(ImportNote{Column: c, Rule: RuleDateOrder}, "The dates of %s can be read two ways; they were read with %s first.", c, way)
	}
	return nil
}
