package recon

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A Fee is what is kept of a batch before it is paid out: a share of its sum, and a sum for
// each of its rows.
type Fee struct {
	Share float64 `json:"share"`
	Each  float64 `json:"each,omitempty"`
}

const (
	maxFee   = 0.06   // of the sum of a batch
	feeSteps = 10_000 // shares are told in hundredths of a percent
	eachStep = 5      // and what is kept of a row in steps of so many cents
	maxEach  = 100    // up to so many
	feeDays  = 14     // days after a batch in which it is paid out
	minFees  = 5      // batches with one and the same fee
)

// inWords says a fee.
func (f Fee) inWords() string {
	var parts []string
	if f.Share > 0 {
		parts = append(parts, strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", 100*f.Share), "0"), ".")+" %")
	}
	if f.Each > 0 {
		parts = append(parts, fmt.Sprintf("%.2f for each row", f.Each))
	}
	return "a fee of " + strings.Join(parts, " and ")
}

// paysSQL says that an amount is a sum of n rows less the fee. Fees are rounded, perhaps for
// each row.
func (f Fee) paysSQL(total, n, amount string) string {
	return fmt.Sprintf("(%[1]s > 0 AND abs(%[1]s - %[3]s - round(%[1]s * %[4]g) - %[2]s * %[5]d) <= %[2]s / 2.0 + 1)", total, n, amount, f.Share, f.eachCents())
}

func (f Fee) eachCents() int64 { return int64(math.Round(f.Each * 100)) }

// A payout is a row of the other side that may be a batch less a fee; One is -1 for a batch
// without any.
type payout struct {
	Option                         int64
	Value                          string
	Group, One, Lag, Total, N, Sum int64
}

// payoutsSQL lists the batches of an option and the open rows of the other side whose amounts
// differ by at most the largest fee, to either side: nobody pays a fee on top, so that rows
// above the sum show what chance makes.
func (o batchOption) payoutsSQL(number int, l *learnt) string {
	sums, value, other := o.openSums()
	return fmt.Sprintf(`SELECT %d, %s, g.id, coalesce(o.i, -1), coalesce(o.d - g.anchor, 0), g.total, g.n, coalesce(o.a, 0)
		FROM (SELECT *, row_number() OVER (ORDER BY c, q) AS id FROM (%s) WHERE total > 0) AS g
		LEFT JOIN (SELECT * FROM %s%s WHERE open) AS o ON o.a BETWEEN g.total * %g AND g.total * %g AND o.a <> g.total AND o.d - g.anchor BETWEEN -1 AND %d`,
		number, value, sums, batchOpen, other, 1-maxFee, 1+maxFee, feeDays+o.Period.length())
}

// length is how many days lie after the first of a period.
func (p Period) length() int { return map[Period]int{Week: 6, Month: 30}[p] }

// learnFees finds kinds of batches that are paid out less one and the same fee.
func (r *Reconciler) learnFees(ctx context.Context, l *learnt, options []batchOption) (fees []batchOption, hits []batchHit, sizes map[batchKind]int64, err error) {
	sizes = map[batchKind]int64{}
	if firstDate(l.comparisons) < 0 || max(l.left.rows, l.right.rows) > batchSlice {
		return nil, nil, sizes, nil
	}
	for i, o := range options {
		found, err := selectRows[payout](ctx, r.space, fmt.Sprintf("SELECT * FROM (%s) LIMIT %d", o.payoutsSQL(i, l), MaxRows-1))
		if err != nil {
			return nil, nil, nil, err
		}
		slices.SortFunc(found, func(a, b payout) int {
			return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Group, b.Group), cmp.Compare(a.One, b.One))
		})
		for from := 0; from < len(found); {
			to := from
			for to < len(found) && found[to].Value == found[from].Value {
				to++
			}
			part := found[from:to]
			from = to
			fee, votes, batches := bestFee(part, 1)
			_, chance, _ := bestFee(part, -1)
			if votes < minFees || float64(votes) < batchShare*float64(batches) || votes < 3*chance {
				continue
			}
			option := int64(len(options) + len(fees))
			withFee := o
			withFee.Fee = &fee
			fees = append(fees, withFee)
			sizes[batchKind{option, part[0].Value}] = batches
			for _, p := range part {
				if p.One >= 0 && fee.pays(p) {
					hits = append(hits, batchHit{option, part[0].Value, p.One, p.Lag})
				}
			}
		}
	}
	return fees, hits, sizes, nil
}

// pays says that a row is a batch less the fee.
func (f Fee) pays(p payout) bool {
	rest := float64(p.Total-p.Sum) - math.Round(float64(p.Total)*f.Share) - float64(p.N*f.eachCents())
	return math.Abs(rest) <= float64(p.N)/2+1
}

// bestFee is the fee that explains most batches, with their number and that of all batches.
// With the sign -1 it is what would have to be paid on top. The payouts of a batch follow
// each other.
func bestFee(payouts []payout, sign int64) (best Fee, votes int, batches int64) {
	for i, p := range payouts {
		if i == 0 || p.Group != payouts[i-1].Group {
			batches++
		}
	}
	for each := int64(0); each <= maxEach; each += eachStep {
		counts, last := map[int64]int{}, map[int64]int64{}
		for _, p := range payouts {
			rest := float64(sign*(p.Total-p.Sum) - each*p.N)
			if p.One < 0 || rest < 0 {
				continue
			}
			slack, total := float64(p.N)/2+1, float64(p.Total)
			for step := int64(math.Ceil(max(0, rest-slack) * feeSteps / total)); step <= int64((rest+slack)*feeSteps/total); step++ {
				if at, voted := last[step]; voted && at == p.Group {
					continue
				}
				last[step] = p.Group
				counts[step]++
			}
		}
		for _, step := range slices.Sorted(maps.Keys(counts)) {
			if n := counts[step]; n > votes && step+each > 0 {
				best, votes = Fee{float64(step) / feeSteps, float64(each) / 100}, n
			}
		}
	}
	return best, votes, batches
}

// feeSQL is the fee of the batch of a match, if the recipe has batches with fees.
func (r *Recipe) feeSQL() string {
	var cases []string
	if r.Groups == nil {
		return ""
	}
	for _, b := range r.Groups.Batches {
		many, one := "left_amount", "right_amount"
		if b.Many == sideRight {
			many, one = one, many
		}
		if b.Fee != nil {
			cases = append(cases, fmt.Sprintf("WHEN %s THEN round(sum(%s) OVER (PARTITION BY coalesce(group_id, -match_id)) - %s, 2)", text(b.ID), many, one))
		}
	}
	if len(cases) == 0 {
		return ""
	}
	return "CASE rule " + strings.Join(cases, " ") + " END"
}
