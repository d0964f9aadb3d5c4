package demo_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"interlock/internal/racetest"
)

// How each flaw of a README is found in the data, by the words it begins with.
var flaws = map[string]map[string]string{
	"ecommerce": {
		"customers who are in the list twice":    `SELECT count(*) - count(DISTINCT lower(email)) FROM customers`,
		"customers whose country is in capitals": `SELECT count(*) FROM customers WHERE country = upper(country)`,
		"customers without phone number":         `SELECT count(*) FROM customers WHERE phone IS NULL`,
		"customers born in 1900":                 `SELECT count(*) FROM customers WHERE birth_year = 1900`,
		"products without weight":                `SELECT count(*) FROM products WHERE weight_g IS NULL`,
		"products whose status":                  `SELECT count(*) FROM products WHERE status <> lower(status)`,
		"orders of customers who are not":        `SELECT count(*) FROM orders WHERE customer_id NOT IN (SELECT customer_id FROM customers)`,
		"orders shipped before":                  `SELECT count(*) FROM orders WHERE ship_date < order_date`,
		"orders with a ship_date in 2052":        `SELECT count(*) FROM orders WHERE ship_date LIKE '2052-%'`,
		"orders whose amount is not the sum":     `SELECT count(*) FROM orders o JOIN (SELECT order_id, sum(line_amount) AS lines FROM order_items GROUP BY 1) USING (order_id) WHERE abs(lines - amount) > 0.001`,
		"orders with a negative total":           `SELECT count(*) FROM orders WHERE total < 0 AND order_id NOT IN (SELECT order_id FROM order_items)`,
		"orders whose status or channel":         `SELECT count(*) FROM orders WHERE status <> lower(status) OR channel <> lower(channel)`,
		"order items of products that are not":   `SELECT count(*) FROM order_items WHERE product_id NOT IN (SELECT product_id FROM products)`,
		"order items with quantity 0":            `SELECT count(*) FROM order_items WHERE quantity = 0`,
		"returns later than the 30 days":         `SELECT count(*) FROM returns JOIN orders USING (order_id) WHERE julianday(return_date) - julianday(ship_date) > 30`,
		"returns without refund_amount":          `SELECT count(*) FROM returns WHERE refund_amount IS NULL`,
		"returns refunded at ten times":          `SELECT count(*) FROM returns r JOIN (SELECT order_id, product_id, max(line_amount) AS paid FROM order_items WHERE order_id IN (SELECT order_id FROM returns) GROUP BY 1, 2) USING (order_id, product_id) WHERE refund_amount > paid + 0.001`,
		"returns of orders that are not":         `SELECT count(*) FROM returns WHERE order_id NOT IN (SELECT order_id FROM orders)`,
		"files with another delimiter":           ``,
	},
	"support": {
		"agents without team":                  `SELECT count(*) FROM agents WHERE team IS NULL`,
		"companies that are in the list twice": `SELECT count(*) FROM customers WHERE company = upper(company)`,
		"customers whose `since`":              `SELECT count(*) FROM customers WHERE since NOT LIKE '____-__-__'`,
		"customers with 0 seats":               `SELECT count(*) FROM customers WHERE seats = 0`,
		"tickets of customers who are not":     `SELECT count(*) FROM tickets WHERE customer_id NOT IN (SELECT customer_id FROM customers)`,
		"tickets whose priority or category":   `SELECT count(*) FROM tickets WHERE priority <> lower(priority) OR category <> lower(category)`,
		"tickets solved before":                `SELECT count(*) FROM tickets WHERE solved_at < created_at`,
		"tickets that were solved without any": `SELECT count(*) FROM tickets WHERE solved_at IS NOT NULL AND first_response_at IS NULL`,
		"tickets without product version":      `SELECT count(*) FROM tickets WHERE product_version IS NULL`,
		"tickets with handle_minutes of 9999":  `SELECT count(*) FROM tickets WHERE handle_minutes = 9999`,
		"ratings of 0":                         `SELECT count(*) FROM satisfaction WHERE score = 0`,
		"tickets rated twice":                  `SELECT count(*) - count(DISTINCT ticket_id) FROM satisfaction`,
		"messages without author_id":           `SELECT count(*) FROM messages WHERE author_id IS NULL AND author_type = 'system'`,
	},
	"finance": {
		"customers who are in the list twice":     `SELECT count(*) FROM customers WHERE customer_id NOT IN (SELECT customer_id FROM invoices)`,
		"customers without credit limit":          `SELECT count(*) FROM customers WHERE credit_limit IS NULL`,
		"invoices without order number":           `SELECT count(*) FROM invoices WHERE po_number IS NULL`,
		"invoices whose status is spelt":          `SELECT count(*) FROM invoices WHERE status <> lower(status)`,
		"invoices that are paid and still":        `SELECT count(*) FROM invoices WHERE lower(status) = 'open' AND invoice_id IN (SELECT invoice_id FROM invoices_payments)`,
		"credit notes":                            `SELECT count(*) FROM invoices WHERE total < 0`,
		"invoices that were entered twice":        `SELECT count(*) FROM unmatched WHERE reason = 'duplicate_invoice'`,
		"payments whose payer_name":               `SELECT count(DISTINCT payment_id) FROM payments JOIN invoices_payments USING (payment_id) JOIN invoices USING (invoice_id) WHERE payer_name <> customer_name`,
		"payments with the invoice number inside": `SELECT count(*) FROM payments JOIN invoices_payments x USING (payment_id) WHERE kind = 'reference_in_text' AND replace(replace(replace(reference, '-', ''), ' ', ''), '/', '') LIKE '%' || substr(invoice_id, 5, 4) || substr(invoice_id, 10) || '%'`,
		"payments without any invoice number":     `SELECT count(*) FROM payments JOIN invoices_payments x USING (payment_id) WHERE kind = 'no_reference' AND coalesce(reference, '') NOT LIKE '%' || substr(invoice_id, 10) || '%'`,
		"payments with two digits":                `SELECT count(*) FROM payments JOIN invoices_payments x USING (payment_id) WHERE kind = 'reference_typo' AND reference <> invoice_id`,
		"payments short by a fee":                 `SELECT count(*) FROM invoices_payments WHERE kind = 'fee'`,
		"payments off by rounding":                `SELECT count(*) FROM invoices_payments WHERE kind = 'rounding'`,
		"payments with 2 %":                       `SELECT count(*) FROM invoices_payments WHERE kind = 'discount'`,
		"payments that are one of several":        `SELECT count(*) FROM invoices_payments WHERE kind = 'split'`,
		"payments for several invoices":           `SELECT count(DISTINCT payment_id) FROM invoices_payments WHERE kind = 'combined'`,
		"payments made twice":                     `SELECT count(*) FROM unmatched WHERE reason = 'duplicate_payment'`,
		"payments that belong to no invoice":      `SELECT count(*) FROM unmatched WHERE reason = 'unknown'`,
		"payments more than 30 days after":        `SELECT count(DISTINCT payment_id) FROM payments JOIN invoices_payments USING (payment_id) JOIN invoices USING (invoice_id) WHERE julianday(payment_date) - julianday(due_date) > 30`,
		"payments that are not on the bank":       `SELECT count(*) FROM payments WHERE payment_id NOT IN (SELECT payment_id FROM payments_bank)`,
		"bank entries with value_date 1970":       `SELECT count(*) FROM bank_statement WHERE value_date = '1970-01-01'`,
		"files that are not UTF-8":                ``,
	},
}

var flawLine = regexp.MustCompile(`(?m)^- (.+): (\d+)$`)

// Every flaw that a README names is in the data as often as it says.
func TestFlaws(t *testing.T) {
	racetest.Skip(t, "computes on the whole demo")
	dir := demoData(t)
	for _, id := range datasets {
		t.Run(id, func(t *testing.T) {
			db := openSeedOne(t, id)
			readme, err := os.ReadFile(filepath.Join(dir, id, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, line := range flawLine.FindAllStringSubmatch(string(readme), -1) {
				query, known := "", false
				for begin, q := range flaws[id] {
					if strings.HasPrefix(line[1], begin) {
						query, known = q, true
						seen[begin] = true
					}
				}
				want, err := strconv.Atoi(line[2])
				if err != nil || want == 0 || !known {
					t.Errorf("flaw %q, count %d, known to this test %v, %v", line[1], want, known, err)
				}
				if query == "" {
					continue
				}
				if got := number(t, db, query); got != want {
					t.Errorf("%s: found %d, the README says %d", line[1], got, want)
				}
			}
			for begin := range flaws[id] {
				if !seen[begin] {
					t.Errorf("the README does not name the flaw %q", begin)
				}
			}
		})
	}
}

// The files that need a second look: another delimiter, another encoding.
func TestOddFiles(t *testing.T) {
	dir := demoData(t)
	read := func(name ...string) string {
		raw, err := os.ReadFile(filepath.Join(append([]string{dir}, name...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if bank := read("finance", "bank_statement.csv"); utf8.ValidString(bank) || !strings.Contains(bank, "Br\xfcckenbank AG") {
		t.Error("the bank statement is not in windows-1252")
	}
	for _, id := range datasets {
		var r registry
		readJSON(t, &r, dir, id, "registry.json")
		for _, f := range r.Files {
			if f.Format != "parquet" && f.Table != "bank_statement" && !utf8.ValidString(read(id, f.Path)) {
				t.Errorf("%s/%s is not UTF-8", id, f.Path)
			}
		}
	}
	returns := read("ecommerce", "returns.csv")
	if header, _, _ := strings.Cut(returns, "\n"); strings.Count(header, ";") != 7 || strings.Contains(header, ",") {
		t.Errorf("header of returns: %s", header)
	}
	for _, want := range []string{"does not fit, too large", `"damaged in transit; box was open"`} {
		if !strings.Contains(returns, want) {
			t.Errorf("returns do not contain %s", want)
		}
	}
}
