package query

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"interlock/internal/schema"
)

// noteTypes says what was decided about the columns of a table: which were read in
// another way than they are written, with how many values that changes, and which
// stayed text for a few values. Texts are read again only where there is something to say.
func (b *builder) noteTypes(ctx context.Context, table string, columns []*textColumn, from string, r *TableReport) error {
	var read, kept []*textColumn
	for _, c := range columns {
		switch {
		case c.chosen != nil && (c.chosen.rule != "" || c.missing || c.spaces):
			read = append(read, c)
		case c.chosen == nil && (c.nearly != nil || c.given != "" && !strings.EqualFold(c.given, "VARCHAR")):
			kept = append(kept, c)
		}
	}
	if err := b.noteRead(ctx, read, from, r); err != nil {
		return err
	}
	if err := b.noteDateOrders(ctx, table, read, r); err != nil {
		return err
	}
	return b.noteKept(ctx, table, kept, r)
}

// noteRead counts the values that are printed otherwise than they came, and shows one.
func (b *builder) noteRead(ctx context.Context, columns []*textColumn, from string, r *TableReport) error {
	if len(columns) == 0 {
		return nil
	}
	var parts []string
	for _, c := range columns {
		text := quoteName(c.name)
		value := fmt.Sprintf("CAST(%s AS VARCHAR)", fmt.Sprintf(c.chosen.value, "("+fmt.Sprintf(c.chosen.plain, c.text(c.missing, c.spaces))+")"))
		for _, filter := range []string{
			"%[1]s IS NOT NULL AND trim(%[1]s, ' ') NOT IN " + missingList + " AND " + value + " IS DISTINCT FROM trim(%[1]s, ' ')",
			"trim(%[1]s, ' ') IN " + missingList + " AND %[1]s <> ''",
			"trim(%[1]s, ' ') NOT IN " + missingList + " AND trim(%[1]s, ' ') <> %[1]s",
		} {
			filter = " FILTER (" + fmt.Sprintf(strings.ReplaceAll(filter, value, "%[2]s"), text, value) + ")"
			parts = append(parts, "CAST(count(*)"+filter+" AS VARCHAR)", "coalesce(first("+text+")"+filter+", '')", "coalesce(first("+value+")"+filter+", '')")
		}
		parts = append(parts, c.chosen.marksSQL(text))
	}
	rows, err := b.queryTexts(ctx, "SELECT "+strings.Join(parts, ", ")+" FROM ("+from+")")
	if err != nil {
		return fmt.Errorf("counting what changed: %w", err)
	}
	for i, c := range columns {
		cells := rows[0][10*i : 10*i+10]
		count := func(k int) (n int64) { n, _ = strconv.ParseInt(cells[3*k], 10, 64); return n }
		example := func(rule schema.Rule, k int) schema.Note {
			return schema.Note{Column: c.name, Rule: rule, Count: count(k), Before: clipText(cells[3*k+1]), After: clipText(cells[3*k+2])}
		}
		changed := count(0) > 0
		switch how := c.chosen.describe(cells[9]); {
		case c.chosen.rule == schema.RuleDateOrder && changed:
			r.addNote(example(schema.RuleDateOrder, 0), "The dates of %s were read with %s first%s.", c.name, c.chosen.order, c.chosen.centuries())
		case c.chosen.rule == schema.RuleOffset:
			r.addNote(example(schema.RuleOffset, 0), "The times of %s are given at the offset %s; they are kept as instants and shown in UTC.", c.name, c.chosen.how)
		case c.chosen.rule != "" && changed:
			r.addNote(example(c.chosen.rule, 0), "The column %s was read as %s: %s.", c.name, kindWord(c.chosen.kind), how)
		}
		if count(1) > 0 {
			r.addNote(example(schema.RuleMissing, 1), "The column %s was read as %s: NA and the like as empty.", c.name, kindWord(c.chosen.kind))
		}
		if count(2) > 0 {
			r.addNote(example(schema.RuleSpaces, 2), "The column %s was read as %s: without the spaces around them.", c.name, kindWord(c.chosen.kind))
		}
	}
	return nil
}

// marksSQL is the SQL of the marks that some number of the column is written with.
func (c conversion) marksSQL(text string) string {
	if !c.money {
		return "''"
	}
	var parts []string
	for _, mark := range ",.(" + moneySigns {
		parts = append(parts, fmt.Sprintf("CASE WHEN bool_or(contains(%s, '%c')) THEN '%c' ELSE '' END", text, mark, mark))
	}
	return strings.Join(parts, " || ")
}

// describe says how numbers are written, going by the marks that any of them has.
func (c conversion) describe(marks string) string {
	how := []string{}
	switch {
	case c.how == howDecimalComma && strings.Contains(marks, "."):
		if strings.Contains(marks, ",") && !strings.HasSuffix(c.kind, "INT") {
			how = append(how, howDecimalComma)
		}
		how = append(how, howPoints)
	case c.how != "":
		how = append(how, c.how)
	}
	if strings.ContainsAny(marks, moneySigns) {
		how = append(how, "without a sign of money")
	}
	if strings.Contains(marks, "(") {
		how = append(how, "brackets for minus")
	}
	return strings.Join(how, ", ")
}

// centuries says which years of two digits are meant, where dates have them.
func (c conversion) centuries() string {
	if !strings.Contains(c.value, "%%y") {
		return ""
	}
	return "; years of two digits are those of 1969 to 2068"
}

func kindWord(kind string) string {
	switch {
	case kind == "BOOLEAN":
		return "booleans"
	case kind == "DATE":
		return "dates"
	case strings.HasPrefix(kind, "TIME"):
		return "times"
	}
	return "numbers"
}

// noteDateOrders warns of dates that can be read with the day or the month first.
func (b *builder) noteDateOrders(ctx context.Context, table string, columns []*textColumn, r *TableReport) error {
	for _, c := range columns {
		if c.chosen.order != dayFirst && c.chosen.order != monthFirst || strings.Contains(c.chosen.value, "%%b") || strings.Contains(c.chosen.value, "%%B") {
			continue
		}
		name := quoteName(c.name)
		rows, err := b.queryTexts(ctx, "SELECT CAST(coalesce(max(day("+name+")) <= 12 AND bool_or(day("+name+") <> month("+name+")), false) AS VARCHAR) FROM "+quoteName(table))
		if err != nil {
			return err
		}
		for i := range r.Notes {
			if n := &r.Notes[i]; n.Rule == schema.RuleDateOrder && n.Column == c.name && rows[0][0] == "true" {
				n.Message = fmt.Sprintf("The dates of %s can be read two ways; they were read with %s first%s.", c.name, c.chosen.order, c.chosen.centuries())
			}
		}
	}
	return nil
}

// noteKept says why columns stayed text although most of their values fit a type.
func (b *builder) noteKept(ctx context.Context, table string, columns []*textColumn, r *TableReport) error {
	if len(columns) == 0 {
		return nil
	}
	var parts []string
	for _, c := range columns {
		if c.nearly == nil {
			c.nearly = &givenConversions(c.given)[0]
		}
		t := c.text(true, true)
		plain := "(" + fmt.Sprintf(c.nearly.plain, t) + ")"
		filter := " FILTER (" + t + " IS NOT NULL AND NOT coalesce(" + fmt.Sprintf(c.nearly.same, plain, "("+fmt.Sprintf(c.nearly.value, plain)+")") + ", false))"
		parts = append(parts, "CAST(count(*)"+filter+" AS VARCHAR)", "coalesce(first("+quoteName(c.name)+")"+filter+", '')", "CAST(count("+t+") AS VARCHAR)")
	}
	rows, err := b.queryTexts(ctx, "SELECT "+strings.Join(parts, ", ")+" FROM "+quoteName(table))
	if err != nil {
		return fmt.Errorf("counting what would have changed: %w", err)
	}
	for i, c := range columns {
		cells := rows[0][3*i : 3*i+3]
		count, _ := strconv.ParseInt(cells[0], 10, 64)
		note := schema.Note{Column: c.name, Rule: schema.RuleKeptText, Count: count, Before: clipText(cells[1]), After: clipText(cells[1])}
		if c.given != "" {
			note.Rule = schema.RuleTypes
			r.addNote(note, "The column %s was kept as text, because %d of %d values do not fit the type %s that was given, such as %q.", c.name, count, atoi(cells[2]), c.given, note.Before)
			continue
		}
		if c.nearly.rule == schema.RuleDateOrder {
			note.Rule = schema.RuleDateOrder
			if count == 0 {
				r.addNote(note, "The column %s may hold dates with years of two digits, which can be read in several orders; it was kept as text.", c.name)
				continue
			}
			r.addNote(note, "The dates of %s are written in more than one order; they were kept as text. With %s first, %d of %d do not fit, such as %q.", c.name, c.nearly.order, count, atoi(cells[2]), note.Before)
			continue
		}
		r.addNote(note, "The column %s was kept as text, because %d of %d values would change as %s, such as %q.", c.name, count, atoi(cells[2]), c.nearly.kind, note.Before)
	}
	return nil
}

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }
