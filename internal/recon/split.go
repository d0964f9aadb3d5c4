package recon

import (
	"context"
	"fmt"
)

const (
	maxSplit   = 8    // columns of numbers that are tried with each other
	splitShare = 0.95 // of the rows with a number, those that have one in exactly one of the two
	splitLeast = 0.02 // of the rows, those that have one in the column that is used less
)

// compared lists what may be compared: the columns, and amounts that two of them hold.
func (p Profile) compared() []ColumnProfile {
	return append(p.Columns[:len(p.Columns):len(p.Columns)], p.split...)
}

// names are the columns that hold the values.
func (p ColumnProfile) names() []string {
	if p.in != nil {
		return []string{p.in.Name, p.out.Name}
	}
	return []string{p.Name}
}

// places tell the column, and those that hold its values, from others.
func (p ColumnProfile) places() []int {
	if p.in != nil {
		return []int{p.index, p.in.index, p.out.index}
	}
	return []int{p.index}
}

// splitAmounts finds pairs of columns of which each row uses one: credit and debit. Both
// orders are listed, as nobody says which of the two is what came in.
func (r *Reconciler) splitAmounts(ctx context.Context, t table, p Profile) (out []ColumnProfile, err error) {
	var numbers []ColumnProfile
	for _, c := range p.Columns {
		if c.Number != "" && c.Name != t.side.Key && len(numbers) < maxSplit {
			numbers = append(numbers, c)
		}
	}
	for i, a := range numbers {
		for _, b := range numbers[i+1:] {
			if a.Number != b.Number {
				continue
			}
			has := func(c ColumnProfile) string {
				return fmt.Sprintf("coalesce((%s) <> 0, false)", numberOf(fmt.Sprintf("v%d", c.index), c.Number))
			}
			n, err := selectOne[struct{ A, B, Both int64 }](ctx, r.space, fmt.Sprintf("SELECT count(*) FILTER (a), count(*) FILTER (b), count(*) FILTER (a AND b) FROM (SELECT %s AS a, %s AS b FROM %s WHERE i %% %d = 0)", has(a), has(b), t.staged, t.rows/profileRows+1))
			if err != nil {
				return nil, fmt.Errorf("looking for amounts in two columns: %w", err)
			}
			used := n.A + n.B - n.Both
			if float64(used-n.Both) < splitShare*float64(used) || float64(min(n.A, n.B)-n.Both) < splitLeast*float64(used) || used == 0 {
				continue
			}
			for _, pair := range [][2]*ColumnProfile{{&a, &b}, {&b, &a}} {
				out = append(out, ColumnProfile{Name: sideName([]string{pair[0].Name, pair[1].Name}), Distinct: a.Distinct, Number: a.Number, index: len(t.columns) + len(out), in: pair[0], out: pair[1]})
			}
		}
	}
	return out, nil
}
