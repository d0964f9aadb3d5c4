package query

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"interlock/internal/schema"
)

// A conversion is a way to read the texts of a column as values of a type. It is used
// only if every value survives it: printed again, it is the text that came in. What
// differs between the two is named by the rule and noted.
type conversion struct {
	kind  string      // the engine's type
	form  textForm    // of every text; the quick look at some of them
	plain string      // SQL of the text as the engine casts it; %[1]s is the text
	value string      // SQL of the value; %[1]s is the plain text
	same  string      // SQL: the value %[2]s printed again is the plain text %[1]s
	rule  schema.Rule // what is not printed as it came; "" = nothing
	how   string      // the same for people
	// order groups dates that can be read in several ways; of those with years of two
	// digits, only one that no other contradicts is used.
	order    string
	twoDigit bool
	number   bool // a number whose type follows from its digits
	money    bool // it drops a sign of money, which must be the same throughout the column
}

// missingWords are texts that people write where there is nothing.
var missingWords = []string{"", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "none", "nan", "NaN", "-", "--", "–", "—", "?", "."}

func isMissing(text string) bool { return slices.Contains(missingWords, text) }

// missingList is the same for SQL.
var missingList = func() string {
	quoted := make([]string, len(missingWords))
	for i, w := range missingWords {
		quoted[i] = quoteText(w)
	}
	return "(" + strings.Join(quoted, ", ") + ")"
}()

const (
	asItIs    = "%[1]s"
	castValue = "TRY_CAST(%%[1]s AS %s)"
	printed   = "CAST(%[2]s AS VARCHAR) = %[1]s"
	// A number with a fixed count of decimals shows zeros behind the text's last one.
	printedLonger = "starts_with(CAST(%[2]s AS VARCHAR), %[1]s)"
	// A double shows a point where the text is a whole number.
	printedDouble = "(CAST(%[2]s AS VARCHAR) = %[1]s OR %[1]s <> '-0' AND CAST(%[2]s AS VARCHAR) = %[1]s || '.0')"
	// A time shows no zeros at the end of its fraction.
	printedShorter = "(CAST(%[2]s AS VARCHAR) = %[1]s OR starts_with(%[1]s, CAST(%[2]s AS VARCHAR)) AND translate(substr(%[1]s, strlen(CAST(%[2]s AS VARCHAR)) + 1), '.0', '') = '')"
)

const (
	wholeForm   = `-?(0|[1-9][0-9]*)`
	decimalForm = wholeForm + `([.][0-9]+)?`
)

// A textForm is what a text must look like. It is compiled when it is first asked: there
// are hundreds of them, and every worker starts with this package.
type textForm func() *regexp.Regexp

func form(pattern string) textForm {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + pattern + `)$`) })
}

// MatchString says whether the whole text has the form.
func (f textForm) MatchString(text string) bool { return f().MatchString(text) }

// moneySigns are the signs of money that numbers are read without.
const (
	moneySigns   = `$€£¥`
	anyMoneySign = `[` + moneySigns + `]`
	noMoneySign  = `[^\x00-\x{10FFFF}]`
)

// bareNumber is a text as a number would be written: without a sign of money, and with
// a minus for brackets.
const bareNumber = `regexp_replace(regexp_replace(replace(%[1]s, chr(160), ''), '^([+-]?)` + anyMoneySign + ` ?| ?` + anyMoneySign + `$', '\1'), '^[(](.*)[)]$', '-\1')`

// withSign reads only numbers with the given sign of money, or without any: amounts of
// two currencies are no numbers of one column.
func (c conversion) withSign(sign string) conversion {
	if !c.money {
		return c
	}
	class := noMoneySign
	if sign != "" {
		class = "[" + sign + "]"
	}
	c.plain = strings.ReplaceAll(c.plain, anyMoneySign, class)
	return c
}

// signsOf are the signs of money in some texts, each once.
func signsOf(texts []string) (signs string) {
	for _, t := range texts {
		for _, r := range t {
			if strings.ContainsRune(moneySigns, r) && !strings.ContainsRune(signs, r) {
				signs += string(r)
			}
		}
	}
	return signs
}

const (
	moneyBefore = `(?:-?` + anyMoneySign + ` ?)?`
	moneyAfter  = `(?: ?` + anyMoneySign + `)?`
	groupComma  = `-?(0|[1-9][0-9]{0,2}(,[0-9]{3})+|[1-9][0-9]*)([.][0-9]+)?`
	groupPoint  = `-?(0|[1-9][0-9]{0,2}([.][0-9]{3})+|[1-9][0-9]*)(,[0-9]+)?`
)

func moneyForm(number string) textForm {
	return form(moneyBefore + number + moneyAfter + `|[(]` + moneyBefore + number + moneyAfter + `[)]`)
}

const (
	howCommas       = "commas between thousands"
	howDecimalComma = "a decimal comma"
	howPoints       = "points between thousands"
)

// The conversions in the order in which they are tried: the first that every value
// survives is used. Types of numbers are filled in from their digits.
var conversions = slices.Concat([]conversion{
	{number: true, form: form(decimalForm), plain: asItIs},
	{
		kind: "DOUBLE", form: form(scientificForm), plain: asItIs, value: fmt.Sprintf(castValue, "DOUBLE"), same: sameScientific,
		rule: schema.RuleNumberFormat, how: "scientific notation",
	},
	{kind: "BOOLEAN", form: form(`true|false`), plain: asItIs, value: fmt.Sprintf(castValue, "BOOLEAN"), same: printed},
	{kind: "BOOLEAN", form: form(`True|False`), plain: `CASE WHEN %[1]s IN ('True', 'False') THEN lower(%[1]s) ELSE %[1]s END`, value: fmt.Sprintf(castValue, "BOOLEAN"), same: printed, rule: schema.RuleBoolean, how: "True and False"},
	{kind: "BOOLEAN", form: form(`TRUE|FALSE`), plain: `CASE WHEN %[1]s IN ('TRUE', 'FALSE') THEN lower(%[1]s) ELSE %[1]s END`, value: fmt.Sprintf(castValue, "BOOLEAN"), same: printed, rule: schema.RuleBoolean, how: "TRUE and FALSE"},
	{kind: "DATE", form: form(`[0-9]{4}-[0-9]{2}-[0-9]{2}`), plain: asItIs, value: fmt.Sprintf(castValue, "DATE"), same: printed},
	{kind: "TIMESTAMP", form: form(`[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?`), plain: asItIs, value: fmt.Sprintf(castValue, "TIMESTAMP"), same: printedShorter},
	{
		kind: "TIMESTAMP", form: form(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?`), plain: `replace(%[1]s, 'T', ' ')`, value: fmt.Sprintf(castValue, "TIMESTAMP"), same: printedShorter,
		rule: schema.RuleTimeFormat, how: "a T between date and time",
	},
	{
		kind: "TIMESTAMP", form: form(`[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}`), plain: `replace(%[1]s, 'T', ' ') || ':00'`, value: fmt.Sprintf(castValue, "TIMESTAMP"), same: printed,
		rule: schema.RuleTimeFormat, how: "without seconds",
	},
	// 24:00 is the end of a day to people, and of no day to most programs.
	{kind: "TIME", form: form(`[0-2][0-9]:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?`), plain: asItIs, value: fmt.Sprintf(castValue, "TIME"), same: "NOT starts_with(%[1]s, '24') AND " + printedShorter},
	{kind: "TIME", form: form(`[0-2][0-9]:[0-9]{2}`), plain: `%[1]s || ':00'`, value: fmt.Sprintf(castValue, "TIME"), same: "NOT starts_with(%[1]s, '24') AND " + printed, rule: schema.RuleTimeFormat, how: "without seconds"},
}, offsetConversions(), dateConversions(), []conversion{
	{number: true, money: true, form: moneyForm(decimalForm), plain: bareNumber, rule: schema.RuleNumberFormat},
	{number: true, money: true, form: moneyForm(groupComma), plain: groupedPlain(groupComma, `replace(`+bareNumber+`, ',', '')`), rule: schema.RuleNumberFormat, how: howCommas},
	{number: true, money: true, form: moneyForm(groupPoint), plain: groupedPlain(groupPoint, `replace(replace(`+bareNumber+`, '.', ''), ',', '.')`), rule: schema.RuleNumberFormat, how: howDecimalComma},
})

// scientificForm needs a point or a sign beside the exponent: 1e5 alone may be a name.
const scientificForm = `-?[0-9]+[.][0-9]+[eE][+-]?[0-9]{1,3}|-?[0-9][eE][+-][0-9]{1,3}|` + decimalForm

// sameScientific holds for up to 15 digits, which a double always keeps, and for numbers
// that are not too small for one. Numbers without an exponent are printed as they came.
const sameScientific = `CASE WHEN regexp_matches(%[1]s, '[eE]') THEN regexp_full_match(%[1]s, '` + scientificForm + `')
	AND length(regexp_replace(regexp_replace(%[1]s, '[eE].*', ''), '[^0-9]', '', 'g')) <= 15
	AND (%[2]s <> 0 OR NOT regexp_matches(%[1]s, '^[^eE]*[1-9]')) ELSE ` + printedDouble + ` END`

// groupedPlain takes the marks out of numbers that are written in groups, and leaves a
// text that is written otherwise as it is, so that it does not survive.
func groupedPlain(pattern, plain string) string {
	return `CASE WHEN regexp_full_match(` + bareNumber + `, ` + quoteText(pattern) + `) THEN ` + plain + ` ELSE %[1]s END`
}

// offsetConversions read times with an offset from UTC, the same for all of a column:
// only then can they be printed as they came. %s stands for the offset.
func offsetConversions() []conversion {
	const local = `replace(left(%%[1]s, strlen(%%[1]s) - %d), 'T', ' ')`
	var out []conversion
	for _, offset := range offsets() {
		out = append(out, conversion{
			kind: "TIMESTAMP WITH TIME ZONE", form: form(`[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?` + regexp.QuoteMeta(offset)),
			plain: `CASE WHEN ends_with(%[1]s, ` + quoteText(offset) + `) THEN ` + fmt.Sprintf(local, len(offset)) + ` ELSE %[1]s END`,
			value: `TRY_CAST(TRY_CAST(%[1]s AS TIMESTAMP) || ` + quoteText(strings.ReplaceAll(offset, "Z", "+00")) + ` AS TIMESTAMP WITH TIME ZONE)`,
			same:  strings.ReplaceAll(printedShorter, "%[2]s", "TRY_CAST(%[1]s AS TIMESTAMP)"),
			rule:  schema.RuleOffset, how: offset,
		})
	}
	return out
}

// offsets are those that are in use.
func offsets() []string {
	out := []string{"Z", "+00:00", "+00", "+0000"}
	for quarter := -12 * 4; quarter <= 14*4; quarter++ {
		sign, n := '+', quarter
		if n < 0 {
			sign, n = '-', -n
		}
		if n == 0 {
			continue
		}
		hours, minutes := n/4, n%4*15
		out = append(out, fmt.Sprintf("%c%02d:%02d", sign, hours, minutes), fmt.Sprintf("%c%02d%02d", sign, hours, minutes))
		if minutes == 0 {
			out = append(out, fmt.Sprintf("%c%02d", sign, hours))
		}
	}
	return out
}

// dateParts are the forms of the parts that the engine's formats know.
var dateParts = strings.NewReplacer(
	"%-d", `(?:[1-9]|[12][0-9]|3[01])`, "%d", `(?:0[1-9]|[12][0-9]|3[01])`, "%-m", `(?:[1-9]|1[0-2])`, "%m", `(?:0[1-9]|1[0-2])`, "%Y", `[0-9]{4}`, "%y", `[0-9]{2}`,
	"%b", `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)`, "%B", `(?:January|February|March|April|May|June|July|August|September|October|November|December)`,
	"%H", `(?:[01][0-9]|2[0-3])`, "%-I", `(?:[1-9]|1[0-2])`, "%I", `(?:0[1-9]|1[0-2])`, "%M", `[0-5][0-9]`, "%S", `[0-5][0-9]`, "%p", `[AP]M`, ".", `[.]`,
)

const (
	dayFirst   = "the day"
	monthFirst = "the month"
	yearFirst  = "the year"
)

// dateConversions read dates in the ways that people write them.
func dateConversions() []conversion {
	var out []conversion
	add := func(format, order string, twoDigit bool) {
		for _, clock := range []string{"", " %H:%M", " %H:%M:%S", " %-I:%M %p", " %I:%M %p", " %-I:%M:%S %p", " %I:%M:%S %p"} {
			kind := "TIMESTAMP"
			if clock == "" {
				kind = "DATE"
			}
			whole := quoteText(format + clock)
			out = append(out, conversion{
				kind: kind, form: form(dateParts.Replace(format + clock)), plain: asItIs,
				value: `CAST(try_strptime(%[1]s, ` + escapePercent(whole) + `) AS ` + kind + `)`, same: `strftime(%[2]s, ` + escapePercent(whole) + `) = %[1]s`,
				rule: schema.RuleDateOrder, how: order, order: order, twoDigit: twoDigit,
			})
		}
	}
	for _, year := range []string{"%Y", "%y"} {
		for _, sep := range []string{".", "/", "-"} {
			for _, pad := range []string{"", "-"} {
				d, m := "%"+pad+"d", "%"+pad+"m"
				add(d+sep+m+sep+year, dayFirst, year == "%y")
				add(m+sep+d+sep+year, monthFirst, year == "%y")
				if year == "%y" || sep != "-" || pad != "" {
					add(year+sep+m+sep+d, yearFirst, year == "%y")
				}
			}
		}
	}
	for _, format := range []string{"%d %b %Y", "%-d %b %Y", "%d %B %Y", "%-d %B %Y", "%d-%b-%Y", "%-d-%b-%Y", "%d-%b-%y"} {
		add(format, dayFirst, false)
	}
	for _, format := range []string{"%b %d, %Y", "%b %-d, %Y", "%B %d, %Y", "%B %-d, %Y"} {
		add(format, monthFirst, false)
	}
	return out
}

// escapePercent keeps a format's signs through fmt.
func escapePercent(s string) string { return strings.ReplaceAll(s, "%", "%%") }
