// Package sourcetest is the suite that every connector passes: one table, held by
// each system in its own way, must give the same columns, the same values and the
// same rows under every filter.
package sourcetest

import (
	"fmt"
	"strings"

	"interlock/internal/schema"
)

// A Row of the table. A nil pointer is NULL.
type Row struct {
	ID    int64
	Name  *string // VARCHAR
	Qty   *int64  // BIGINT
	Price *string // DECIMAL(12,2)
	Ratio *float64
	Paid  *bool
	Day   *string // DATE
	Made  *string // TIMESTAMP
	Seen  *string // TIMESTAMP WITH TIME ZONE
	Key   *string // UUID
}

// Columns of the table with the types that a system which has them all gives.
var Columns = []schema.Column{
	{Name: "id", Type: schema.Type{Kind: schema.Int}},
	{Name: "name", Type: schema.Type{Kind: schema.Text}},
	{Name: "qty", Type: schema.Type{Kind: schema.Int}},
	{Name: "price", Type: schema.Type{Kind: schema.Decimal, Width: 12, Scale: 2}},
	{Name: "ratio", Type: schema.Type{Kind: schema.Float}},
	{Name: "paid", Type: schema.Type{Kind: schema.Bool}},
	{Name: "day", Type: schema.Type{Kind: schema.Date}},
	{Name: "made", Type: schema.Type{Kind: schema.Timestamp}},
	{Name: "seen", Type: schema.Type{Kind: schema.TimestampTZ}},
	{Name: "key", Type: schema.Type{Kind: schema.UUID}},
}

// names hold what systems disagree about: case, blanks at the end, accents, patterns,
// quotes, characters of four bytes, what looks like a parameter, control characters,
// text that is long, and text that is empty but not NULL.
var names = []string{
	"Alpha", "alpha", "ALPHA", "alpha ", "Beta", "beta%", "be_a", `back\slash`, "Ärger", "ärger", "Zoë",
	"O'Brien", `say "hi"`, "semi;colon", "😀 smile", "x*y", "x?y", "[x]", "10", "", "tab\tstop", "a|b",
	"$1", "'$2'", "line\nbreak", "\x01\x1f\x7f", strings.Repeat("long ", 1900) + "end",
}

// Rows of the table: every column NULL somewhere, values in no order.
var Rows = func() []Row {
	var rows []Row
	for i := range 63 {
		r := Row{ID: int64(i + 1)}
		if i%7 != 6 {
			r.Name = new(names[i%len(names)])
		}
		if i%5 != 4 {
			r.Qty = new(int64((i*37)%40 - 10))
		}
		if i%6 != 5 {
			r.Price = new(fmt.Sprintf("%d.%02d", (i*7919)%1000-200, (i*13)%100))
			if strings.HasPrefix(*r.Price, "0.") && i%2 == 0 {
				r.Price = new("-0.05")
			}
		}
		if i%8 != 7 {
			r.Ratio = new(float64((i*31)%50)/8 - 2)
		}
		if i%4 != 3 {
			r.Paid = new(i%3 == 0)
		}
		if i%9 != 8 {
			r.Day = new(fmt.Sprintf("2024-%02d-%02d", i%12+1, (i*5)%28+1))
		}
		if i%10 != 9 {
			r.Made = new(fmt.Sprintf("2024-03-%02d %02d:%02d:%02d.%06d", i%28+1, (i*7)%24, (i*11)%60, (i*17)%60, (i%4)*250001))
		}
		if i%11 != 10 {
			r.Seen = new(fmt.Sprintf("2024-03-%02d %02d:%02d:%02d.%06d", (i*3)%28+1, (i*5)%24, (i*13)%60, (i*19)%60, (i%3)*1))
		}
		if i%12 != 11 {
			r.Key = new(fmt.Sprintf("%08x-0000-4000-8000-%012x", i*2654435761&0xffffffff, i))
		}
		rows = append(rows, r)
	}
	rows[20].Price = new("9999999999.99")
	rows[21].Price = new("-9999999999.99")
	rows[22].Qty = new(int64(9007199254740993)) // no double holds it
	return rows
}()

// Cells gives a row's values in the order of the columns: nil, int64, string, float64 or bool.
func (r Row) Cells() []any {
	return []any{r.ID, value(r.Name), value(r.Qty), value(r.Price), value(r.Ratio), value(r.Paid), value(r.Day), value(r.Made), value(r.Seen), value(r.Key)}
}

func value[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
