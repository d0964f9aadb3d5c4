package recon

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// samplePairs holds the pairs from which the column map is made: those that belong
// together (w = 1) and random ones (w = 0), with the values of both rows.
const samplePairs = "recon_sample"

const (
	randomPairs = 400
	minGain     = 0.12 // by which pairs that belong together are more alike than random ones
	minAlike    = 0.3
	maxLooked   = 32 // columns of a side that may be compared; each is tried with each
	maxCompared = 11 // comparisons: their levels are packed into one number
)

// An option is a comparison that the map may take, with how well it tells pairs
// that belong together from random ones.
type option struct {
	Comparison
	a, b         ColumnProfile
	gain         float64
	alike, noise float64
}

// holdsMoreThan says that values may have room for those of the other column beside what
// they are compared with: free text, or a full name beside a first name.
func (p ColumnProfile) holdsMoreThan(other ColumnProfile) bool {
	return p.Words >= 3 || p.Words >= 1.8 && other.Words < 1.5
}

// telling says of references that pairs which belong together quote them at times, and
// others as good as never: where half of the texts leave a code out, the other half tells.
func (o option) telling() bool { return o.As == Reference && o.noise < 0.02 }

// mapColumns finds the comparisons by the values of pairs: SQL that gives li and ri.
func (r *Reconciler) mapColumns(ctx context.Context, left, right table, lp, rp Profile, pairs string, args ...string) ([]Comparison, error) {
	lp, rp = lp.telling(maxLooked), rp.telling(maxLooked)
	if err := r.samplePairs(ctx, left, right, lp, rp, pairs, args); err != nil {
		return nil, err
	}
	options := listOptions(lp, rp, left.side.Key, right.side.Key)
	if err := r.measureOptions(ctx, options); err != nil {
		return nil, err
	}
	leftText, rightText := textColumns(lp, left.side.Key), textColumns(rp, right.side.Key)
	if err := r.leaveOutForeign(ctx, left, right, leftText, rightText); err != nil {
		return nil, err
	}
	if err := r.leaveOutForeign(ctx, right, left, rightText, leftText); err != nil {
		return nil, err
	}
	return chooseOptions(options, leftText, rightText), nil
}

// fewValues is how many different values a column of kinds or states has at most.
const fewValues = 40

// leaveOutForeign marks columns of few values none of whose words the other side has, such as
// an account of the ledger, as labels: in all text they would only set rows apart that are
// otherwise the same.
func (r *Reconciler) leaveOutForeign(ctx context.Context, own, other table, columns, others []ColumnProfile) error {
	var few []int
	for i, c := range columns {
		if !c.label && c.Distinct*(1-c.Nulls)*float64(min(own.rows, profileRows)) <= fewValues {
			few = append(few, i)
		}
	}
	if len(others) == 0 {
		return nil
	}
	words := func(t table, text string) string {
		return fmt.Sprintf("SELECT unnest(string_split(%s, ' ')) AS word FROM %s WHERE i %% %d = 0", normalText(text), t.staged, t.rows/profileRows+1)
	}
	all := fmt.Sprintf("concat_ws(' ', %s)", each(others, ", ", func(_ int, c ColumnProfile) string { return shortened(fmt.Sprintf("v%d", c.index)) }))
	for part := range slices.Chunk(few, 12) { // the policy bounds what one statement names
		found, err := selectOne[struct{ Shared []int64 }](ctx, r.space, fmt.Sprintf("WITH o AS (SELECT DISTINCT word FROM (%s)) SELECT [%s]", words(other, all), each(part, ", ", func(_, i int) string {
			return fmt.Sprintf("(SELECT count(*) FROM (%s) AS w SEMI JOIN o USING (word))", words(own, shortened(fmt.Sprintf("v%d", columns[i].index))))
		})))
		if err != nil {
			return err
		}
		for k, i := range part {
			columns[i].label = found.Shared[k] == 0
		}
	}
	return nil
}

// textColumns names the columns with text, as candidates for a comparison of all text:
// without the key and other columns that only number the rows.
func textColumns(p Profile, key string) (out []ColumnProfile) {
	for _, c := range p.Columns {
		if c.textual() {
			c.label = c.Name == key || c.Distinct > 0.98 && c.Words < 1.5
			out = append(out, c)
		}
	}
	return out
}

// samplePairs makes the sample: every cell in each form that a kind compares.
func (r *Reconciler) samplePairs(ctx context.Context, left, right table, lp, rp Profile, pairs string, args []string) error {
	cells := func(prefix string, p Profile) string {
		return each(p.compared(), ", ", func(_ int, c ColumnProfile) string {
			if c.in != nil {
				f := inLessOut(numberOf(fmt.Sprintf("%s.v%d", prefix, c.in.index), c.Number), numberOf(fmt.Sprintf("%s.v%d", prefix, c.out.index), c.Number))
				return fmt.Sprintf("%s AS %sf%d", f, prefix, c.index)
			}
			v := fmt.Sprintf("%s.v%d", prefix, c.index)
			f, d := "CAST(NULL AS DOUBLE)", "CAST(NULL AS BIGINT)"
			if c.Number != "" {
				f = numberOf(v, c.Number)
			}
			if c.Date != "" {
				d = dayOf(v, c.Date)
			}
			return fmt.Sprintf("%[2]s AS %[1]sn%[5]d, %[3]s AS %[1]sf%[5]d, %[4]s AS %[1]sd%[5]d", prefix, normalText(v), f, d, c.index)
		})
	}
	short := func(t table, p Profile) string {
		return fmt.Sprintf("(SELECT i, %s FROM %s)", each(p.Columns, ", ", func(_ int, c ColumnProfile) string {
			v := fmt.Sprintf("v%d", c.index)
			return shortened(v) + " AS " + v
		}), t.staged)
	}
	random := fmt.Sprintf(`SELECT a.i AS li, b.i AS ri, 0 AS w FROM (SELECT i, row_number() OVER (ORDER BY hash(i), i) AS n FROM %s QUALIFY n <= %d) AS a
		JOIN (SELECT i, row_number() OVER (ORDER BY hash(i * 31 + 7), i) AS n FROM %s QUALIFY n <= %d) AS b USING (n)`, left.staged, randomPairs, right.staged, randomPairs)
	// A statement for each side: the policy bounds what one may hold.
	const chosen = samplePairs + "_chosen"
	if err := r.space.Create(ctx, chosen, fmt.Sprintf("SELECT row_number() OVER (ORDER BY w, li, ri) AS n, * FROM (SELECT li, ri, 1 AS w FROM (%s) UNION ALL %s)", pairs, random), args...); err != nil {
		return err
	}
	for _, s := range []struct {
		prefix, own string
		t           table
		p           Profile
	}{{"l", "li", left, lp}, {"r", "ri", right, rp}} {
		if err := r.space.Create(ctx, samplePairs+s.prefix, fmt.Sprintf("SELECT p.n, %[1]s FROM %[2]s AS p JOIN %[3]s AS %[4]s ON %[4]s.i = p.%[5]s", cells(s.prefix, s.p), chosen, short(s.t, s.p), s.prefix, s.own)); err != nil {
			return err
		}
	}
	if err := r.space.Create(ctx, samplePairs, fmt.Sprintf("SELECT p.w, l.* EXCLUDE (n), r.* EXCLUDE (n) FROM %[1]s AS p JOIN %[2]sl AS l ON l.n = p.n JOIN %[2]sr AS r ON r.n = p.n", chosen, samplePairs)); err != nil {
		return err
	}
	return r.space.Drop(ctx, chosen, samplePairs+"l", samplePairs+"r")
}

// listOptions pairs all columns whose values can be compared in some way. A key names
// its row: it may be quoted on the other side, but that two keys are near says nothing.
func listOptions(lp, rp Profile, leftKey, rightKey string) []option {
	var out []option
	for _, a := range lp.compared() {
		for _, b := range rp.compared() {
			add := func(k Kind, lf, rf string, opposite bool) {
				if k != Reference && (a.Name == leftKey && a.namesRow() || b.Name == rightKey && b.namesRow()) {
					return
				}
				out = append(out, option{Comparison: Comparison{Left: a.names(), Right: b.names(), As: k, LeftFormat: lf, RightFormat: rf, Opposite: opposite}, a: a, b: b})
			}
			if a.Date != "" && b.Date != "" {
				add(Date, a.Date, b.Date, false)
			}
			if a.Number != "" && b.Number != "" {
				add(Number, a.Number, b.Number, false)
				if (!a.Whole || !b.Whole) && a.in == nil && b.in == nil { // of two columns both orders are tried
					add(Number, a.Number, b.Number, true)
				}
			}
			if !a.textual() || !b.textual() {
				continue
			}
			if (a.codeLike() && (b.codeLike() || b.Words >= 2)) || (b.codeLike() && a.Words >= 2) {
				add(Reference, "", "", false)
			}
			if (a.Words+b.Words)/2 > 4.5 {
				add(Words, "", "", false)
			} else {
				add(Text, "", "", false)
			}
		}
	}
	return out
}

// measureOptions asks the sample, some options at a time.
func (r *Reconciler) measureOptions(ctx context.Context, options []option) error {
	const batch = 12
	for part := range slices.Chunk(options, batch) {
		sql := each(part, ", ", func(_ int, o option) string {
			form := map[Kind]string{Number: "f", Date: "d"}[o.As]
			form = cmp.Or(form, "n")
			s := o.similaritySQL(fmt.Sprintf("l%s%d", form, o.a.index), fmt.Sprintf("r%s%d", form, o.b.index))
			return fmt.Sprintf("CAST(round(1e6 * (%s)) AS BIGINT)", s)
		})
		type moment struct {
			W    int64
			Sums []int64
			N    []int64
			All  int64
		}
		rows, err := selectRows[moment](ctx, r.space, fmt.Sprintf(`SELECT w, [%s], [%s], count(*) FROM (SELECT w, %s FROM (SELECT w, [%s] AS s FROM %s)) GROUP BY w ORDER BY w`,
			each(part, ", ", func(i int, _ option) string { return fmt.Sprintf("CAST(coalesce(sum(s%d), 0) AS BIGINT)", i) }),
			each(part, ", ", func(i int, _ option) string { return fmt.Sprintf("count(s%d)", i) }),
			each(part, ", ", func(i int, _ option) string { return fmt.Sprintf("s[%d] AS s%d", i+1, i) }), sql, samplePairs))
		if err != nil {
			return err
		}
		for i := range part {
			o := &part[i]
			var covered float64
			for _, m := range rows {
				mean := 0.0
				if m.N[i] > 0 {
					mean = float64(m.Sums[i]) / 1e6 / float64(m.N[i])
				}
				if m.W == 1 {
					o.alike, covered = mean, float64(m.N[i])/float64(m.All)
				} else {
					o.noise = mean
				}
			}
			o.gain = (o.alike - o.noise) * math.Sqrt(covered)
		}
	}
	return nil
}

// chooseOptions takes the best options first, each column once; free text may be
// searched for a reference as well.
func chooseOptions(options []option, leftText, rightText []ColumnProfile) []Comparison {
	slices.SortStableFunc(options, func(x, y option) int {
		return cmp.Or(cmp.Compare(y.gain, x.gain), cmp.Compare(x.a.index, y.a.index), cmp.Compare(x.b.index, y.b.index))
	})
	var chosen []Comparison
	usedLeft, usedRight := map[int]bool{}, map[int]bool{}
	take := func(o option) {
		for _, i := range o.a.places() {
			usedLeft[i] = true
		}
		for _, i := range o.b.places() {
			usedRight[i] = true
		}
		chosen = append(chosen, o.Comparison)
	}
	unused := func(o option) bool {
		return !slices.ContainsFunc(o.a.places(), func(i int) bool { return usedLeft[i] }) && !slices.ContainsFunc(o.b.places(), func(i int) bool { return usedRight[i] })
	}
	good := func(o option) bool {
		return o.gain > minGain && (o.alike > minAlike || o.telling()) && len(chosen) < maxCompared-1
	}
	for _, o := range options {
		if good(o) && unused(o) {
			take(o)
		}
	}
	for _, o := range options {
		free := usedLeft[o.a.index] && !usedRight[o.b.index] && o.a.holdsMoreThan(o.b) || usedRight[o.b.index] && !usedLeft[o.a.index] && o.b.holdsMoreThan(o.a)
		if good(o) && free && (o.telling() || o.gain > 0.4 && (o.As == Reference || o.As == Text)) {
			take(o)
		}
	}
	l, r := everyText(leftText, usedLeft), everyText(rightText, usedRight)
	if len(chosen) > 0 && len(l) > 0 && len(r) > 0 && len(l)+len(r) > 2 {
		chosen = append(chosen, Comparison{Left: l, Right: r, As: Words})
	}
	for i := range chosen {
		chosen[i].ID = fmt.Sprintf("c%d", i+1)
	}
	return chosen
}

// everyText names the columns whose text is compared as a whole, because values may
// stand in another column on the other side. Labels that no comparison uses are left
// out: they differ for rows that are otherwise the same.
func everyText(columns []ColumnProfile, used map[int]bool) (out []string) {
	for _, c := range columns {
		if !c.label || used[c.index] {
			out = append(out, c.Name)
		}
	}
	return out
}
