package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// storeIndex is a shop whose order items have no date of their own and whose customers share names.
func storeIndex() *nlq.Index {
	col := func(pairs ...string) (cs []schema.Column) {
		for i := 0; i < len(pairs); i += 2 {
			cs = append(cs, schema.Column{Name: pairs[i], Type: schema.ParseType(pairs[i+1])})
		}
		return cs
	}
	s := schema.Dataset{Tables: []schema.Table{
		{Name: "customers", Rows: 40, Key: []string{"customer_id"}, Columns: col("customer_id", "BIGINT", "name", "VARCHAR", "country", "VARCHAR", "signup_date", "DATE")},
		{Name: "products", Rows: 30, Key: []string{"product_id"}, Columns: col("product_id", "BIGINT", "name", "VARCHAR", "brand", "VARCHAR", "price", "DOUBLE", "added_on", "DATE")},
		{Name: "orders", Rows: 900, Key: []string{"order_id"}, Columns: col("order_id", "BIGINT", "customer_id", "BIGINT", "order_date", "DATE", "ship_date", "DATE", "status", "VARCHAR", "total", "DOUBLE")},
		{Name: "order_items", Rows: 3000, Columns: col("order_id", "BIGINT", "product_id", "BIGINT", "quantity", "BIGINT", "unit_price", "DOUBLE")},
		{Name: "returns", Rows: 50, Key: []string{"return_id"}, Columns: col("return_id", "BIGINT", "order_id", "BIGINT", "product_id", "BIGINT", "quantity", "BIGINT", "return_date", "DATE")},
	}, Relations: []schema.Relation{
		{Table: "orders", Column: "customer_id", RefTable: "customers", RefColumn: "customer_id"},
		{Table: "order_items", Column: "order_id", RefTable: "orders", RefColumn: "order_id"},
		{Table: "order_items", Column: "product_id", RefTable: "products", RefColumn: "product_id"},
		{Table: "returns", Column: "order_id", RefTable: "orders", RefColumn: "order_id"},
		{Table: "returns", Column: "product_id", RefTable: "products", RefColumn: "product_id"},
	}, Meaning: &schema.Meaning{
		Tables:    []schema.TableMeaning{{Table: "orders", MainDate: "order_date"}},
		Metrics:   []schema.Metric{{Name: "gross revenue", Table: "orders", Expression: "SUM(orders.total)"}},
		Ambiguous: []schema.AmbiguousTerm{{Term: "sales", Readings: []string{"gross revenue", "total quantity of order items"}}},
	}}
	values := []nlq.ColumnValues{
		{Table: "customers", Column: "name", Values: []string{"Ann", "Bob", "Cleo"}, Complete: true},
		{Table: "customers", Column: "country", Values: []string{"France", "Spain"}, Complete: true},
		{Table: "orders", Column: "status", Values: []string{"open", "paid"}, Complete: true},
	}
	return nlq.NewIndex(s, values, schema.Dictionary{})
}

// TestGroupedByName keeps rows of one name together where the person says name, and apart
// where the person speaks of the things that are named.
func TestGroupedByName(t *testing.T) {
	t.Parallel()
	x := storeIndex()
	for question, want := range map[string]string{
		"how many customers per name":       "GROUP BY name ",
		"total of orders per customer name": "GROUP BY customers.name ",
		"how many orders by customer name":  "GROUP BY customers.name ",
		"total of orders per customer":      "GROUP BY customers.name, customers.customer_id",
		"top 5 customers by total":          "GROUP BY customers.name, customers.customer_id",
	} {
		got := sqlOf(t, nlq.Question{Text: question, Index: x})
		if !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", question, got, want)
		}
	}
}

// TestPeriodOfParent puts a period to the date of the rows that undated rows belong to, never to that
// of what they only look up.
func TestPeriodOfParent(t *testing.T) {
	t.Parallel()
	x := storeIndex()
	for question, want := range map[string]string{
		"total quantity of order items in May 2025":   "WHERE orders.order_date >= '2025-05-01'",
		"total quantity of order items per month":     "date_trunc('month', orders.order_date)",
		"how many order items in May 2025":            "WHERE orders.order_date >= '2025-05-01'",
		"average unit price per brand in May 2025":    "WHERE orders.order_date >= '2025-05-01'",
		"what is the total quantity sold in May 2025": "order_date >= '2025-05-01'",
	} {
		if got := sqlOf(t, nlq.Question{Text: question, Index: x}); !strings.Contains(got, want) || strings.Contains(got, "added_on") {
			t.Errorf("%s\n got %s\nwant %s", question, got, want)
		}
	}
}

// TestWholeRanking takes a ranking that says what it ranks and by what for a new question, whatever
// was asked before, and one that does not for a change of the last.
func TestWholeRanking(t *testing.T) {
	t.Parallel()
	x := storeIndex()
	alone := sqlOf(t, nlq.Question{Text: "top 5 customers by total", Index: x})
	if !strings.Contains(alone, "LIMIT 5") {
		t.Fatal(alone)
	}
	for _, before := range []string{"how many customers are there", "how many orders per country in 2024", "total of orders per customer", "How happy are the guests?"} {
		history := []nlq.Turn{{Text: before}}
		if got := sqlOf(t, nlq.Question{Text: "top 5 customers by total", Index: x, History: history}); got != alone {
			t.Errorf("after %s: %s", before, got)
		}
	}
	history := []nlq.Turn{{Text: "how many orders per country in 2024"}}
	if got := sqlOf(t, nlq.Question{Text: "top 1", Index: x, History: history}); !strings.Contains(got, "LIMIT 1") || !strings.Contains(got, "2024-01-01") {
		t.Errorf("top 1 is no change of the question before: %s", got)
	}
}

// TestGerman asks in German, with marks behind the words.
func TestGerman(t *testing.T) {
	t.Parallel()
	x := storeIndex()
	for question, want := range map[string]string{
		"Wie viele Kunden gibt es?":             "SELECT count(*) AS count FROM customers",
		"Wie viele Kunden gibt es":              "SELECT count(*) AS count FROM customers",
		"Wie viele Bestellungen gab es 2024?":   "order_date >= '2024-01-01'",
		"Wie viele Bestellungen pro Monat?":     "date_trunc('month', order_date)",
		"Wie viele Bestellungen letzten Monat?": "order_date >= '2024-03-01'",
	} {
		if got := sqlOf(t, nlq.Question{Text: question, Index: x}); !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", question, got, want)
		}
	}
	a := nlq.Plan(nlq.Question{Text: "Verkäufe pro Monat", Index: x, Now: today})
	if len(a.Questions) != 1 || len(a.Questions[0].Alternatives) != 2 {
		t.Errorf("an ambiguous term is not asked about in German: %q %s", a.Declined, a.SQL)
	}
}
