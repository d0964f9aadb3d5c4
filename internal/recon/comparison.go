package recon

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Kind is a way to compare two values.
type Kind string

// The kinds.
const (
	Text      Kind = "text"      // names and other short text
	Words     Kind = "words"     // long text, by the rare words that both have
	Reference Kind = "reference" // a number or code, which may stand inside other text
	Number    Kind = "number"    // amounts
	Date      Kind = "date"      // days, by their distance
)

// A Comparison says which columns are held against each other, and how. Several
// columns of a side are read as one text. Two columns of a number are what came in and what
// went out: the amount is the first less the second, whatever the sign of the second.
type Comparison struct {
	ID          string   `json:"id"`
	Left        []string `json:"left"`
	Right       []string `json:"right"`
	As          Kind     `json:"as"`
	LeftFormat  string   `json:"left_format,omitempty"`
	RightFormat string   `json:"right_format,omitempty"`
	Opposite    bool     `json:"opposite,omitempty"` // numbers have opposite signs on the two sides
}

// A lagBin is a range of days between the left and the right date.
type lagBin struct {
	name     string
	from, to int
}

const farDays = 1 << 20

var lagBins = []lagBin{
	{"earlier", -farDays, -31},
	{"-30..-11", -30, -11},
	{"-10..-5", -10, -5},
	{"-4..-3", -4, -3},
	{"-2", -2, -2},
	{"-1", -1, -1},
	{"0", 0, 0},
	{"1", 1, 1},
	{"2", 2, 2},
	{"3..4", 3, 4},
	{"5..10", 5, 10},
	{"11..30", 11, 30},
	{"later", 31, farDays},
}

// typoLevel is the level of dates that differ by one slip of the pen.
const typoLevel = "typo"

var levelNames = map[Kind][]string{
	Text:      {"different", "vague", "similar", "overlap", "close", "prefix", "near", "joined", "equal"},
	Words:     wordLevels(),
	Reference: {"different", "edited", "truncated", "contained", "number", "quoted", "equal"},
	Number:    {"different", "35%", "20%", "10%", "3%", "1%", "transposed", "cent", "equal"},
	Date:      dateLevels(),
}

func wordLevels() []string {
	var names []string
	for i := range 16 {
		names = append(names, fmt.Sprintf("%d/16", i))
	}
	return append(names, "equal")
}

func dateLevels() []string {
	var names []string
	for _, b := range lagBins {
		names = append(names, b.name)
	}
	return append(names, typoLevel)
}

// Levels names the levels of the kind. They rise, except those of dates.
func (k Kind) Levels() []string { return levelNames[k] }

// equalLevel is the level of equal values.
func (k Kind) equalLevel() int {
	if k == Date {
		return slices.Index(k.Levels(), "0")
	}
	return len(k.Levels()) - 1
}

// ordered says that a higher level is never weaker evidence.
func (k Kind) ordered() bool { return k != Date }

// usesWords says that rows with a rare word in common are candidates.
func (k Kind) usesWords() bool { return k == Text || k == Words || k == Reference }

// sharesWords says that the rare words of both values decide about the level.
func (k Kind) sharesWords() bool { return k == Text || k == Words }

// allText says that several columns are read as one text.
func (c Comparison) allText() bool {
	return c.As.usesWords() && (len(c.Left) > 1 || len(c.Right) > 1)
}

// source is the raw text of a side: its columns in a row.
func (c Comparison) source(t table, columns []string) string {
	if len(columns) == 1 {
		return fmt.Sprintf("v%d", t.column(columns[0]))
	}
	if c.As == Number {
		in, out := t.column(columns[0]), t.column(columns[1])
		return fmt.Sprintf("CASE WHEN regexp_matches(CAST(v%[1]d AS VARCHAR), '[1-9]') THEN CAST(v%[1]d AS VARCHAR) ELSE '-' || ltrim(CAST(v%[2]d AS VARCHAR), '-') END", in, out)
	}
	return "nullif(concat_ws(' ', " + each(columns, ", ", func(_ int, name string) string {
		i := t.column(name)
		v := fmt.Sprintf("v%d", i)
		if t.typedSQL(i) != "" { // a number or a date, which is short
			return v
		}
		return shortened(v)
	}) + "), '')"
}

// readyColumns gives the values of comparison j in the form that levels compare.
// A column that has a type needs no format.
func (c Comparison) readyColumns(j int, t table, columns []string, format string, right bool) []string {
	as := func(sql, column string) string { return fmt.Sprintf("%s AS %s%d", sql, column, j) }
	raw, typed := c.source(t, columns), t.typedColumn(columns[0], c.As)
	switch c.As {
	case Number:
		number := func(column string) string {
			return cmp.Or(t.typedColumn(column, Number), numberOf(fmt.Sprintf("v%d", t.column(column)), format))
		}
		f := number(columns[0])
		if len(columns) == 2 {
			f = inLessOut(f, number(columns[1]))
		}
		if right && c.Opposite {
			f = "-(" + f + ")"
		}
		return []string{as(f, "f")}
	case Date:
		return []string{as(cmp.Or(typed, dayOf(raw, format)), "d")}
	}
	if len(columns) == 1 {
		raw = shortened(raw)
	}
	return []string{as(normalText(raw), "n")}
}

// derivedColumns gives what is computed from the ready columns of comparison j.
func (c Comparison) derivedColumns(j int) []string {
	switch c.As {
	case Number:
		return []string{fmt.Sprintf("%s AS a%d", cents(fmt.Sprintf("f%d", j)), j)}
	case Reference:
		return []string{fmt.Sprintf("%s AS q%d", squashed(fmt.Sprintf("n%d", j)), j)}
	}
	return nil
}

// readyNames names the ready and derived columns of comparison j.
func (c Comparison) readyNames(j int) []string {
	letters := map[Kind]string{Number: "fa", Date: "d", Text: "n", Words: "n", Reference: "nq"}[c.As]
	var out []string
	for _, letter := range letters {
		out = append(out, fmt.Sprintf("%c%d", letter, j))
	}
	return out
}

// costlyColumn is a derived column that only pairs which differ look at: "" for most
// kinds. Where few pairs are compared it is computed for them; where rows have many
// candidates each row has it ready. The prefix is an alias with a dot, or nothing.
func (c Comparison) costlyColumn(j int, prefix string) (sql, column string) {
	switch c.As {
	case Date:
		return fmt.Sprintf("strftime(DATE '1970-01-01' + CAST(%sd%d AS INTEGER), '%%Y%%m%%d')", prefix, j), fmt.Sprintf("w%d", j)
	case Reference:
		return fmt.Sprintf("list_distinct(list_concat(regexp_extract_all(%[1]sq%[2]d, '[0-9]{5,}'), regexp_extract_all(%[1]sn%[2]d, '[0-9]{5,}')))", prefix, j), fmt.Sprintf("g%d", j)
	}
	return "", ""
}

// containsNumber says that one of two references contains the other. Zeros before a number
// are none of it: 0151 555 is the end of +49 151 555.
func containsNumber(l, r string) string {
	bare := func(q string) string { return fmt.Sprintf("ltrim(%s, '0')", q) }
	return fmt.Sprintf("(least(length(%[3]s), length(%[4]s)) >= 4 AND (contains(%[1]s, %[4]s) OR contains(%[2]s, %[3]s)))", l, r, bare(l), bare(r))
}

// sortedDigits are the digits of an amount in cents, by which swapped ones are known.
func sortedDigits(cents string) string {
	return fmt.Sprintf("list_sort(string_split(CAST(abs(%s) AS VARCHAR), ''))", cents)
}

// pairColumns computes, for a pair of ready rows l and r, what the level is decided by.
// Rows have their costly columns, or not.
func (c Comparison) pairColumns(j int, costly bool) []string {
	col := func(p, x string) string { return fmt.Sprintf("%s.%s%d", p, x, j) }
	late := func(p string) string {
		sql, column := c.costlyColumn(j, p+".")
		if costly {
			return p + "." + column
		}
		return sql
	}
	var out []string
	add := func(sql, column string) { out = append(out, fmt.Sprintf("%s AS %s%d", sql, column, j)) }
	missing := func(x string) { add(fmt.Sprintf("(%s IS NULL OR %s IS NULL)", col("l", x), col("r", x)), "null") }
	switch c.As {
	case Number:
		missing("f")
		add(fmt.Sprintf("abs(%[1]s - %[2]s) / greatest(abs(%[1]s), abs(%[2]s), 1e-9)", col("l", "f"), col("r", "f")), "rd")
		add(fmt.Sprintf("abs(%s - %s)", col("l", "a"), col("r", "a")), "cd")
		// Amounts with the same digits differ by a multiple of 9.
		add(fmt.Sprintf("CASE WHEN abs(%[1]s - %[2]s) > 1 AND abs(%[1]s - %[2]s) %% 9 = 0 AND (%[1]s < 0) = (%[2]s < 0) AND abs(%[1]s) >= 100 THEN %[3]s = %[4]s ELSE false END",
			col("l", "a"), col("r", "a"), sortedDigits(col("l", "a")), sortedDigits(col("r", "a"))), "tr")
	case Date:
		missing("d")
		lag := fmt.Sprintf("(%s - %s)", col("r", "d"), col("l", "d"))
		add(lag, "lag")
		// One character is wrong, or day and month have changed places.
		add(fmt.Sprintf("CASE WHEN abs%[1]s > 10 THEN damerau_levenshtein(%[2]s, %[3]s) <= 1 OR %[2]s = concat(left(%[3]s, 4), right(%[3]s, 2), substring(%[3]s, 5, 2)) ELSE false END", lag, late("l"), late("r")), "typo")
	default:
		missing("n")
		ln, rn := col("l", "n"), col("r", "n")
		if c.As.sharesWords() {
			add(fmt.Sprintf("(%s = %s)", ln, rn), "eq")
			shared := fmt.Sprintf("coalesce(list_sum(list_transform(list_intersect(lt.t%[1]d, rt.t%[1]d), lambda e: e %% 65536)), 0)", j)
			single := ""
			if c.As == Text { // of single words there is nothing to share
				single = fmt.Sprintf("WHEN NOT contains(%s, ' ') AND NOT contains(%s, ' ') THEN 0", ln, rn)
			}
			shared = fmt.Sprintf("CASE %s WHEN %s = %s THEN coalesce(lt.z%d, 0) ELSE %s END", single, ln, rn, j, shared)
			add(shared, "sh")
			add(fmt.Sprintf("sqrt(CAST(lt.z%d AS DOUBLE)) * sqrt(CAST(rt.z%d AS DOUBLE))", j, j), "zz")
		}
		switch c.As {
		case Text:
			add(fmt.Sprintf("least(lt.z%d, rt.z%d)", j, j), "zl")
			add(fmt.Sprintf("CASE WHEN %s = %s THEN 1 ELSE %s END", ln, rn, alikeness(ln, rn)), "jw")
			add(fmt.Sprintf("(replace(%[1]s, ' ', '') = replace(%[2]s, ' ', ''))", ln, rn), "jn")
			add(fmt.Sprintf("(starts_with(%[1]s, %[2]s) OR starts_with(%[2]s, %[1]s))", ln, rn), "pre")
		case Reference:
			lq, rq := col("l", "q"), col("r", "q")
			add(fmt.Sprintf("(%s = %s)", lq, rq), "jn")
			unequal := func(sql, column string) {
				add(fmt.Sprintf("CASE WHEN %s = %s THEN true ELSE %s END", lq, rq, sql), column)
			}
			numbers := fmt.Sprintf("list_has_any(%s, %s)", late("l"), late("r"))
			if !costly { // most references without a number are known by a look
				numbers = fmt.Sprintf("CASE WHEN regexp_matches(%s, '[0-9]{5}') AND regexp_matches(%s, '[0-9]{5}') THEN %s ELSE false END", rq, lq, numbers)
			}
			unequal(numbers, "run")
			unequal(containsNumber(lq, rq), "inn")
			cut := func(whole, part string) string {
				return fmt.Sprintf("(length(%[2]s) BETWEEN 7 AND 30 AND contains(%[1]s, left(%[2]s, length(%[2]s) - 2)))", whole, part)
			}
			unequal("("+cut(lq, rq)+" OR "+cut(rq, lq)+")", "cut")
			unequal(fmt.Sprintf("CASE WHEN greatest(length(%[1]s), length(%[2]s)) <= 24 AND abs(length(%[1]s) - length(%[2]s)) <= 1 AND least(length(%[1]s), length(%[2]s)) >= 4 THEN damerau_levenshtein(%[1]s, %[2]s) <= 1 ELSE false END", lq, rq), "ed")
		}
	}
	return out
}

// shareColumns turns the weight of shared words into shares, from the pair columns.
func (c Comparison) shareColumns(j int) []string {
	if !c.As.sharesWords() {
		return nil
	}
	out := []string{fmt.Sprintf("coalesce(sh%[1]d / nullif(zz%[1]d, 0), 0) AS cos%[1]d", j)}
	if c.As == Text {
		out = append(out, fmt.Sprintf("coalesce(sh%[1]d / nullif(zl%[1]d, 0), 0) AS ovl%[1]d", j))
	}
	return out
}

// levelSQL gives the level of comparison j from its pair columns; -1 means that a
// value is missing, which is no evidence.
func (c Comparison) levelSQL(j int) string {
	x := func(column string) string { return fmt.Sprintf("%s%d", column, j) }
	var b strings.Builder
	fmt.Fprintf(&b, "CASE WHEN %s THEN -1", x("null"))
	when := func(level int, cond string) { fmt.Fprintf(&b, " WHEN %s THEN %d", cond, level) }
	switch c.As {
	case Number:
		when(8, x("cd")+" = 0")
		when(7, x("cd")+" <= 1")
		when(6, x("tr"))
		for i, limit := range []float64{0.01, 0.03, 0.1, 0.2, 0.35} {
			when(5-i, fmt.Sprintf("%s < %g", x("rd"), limit))
		}
	case Date:
		when(len(lagBins), x("typo"))
		for i, bin := range lagBins[1:] {
			when(i, fmt.Sprintf("%s < %d", x("lag"), bin.from))
		}
		fmt.Fprintf(&b, " ELSE %d END", len(lagBins)-1)
		return b.String()
	case Words:
		when(16, x("eq"))
		fmt.Fprintf(&b, " ELSE least(15, CAST(floor(%s * 16) AS INTEGER)) END", x("cos"))
		return b.String()
	case Reference:
		when(6, x("jn"))
		when(5, x("inn")+" AND "+x("run"))
		when(4, x("run"))
		when(3, x("inn"))
		when(2, x("cut"))
		when(1, x("ed"))
	default:
		mixed := fmt.Sprintf("greatest(%s, 0.4 + 0.6 * %s)", x("jw"), x("cos"))
		when(8, x("eq"))
		when(7, x("jn"))
		when(6, fmt.Sprintf("greatest(%s, %s) >= 0.94", x("jw"), x("cos")))
		when(5, x("pre"))
		when(4, mixed+" >= 0.88")
		when(3, x("ovl")+" >= 0.8")
		when(2, mixed+" >= 0.8")
		when(1, fmt.Sprintf("%s >= 0.7 OR %s > 0.3", x("jw"), x("cos")))
	}
	b.WriteString(" ELSE 0 END")
	return b.String()
}

// closenessSQL is a finer measure than the level, in thousandths: it orders pairs of
// one level.
func (c Comparison) closenessSQL(j int) string {
	x := func(column string) string { return fmt.Sprintf("%s%d", column, j) }
	switch c.As {
	case Number:
		return fmt.Sprintf("500 * (1 - least(1, coalesce(%s, 1)))", x("rd"))
	case Date:
		return fmt.Sprintf("100 * exp(-abs(coalesce(%s, 1000)) / 5.0)", x("lag"))
	case Text:
		return fmt.Sprintf("500 * coalesce(%s, 0) + 150 * coalesce(%s, 0)", x("cos"), x("jw"))
	}
	if c.As == Words {
		return fmt.Sprintf("500 * coalesce(%s, 0)", x("cos"))
	}
	return "0"
}

// similaritySQL measures, for the column map, how alike two values in their normal
// form are: 0 to 1, NULL where one is missing.
func (c Comparison) similaritySQL(a, b string) string {
	var sql string
	switch c.As {
	case Number:
		if c.Opposite {
			b = "(-" + b + ")"
		}
		sql = "1 - least(1, abs(%[1]s - %[2]s) / greatest(abs(%[1]s), abs(%[2]s), 1e-9))"
	case Date:
		sql = "exp(-abs(%[1]s - %[2]s) / 15.0)"
	case Reference:
		a, b = squashed(a), squashed(b)
		sql = `CASE WHEN %[1]s = %[2]s THEN 1
			WHEN ` + containsNumber("%[1]s", "%[2]s") + ` THEN 0.95
			WHEN list_has_any(regexp_extract_all(%[1]s, '[0-9]{5,}'), regexp_extract_all(%[2]s, '[0-9]{5,}')) THEN 0.9
			WHEN abs(length(%[1]s) - length(%[2]s)) <= 1 AND length(%[1]s) BETWEEN 4 AND 24 AND damerau_levenshtein(%[1]s, %[2]s) <= 1 THEN 0.6 ELSE 0 END`
	default:
		sql = `greatest((` + alikeness("%[1]s", "%[2]s") + `) * 2 - 1, 0.95 * len(list_intersect(string_split(%[1]s, ' '), string_split(%[2]s, ' ')))
			/ least(len(list_distinct(string_split(%[1]s, ' '))), len(list_distinct(string_split(%[2]s, ' ')))))`
	}
	return fmt.Sprintf("CASE WHEN %[1]s IS NULL OR %[2]s IS NULL THEN NULL ELSE "+sql+" END", a, b)
}

// roundTo cuts a float to three decimals, so that documents stay short and stable.
func roundTo(f float64) float64 { return math.Round(f*1000) / 1000 }
