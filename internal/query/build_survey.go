package query

import (
	"context"
	"fmt"
	"strings"
)

// lookFurther finds some texts of the columns that had none in the sample.
func (b *builder) lookFurther(ctx context.Context, columns []*textColumn, from string) error {
	var empty []*textColumn
	var parts []string
	for _, c := range columns {
		if c.values > 0 || c.whole {
			continue
		}
		empty = append(empty, c)
		t := c.text(true, true)
		parts = append(parts, "min("+t+")", "max("+t+")", "CAST(coalesce(bool_or(trim("+quoteName(c.name)+") IN "+missingList+"), false) AS VARCHAR)", "CAST(coalesce(bool_or(trim("+quoteName(c.name)+") <> "+quoteName(c.name)+"), false) AS VARCHAR)")
	}
	if len(empty) == 0 {
		return nil
	}
	rows, err := b.queryTexts(ctx, "SELECT "+strings.Join(parts, ", ")+" FROM ("+from+")")
	if err != nil {
		return err
	}
	for i, c := range empty {
		var seen []string
		for _, v := range rows[0][4*i : 4*i+2] {
			if v != "" {
				seen = append(seen, v)
			}
		}
		c.consider(seen)
		c.missing, c.spaces = rows[0][4*i+2] == "true", rows[0][4*i+3] == "true"
		if len(seen) == 0 {
			c.whole = true // empty throughout
		}
		c.values = 0 // two texts are no sample
	}
	return nil
}

// holdAgainstAll holds what is left of the conversions against every row and chooses again.
func (b *builder) holdAgainstAll(ctx context.Context, columns []*textColumn, from string) error {
	if len(columns) == 0 {
		return nil
	}
	counted, err := b.countAll(ctx, columns, from)
	if err != nil {
		return err
	}
	var parts []string
	options := make([][]conversion, len(columns))
	for i, c := range columns {
		first := c.chosen
		t := c.text(true, true)
		test := func(conv conversion) string {
			plain := fmt.Sprintf(conv.plain, t)
			return "coalesce(" + fmt.Sprintf(conv.same, "("+plain+")", "("+fmt.Sprintf(conv.value, "("+plain+")")+")") + ", false)"
		}
		for k, conv := range c.candidates {
			for _, typed := range conv.typed(counted[i].digits[k]) {
				if c.mayUse(typed) {
					options[i] = append(options[i], typed)
					fits := "bool_and(" + test(typed) + ") FILTER (" + t + " IS NOT NULL)"
					if typed.money {
						sign := "nullif(regexp_extract(" + t + ", '" + anyMoneySign + "'), '')"
						fits = "(" + fits + " AND min(" + sign + ") IS NOT DISTINCT FROM max(" + sign + "))"
					}
					parts = append(parts, "CAST(coalesce("+fits+", false) AS VARCHAR)")
				}
			}
		}
		if first == nil {
			parts = append(parts, "'0'", "''")
			continue
		}
		changed := "FILTER (" + t + " IS NOT NULL AND NOT " + test(*first) + ")"
		parts = append(parts, "CAST(count(*) "+changed+" AS VARCHAR)", "coalesce(first("+t+") "+changed+", '')")
	}
	rows, err := b.queryTexts(ctx, "SELECT "+strings.Join(parts, ", ")+" FROM ("+from+")")
	if err != nil {
		return err
	}
	at := 0
	for i, c := range columns {
		first := c.chosen
		var fits []conversion
		for k, conv := range options[i] {
			if rows[0][at+k] == "true" {
				fits = append(fits, conv)
			}
		}
		at += len(options[i])
		c.whole, c.candidates, c.chosen = true, fits, nil
		if len(fits) > 0 && (!fits[0].twoDigit || len(c.dateOrders()) == 1) {
			c.chosen = &fits[0]
		}
		if c.chosen == nil {
			c.nearly = first
		}
		c.missing, c.spaces = counted[i].missing, counted[i].spaces
		at += 2
	}
	return nil
}

// counted is what one look at all rows says about a column.
type counted struct {
	digits          []digits // of each candidate
	missing, spaces bool
}

func (b *builder) countAll(ctx context.Context, columns []*textColumn, from string) ([]counted, error) {
	var parts []string
	for _, c := range columns {
		name := quoteName(c.name)
		parts = append(parts, "CAST(coalesce(bool_or(trim("+name+", ' ') IN "+missingList+"), false) AS VARCHAR)", "CAST(coalesce(bool_or(trim("+name+", ' ') <> "+name+"), false) AS VARCHAR)")
		for _, conv := range c.candidates {
			if !conv.number {
				continue
			}
			plain := "(" + fmt.Sprintf(conv.plain, c.text(true, true)) + ")"
			parts = append(parts, "CAST(coalesce(max(strlen(ltrim(split_part("+plain+", '.', 1), '-'))), 0) AS VARCHAR)", "CAST(coalesce(max(strlen(split_part("+plain+", '.', 2))), 0) AS VARCHAR)")
		}
	}
	rows, err := b.queryTexts(ctx, "SELECT "+strings.Join(parts, ", ")+" FROM ("+from+")")
	if err != nil {
		return nil, err
	}
	out := make([]counted, len(columns))
	at := 0
	for i, c := range columns {
		out[i].missing, out[i].spaces = rows[0][at] == "true", rows[0][at+1] == "true"
		at += 2
		out[i].digits = make([]digits, len(c.candidates))
		for k, conv := range c.candidates {
			if !conv.number {
				continue
			}
			if _, err := fmt.Sscan(rows[0][at]+" "+rows[0][at+1], &out[i].digits[k].before, &out[i].digits[k].after); err != nil {
				return nil, fmt.Errorf("counting the digits of %s: %w", c.name, err)
			}
			at += 2
		}
	}
	return out, nil
}
