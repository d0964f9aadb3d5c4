package report_test

import (
	"strings"
	"testing"

	"interlock/internal/chart"
	"interlock/internal/report"
	"interlock/internal/schema"
)

// tableOf decodes a result as steps store it.
func tableOf(t *testing.T, name, rows string, columns ...string) report.Table {
	t.Helper()
	var typed []schema.Column
	for _, c := range columns {
		name, typ, _ := strings.Cut(c, " ")
		typed = append(typed, schema.Column{Name: name, Type: schema.ParseType(typ)})
	}
	decoded, err := chart.DecodeTable(typed, []byte(rows))
	if err != nil {
		t.Fatal(err)
	}
	return report.Table{Name: name, Columns: decoded.Columns, Rows: decoded.Rows}
}

// Tables of results are written for people: months as months, days without a time that none
// has, numbers with the same few decimals, keys and years as they are.
func TestResultTablesAreForPeople(t *testing.T) {
	d := report.Document{Title: "T", Markdown: "![](r)", Tables: []report.Table{tableOf(t, "r", `[
		["2025-01-01 00:00:00", "2025-03-04 00:00:00", "2025-03-04 00:00:00", 1234.5678912, 2024, 1234567, 0.12345678, 12345, "9007199254740995"],
		["2025-02-01 00:00:00", "2025-03-05 00:00:00", "2025-03-05 12:30:00", -98765.4, 2025, 12, 0.5, 12346, null]]`,
		"month TIMESTAMP", "day TIMESTAMP", "at TIMESTAMP", "revenue DOUBLE", "year INTEGER", "visits BIGINT", "share DOUBLE", "order_id BIGINT", "big BIGINT")}}
	html, err := report.HTML(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		">2025-01<", ">2025-02<", ">2025-03-04<", ">2025-03-04 00:00:00<", ">2025-03-05 12:30:00<", ">1,234.57<", ">-98,765.40<", ">2024<", ">1,234,567<", ">12<", ">0.1235<", ">0.5000<",
		">12345<", ">9007199254740995<", "Numbers are rounded; the result r holds them exactly.",
	} {
		if !strings.Contains(string(html), want) {
			t.Errorf("the table lacks %s:\n%s", want, html[strings.Index(string(html), "<table>"):])
		}
	}
}

// A chart and a table of one name are shown once each.
func TestChartAndTableOfOneName(t *testing.T) {
	table := tableOf(t, "sales", `[["North",5],["South",3]]`, "region VARCHAR", "total BIGINT")
	data := chart.Table{Columns: table.Columns, Rows: table.Rows}
	plan, err := chart.Plan(data, chart.Request{Title: "Sales"})
	if err != nil {
		t.Fatal(err)
	}
	d := report.Document{
		Title: "T", Markdown: "![](chart:sales)\n\n![](table:sales)\n", Tables: []report.Table{table},
		Charts: []report.Chart{{Name: "sales", Picture: draw(t, data, plan)}},
	}
	html, err := report.HTML(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if charts, tables := strings.Count(string(html), "<svg"), strings.Count(string(html), "<table>"); charts != 1 || tables != 1 {
		t.Errorf("%d charts and %d tables", charts, tables)
	}
}
