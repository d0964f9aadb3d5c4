// Package queryplantest has the schema that the corpus of plans is about, for tests of
// plans with and without a database.
package queryplantest

import (
	"interlock/internal/schema"
)

// Shop has customers, orders, lines with names that need quotes, and reviews whose
// column does not fit the key that it refers to.
var Shop = schema.Dataset{
	Tables: []schema.Table{
		{Name: "customers", Key: []string{"id"}, Columns: []schema.Column{
			{Name: "id", Type: schema.ParseType("INTEGER")}, {Name: "name", Type: schema.ParseType("VARCHAR")}, {Name: "city", Type: schema.ParseType("VARCHAR")}, {Name: "referred_by", Type: schema.ParseType("INTEGER")},
		}},
		{Name: "orders", Key: []string{"id"}, Columns: []schema.Column{
			{Name: "id", Type: schema.ParseType("INTEGER")},
			{Name: "customer_id", Type: schema.ParseType("INTEGER")},
			{Name: "amount", Type: schema.ParseType("DECIMAL(10,2)")},
			{Name: "cost", Type: schema.ParseType("DOUBLE")},
			{Name: "status", Type: schema.ParseType("VARCHAR")},
			{Name: "sold_at", Type: schema.ParseType("TIMESTAMP")},
			{Name: "paid_at", Type: schema.ParseType("DATE")},
			{Name: "paid", Type: schema.ParseType("BOOLEAN")},
		}},
		{Name: "order lines", Columns: []schema.Column{
			{Name: "order_id", Type: schema.ParseType("INTEGER")}, {Name: "unit price", Type: schema.ParseType("DOUBLE")}, {Name: "select", Type: schema.ParseType("VARCHAR")}, {Name: `we"ird`, Type: schema.ParseType("VARCHAR")},
		}},
		{Name: "reviews", Columns: []schema.Column{{Name: "customer", Type: schema.ParseType("VARCHAR")}, {Name: "stars", Type: schema.ParseType("INTEGER")}}},
	},
	Relations: []schema.Relation{
		{Table: "orders", Column: "customer_id", RefTable: "customers", RefColumn: "id"},
		{Table: "order lines", Column: "order_id", RefTable: "orders", RefColumn: "id"},
		{Table: "reviews", Column: "customer", RefTable: "customers", RefColumn: "id"},
	},
	Meaning: &schema.Meaning{Metrics: []schema.Metric{
		{Name: "net_revenue", Table: "orders", Expression: "SUM(orders.amount - orders.cost) FILTER (WHERE orders.status = 'paid')"},
		{Name: "paid_share", Table: "orders", Expression: "100 * COUNT(CASE WHEN orders.paid THEN 1 END) / NULLIF(COUNT(*), 0)"},
	}},
}
