package recon

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
)

const (
	minBatches  = 3       // sums that must be found before rows are taken for a batch
	batchShare  = 0.25    // of the batches of a kind, whose sum must be found
	batchValues = 40      // values of a column that are looked at one by one
	batchRange  = 80      // days after the first of a period in which the one row is searched
	batchSlice  = 200_000 // rows of a side that are looked at
	maxBatches  = 8
	maxColumns  = 8 // columns of a side by which rows may be booked together
)

// A batchOption is a kind of batch that may exist.
type batchOption struct {
	Batch
	single bool // each value of the column is judged for itself
	cell   int  // the column's place in the staged rows
}

// A batchHit is a row of the other side with the sum of a batch.
type batchHit struct {
	Option int64
	Value  string // of the column, where values are judged for themselves
	One    int64  // the row
	Lag    int64  // its day, counted as Days are
}

// batchOptions lists the kinds of batches that rows of a side may form.
func batchOptions(side string, p Profile, amount Comparison, dated bool) []batchOption {
	periods := []Period{Day, Week, Month}
	var out []batchOption
	if dated {
		for _, period := range periods {
			out = append(out, batchOption{Batch: Batch{Many: side, Period: period}, cell: -1})
		}
	}
	own := amount.Left
	if side == sideRight {
		own = amount.Right
	}
	columns := 0
	for _, c := range p.Columns {
		// Rows must share the values of the column; an amount or a day is none to share.
		if columns == maxColumns || slices.Contains(own, c.Name) || c.Date != "" || c.Number != "" && !c.Whole || c.Nulls > 0.9 || c.Distinct == 0 || c.Distinct > 0.7 || c.Length > 60 {
			continue
		}
		columns++
		single := c.Distinct*math.Min(float64(p.Rows), profileRows) <= batchValues
		if !single { // of a number or code that few rows share, all rows belong together
			out = append(out, batchOption{Batch: Batch{Many: side, Column: c.Name}, cell: c.index})
		}
		if dated {
			for _, period := range periods {
				out = append(out, batchOption{Batch: Batch{Many: side, Column: c.Name, Period: period}, single: single, cell: c.index})
			}
		}
	}
	return out
}

// learnBatches finds out which rows are booked together: kinds of batches of which many
// have the sum of an open row of the other side, and by far more than by chance.
func (r *Reconciler) learnBatches(ctx context.Context, l *learnt, amount int) ([]Batch, error) {
	var options []batchOption
	for _, s := range []struct {
		side string
		p    Profile
	}{{sideLeft, l.lp}, {sideRight, l.rp}} {
		options = append(options, batchOptions(s.side, s.p, l.comparisons[amount], firstDate(l.comparisons) >= 0)...)
	}
	if err := r.stageBatches(ctx, l, amount); err != nil {
		return nil, err
	}
	var hits []batchHit
	sizes := map[batchKind]int64{}
	const together = 6 // statements are bounded
	for from := 0; from < len(options); from += together {
		part := options[from:min(from+together, len(options))]
		found, err := selectRows[struct {
			Option int64
			Value  string
			N      int64
			One    []int64
			Lag    []int64
			Chance int64
		}](ctx, r.space, each(part, " UNION ALL ", func(i int, o batchOption) string { return o.hitsSQL(from+i, l) })+" ORDER BY 1, 2")
		if err != nil {
			return nil, err
		}
		for _, x := range found {
			// Sums that are missed by a few cents show how many are hit by chance.
			if len(x.One) < minBatches || float64(len(x.One)) < batchShare*float64(x.N) || float64(len(x.One)) < 2*float64(x.Chance) {
				continue
			}
			sizes[batchKind{x.Option, x.Value}] = x.N
			for i := range x.One {
				hits = append(hits, batchHit{x.Option, x.Value, x.One[i], x.Lag[i]})
			}
		}
	}
	fees, paid, feeSizes, err := r.learnFees(ctx, l, options)
	if err != nil {
		return nil, err
	}
	maps.Copy(sizes, feeSizes)
	batches := chooseBatches(append(options, fees...), append(hits, paid...), sizes)
	if firstDate(l.comparisons) < 0 {
		for i := range batches {
			batches[i].Days = nil
		}
	}
	return batches, nil
}

// batchOpen holds, for each side, the open rows by which batches are learned: i, a, d,
// open and the cells v0 ….
const batchOpen = "recon_batch_"

// stageBatches copies the rows of both sides with their amounts and days, and marks those
// that have no likely partner. Of a large side it takes the rows of a stretch of days.
func (r *Reconciler) stageBatches(ctx context.Context, l *learnt, amount int) error {
	day := dayColumn("v", l.comparisons)
	slice := "true"
	if rows := max(l.left.rows, l.right.rows); rows > batchSlice && firstDate(l.comparisons) >= 0 {
		slice = fmt.Sprintf("d <= (SELECT quantile_disc(%s, %g) FROM %s AS v)", day, float64(batchSlice)/float64(rows), readyLeft)
	}
	for _, s := range []struct {
		side, own string
		t         table
		ready     string
	}{{sideLeft, "li", l.left, readyLeft}, {sideRight, "ri", l.right, readyRight}} {
		sql := fmt.Sprintf(`SELECT * FROM (SELECT v.i, v.a%[1]d AS a, %[2]s AS d, b.i IS NULL AS open, s.* EXCLUDE (i) FROM %[3]s AS v JOIN %[4]s AS s ON s.i = v.i
			LEFT JOIN (SELECT %[5]s AS i FROM %[6]s WHERE s >= %[7]d) AS b ON b.i = v.i WHERE v.a%[1]d IS NOT NULL) WHERE %[8]s`,
			amount, day, s.ready, s.t.staged, s.own, bestPairs, l.model.curve.scoreOf(likely), slice)
		if err := r.space.Create(ctx, batchOpen+s.side, sql); err != nil {
			return err
		}
	}
	return nil
}

// openSums selects the batches of an option: cell c, period q, day anchor, sum total of n
// rows. Rows that have partners of their own are not booked together. value is what of a
// batch g is judged for itself, and other the side of the one row.
func (o batchOption) openSums() (sums, value, other string) {
	other = map[string]string{sideLeft: sideRight, sideRight: sideLeft}[o.Many]
	cell, value, known := "''", "''", ""
	if o.cell >= 0 {
		cell = fmt.Sprintf("v%d", o.cell)
		known = fmt.Sprintf(" AND %s IS NOT NULL", cell)
	}
	if o.single {
		value = "g.c"
	}
	sums = fmt.Sprintf("SELECT c, q, %s AS anchor, CAST(sum(amount) AS BIGINT) AS total, count(*) AS n FROM (%s) GROUP BY c, q HAVING count(*) >= 2 AND 2 * count(*) FILTER (open) > count(*)",
		o.Period.anchorSQL("day"), o.rowsSQL(batchOpen+o.Many, cell, "a", "d", known))
	return sums, value, other
}

// hitsSQL lists, for each value that is judged for itself, the number of batches, the open
// rows of the other side that have the sum of one, and how many miss a sum by a little.
func (o batchOption) hitsSQL(number int, l *learnt) string {
	near := "true"
	if firstDate(l.comparisons) >= 0 {
		near = fmt.Sprintf("(o.d - g.anchor BETWEEN -5 AND %d)", batchRange)
	}
	sums, value, other := o.openSums()
	return fmt.Sprintf(`SELECT %[1]d, g.v, any_value(g.n), coalesce(list(h.one ORDER BY h.one) FILTER (h.shift = 0), []), coalesce(list(h.lag ORDER BY h.one) FILTER (h.shift = 0), []), count(h.one) FILTER (h.shift <> 0)
		FROM (SELECT %[2]s AS v, count(*) AS n FROM (%[3]s) AS g GROUP BY 1) AS g
		LEFT JOIN (SELECT %[2]s AS v, o.i AS one, o.d - g.anchor AS lag, x.shift FROM (%[3]s) AS g, (VALUES (0), (7), (-13)) AS x(shift), (SELECT * FROM %[4]s%[5]s WHERE open) AS o
			WHERE o.a = g.total + x.shift AND %[6]s) AS h ON h.v = g.v GROUP BY g.v`, number, value, sums, batchOpen, other, near)
}

// A batchKind is an option, for one value or all.
type batchKind struct {
	option int64
	value  string
}

// chooseBatches takes the kind that explains most rows that are not explained yet, again
// and again. Values of one option become one batch.
func chooseBatches(options []batchOption, hits []batchHit, sizes map[batchKind]int64) []Batch {
	kinds := map[batchKind][]batchHit{}
	var order []batchKind
	for _, h := range hits {
		k := batchKind{h.Option, h.Value}
		if kinds[k] == nil {
			order = append(order, k)
		}
		kinds[k] = append(kinds[k], h)
	}
	type rowOf struct {
		side string
		one  int64
	}
	explained := map[rowOf]bool{}
	var chosen []batchKind
	for {
		best, most := -1, 0
		for i, k := range order {
			fresh := 0
			for _, h := range kinds[k] {
				if !explained[rowOf{options[k.option].Many, h.One}] {
					fresh++
				}
			}
			// Of two that explain as much, the one with fewer batches that lead nowhere.
			if fresh > most || fresh == most && best >= 0 && sizes[k] < sizes[order[best]] {
				best, most = i, fresh
			}
		}
		if best < 0 || most < minBatches || float64(most) < batchShare*float64(sizes[order[best]]) {
			break
		}
		for _, h := range kinds[order[best]] {
			explained[rowOf{options[order[best].option].Many, h.One}] = true
		}
		chosen = append(chosen, order[best])
	}
	return writeBatches(options, chosen, kinds)
}

// writeBatches makes batches of the chosen kinds, with the days on which the one rows lie.
func writeBatches(options []batchOption, chosen []batchKind, kinds map[batchKind][]batchHit) []Batch {
	var out []Batch
	lags := map[int64][]int64{}
	places := map[int64]int{}
	for _, k := range chosen {
		at, known := places[k.option]
		if !known {
			if len(out) == maxBatches {
				break
			}
			at = len(out)
			places[k.option] = at
			out = append(out, options[k.option].Batch)
		}
		if options[k.option].single {
			out[at].Only = append(out[at].Only, k.value)
		}
		for _, h := range kinds[k] {
			lags[k.option] = append(lags[k.option], h.Lag)
		}
	}
	for option, at := range places {
		days := lags[option]
		slices.Sort(days)
		// Weekends and holidays move a row by a day or two.
		cut := len(days) / 20
		out[at].Days = &[2]int{int(days[cut]) - 2, int(days[len(days)-1-cut]) + 2}
		slices.Sort(out[at].Only)
	}
	for i := range out {
		out[i].ID = fmt.Sprintf("b%d", i+1)
		out[i].Sentence = out[i].sentence()
	}
	return out
}
