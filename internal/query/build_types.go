package query

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A textColumn is a column of texts that is about to get a type.
type textColumn struct {
	name       string
	given      string       // the type that the import asks for; "" = none
	allowed    []conversion // nil = all of them
	candidates []conversion // those that no text has contradicted yet
	chosen     *conversion  // nil = it stays text
	missing    bool         // some texts say that there is nothing
	spaces     bool         // some texts have spaces around them
	values     int          // texts that were looked at
	whole      bool         // the candidates were held against every row
	nearly     *conversion  // what most texts of a column that stays text would be
}

// digits are the greatest numbers of digits before and after the point.
type digits struct{ before, after int }

// maxScale is up to how many decimals a number is DECIMAL even if a double would print
// it the same: money and rates, whose sums must be exact. Beyond, products of a few
// columns would not fit any decimal.
const maxScale = 10

// typed gives the types of a number with so many digits, the best first.
func (c conversion) typed(d digits) []conversion {
	if !c.number {
		return []conversion{c}
	}
	var out []conversion
	add := func(kind, same string) {
		n := c
		n.kind, n.value, n.same = kind, fmt.Sprintf(castValue, kind), same
		out = append(out, n)
	}
	width := 18
	if d.before+d.after > width {
		width = 38
	}
	decimal := func() {
		if d.before+d.after <= width {
			add(fmt.Sprintf("DECIMAL(%d,%d)", width, d.after), printedLonger)
		}
	}
	switch {
	case d.after == 0:
		if d.before <= 19 {
			add("BIGINT", printed)
		}
		if d.before <= 38 {
			add("HUGEINT", printed)
		}
	case d.after <= maxScale:
		decimal()
		add("DOUBLE", printedDouble)
	default:
		add("DOUBLE", printedDouble)
		decimal()
	}
	return out
}

// countDigits looks at a number as it is written under a conversion.
func (c conversion) countDigits(text string) digits {
	point := "."
	if c.how == howDecimalComma {
		point = ","
	}
	if c.how == howPoints {
		point = "none"
	}
	before, after, _ := strings.Cut(text, point)
	count := func(s string) (n int) {
		for _, r := range s {
			if r >= '0' && r <= '9' {
				n++
			}
		}
		return n
	}
	return digits{count(before), count(after)}
}

func (d digits) widest(o digits) digits {
	return digits{max(d.before, o.before), max(d.after, o.after)}
}

// consider takes the conversions that the given texts allow, and chooses among them.
func (c *textColumn) consider(texts []string) {
	var values []string
	for _, t := range texts {
		plain := strings.Trim(t, " ")
		if isMissing(plain) {
			c.missing = true
			continue
		}
		c.spaces = c.spaces || plain != t
		values = append(values, plain)
	}
	c.values = len(values)
	c.candidates, c.chosen = nil, nil
	allowed := c.allowed
	if allowed == nil {
		allowed = conversions
	}
	signs := signsOf(values)
	severalSigns := utf8.RuneCountInString(signs) > 1
	for _, conv := range allowed {
		if conv.money && severalSigns {
			continue
		}
		if !slices.ContainsFunc(values, func(v string) bool { return !conv.form.MatchString(v) }) {
			c.candidates = append(c.candidates, conv)
		}
	}
	if c.given != "" {
		given := slices.DeleteFunc(givenConversions(c.given), func(conv conversion) bool {
			return slices.ContainsFunc(values, func(v string) bool { return !conv.form.MatchString(v) })
		})
		c.candidates = append(given, c.candidates...)
	}
	if len(values) == 0 {
		return
	}
	for _, conv := range c.candidates {
		var d digits
		if conv.number {
			for _, v := range values {
				d = d.widest(conv.countDigits(v))
			}
		}
		if typed := conv.typed(d); len(typed) > 0 && c.mayUse(typed[0]) {
			chosen := typed[0].withSign(signs)
			c.chosen = &chosen
			return
		}
	}
	c.nearly = mostlyFits(values)
}

// mayUse holds a choice against the type that was asked for.
func (c *textColumn) mayUse(conv conversion) bool {
	return c.given == "" || strings.EqualFold(conv.kind, c.given)
}

// givenConversions read a type that the import asks for as the engine does. Numbers
// must not be rounded.
func givenConversions(kind string) []conversion {
	same := "%[2]s IS NOT NULL"
	if regexp.MustCompile(`(?i)^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL.*)$`).MatchString(kind) {
		same = "CAST(%[2]s AS DECIMAL(38, 12)) = TRY_CAST(%[1]s AS DECIMAL(38, 12))"
	}
	out := []conversion{{kind: kind, form: form(`(?s).*`), plain: asItIs, value: fmt.Sprintf(castValue, kind), same: same}}
	for _, conv := range conversions {
		if conv.number && conv.rule != "" {
			conv.number, conv.kind, conv.value, conv.same = false, kind, out[0].value, same
			out = append(out, conv)
		}
	}
	return out
}

// mostlyFits is the plain conversion that most of the texts survive, if they are more
// than half and not all.
func mostlyFits(values []string) *conversion {
	for _, conv := range conversions {
		if conv.rule != "" {
			continue
		}
		fits := 0
		var d digits
		for _, v := range values {
			if conv.form.MatchString(v) {
				fits++
				if conv.number {
					d = d.widest(conv.countDigits(v))
				}
			}
		}
		if typed := conv.typed(d); fits > len(values)/2 && len(typed) > 0 {
			return &typed[0]
		}
	}
	return twoOrders(values)
}

var orderedDate = form(`[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}( .*)?`)

// twoOrders finds dates of which some have the day first and others the month.
func twoOrders(values []string) *conversion {
	if slices.ContainsFunc(values, func(v string) bool { return !orderedDate.MatchString(v) }) {
		return nil
	}
	for _, conv := range conversions {
		if conv.order == dayFirst && slices.ContainsFunc(values, conv.form.MatchString) {
			return &conv
		}
	}
	return nil
}

// needsCheck says that the choice must be held against every row before it is used: nothing
// was seen, or dates with years of two digits can still be read in several ways.
func (c *textColumn) needsCheck() bool {
	if c.whole || c.given != "" {
		return false
	}
	return c.values == 0 || c.chosen != nil && c.chosen.twoDigit && len(c.dateOrders()) > 1
}

// dateOrders are the readings of two-digit dates that are left.
func (c *textColumn) dateOrders() []string {
	var out []string
	for _, conv := range c.candidates {
		if conv.twoDigit && !slices.Contains(out, conv.order) {
			out = append(out, conv.order)
		}
	}
	return out
}

// text is the SQL of the column's text as conversions take it.
func (c *textColumn) text(missing, spaces bool) string {
	t := quoteName(c.name)
	if spaces {
		t = "trim(" + t + ", ' ')"
	}
	if missing {
		t = "CASE WHEN " + t + " IN " + missingList + " THEN NULL ELSE " + t + " END"
	}
	return t
}

// survivors builds the SELECT that gives columns their types and fails at the first
// value that would not survive its own.
func survivors(columns []*textColumn, from string) string {
	inner, outer := []string{}, []string{}
	for i, c := range columns {
		name := quoteName(c.name)
		if c.chosen == nil {
			inner = append(inner, name)
			outer = append(outer, name)
			continue
		}
		t, v := textAlias(i), valueAlias(i)
		plain := fmt.Sprintf(c.chosen.plain, c.text(c.missing, c.spaces))
		inner = append(inner, plain+" AS "+t)
		outer = append(outer, fmt.Sprintf("CASE WHEN %[1]s IS NULL THEN NULL WHEN %[2]s THEN %[3]s ELSE CAST(error('%[4]s%[5]d:') AS %[6]s) END AS %[7]s",
			t, fmt.Sprintf(c.chosen.same, t, v), v, changedMark, i, c.chosen.kind, name))
	}
	var values []string
	for i, c := range columns {
		if c.chosen != nil {
			values = append(values, fmt.Sprintf(c.chosen.value, textAlias(i))+" AS "+valueAlias(i))
		}
	}
	middle := "SELECT " + strings.Join(inner, ", ") + " FROM (" + from + ")"
	if len(values) > 0 {
		middle = "SELECT *, " + strings.Join(values, ", ") + " FROM (" + middle + ")"
	}
	return "SELECT " + strings.Join(outer, ", ") + " FROM (" + middle + ")"
}

// The aliases of a column's text and value hold a character that no name begins with.
func textAlias(i int) string  { return fmt.Sprintf("\"\x01text%d\"", i) }
func valueAlias(i int) string { return fmt.Sprintf("\"\x01value%d\"", i) }

// changedMark begins the error of a value that does not survive; the column's number follows.
const changedMark = "value changed in column "

// changedColumn finds the column in such an error.
func changedColumn(err error) (int, bool) {
	e, ok := errors.AsType[*engineErr](err)
	if !ok {
		return 0, false
	}
	_, rest, found := strings.Cut(e.Message, changedMark)
	number, _, ended := strings.Cut(rest, ":")
	n, err := strconv.Atoi(number)
	return n, found && ended && err == nil
}

// settleTypes creates the table with the types that every value survives.
func (b *builder) settleTypes(ctx context.Context, table string, columns []*textColumn, from string) error {
	if err := b.lookFurther(ctx, columns, from); err != nil {
		return err
	}
	unsure := slices.DeleteFunc(slices.Clone(columns), func(c *textColumn) bool { return !c.needsCheck() })
	if err := b.holdAgainstAll(ctx, unsure, from); err != nil {
		return err
	}
	applyDecimalComma(columns)
	for {
		err := b.create(ctx, table, survivors(columns, from))
		i, changed := changedColumn(err)
		if !changed {
			return err
		}
		if i >= len(columns) {
			return err
		}
		if !columns[i].whole {
			undecided := slices.DeleteFunc(slices.Clone(columns), func(c *textColumn) bool { return c.whole || c.chosen == nil })
			if err := b.holdAgainstAll(ctx, undecided, from); err != nil {
				return err
			}
			applyDecimalComma(columns)
			continue
		}
		columns[i].chosen = nil
	}
}

// applyDecimalComma makes thousands of 1.000 where another column of the file has a
// decimal comma.
func applyDecimalComma(columns []*textColumn) {
	if !slices.ContainsFunc(columns, func(c *textColumn) bool { return c.chosen != nil && c.chosen.how == howDecimalComma }) {
		return
	}
	for _, c := range columns {
		if c.chosen == nil || !c.chosen.number || c.chosen.rule != "" || c.given != "" || !strings.HasPrefix(c.chosen.kind, "DECIMAL") || !strings.HasSuffix(c.chosen.kind, ",3)") {
			continue
		}
		i := slices.IndexFunc(c.candidates, func(conv conversion) bool { return conv.how == howDecimalComma })
		if i < 0 {
			continue
		}
		points := c.candidates[i]
		points.how = howPoints
		points.kind, points.value, points.same = "BIGINT", fmt.Sprintf(castValue, "BIGINT"), printed
		c.chosen = &points
	}
}
