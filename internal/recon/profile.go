package recon

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"interlock/internal/schema"
)

// A Profile says what the columns of a side hold.
type Profile struct {
	Rows          int64           `json:"rows"`
	DuplicateKeys int64           `json:"duplicate_keys"`
	Columns       []ColumnProfile `json:"columns"`
	split         []ColumnProfile // amounts that two columns hold
}

// A ColumnProfile describes the values of a column, from a sample of its rows.
type ColumnProfile struct {
	Name     string  `json:"name"`
	Nulls    float64 `json:"nulls"`            // share of rows without a value
	Distinct float64 `json:"distinct"`         // distinct values for each value
	Words    float64 `json:"words"`            // words of a value, on average
	Length   float64 `json:"length"`           // characters of a value, on average
	Digits   float64 `json:"digits"`           // share of values with at least 4 digits or letters and digits
	Number   string  `json:"number,omitempty"` // how numbers are written, "" = these are none
	Date     string  `json:"date,omitempty"`   // how dates are written, "" = these are none
	Whole    bool    `json:"whole,omitempty"`  // numbers without decimals or signs, which may be codes as well
	index    int
	label    bool           // only numbers the rows
	in, out  *ColumnProfile // of an amount that two columns hold
}

// profileRows is how many rows of a side are looked at.
const profileRows = 2_000

// dateFormats are tried in this order; the first of those that read the most values wins.
var dateFormats = []string{
	isoDate, "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d",
	"%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y",
	"%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M",
}

// profile describes the columns of a staged side.
func (r *Reconciler) profile(ctx context.Context, t table) (Profile, error) {
	p := Profile{Rows: t.rows, DuplicateKeys: t.doubles}
	for i, c := range t.columns {
		column, err := r.profileColumn(ctx, t, i, c)
		if err != nil {
			return p, fmt.Errorf("profiling the column %s: %w", c, err)
		}
		p.Columns = append(p.Columns, column)
	}
	var err error
	p.split, err = r.splitAmounts(ctx, t, p)
	return p, err
}

type columnCounts struct {
	Rows, Values, Distinct, Chars, Words, Codes  int64
	Point, Comma, Numbers, NumbersComma, Decimal int64
	Negative, Alpha, LongDigits                  int64
}

func (r *Reconciler) profileColumn(ctx context.Context, t table, i int, column string) (ColumnProfile, error) {
	step := t.rows/profileRows + 1
	c, err := selectOne[columnCounts](ctx, r.space, fmt.Sprintf(`SELECT
		(SELECT count(*) FROM %[1]s WHERE i %% %[2]d = 0), count(*), count(DISTINCT v), coalesce(sum(length(v)), 0), coalesce(sum(len(string_split(trim(n), ' '))), 0),
		count(*) FILTER (regexp_matches(v, '[0-9].*[0-9].*[0-9].*[0-9]') OR (regexp_matches(v, '[0-9]') AND regexp_matches(v, '\p{L}') AND length(v) >= 4)),
		count(*) FILTER (regexp_matches(v, '\.[0-9]{1,2}[^0-9.,]*$')), count(*) FILTER (regexp_matches(v, ',[0-9]{1,2}[^0-9.,]*$')),
		count(*) FILTER (%[3]s IS NOT NULL), count(*) FILTER (%[4]s IS NOT NULL), count(*) FILTER (regexp_matches(v, '[0-9][.,][0-9]')),
		count(*) FILTER (regexp_matches(v, '^[-(−]|-\s*$')), count(*) FILTER (regexp_matches(v, '[0-9]') AND regexp_matches(v, '\p{L}{4}|[/]|[0-9]-[0-9]|[.,][0-9]+[.,][0-9]{1,2}[.,]')),
		count(*) FILTER (regexp_matches(v, '^0[0-9]|[0-9]{11}'))
		FROM (SELECT v%[5]d AS v, %[6]s AS n FROM %[1]s WHERE i %% %[2]d = 0 AND v%[5]d IS NOT NULL)`,
		t.staged, step, numberOf("v", decimalPoint), numberOf("v", decimalComma), i, normalText(fmt.Sprintf("v%d", i))))
	if err != nil {
		return ColumnProfile{}, err
	}
	p := ColumnProfile{Name: column, index: i}
	if c.Rows > 0 {
		p.Nulls = share(c.Rows-c.Values, c.Rows)
	}
	if c.Values == 0 {
		return p, nil
	}
	p.Distinct, p.Words, p.Length, p.Digits = share(c.Distinct, c.Values), share(c.Words, c.Values), share(c.Chars, c.Values), share(c.Codes, c.Values)
	if p.Date, err = r.dateFormat(ctx, t, i, c); err != nil {
		return p, err
	}
	p.Number, p.Whole = numberFormat(c)
	if p.Date != "" && p.Date != "%Y%m%d" {
		p.Number = ""
	}
	return p, nil
}

func share(n, of int64) float64 { return math.Round(1e4*float64(n)/float64(of)) / 1e4 }

// dateRows is how many values are read as dates; firstDateRows of them in every format,
// which takes long.
const (
	dateRows      = 1_000
	firstDateRows = 100
)

// dateFormat is the format that reads at least nine in ten values.
func (r *Reconciler) dateFormat(ctx context.Context, t table, i int, c columnCounts) (string, error) {
	if k := t.types[i].Kind; k == schema.Date || k == schema.Timestamp || k == schema.TimestampTZ {
		return isoDate, nil
	}
	if 10*c.Codes < 9*c.Values || c.Chars < 6*c.Values || c.Chars > 30*c.Values { // dates have digits, and are not long
		return "", nil
	}
	formats := dateFormats
	for _, rows := range []int64{firstDateRows, dateRows} {
		hits, err := selectOne[struct {
			Values int64
			Hits   []int64
		}](ctx, r.space, fmt.Sprintf("SELECT count(*), [%s] FROM (SELECT v%[2]d AS v FROM %[3]s WHERE i %% %[4]d = 0 AND v%[2]d IS NOT NULL)", each(formats, ", ", func(_ int, f string) string {
			return fmt.Sprintf("count(*) FILTER (%s IS NOT NULL)", dayOf("v", f))
		}), i, t.staged, t.rows/rows+1))
		if err != nil {
			return "", err
		}
		if rows < dateRows {
			var fit []string
			for i, f := range formats {
				if 2*hits.Hits[i] >= hits.Values {
					fit = append(fit, f)
				}
			}
			if formats = fit; len(formats) == 0 {
				return "", nil
			}
			continue
		}
		best := 0
		for i := range formats {
			if hits.Hits[i] > hits.Hits[best] {
				best = i
			}
		}
		if 10*hits.Hits[best] >= 9*hits.Values {
			return formats[best], nil
		}
	}
	return "", nil
}

// numberFormat says how the numbers of a column are written, and whether they are
// whole and never negative.
func numberFormat(c columnCounts) (format string, whole bool) {
	format, hits := decimalPoint, c.Numbers
	if c.Comma > c.Point {
		format, hits = decimalComma, c.NumbersComma
	}
	if 20*hits < 19*c.Values || 20*c.Alpha > c.Values || 10*c.LongDigits > c.Values {
		return "", false
	}
	return format, c.Decimal == 0 && c.Negative == 0
}

// codeLike says that values are references: short, with digits, and mostly different.
func (p ColumnProfile) codeLike() bool {
	return p.Digits >= 0.7 && p.Words <= 4 && p.Length >= 4 && p.Length <= 40 && p.Distinct >= 0.2
}

// telling keeps so many columns at most: those with the most different values tell most
// about a row.
func (p Profile) telling(most int) Profile {
	if len(p.Columns) <= most {
		return p
	}
	tells := func(c ColumnProfile) float64 { return c.Distinct * (1 - c.Nulls) }
	columns := slices.Clone(p.Columns)
	slices.SortStableFunc(columns, func(a, b ColumnProfile) int { return cmp.Compare(tells(b), tells(a)) })
	p.Columns = columns[:most]
	slices.SortFunc(p.Columns, func(a, b ColumnProfile) int { return a.index - b.index })
	kept := func(c *ColumnProfile) bool {
		return slices.ContainsFunc(p.Columns, func(k ColumnProfile) bool { return k.index == c.index })
	}
	p.split = slices.DeleteFunc(slices.Clone(p.split), func(c ColumnProfile) bool { return !kept(c.in) || !kept(c.out) })
	return p
}

// namesRow says of a key that its values only name the row: numbers and single words
// that are alike by chance. A key of several words, such as a title, says more.
func (p ColumnProfile) namesRow() bool { return p.Whole || p.Words < 1.5 || p.codeLike() }

// textual says that values can be compared as text.
func (p ColumnProfile) textual() bool {
	return p.Length > 0 && (p.Number == "" || p.Whole) && (p.Date == "" || p.Date == "%Y%m%d")
}
