package demo

import (
	"fmt"
	"slices"
	"time"
)

// A bill is an invoice or credit note with the truth about it.
type bill struct {
	id          string
	debtor      debtor
	issued, due date
	net, tax    money
	po          string
	description string
	parts       []paymentPart // what was paid for it
	reason      string        // why nothing was paid; "" = something was
}

func (b *bill) total() money { return b.net + b.tax }

// A paymentPart is money of a payment that belongs to a bill.
type paymentPart struct {
	payment *payment
	amount  money
}

// Reasons for an invoice without payment.
const (
	unpaid           = "unpaid"
	notYetPaid       = "not_yet_paid" // the customer pays after the export
	cancelled        = "cancelled"
	creditNote       = "credit_note"
	duplicateInvoice = "duplicate_invoice"
)

var deliveries = []string{"Office paper and envelopes", "Printer cartridges", "Cleaning supplies", "Packing material", "Work clothes", "Coffee and cups", "Shelving", "Batteries and lamps"}

func (s *ledger) makeInvoices() {
	d := s.draw("invoices")
	who := &weightedChoice[debtor]{}
	for _, x := range s.debtors {
		who.add(x.weight, x)
	}
	days := &weightedChoice[date]{}
	for day := firstDay; day <= lastDay; day++ {
		weight := 1000 + int(day-firstDay)/2
		if (day + 3).time().Month() != day.time().Month() {
			weight *= 3 // most is invoiced at the end of a month
		}
		if w := day.time().Weekday(); w != time.Saturday && w != time.Sunday {
			days.add(weight, day)
		}
	}
	issued := make([]date, s.options.scaledRows(3000))
	for i := range issued {
		issued[i] = days.pick(d)
	}
	slices.Sort(issued)
	for _, day := range issued {
		b := s.newBill(who.pick(d), day)
		tier := pick(d, []int{300, 300, 1200, 1200, 4000, 9000})
		b.net = money(d.intBetween(40, tier)*100 + d.IntN(100))
		b.tax = s.tax(b)
		b.description = pick(d, deliveries)
		if !d.perMille(150) {
			b.po = fmt.Sprintf("PO%d", d.intBetween(100000, 999999))
		}
		switch {
		case d.perMille(16) && day < lastDay-20:
			b.reason = cancelled
			note := s.newBill(b.debtor, day+date(d.intBetween(1, 12)))
			note.net, note.tax, note.po, note.reason = -b.net, -b.tax, b.po, creditNote
			note.description = "Credit note for " + b.id
		case d.perMille(5) && day < lastDay-5:
			again := s.newBill(b.debtor, day+date(d.intBetween(0, 3)))
			again.net, again.tax, again.po, again.description, again.reason = b.net, b.tax, b.po, b.description, duplicateInvoice
		}
	}
	// Numbers rise with the day, so what was added for a later day moves there; the
	// notes keep the name of the invoice that they correct.
	renamed := map[string]string{}
	slices.SortStableFunc(s.bills, func(a, b *bill) int { return int(a.issued - b.issued) })
	serial := map[int]int{}
	for _, b := range s.bills {
		year := b.issued.time().Year()
		serial[year]++
		id := fmt.Sprintf("INV-%d-%05d", year, serial[year])
		renamed[b.id], b.id = id, id
	}
	for _, b := range s.bills {
		if b.reason == creditNote {
			b.description = "Credit note for " + renamed[b.description[len("Credit note for "):]]
		}
	}
}

// newBill adds an invoice under a name that holds until all are numbered.
func (s *ledger) newBill(who debtor, day date) *bill {
	b := &bill{id: fmt.Sprint("draft ", len(s.bills)), debtor: who, issued: day, due: day + date(who.terms)}
	s.bills = append(s.bills, b)
	return b
}

// tax is 19 % at home and none abroad.
func (s *ledger) tax(b *bill) money {
	if b.debtor.country != "Germany" {
		return 0
	}
	return b.net.share(1900)
}

// listInvoices writes the table, when it is known how each invoice stands.
func (s *ledger) listInvoices() {
	s.invoices = &table{
		name: "invoices", file: "invoices.csv", format: "csv", about: "One row an invoice or credit note.",
		columns: []column{
			{"invoice_id", "VARCHAR", "Key: INV, year, number within the year."},
			{"customer_id", "BIGINT", "Who owes it."},
			{"customer_name", "VARCHAR", "The customer's name as printed."},
			{"invoice_date", "DATE", "Day of the invoice. Revenue counts by this day."},
			{"due_date", "DATE", "Day until which it is to be paid."},
			{"amount", moneyKind, "Without tax. Negative for credit notes."},
			{"tax", moneyKind, "19 % for customers in Germany, else 0."},
			{"total", moneyKind, "amount + tax: what the customer owes and pays."},
			{"status", "VARCHAR", "open, partially paid, paid or cancelled, as the clerk left it: some paid ones are still open, and case varies."},
			{"po_number", "VARCHAR", "The customer's order number; NULL = none."},
			{"description", "VARCHAR", "What was delivered."},
		},
	}
	d := s.draw("status")
	for _, b := range s.bills {
		status := "open"
		switch left := b.openAmount(); {
		case b.reason == cancelled, b.reason == creditNote:
			status = "cancelled"
		case len(b.parts) > 0 && left > b.total()/5:
			status = "partially paid"
		case len(b.parts) > 0:
			status = "paid"
		}
		if status == "paid" && d.perMille(20) {
			status = "open"
			s.count.stale++
		}
		if d.perMille(30) {
			status = changeCase(d, status)
			s.count.spelling++
		}
		s.count.negative += boolInt(b.net < 0)
		s.count.noPO += boolInt(b.po == "")
		s.invoices.add(b.id, b.debtor.id, b.debtor.name, b.issued, b.due, b.net, b.tax, b.total(), status, nullUnless(b.po != "", b.po), b.description)
	}
}

// openAmount returns the amount that is not paid yet.
func (b *bill) openAmount() money {
	left := b.total()
	for _, p := range b.parts {
		left -= p.amount
	}
	return left
}
