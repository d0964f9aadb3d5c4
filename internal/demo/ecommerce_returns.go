package demo

import (
	"cmp"
	"slices"
)

var returnReasons = []string{
	"does not fit, too large", "does not fit, too small", "colour differs from the picture", "damaged in transit; box was open",
	"changed my mind", "arrived late, no longer needed", "wrong item", "quality, not as described", "scratch on the surface", "ordered twice; second one back",
}

func (s *shop) makeReturns() {
	s.returns = &table{
		name: "returns", file: "returns.csv", format: "csv", options: map[string]any{"delimiter": ";"},
		about: "Goods that came back, from the warehouse's own system, which writes semicolons.",
		columns: []column{
			{"return_id", "BIGINT", "Key."},
			{"order_id", "BIGINT", "The order. A few are not in orders."},
			{"product_id", "BIGINT", "What came back."},
			{"quantity", "BIGINT", "Pieces."},
			{"return_date", "DATE", "Day on which the parcel came in. The policy allows 30 days from ship_date; some are later."},
			{"reason", "VARCHAR", "What the customer wrote; with commas and semicolons."},
			{"condition", "VARCHAR", "A as new, B opened, C damaged; NULL = not looked at."},
			{"refund_amount", moneyKind, "Paid back, after the order's coupon; NULL = not yet. A few are ten times too high."},
		},
	}
	d := s.draw("returns")
	var rows [][]any
	for _, o := range s.sold {
		for _, l := range o.lines {
			if l.quantity == 0 || l.gone || !d.perMille(assortments[l.good.category].returned) {
				continue
			}
			if row := s.makeReturn(d, o, l); row != nil {
				rows = append(rows, row)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b []any) int { return cmp.Compare(a[4].(date), b[4].(date)) })
	for i, row := range rows {
		row[0] = 70001 + i
		s.returns.add(row...)
	}
}

func (s *shop) makeReturn(d random, o sale, l line) []any {
	late := d.perMille(80)
	back := o.shipped + date(d.intBetween(4, 29))
	if late {
		back = o.shipped + date(d.intBetween(33, 80))
	}
	if back > lastDay {
		return nil
	}
	quantity := d.intBetween(1, l.quantity)
	paid := (l.price * money(quantity)).share(10000 - o.off)
	refund := any(paid)
	switch {
	case d.perMille(25), back > lastDay-5:
		refund = nil
		s.count.pending++
	case d.perMille(3):
		refund = paid * 10
		s.count.tooMuch++
	}
	order := o.order
	if d.perMille(4) {
		order = 400000 + d.IntN(90000)
		s.count.strange++
	} else if late {
		s.count.late++
	}
	return []any{nil, order, l.good.id, quantity, back, pick(d, returnReasons), nullUnless(!d.perMille(100), pick(d, []string{"A", "A", "B", "B", "C"})), refund}
}
