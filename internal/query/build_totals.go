package query

import (
	"context"
	"fmt"
	"strings"

	"interlock/internal/schema"
)

// Bounds of the search for rows of totals: a table with more columns, or with more rows whose
// text begins or ends like a total, is not looked through.
const (
	totalColumns   = 400
	totalLookalike = 5000
)

// findTotals looks for rows of a table that only add up others. It reads the last row; the
// others are looked at only where that one is called a total.
func (b *builder) findTotals(ctx context.Context, table string) (totals, error) {
	var r TableReport
	if err := b.measure(ctx, table, &r); err != nil || r.Rows < 3 || len(r.Columns) > totalColumns {
		return totals{}, err
	}
	cells := make([]string, len(r.Columns))
	var labels []string
	for i, c := range r.Columns {
		cells[i] = "coalesce(CAST(" + quoteName(c.Name) + " AS VARCHAR), '')"
		if c.Type.Kind == schema.Text {
			labels = append(labels, "coalesce(regexp_matches("+quoteName(c.Name)+", "+quoteText(totalLike.String())+"), false)")
		}
	}
	if len(labels) == 0 {
		return totals{}, nil
	}
	called := "(" + strings.Join(labels, " OR ") + ")"
	row := "SELECT CAST(rowid AS VARCHAR), " + strings.Join(cells, ", ") + " FROM " + quoteName(table) + " WHERE "
	last, err := b.queryTexts(ctx, fmt.Sprintf("%s rowid = %d AND %s", row, r.Rows-1, called))
	if err != nil || len(last) == 0 {
		return totals{}, err
	}
	rows, err := b.queryTexts(ctx, fmt.Sprintf("%s %s ORDER BY rowid LIMIT %d", row, called, totalLookalike+1))
	if err != nil || len(rows) > totalLookalike {
		return totals{}, err
	}
	blocks, err := b.sumBlocks(ctx, table, r.Columns, called)
	if err != nil {
		return totals{}, err
	}
	return judgeTotals(r.Columns, rows, blocks), nil
}

// leaveTotals makes a table of texts anew without the rows that add up others: the name of a
// total may have kept a column of dates or numbers text. It gives the query for what is left.
func (b *builder) leaveTotals(ctx context.Context, im Import, columns []*textColumn, from string, r *TableReport) (string, error) {
	if im.Options.KeepTotals {
		return from, nil
	}
	found, err := b.findTotals(ctx, im.Table)
	if err != nil {
		return from, err
	}
	found.note(r)
	if len(found.rows) == 0 {
		return from, nil
	}
	for i, c := range columns {
		columns[i] = &textColumn{name: c.name, given: c.given, whole: strings.EqualFold(c.given, "VARCHAR")}
	}
	if err := b.session.exec("DROP TABLE " + quoteName(im.Table)); err != nil {
		return from, err
	}
	from = found.without(from)
	return from, b.settleTypes(ctx, im.Table, columns, from)
}

// sumBlocks adds up the rows between those that are called totals: their count, then of each
// column the sum, of numbers only, the least and the greatest value.
func (b *builder) sumBlocks(ctx context.Context, table string, columns []schema.Column, called string) ([][]string, error) {
	parts := []string{`CAST("` + blockAlias + `" AS VARCHAR)`, "CAST(count(*) AS VARCHAR)"}
	for _, c := range columns {
		name := quoteName(c.Name)
		sum := "''"
		if isSummed(c) {
			sum = "coalesce(CAST(sum(" + name + ") AS VARCHAR), '')"
		}
		least, most := "CAST(min("+name+") AS VARCHAR)", "CAST(max("+name+") AS VARCHAR)"
		parts = append(parts, sum, "CASE WHEN count("+name+") = count(*) THEN "+least+" ELSE '' END", "CASE WHEN count("+name+") = count(*) THEN "+most+" ELSE '' END")
	}
	return b.queryTexts(ctx, fmt.Sprintf(`SELECT %s FROM (SELECT *, %s AS "%s", count(*) FILTER (%s) OVER (ORDER BY rowid ROWS UNBOUNDED PRECEDING) AS "%s" FROM %s) WHERE NOT "%s" GROUP BY "%s"`,
		strings.Join(parts, ", "), called, calledAlias, called, blockAlias, quoteName(table), calledAlias, blockAlias))
}

// These names hold a character that no name begins with.
const (
	calledAlias = "\x01called"
	blockAlias  = "\x01block"
)

// isSummed says that a column can be added up without an overflow.
func isSummed(c schema.Column) bool {
	switch c.Type.Kind {
	case schema.Int, schema.Float:
		return true
	case schema.Decimal:
		return c.Type.Width <= 18
	}
	return false
}

// note says which rows were left out, with their values, or which one may be a total and stayed.
func (t totals) note(r *TableReport) {
	if t.doubt != "" {
		r.addNote(schema.Note{Rule: schema.RuleTotals}, "%s", t.doubt)
	}
	if len(t.rows) == 0 {
		return
	}
	note := schema.Note{Rule: schema.RuleTotals, Count: int64(len(t.rows))}
	for _, row := range t.rows[:min(keptLines, len(t.rows))] {
		note.Lines = append(note.Lines, schema.RejectedLine{Line: row.at + 1, Text: clipText(row.text), Reason: "it adds up " + row.over})
	}
	last := t.rows[len(t.rows)-1]
	if len(t.rows) == 1 {
		r.addNote(note, "The last row, %s, adds up %s; it was left out, so that nothing counts twice.", clipText(last.text), last.over)
		return
	}
	r.addNote(note, "%d rows that add up others were left out, so that nothing counts twice; the last, %s, adds up %s.", len(t.rows), clipText(last.text), last.over)
}

// places are the places of the rows, from 0.
func (t totals) places() map[int64]bool {
	out := map[int64]bool{}
	for _, row := range t.rows {
		out[row.at] = true
	}
	return out
}

// without is a query for the rows of another one that are no totals.
func (t totals) without(from string) string {
	places := make([]string, len(t.rows))
	for i, row := range t.rows {
		places[i] = fmt.Sprint(row.at + 1)
	}
	return fmt.Sprintf(`SELECT * EXCLUDE ("%[1]s") FROM (SELECT *, row_number() OVER () AS "%[1]s" FROM (%[2]s)) WHERE "%[1]s" NOT IN (%[3]s)`, blockAlias, from, strings.Join(places, ", "))
}
