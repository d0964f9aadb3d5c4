package demo

import (
	"fmt"
	"slices"
	"strings"
)

// A payment with the truth about it.
type payment struct {
	id        string
	day       date
	payer     string
	amount    money
	method    string
	reference string
	kind      string
	bills     []*bill    // none for a payment that belongs to no invoice
	entry     *bankEntry // on the bank statement; nil = not there
}

// Kinds of match, and the two kinds of payment without one.
const (
	exact            = "exact"             // amount and reference as they should be
	byText           = "reference_in_text" // the number is inside of free text
	byAmount         = "no_reference"      // only name, amount and date
	byTypo           = "reference_typo"    // two digits exchanged
	withFee          = "fee"               // short by a fee
	rounded          = "rounding"          // off by some cents
	discounted       = "discount"          // 2 % taken off for early payment
	split            = "split"             // one of several payments
	combined         = "combined"          // one payment for several invoices
	duplicatePayment = "duplicate_payment"
	unknownPayment   = "unknown"
)

// Ways to pay.
const (
	transfer    = "bank transfer"
	directDebit = "direct debit"
	card        = "card"
	cheque      = "cheque"
)

// payInvoices decides how each invoice is paid.
func (s *ledger) payInvoices() {
	d := s.draw("payments")
	kinds := &weightedChoice[string]{}
	for _, k := range []struct {
		weight int
		kind   string
	}{{43, exact}, {17, byText}, {6, byAmount}, {2, byTypo}, {6, withFee}, {4, rounded}, {4, discounted}, {6, split}, {9, combined}, {3, unpaid}} {
		kinds.add(k.weight, k.kind)
	}
	waiting := map[int][]*bill{} // by customer, for one payment of several
	for _, b := range s.bills {
		if b.reason != "" {
			continue
		}
		group := waiting[b.debtor.id]
		if len(group) > 0 && b.issued > group[0].issued+45 {
			s.payTogether(d, group)
			group = nil
		}
		kind := kinds.pick(d)
		switch {
		case len(group) > 0, kind == combined:
			if group = append(group, b); len(group) == 4 || len(group) > 1 && d.perMille(400) {
				s.payTogether(d, group)
				group = nil
			}
		case kind == unpaid:
			b.reason = unpaid
		case kind == split:
			s.payInParts(d, b)
		default:
			s.payOnce(d, b, kind)
		}
		waiting[b.debtor.id] = group
	}
	for _, x := range s.debtors {
		if group := waiting[x.id]; len(group) > 0 {
			s.payTogether(d, group)
		}
	}
	for range s.options.scaledRows(55) {
		s.payWithoutInvoice(d)
	}
	for _, b := range s.bills {
		if len(b.parts) == 0 && b.reason == "" {
			b.reason = notYetPaid
		}
	}
	slices.SortStableFunc(s.paid, func(a, b *payment) int { return int(a.day - b.day) })
	for i, p := range s.paid {
		p.id = fmt.Sprintf("PAY-%06d", i+1)
	}
}

// pay records a payment, unless it lies after the export.
func (s *ledger) pay(d random, p *payment, parts ...money) bool {
	if p.day > lastDay {
		return false
	}
	who := p.bills[0].debtor
	p.payer = who.name
	if p.method == "" {
		p.method = who.method
	}
	if d.perMille(280) {
		p.payer = misspellFirm(d, who.name, who.city)
	}
	for i, b := range p.bills {
		b.parts = append(b.parts, paymentPart{p, parts[i]})
		p.amount += parts[i]
	}
	s.paid = append(s.paid, p)
	return true
}

// paymentDelay returns how long after the due date a customer pays, in days.
func paymentDelay(d random) date {
	switch n := d.IntN(100); {
	case n < 45:
		return -date(d.intBetween(0, 10))
	case n < 75:
		return date(d.intBetween(0, 5))
	case n < 94:
		return date(d.intBetween(6, 30))
	}
	return date(d.intBetween(31, 85))
}

func (s *ledger) payOnce(d random, b *bill, kind string) {
	p := &payment{day: max(b.issued+1, b.due+paymentDelay(d)), kind: kind, bills: []*bill{b}, reference: b.id}
	amount := b.total()
	switch kind {
	case byText:
		p.reference = numberInText(d, b)
	case byAmount:
		p.reference = pick(d, []string{"", "", "thank you", "monthly payment", "invoice", "as agreed", b.po})
	case byTypo:
		p.reference = swapDigits(d, b.id)
	case withFee:
		if b.debtor.country == "Germany" {
			p.method = card
			amount -= amount.share(140) + 25
		} else {
			p.method = transfer
			amount -= money(pick(d, []int{250, 500, 750, 1500}))
		}
	case rounded:
		if off := d.intBetween(1, 5); d.perMille(350) && amount%100 > 0 {
			amount -= amount % 100
		} else if d.perMille(500) {
			amount -= money(off)
		} else {
			amount += money(off)
		}
	case discounted:
		p.day = b.issued + date(d.intBetween(2, 9))
		amount -= amount.share(200)
		p.reference = b.id + pick(d, []string{" less 2%", " -2% discount", ""})
	}
	if s.pay(d, p, amount) && d.perMille(14) {
		s.payAgain(d, p)
	}
}

// payAgain records the same payment a second time, as a mistake.
func (s *ledger) payAgain(d random, p *payment) {
	again := *p
	again.day, again.kind, again.bills = p.day+date(d.intBetween(0, 4)), duplicatePayment, nil
	if again.day <= lastDay {
		s.paid = append(s.paid, &again)
	}
}

// payTogether pays several open invoices of a customer at once.
func (s *ledger) payTogether(d random, group []*bill) {
	if len(group) == 1 {
		s.payOnce(d, group[0], exact)
		return
	}
	last := group[len(group)-1]
	p := &payment{day: max(last.issued+1, last.due+paymentDelay(d)), kind: combined, bills: group}
	parts := make([]money, len(group))
	numbers := make([]string, len(group))
	for i, b := range group {
		parts[i] = b.total()
		numbers[i] = b.id[len("INV-2024-"):]
	}
	p.reference = pick(d, []string{
		group[0].id + ", " + strings.Join(numbers[1:], ", "),
		"invoices " + strings.Join(numbers, "+"),
		fmt.Sprintf("%s to %s, %d invoices", group[0].id, last.id, len(group)),
		"statement of account " + last.issued.time().Format("January 2006"),
	})
	s.pay(d, p, parts...)
}

func (s *ledger) payInParts(d random, b *bill) {
	n := d.intBetween(2, 3)
	day, left := max(b.issued+1, b.due+paymentDelay(d)), b.total()
	for i := range n {
		amount := left
		if i < n-1 {
			amount = left.share(d.intBetween(30, 65) * 100)
		}
		p := &payment{day: day, kind: split, bills: []*bill{b}}
		p.reference = pick(d, []string{fmt.Sprintf("%s part %d/%d", b.id, i+1, n), fmt.Sprintf("%d. instalment %s", i+1, b.id), b.id})
		if !s.pay(d, p, amount) {
			return
		}
		left -= amount
		day += date(d.intBetween(7, 30))
	}
}

// payWithoutInvoice adds payments that belong to no invoice.
func (s *ledger) payWithoutInvoice(d random) {
	p := pick(d, places)
	x := &payment{day: firstDay + date(d.IntN(int(lastDay-firstDay))), kind: unknownPayment, method: transfer, amount: d.amountBetween(20, 2500)}
	switch d.IntN(3) {
	case 0:
		x.payer, x.reference = firmName(d, p), fmt.Sprintf("RG %d", d.intBetween(10000, 99999))
	case 1:
		x.payer, x.reference = pick(d, p.people.first)+" "+pick(d, p.people.last), "deposit for order"
	default:
		x.payer, x.reference = pick(d, s.debtors).name, fmt.Sprintf("pro forma %d", d.intBetween(100, 999))
	}
	s.paid = append(s.paid, x)
}

// numberInText hides an invoice number in a sentence, written in another way.
func numberInText(d random, b *bill) string {
	year, number := b.id[4:8], b.id[9:]
	written := pick(d, []string{b.id, strings.ToLower(b.id), "INV" + year + number, "INV " + year + " " + number, "inv." + year + "/" + number, year + "-" + number})
	return pick(d, []string{
		"Payment for " + written + ", thank you",
		"RE: " + written + " / your delivery",
		"Invoice " + written + " of " + b.issued.time().Format("02.01.2006"),
		"SEPA " + written + " EREF NOTPROVIDED",
		strings.TrimSpace(fmt.Sprintf("cust. %d %s %s", b.debtor.id, written, b.po)),
		strings.ReplaceAll("order "+b.po+" inv "+written, "  ", " "),
	})
}

// swapDigits exchanges two neighbouring digits of the number, if any two differ.
func swapDigits(d random, id string) string {
	digits := []byte(id)
	for i := len(digits) - 1; i > len("INV-2024-"); i-- {
		if digits[i] != digits[i-1] {
			digits[i], digits[i-1] = digits[i-1], digits[i]
			return string(digits)
		}
	}
	return pick(d, []string{id[:len(id)-1], id + "0"})
}

func (s *ledger) makePayments() {
	s.payments = &table{
		name: "payments", file: "payments.csv", format: "csv", about: "Money that came in, as the clerk entered it. There is no column for the invoice: it is in the reference, if anywhere.",
		columns: []column{
			{"payment_id", "VARCHAR", "Key, rising with payment_date."},
			{"payment_date", "DATE", "Day on which the clerk booked it."},
			{"payer_name", "VARCHAR", "Who paid, as the bank or card company spells it."},
			{"amount", moneyKind, "What arrived, after fees. To be compared with invoices.total, not with invoices.amount."},
			{"method", "VARCHAR", "bank transfer, direct debit, card or cheque."},
			{"reference", "VARCHAR", "What the payer wrote; NULL = nothing."},
		},
	}
	for _, p := range s.paid {
		for _, b := range p.bills {
			if p.day > b.due+30 {
				s.count.slow++
				break
			}
		}
		s.count.name += boolInt(len(p.bills) > 0 && p.payer != p.bills[0].debtor.name)
		s.payments.add(p.id, p.day, p.payer, p.amount, p.method, nullUnless(p.reference != "", p.reference))
	}
}
