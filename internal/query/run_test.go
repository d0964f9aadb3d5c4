package query_test

import (
	"testing"

	"interlock/internal/query"
)

func TestSmoke(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	for _, q := range []string{"select count(*), sum(amount), max(at), min(day) from shop.orders o where shop.orders.id > 3 or true;", "select count(*) n, sum(amount) from shop.orders where shop.orders.id > 3; -- x", "select * from customers limit 2", "select * from hidden", "select from", "summarize orders", "select 1 a, 2 a, 3 a_1, interval 3 day i, x'ab'::blob, [1,null], {'a':1}, map{'k':2}, 123456789012345678901234567890, 0.1::float, '\\xAA'::blob, current_date-current_date d, uuid() is null, true, 1.50, 12345678901234567.89, 'x'::enum('x'), bitstring('101'), union_value(a:=1), timetz '12:00:00+02:30', time '1:2:3.5', timestamptz '2020-01-01 12:00:00+02', '4714-01-01 (BC)'::date, 'nan'::double, 1e300, 1::hugeint<<100, [1,2]::int[2], json '{\"a\":1}'"} {
		r, err := e.Run(t.Context(), query.Request{Database: db, SQL: q})
		if err != nil {
			t.Log(q, "=>", err)
			continue
		}
		rows := string(r.Rows)
		t.Log(q, "=>", r.Columns, rows[:min(900, len(rows))], r.RowCount, r.Elapsed, r.Decision)
	}
}
