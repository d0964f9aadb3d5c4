package queryplan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"interlock/internal/queryplan"
)

func TestMetricText(t *testing.T) {
	// The text of an expression is one that is read as the same expression.
	for _, tt := range []struct{ in, out string }{
		{"sum(orders.amount)", "SUM(orders.amount)"},
		{"SUM(CASE WHEN status = 'paid' THEN amount ELSE 0 END)", "SUM(amount) FILTER (WHERE status = 'paid')"},
		{"sum(case when paid then 1 else 0 end) / count(*)", "COUNT(*) FILTER (WHERE paid = true) / COUNT(*)"},
		{"100.0 * COUNT(DISTINCT CASE WHEN a > 1 AND b IN ('x','y''z') THEN id END) / NULLIF(COUNT(DISTINCT id), 0)", "100.0 * COUNT(DISTINCT id) FILTER (WHERE a > 1 AND b IN ('x', 'y''z')) / COUNT(DISTINCT id)"},
		{`avg("unit price" * ("order lines".n - 1))`, `AVG("unit price" * ("order lines".n - 1))`},
		{"(sum(a) - sum(b)) / sum(c) - 1", "(SUM(a) - SUM(b)) / SUM(c) - 1"},
		{"avg(datediff(day, sold_at, paid_at)) filter (where paid_at is not null or not (status like 'x%'))", "AVG(DATEDIFF(day, sold_at, paid_at)) FILTER (WHERE (paid_at IS NOT NULL OR NOT (status LIKE 'x%')))"},
		{"max(db.shop.orders.amount)", "MAX(orders.amount)"},
		{"round(avg(stars), 2)", "ROUND(AVG(stars), 2)"},
		{"sum(a) filter (where d between date '2024-01-01' and '2024-12-31' and x <> y)", "SUM(a) FILTER (WHERE d BETWEEN '2024-01-01' AND '2024-12-31' AND x <> y)"},
	} {
		e, err := queryplan.ParseMetric(tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		got := queryplan.MetricText(e)
		if got != tt.out {
			t.Errorf("%s is written %s, want %s", tt.in, got, tt.out)
		}
		again, err := queryplan.ParseMetric(got)
		if err != nil || queryplan.MetricText(again) != got {
			t.Errorf("%s is read as %s: %v", got, queryplan.MetricText(again), err)
		}
	}
}

func TestMetricErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    `"the end" is not expected here`,
		"amount":                              "it is a value of one row",
		"sum(a) + b":                          "b stands outside of sum",
		"sum(avg(a))":                         "avg stands inside of another aggregate",
		"percentile_cont(0.5)":                "the function percentile_cont is not supported",
		"sum(a) over (partition by b)":        `"over" is not expected here`,
		"avg(case when x then y else 0 end)":  "ELSE 0 inside of avg is not supported",
		"sum(a); drop table x":                `";" is not understood`,
		"sum('a":                              "does not end",
		"sum(distinct a)":                     "DISTINCT is understood in COUNT only",
		"(select sum(a) from b)":              `"sum" is not expected here`,
		strings.Repeat("(", 5000):             "longer than",
		strings.Repeat("(", 50) + "sum(a)":    "nested deeper",
		"sum(a) filter (where b = (1 + c) ":   "is not expected",
		"sum(a) filter (where b not c)":       "after NOT",
		"coalesce(sum(a), 0)":                 "coalesce is not supported",
		"count(*) filter (where x = 1.2.3)":   "is no number",
		"sum(a) filter (where status == 'x')": "is not expected",
	} {
		_, err := queryplan.ParseMetric(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", in, err, want)
		}
	}
}

func TestMetricProblems(t *testing.T) {
	for _, tt := range []struct{ plan, want string }{
		{`{"table":"orders","select":[{"metric":"gross"}]}`, `select[0].metric: there is no metric "gross"; there are net_revenue, paid_share`},
		{`{"table":"customers","select":[{"metric":"net_revenue"}]}`, "select[0].metric: net_revenue is about rows of orders"},
		{`{"table":"orders","joins":[{"table":"order lines"}],"select":[{"metric":"net_revenue"}]}`, "joining order lines repeats rows of orders"},
		{`{"table":"customers","joins":[{"table":"orders"},{"table":"reviews","on":[{"left":"customers.id","right":"customer"}]}],"select":[{"metric":"paid_share"}]}`, "joining reviews repeats rows of orders"},
		{`{"table":"orders","select":[{"metric":"net_revenue","function":"sum"}]}`, "a metric stands alone"},
		{`{"table":"orders","select":[{"column":"id"}],"filters":[{"metric":"net_revenue","operator":">","value":1}]}`, "put it into select, having or order_by"},
	} {
		p, err := queryplan.Parse(json.RawMessage(tt.plan))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.SQL(shop); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.plan, err, tt.want)
		}
	}
	p, _ := queryplan.Parse(json.RawMessage(`{"table":"customers","joins":[{"table":"orders"}],"select":[{"metric":"net_revenue"}]}`))
	if _, err := p.SQL(shop); err != nil {
		t.Errorf("customers of orders repeat no orders: %v", err)
	}
}

func FuzzParseMetric(f *testing.F) {
	f.Add("100 * COUNT(DISTINCT CASE WHEN a > 1 THEN id END) / NULLIF(COUNT(*), 0)")
	f.Add("avg(\"a b\") filter (where (x + 1) > 2 or y in ('a'))")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := queryplan.ParseMetric(text)
		if err != nil {
			return
		}
		if written := queryplan.MetricText(e); written != "" {
			again, err := queryplan.ParseMetric(written)
			if err != nil || queryplan.MetricText(again) != written {
				t.Errorf("%q is written %q and read back as %q: %v", text, written, queryplan.MetricText(again), err)
			}
		}
	})
}
