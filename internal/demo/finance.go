package demo

import (
	"fmt"
	"strings"
)

// finance is the ledger of Brightwater Supplies, a wholesaler: what was invoiced,
// what was paid, and what the bank saw.
func finance(o Options) dataset {
	s := &ledger{options: o}
	s.makeCustomers()
	s.makeInvoices()
	s.payInvoices()
	s.makePayments()
	s.makeBank()
	s.listInvoices()
	return dataset{
		id:    "finance",
		name:  "Brightwater receivables",
		about: "Invoices, incoming payments and the bank statement of a wholesaler, 2024 and 2025, in euro: made to be reconciled.",
		story: "Brightwater Supplies sells to shops and offices on invoice. Payments do not name their invoice in a column of their own; it is in the reference, if at all. " +
			"Exported on 2025-12-31. To reconcile: invoices with payments (one to one, split and combined, fees, rounding, early-payment discounts, typing errors, duplicates, and rows without partner on both sides), and payments with the bank statement (card payouts of a week and cheque deposits of a day come as one entry). " +
			"The truth is not part of the dataset; it lies in `.truth/finance` beside the dataset folders.",
		prompts: []string{
			"How many payments were made by each method, and how much was it?",
			"Which 5 customers have the highest total of invoices?",
			"Which invoices are overdue on 2025-12-31, and how much is that?",
			"Match the invoices of October 2025 with the payments.",
			"Which payments have no invoice number in their reference?",
			"How many days after the due date do customers pay, by country?",
		},
		tables: []*table{s.customers, s.invoices, s.payments, s.bank},
		relations: []relation{
			{"invoices.customer_id", "customers.customer_id"},
		},
		glossary: map[string]string{
			"overdue":         "An invoice whose due_date is before the day in question and whose status is neither paid nor cancelled; credit notes are never overdue.",
			"open item":       "An invoice that is not paid, not cancelled and not a credit note.",
			"revenue":         "Sum of invoices.amount (without tax), cancelled invoices left out, credit notes subtracted.",
			"invoiced amount": "Ambiguous: amount is without tax, total with tax. What customers owe is total.",
			"credit note":     "A row of invoices with negative amounts; its description names the invoice that it corrects.",
			"early payment":   "2 % may be deducted when an invoice is paid within 10 days.",
			"days to pay":     "Days from invoice_date to payment_date; needs the match of invoice and payment.",
			"payout":          "What the card company pays for a week of card payments, as one entry on the statement.",
			"DSO":             "Days sales outstanding: open total on a day divided by the average invoiced total of a day in the 90 days before.",
		},
		flaws: s.flaws(),
		truth: s.expectedMatches(),
	}
}

// A ledger is the dataset while it is made.
type ledger struct {
	options   Options
	customers *table
	invoices  *table
	payments  *table
	bank      *table

	debtors []debtor
	bills   []*bill
	paid    []*payment
	entries []*bankEntry

	count struct {
		twins, noLimit, stale, spelling, name, noPO int
		negative, slow, zeroDate                    int
	}
}

func (s *ledger) draw(topic string) random { return newRandom(s.options.Seed, "finance/"+topic) }

func (s *ledger) flaws() []flaw {
	kinds := map[string]int{}
	for _, p := range s.paid {
		kinds[p.kind]++
	}
	for _, b := range s.bills {
		kinds[b.reason]++
	}
	missing := 0
	for _, p := range s.paid {
		missing += boolInt(p.entry == nil)
	}
	c := s.count
	return []flaw{
		{c.twins, "customers who are in the list twice, spelt differently, the second without invoices"},
		{c.noLimit, "customers without credit limit"},
		{c.noPO, "invoices without order number"},
		{c.spelling, "invoices whose status is spelt with capitals"},
		{c.stale, "invoices that are paid and still have the status open"},
		{c.negative, "credit notes: invoices with negative amounts"},
		{kinds[duplicateInvoice], "invoices that were entered twice under two numbers"},
		{c.name, "payments whose payer_name is not spelt like the customer's name"},
		{kinds[byText], "payments with the invoice number inside of free text"},
		{kinds[byAmount], "payments without any invoice number"},
		{kinds[byTypo], "payments with two digits of the invoice number exchanged"},
		{kinds[withFee], "payments short by a fee"},
		{kinds[rounded], "payments off by rounding"},
		{kinds[discounted], "payments with 2 % taken off for early payment"},
		{kinds[split], "payments that are one of several for an invoice"},
		{kinds[combined], "payments for several invoices at once"},
		{kinds[duplicatePayment], "payments made twice"},
		{kinds[unknownPayment], "payments that belong to no invoice"},
		{c.slow, "payments more than 30 days after the due date"},
		{missing, "payments that are not on the bank statement (lost, or still on their way)"},
		{c.zeroDate, "bank entries with value_date 1970-01-01"},
		{1, "files that are not UTF-8 (bank_statement.csv: windows-1252, as banks export it)"},
	}
}

// A debtor is what invoices need of a customer.
type debtor struct {
	id            int
	name, country string
	city          string
	terms         int // days
	weight        int
	method        string
}

func (s *ledger) makeCustomers() {
	s.customers = &table{
		name: "customers", file: "customers.csv", format: "csv", about: "Who buys on invoice.",
		columns: []column{
			{"customer_id", "BIGINT", "Key."},
			{"name", "VARCHAR", "Name of the firm as registered."},
			{"city", "VARCHAR", "City."},
			{"country", "VARCHAR", "Country by name."},
			{"payment_terms_days", "BIGINT", "Days from invoice_date to due_date."},
			{"credit_limit", moneyKind, "Up to where we deliver on invoice; NULL = never set."},
			{"account_manager", "VARCHAR", "Who looks after the customer."},
			{"created_on", "DATE", "Since when."},
		},
	}
	d := s.draw("customers")
	managers := []string{"Ines Brandt", "Tom Fletcher", "Aurélie Noël", "Paula Rivas"}
	used := map[string]bool{}
	for i := range s.options.scaledRows(180) {
		p := pick(d, places)
		name := firmName(d, p)
		for try := 0; used[name] && try < 30; try++ {
			name = firmName(d, p)
		}
		used[name] = true
		x := debtor{
			id: 3001 + i, name: name, city: p.city, country: p.country, terms: pick(d, []int{14, 30, 30, 30, 45, 60}), weight: d.intBetween(1, 12),
			method: pick(d, []string{transfer, transfer, transfer, transfer, directDebit, card, cheque}),
		}
		if d.perMille(100) {
			x.weight *= 5
		}
		limit := any(money(d.intBetween(2, 60) * 100000))
		if d.perMille(110) {
			limit = nil
			s.count.noLimit++
		}
		if i > 20 && d.perMille(30) {
			first := pick(d, s.debtors)
			s.customers.add(x.id, misspellFirm(d, first.name, first.city), first.city, first.country, first.terms, limit, pick(d, managers), dateOf(2023, 1, 9)+date(d.IntN(300)))
			s.count.twins++
			continue
		}
		s.debtors = append(s.debtors, x)
		s.customers.add(x.id, x.name, x.city, x.country, x.terms, limit, pick(d, managers), dateOf(2019, 1, 7)+date(d.IntN(1700)))
	}
}

// misspellFirm returns a firm's name with a difference in spelling.
func misspellFirm(d random, name, city string) string {
	words := strings.Fields(name)
	short := strings.Join(words[:len(words)-1], " ")
	switch d.IntN(6) {
	case 0:
		return strings.ToUpper(plain.Replace(name))
	case 1:
		return short
	case 2:
		return name + " " + city
	case 3:
		return strings.ToUpper(strings.ReplaceAll(plain.Replace(short), "&", "U"))
	case 4:
		long := []rune(strings.ToUpper(plain.Replace(name + " " + city + " ACCOUNTS PAYABLE")))
		return strings.TrimSpace(string(long[:min(len(long), 27)]))
	}
	return fmt.Sprintf("%s, Branch %s", strings.ReplaceAll(short, "&", "and"), city)
}
