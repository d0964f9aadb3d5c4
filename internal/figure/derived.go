package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// What one or two cells give beside their sum, difference and ratio: a price times an
// amount, what a rate is in a year, and a mean growth.

// priceWords name columns that hold the price of one thing.
var priceWords = wordSet("price preis cost costs kosten rate fee tariff satz unit per pro je stückpreis")

func (c column) isPrice() bool {
	return slices.ContainsFunc(c.words, func(w string) bool { return priceWords[w] })
}

// Words of a sentence that say for how long a value is told.
var (
	perYear  = []string{"annual", "a year", "per year", "yearly", "run rate", "im jahr", "pro jahr", "jährlich", "aufs jahr", "hochgerechnet"}
	perMonth = []string{"a month", "per month", "monthly", "im monat", "pro monat", "monatlich"}
	perDay   = []string{"a day", "per day", "daily", "am tag", "pro tag", "täglich"}
)

// rates tries a value of a shorter period for a year, and one of a longer for a month or a
// day, where the sentence says so.
func (t *tracer) rates(s *search, chosen []cell) bool {
	var by []float64
	if containsOneOf(s.m.sentence, perYear) {
		by = append(by, 12, 4, 52, 365)
	}
	if containsOneOf(s.m.sentence, perMonth) {
		by = append(by, 1.0/12)
	}
	if containsOneOf(s.m.sentence, perDay) {
		by = append(by, 1.0/365, 1.0/30)
	}
	if len(by) == 0 || s.m.share || s.m.digits() < 2 {
		return true
	}
	for _, c := range chosen {
		if c.Table == "" || c.column.key || c.column.time || c.column.share || !t.isNamed(s.m, c) {
			continue
		}
		for _, f := range by {
			text := fmt.Sprintf("%s[%d] * %g", c.Column, c.Row+1, f)
			if f < 1 {
				text = fmt.Sprintf("%s[%d] / %g", c.Column, c.Row+1, math.Round(1/f))
			}
			if !s.try(formula{value: c.value * f, text: text, cells: []cell{c}, column: c.column, pointed: true, spoken: true}) {
				return false
			}
		}
	}
	return true
}

// product tries an amount times its price, of one row that the sentence names.
func (s *search) product(a, b cell, named bool) bool {
	if !named || s.m.share || s.m.digits() < statedDigits || a.Table == "" || a.Row != b.Row || a.Table != b.Table || a.column.isPrice() || !b.column.isPrice() || a.column.key || a.column.time {
		return true
	}
	value := a.value * b.value
	if i := slices.Index(b.column.words, "per"); i >= 0 && i+1 < len(b.column.words) { // tonnes at a price per kg
		if f, ok := convert(a.column.unit, b.column.words[i+1]); ok {
			value *= f
		}
	}
	return s.try(formula{value: value, text: fmt.Sprintf("%s[%d] * %s[%d]", a.Column, a.Row+1, b.Column, b.Row+1), cells: []cell{a, b}, column: b.column, pointed: true, spoken: true})
}

// meanGrowth tries the growth from one year to another as that of each year between them.
func (t *tracer) meanGrowth(s *search, a, b cell) bool {
	if !s.m.share || a.Table == "" || a.Column != b.Column || a.value <= 0 || b.value <= 0 || !containsOneOf(s.m.sentence, perYear) && !strings.Contains(s.m.sentence, "cagr") || !t.bothNamed(s.m, a, b) {
		return true
	}
	from, to, ok := t.inTime(a, b)
	x, okX := t.timeOf(from)
	y, okY := t.timeOf(to)
	if !ok || !okX || !okY || y > 2100 || y-x < 2 {
		return true
	}
	return s.try(formula{
		value: math.Pow(to.value/from.value, 1/(y-x)) - 1, text: fmt.Sprintf("(%s[%d] / %s[%d]) ^ (1/%g) - 1", to.Column, to.Row+1, from.Column, from.Row+1, y-x),
		cells: []cell{to, from}, cue: differenceCue, ratio: true, pointed: true, spoken: true,
	})
}

// isChangeTo says that a is of a period that the sentence names and b of the one before it:
// in 2020 it fell by 18 % is said of 2019.
func (t *tracer) isChangeTo(m mention, a, b cell) bool {
	if m.cues&differenceCue == 0 || a.Table == "" || a.Table != b.Table || a.Column != b.Column || !t.isNamed(m, a) || t.isNamed(m, b) || !t.differInTime(a, b) {
		return false
	}
	g := t.gridOf(a.Table)
	at, ok := t.timeOf(a)
	before, ok2 := t.timeOf(b)
	if !ok || !ok2 || before >= at || len(g.cells) > maxGroupRows {
		return false
	}
	for row := range g.cells { // none is between them
		c := cell{Cell: Cell{Table: a.Table, Row: row, Column: a.Column}}
		if when, ok := t.timeOf(c); ok && when > before && when < at && t.differInTime(a, c) {
			return false
		}
	}
	return true
}
