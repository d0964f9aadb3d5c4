package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"interlock/internal/dialect"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// A columnName names a column of a dataset.
type columnName struct{ table, column string }

// A columnRange is the smallest and the largest value of a column of numbers or days, as
// text, and how many rows of any column have none.
type columnRange struct {
	min, max string
	nulls    int64
	days     bool // a column of days or points in time
}

// loadRanges reads the ranges of numbers and dates and counts what is NULL, one statement a table. A table whose
// ranges cannot be read has none.
func (d *datasetKnowledge) loadRanges(ctx context.Context, data Data) map[columnName]columnRange {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ranges != nil {
		return d.ranges
	}
	out := map[columnName]columnRange{}
	for _, t := range d.schema.Tables {
		if t.Rows > maxValueTables || t.Rows <= 0 || len(out) >= maxColumns {
			continue
		}
		if err := readRanges(ctx, data, d.schema, t, out); err != nil && ctx.Err() != nil {
			return out // not kept: the next turn reads them again
		}
	}
	d.ranges = out
	return out
}

// readRanges adds the ranges of one table.
func readRanges(ctx context.Context, data Data, d schema.Dataset, t schema.Table, out map[columnName]columnRange) error {
	spoken, _ := dialect.Find(d.Dialect) // none is the embedded engine's
	var columns []schema.Column
	var selected []string
	for _, c := range t.Columns {
		if len(columns) >= maxColumns {
			break
		}
		name, limits := spoken.Ident(c.Name), "NULL, NULL"
		if kind := queryplan.KindOf(c.Type); kind == queryplan.Number || kind == queryplan.Date {
			limits = fmt.Sprintf("min(%s), max(%s)", name, name)
		}
		columns = append(columns, c)
		selected = append(selected, fmt.Sprintf("%s, count(*) - count(%s)", limits, name))
	}
	if len(columns) == 0 {
		return nil
	}
	r, err := data.Query(ctx, Query{
		Dataset: d.ID, MaxRows: 1, User: "planner",
		SQL: fmt.Sprintf("SELECT %s FROM %s", strings.Join(selected, ", "), spoken.Ident(t.Name)),
	})
	if err != nil {
		return err
	}
	var rows [][]json.RawMessage
	if err := json.Unmarshal(r.Rows, &rows); err != nil {
		return err
	}
	if len(rows) != 1 || len(rows[0]) != 3*len(columns) {
		return nil
	}
	for i, c := range columns {
		cells := rows[0][3*i:]
		found := columnRange{min: cellWords(cells[0]), max: cellWords(cells[1]), days: queryplan.KindOf(c.Type) == queryplan.Date}
		_ = json.Unmarshal(cells[2], &found.nulls)
		out[columnName{t.Name, c.Name}] = found
	}
	return nil
}

// cellWords gives a cell as a model reads it: text without quotes, a midnight as its day.
func cellWords(raw json.RawMessage) string {
	text := string(raw)
	if text == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		text = s
	}
	for _, midnight := range []string{"T00:00:00Z", "T00:00:00", " 00:00:00"} {
		text = strings.TrimSuffix(text, midnight)
	}
	return text
}
