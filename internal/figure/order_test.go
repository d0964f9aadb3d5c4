package figure

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A call is a result for a test, with what was given.
type call struct{ args, output, sql string }

// supportsOf gives each figure of an answer with what it rests on.
func supportsOf(answer, question string, calls ...call) string {
	e := Evidence{Questions: []string{question}}
	for i, c := range calls {
		e.AddResult(Result{ID: fmt.Sprint("c", i+1), Args: json.RawMessage(c.args), Output: json.RawMessage(c.output), SQL: c.sql})
	}
	var out []string
	for _, f := range traced(answer, e) {
		out = append(out, f.Text+" "+string(f.Support))
	}
	return strings.Join(out, ", ")
}

const monthly = `{"columns":["month","orders","revenue"],"rows":[["2024-01-01",5,1204.5],["2024-02-01",7,1899.2],["2024-03-01",4,988],["2024-04-01",9,2410.75],["2024-05-01",3,100.4]],"row_count":5}`

// TestOrderOfEvidence holds the order in which the package comment names the kinds of
// evidence.
func TestOrderOfEvidence(t *testing.T) {
	for _, c := range []struct{ name, question, answer, want string }{
		{"an exact cell before the question", "Were there 7 orders in February 2024?", "Yes, February 2024 had 7 orders.", "February 2024 cell, 7 cell"},
		{"the question before a rounded cell", "How many months had a revenue of 100?", "No month had a revenue of 100.", "100 question"},
		{"the question before a cell by chance", "What are the 4 best months?", "The 4 best months stand in the table.", "4 question"},
		{"a limit of the question before any cell", "The top 5 months?", "The top 5 months are these.", "5 question"},
		{"a limit in words", "Months above 1,000?", "Two months are above 1,000.", "Two weak, 1,000 question"},
		{"a rounded cell", "How much in April?", "In April 2024 the revenue was 2,411.", "April 2024 cell, 2,411 cell"},
		{"a small count at the right row", "", "May 2024: 3 orders", "May 2024 cell, 3 cell"},
		{"a small count at a month without its year", "", "In February there were 7.", "7 cell"},
		{"a small count in a list under its row", "", "February 2024:\n- orders: 7\n- revenue: 1,899.20", "February 2024 cell, 7 cell, 1,899.20 cell"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := supportsOf(c.answer, c.question, call{output: monthly}); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.answer, got, c.want)
			}
		})
	}
}

// TestListedRows holds that the numbers of a row that is listed whole come from it.
func TestListedRows(t *testing.T) {
	var rows []string
	for i := range 400 {
		rows = append(rows, fmt.Sprintf(`[%d,%d,"2024-01-%02d",%d.42]`, 500000+i, 10000+i*7%900, i%28+1, 1500+i%90))
	}
	orders := call{output: `{"columns":["order_id","customer_id","order_date","amount"],"rows":[` + strings.Join(rows, ",") + `]}`}
	if got, want := supportsOf("There are 400: 500003, 10021, 2024-01-04, 1,503.42; and so on.", "", orders), "400 formula, 500003 cell, 10021 cell, 2024-01-04 cell, 1,503.42 cell"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestNames holds that a number in a name of the data is a part of it, that a point in a
// name ends no sentence, and that the one number that a query was made for is no chance.
func TestNames(t *testing.T) {
	sales := call{output: `{"columns":["product","invoice","count"],"rows":[["iPhone 15","INV-2024-00160",107],["Northgate Foods GmbH & Co. KG","2024-00161",99],["Kühn 3000 X","b",86],["d","c",23],["e","f",24]]}`}
	steps := call{output: `{"plan":{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7}}`}
	scalar := call{sql: "SELECT count(*) AS n FROM tickets", output: `{"columns":["n"],"rows":[[39]]}`}
	for _, c := range []struct {
		answer, want string
		calls        []call
	}{
		{"The iPhone 15 leads, then the Kühn 3000 X.", "15 cell, 3000 cell", []call{sales}},
		{"The iPhone 16 leads.", "16 none", []call{sales}},
		{"Invoice INV-2024-00160 is open.", "", []call{sales}},
		{"Invoice 2024-00161 is open.", "2024 cell, 00161 cell", []call{sales}},
		{"First Kühn 3000 X, then Northgate Foods GmbH & Co. KG (99).", "3000 cell, 99 cell", []call{sales}},
		{"There are 39 open ones.", "39 cell", []call{steps, scalar}},
	} {
		if got := supportsOf(c.answer, "", c.calls...); got != c.want {
			t.Errorf("%s: got %s, want %s", c.answer, got, c.want)
		}
	}
}

// TestSigns holds that a sign is dropped only where the words say that a value is negative.
func TestSigns(t *testing.T) {
	changes := call{output: `{"columns":["region","change_pct"],"rows":[["North",-5],["South",12]]}`}
	for _, c := range []struct{ answer, want string }{
		{"North fell by 5 %.", "5 % cell"},
		{"North: -5 %.", "-5 % cell"},
		{"North rose by 5 %.", "5 % none"},
		{"The change in the North was 5 %.", "5 % none"},
		{"Im Norden (North) sank der Wert um 5 %.", "5 % cell"},
		{"South fell by 12 %.", "12 % none"},
		{"South rose by 12 %.", "12 % cell"},
		{"South: -12 %.", "-12 % none"},
		{"North: (5)", "5 cell"},
	} {
		if got := supportsOf(c.answer, "", changes); got != c.want {
			t.Errorf("%s: got %s, want %s", c.answer, got, c.want)
		}
	}
}

// TestDescriptions holds that a schema is evidence for what it is, and for nothing else.
func TestDescriptions(t *testing.T) {
	schema := call{output: `{"dialect":"duckdb","tables":[{"file":"orders.csv","table_name":"orders","columns":[{"name":"id","type":"BIGINT"},{"name":"total","type":"DOUBLE"}],"row_count":15000,"sample":[{"id":1,"total":48211.37},{"id":2,"total":77}]}],
		"about":"## orders (15,000 rows): what was sold\n- total DOUBLE, 12.5 to 1999.75\n- ordered_on DATE, 2023-01-01 to 2025-12-31\n## Terms\n- active customer: ordered in the last 90 days\n"}`}
	for _, c := range []struct{ answer, want string }{
		{"The table orders has 15,000 rows and 2 columns.", "15,000 size, 2 size"},
		{"There are 15,000 orders.", "15,000 size"},
		{"The revenue was 15,000 EUR.", "15,000 none"},
		{"The revenue was 48,211.37.", "48,211.37 none"},
		{"On average 77 per customer.", "77 none"},
		{"An active customer ordered in the last 90 days.", "90 document"},
		{"The mean is 90.", "90 none"},
		{"Totals lie between 12.5 and 1,999.75.", "12.5 document, 1,999.75 document"},
		{"Margins lie between 12.5 and 1,999.75.", "12.5 none, 1,999.75 none"},
		{"ordered_on ends on 2025-12-31.", "2025-12-31 document"},
	} {
		if got := supportsOf(c.answer, "", schema); got != c.want {
			t.Errorf("%s: got %s, want %s", c.answer, got, c.want)
		}
	}
}

// TestSizes holds that figures about the result itself have an origin.
func TestSizes(t *testing.T) {
	cut := call{output: `{"columns":["city","n"],"rows":[["Kiel",9911],["Bonn",8812],["Ulm",7713],["Jena",6614]],"row_count":4,"total_rows":18000,"limited":true}`}
	whole := call{output: `{"columns":["city","n"],"rows":[["Kiel",9911],["Bonn",8812],["Ulm",7713],["Jena",6614],["Hof",5515],["Celle",4416]],"row_count":6}`}
	for _, c := range []struct {
		answer, want string
		of           call
	}{
		{"There are 18,000 rows; the table shows the first 4.", "18,000 size, 4 size", cut},
		{"Es gibt 18.000 Zeilen, 4 werden gezeigt.", "18.000 size, 4 size", cut},
		{"(18000 rows, 4 shown)", "18000 size, 4 size", cut},
		{"There are 17,996 more.", "17,996 size", cut},
		{"There are 17,000 more.", "17,000 none", cut},
		{"Kiel comes first with 9,911, then Bonn (8,812). The table has 4 more.", "9,911 cell, 8,812 cell, 4 size", whole},
		{"Kiel (9.911) und Bonn (8.812); 4 weitere Zeilen.", "9.911 cell, 8.812 cell, 4 size", whole},
		{"Kiel had 9,911, 77 more than Bonn.", "9,911 cell, 77 none", whole},
		{"The table has 5 more.", "5 none", whole},
	} {
		if got := supportsOf(c.answer, "", c.of); got != c.want {
			t.Errorf("%s: got %s, want %s", c.answer, got, c.want)
		}
	}
}

// TestRowsNotListed holds which rows an answer lists: those that a line or a sentence names
// by all that names them, or by what no other row has.
func TestRowsNotListed(t *testing.T) {
	var months, days, customers []string
	for i := range 36 {
		for j, channel := range []string{"Web", "Store", "Phone", "Partner", "Other"} {
			months = append(months, fmt.Sprintf(`["%d-%02d-01","%s",%d.5]`, 2024+i/12, i%12+1, channel, 40000-i*811-j*97))
		}
		days = append(days, fmt.Sprintf(`["2026-%02d-%02d",%d]`, 1+i/28, i%28+1, 40000-i*811))
	}
	months = append(months, `["2027-01-01","Web",7711.5]`)
	for i, code := range strings.Fields("DE FR ES IT NL AT PL SE") {
		customers = append(customers, fmt.Sprintf(`["%s",%d]`, code, 9000-i*123))
	}
	rows := func(columns string, rows []string) call {
		return call{output: `{"columns":[` + columns + `],"rows":[` + strings.Join(rows, ",") + `]}`}
	}
	byMonth, byDay, byCountry := rows(`"month","channel","revenue"`, months), rows(`"day","revenue"`, days), rows(`"country","customers"`, customers)
	files := rows(`"file","rows"`, []string{`["orders.csv",412]`, `["users.csv",388]`, `["lines.csv",977]`})
	const five = "- January 2024, Web: 40,000.50\n- January 2024, Store: 39,903.50\n- January 2024, Phone: 39,806.50\n- February 2024, Web: 39,189.50\n- February 2024, Phone: 38,995.50\n"
	for _, c := range []struct {
		name, answer, want string
		of                 call
	}{
		{"two labels", five + "The table has 176 more.", "176 size", byMonth},
		{"two labels without values", "The best are Web in January 2024.\nThen comes Store in January 2024.\nThe table has 179 more.", "179 size", byMonth},
		{"labels under a line", "January 2024:\n- Web\n- Store\n- Phone\n\nThe table has 178 more.", "178 size", byMonth},
		{"labels apart", "Web leads.\nJanuary 2024 was good.\nThe table has 180 more.", "180 none", byMonth},
		{"a wrong rest", five + "The table has 175 more.", "175 none", byMonth},
		{"a month of days", "January 2026 was good. On 2026-01-03 most came. There are 35 more.", "35 size", byDay},
		{"a German word", "DE führt, dann FR. Mehr gibt es in der Tabelle: 6 weitere.", "6 size", byCountry},
		{"a code", "DE führt, dann FR und ES; 5 weitere.", "5 size", byCountry},
		{"a file's name", "DE leads, then FR. It is in wie-viele-gibt-ES-pro-land.csv: 6 more.", "6 size", byCountry},
		{"a file's name in quotes", "DE leads, then FR. It is in \"Was gibt ES pro Land.pdf\": 6 more.", "6 size", byCountry},
		{"a file as a row", "The largest is lines.csv; there are 2 more.", "2 size", files},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := supportsOf(c.answer, "", c.of); !strings.HasSuffix(got, c.want) {
				t.Errorf("%s\ngot  %s\nwant %s", c.answer, got, c.want)
			}
		})
	}
}

// TestConditions holds that a condition of the statement stays one, and that no formula with
// an operand that changes nothing explains a figure.
func TestConditions(t *testing.T) {
	query := func(sql, columns, rows string) call {
		return call{sql: sql, output: `{"columns":[` + columns + `],"rows":[` + rows + `]}`}
	}
	none := query("SELECT count(*) AS count FROM orders WHERE year(day) = 2026", `"count"`, `[0]`)
	week := query("SELECT sum(total) AS revenue FROM orders WHERE day >= '2026-11-09' AND day < '2026-11-17'", `"revenue"`, `[48211.37]`)
	for _, c := range []struct {
		name, answer, want string
		of                 call
	}{
		{"a year with a zero", "There were no orders in 2026: 0. For 2026 the difference is 0.", "2026 statement, 0 cell, 2026 statement, 0 cell", none},
		{"a limit with a zero", "With a limit of 500 there were 0. The total remains 500.", "500 statement, 0 cell, 500 statement", query("SELECT count(*) AS count FROM orders WHERE total > 500", `"count"`, `[0]`)},
		{"a sum with zero", "The difference in 2027 and 2027 is none.", "2027 none, 2027 none", none},
		{"a year before a formula", "The total for 2026 was 1,000.", "2026 statement, 1,000 formula", query("SELECT n FROM orders WHERE year(day) = 2026", `"n"`, `[987],[13]`)},
		{"a year that formulas fit", "The total in 2026 is higher.", "2026 statement", query("SELECT n FROM orders WHERE year(day) = 2026", `"n"`, `[2000],[26]`)},
		{"an open end", "From 2026-11-09 to 2026-11-16 the revenue was 48,211.37.", "2026-11-09 statement, 2026-11-16 statement, 48,211.37 cell", week},
		{"an open end in words", "Vom 9. November 2026 bis zum 16.11.2026: 48.211,37.", "9. November 2026 statement, 16.11.2026 statement, 48.211,37 cell", week},
		{"two days before an open end", "Until 2026-11-15 the revenue was 48,211.37.", "2026-11-15 none, 48,211.37 cell", week},
		{"a closed end", "Until 2026-11-16.", "2026-11-16 none", query("SELECT n FROM orders WHERE day <= '2026-11-17'", `"n"`, `[5]`)},
		{"an open end with a type", "Until 2026-10-31.", "2026-10-31 statement", query("SELECT n FROM orders WHERE day < CAST('2026-11-01' AS DATE)", `"n"`, `[5]`)},
		{"an open end of a year", "Orders of 2025-01-01 to 2025-12-31.", "2025-01-01 statement, 2025-12-31 statement", query("SELECT n FROM orders WHERE day >= DATE '2025-01-01' AND DATE '2026-01-01' > day", `"n"`, `[5]`)},
		{"an open end at midnight", "Until 2026-11-16.", "2026-11-16 statement", query("SELECT n FROM orders WHERE at < TIMESTAMP '2026-11-17 00:00:00'", `"n"`, `[5]`)},
		{"an open end at noon", "Until 2026-11-16.", "2026-11-16 none", query("SELECT n FROM orders WHERE at < TIMESTAMP '2026-11-17 12:00:00'", `"n"`, `[5]`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := supportsOf(c.answer, "", c.of); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.answer, got, c.want)
			}
		})
	}
}

// TestWrittenTexts holds that what a tool says about a text that its caller wrote neither
// supports a figure nor changes the reason why it has no origin.
func TestWrittenTexts(t *testing.T) {
	report := call{args: `{"title":"Lost 9 of 4,711","markdown":"We lost 9 orders, 4,711 in all."}`, output: `{"name":"lost_9","note":"Lost 9 of 4,711 is written. Without an origin: 9, 4,711.","count":4711}`}
	if got, want := supportsOf("We lost 9 orders, 4,711 in all.", "", report), "9 none, 4,711 none"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestStated holds that a number which only a statement or code states is no evidence.
func TestStated(t *testing.T) {
	rows := func(sql string, value any) call {
		return call{sql: sql, args: fmt.Sprintf(`{"sql":%q}`, sql), output: fmt.Sprintf(`{"columns":["revenue"],"rows":[[%v]],"row_count":1}`, value)}
	}
	python := func(code, stdout string) call {
		return call{args: fmt.Sprintf(`{"code":%q}`, code), output: fmt.Sprintf(`{"stdout":%q}`, stdout)}
	}
	const claim = "Revenue was 48,211.37 euros."
	for _, c := range []struct {
		name, answer, want string
		calls              []call
	}{
		{"a literal", claim, "48,211.37 stated", []call{rows("SELECT 48211.37 AS revenue", 48211.37)}},
		{"a literal beside data", claim, "48,211.37 stated", []call{rows("SELECT 48211.37 AS revenue FROM orders LIMIT 1", 48211.37)}},
		{"a sum of literals", claim, "48,211.37 stated", []call{rows("SELECT 48211 + 0.37 AS revenue", 48211.37)}},
		{"a common table expression", claim, "48,211.37 stated", []call{rows("WITH v AS (SELECT 48211.37 AS revenue) SELECT v.revenue FROM v, orders LIMIT 1", 48211.37)}},
		{"a comment", claim, "48,211.37 none", []call{rows("SELECT count(*) AS revenue FROM orders -- 48211.37", 1)}},
		{"a text", claim, "48,211.37 stated", []call{rows("SELECT '48211.37' AS revenue FROM orders", `"48211.37"`)}},
		{"a filter is harmless", claim, "48,211.37 cell", []call{rows("SELECT revenue FROM orders WHERE revenue = 48211.37", 48211.37)}},
		{"a name", "Revenue 48,211.37", "48,211.37 none", []call{rows("SELECT 'Revenue 48,211.37' AS revenue FROM orders", `"Revenue 48,211.37"`)}},
		{"a name made of parts", "Revenue 48211.37", "48211.37 none", []call{rows("SELECT 'Revenue ' || '48211.37' AS revenue FROM orders", `"Revenue 48211.37"`)}},
		{"data", claim, "48,211.37 cell", []call{rows("SELECT sum(total) AS revenue FROM orders", 48211.37)}},
		{"copied from data", claim, "48,211.37 cell", []call{rows("SELECT 48211.37 AS revenue", 48211.37), rows("SELECT sum(total) AS revenue FROM orders", 48211.37)}},
		{"taken on by a later statement", claim, "48,211.37 stated", []call{rows("SELECT revenue FROM step_1", 48211.37), rows("SELECT 48211.37 AS revenue", 48211.37)}},
		{"printed by code", claim, "48,211.37 stated", []call{python("print('revenue 48211.37')", "the revenue was 48211.37 euros\n")}},
		{"printed with commas", claim, "48,211.37 stated", []call{python("print('48,211.37')", "The revenue was 48,211.37\n")}},
		{"computed by code", claim, "48,211.37 document", []call{python("print(df.total.sum())", "The revenue was 48211.37\n")}},
		{"rows of made-up values", "There are 3 branches with 412 in total.", "3 none, 412 none", []call{{sql: "SELECT * FROM (VALUES (100), (112), (200)) AS t(n)", output: `{"columns":["n"],"rows":[[100],[112],[200]]}`}}},
		{"a flag of a sum", "1 order was late.", "1 cell", []call{{sql: "SELECT sum(CASE WHEN late THEN 1 ELSE 0 END) AS late FROM orders", output: `{"columns":["late"],"rows":[[1]]}`}}},
		{"a full percentage", "100 % were paid.", "100 % cell", []call{{sql: "SELECT round(100.0 * sum(paid) / count(*), 1) AS paid_pct FROM orders", output: `{"columns":["paid_pct"],"rows":[[100.0]]}`}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := supportsOf(c.answer, "", c.calls...); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.answer, got, c.want)
			}
		})
	}
}
