package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
)

func TestStatementIsNoQuestion(t *testing.T) {
	index, _ := shopIndex()
	for _, sql := range []string{
		"SELECT count(*) FROM orders WHERE status <> 'cancelled'",
		"select name from customers",
		"select name, city as town from shop.customers",
		"select distinct city from customers order by city",
		"SELECT 1",
		"SELECT\n  id\nFROM orders",
		"-- paid\nselect id from orders where status = 'paid'",
		"(select id from orders) union all (select id from customers)",
		"with paid as (select * from orders) select count(*) from paid",
		"WITH RECURSIVE t(n) AS (SELECT 1) SELECT * FROM t",
		"DELETE FROM orders",
		"drop table orders",
		"create or replace view v as select 1",
		"insert into orders values (1)",
		"update orders set status = 'paid'",
		"explain analyze select id from orders",
		"from orders select id",
	} {
		if !nlq.IsStatement(sql) {
			t.Errorf("%q is taken for a question", sql)
		}
		a := nlq.Plan(nlq.Question{Text: sql, Index: index})
		if a.Plan != nil || !strings.Contains(a.Declined, "SQL: ") {
			t.Errorf("%q was planned: %+v", sql, a)
		}
	}
	for _, question := range []string{
		"how many orders were returned",
		"Select the ten best customers",
		"with which customers did we earn most",
		"show all orders from Bern",
		"drop in sales per month",
		"update me on revenue by city",
		"delete rate per month",
		"from which city are most customers",
		"select all customers from the city with most orders",
	} {
		if nlq.IsStatement(question) {
			t.Errorf("%q is taken for SQL", question)
		}
	}
}
