package demo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A bankEntry is a line of the bank statement.
type bankEntry struct {
	id           string
	day          date
	counterparty string
	purpose      string
	kind         string // credit, debit or charge
	amount       money
}

// makeBank writes the statement: payments as the bank saw them, and everything else
// that passes through an account.
func (s *ledger) makeBank() {
	d := s.draw("bank")
	s.bookPayments(d)
	s.bookExpenses(d)
	s.entries = slices.DeleteFunc(s.entries, func(e *bankEntry) bool { return e.day > lastDay })
	for _, p := range s.paid {
		if p.entry != nil && p.entry.day > lastDay {
			p.entry = nil // still on its way
		}
	}
	slices.SortStableFunc(s.entries, func(a, b *bankEntry) int { return cmp.Compare(a.day, b.day) })
	s.bank = &table{
		name: "bank_statement", file: "bank_statement.csv", format: "csv", options: map[string]any{"encoding": "windows-1252"},
		about: "The bank account, in and out. Written in windows-1252, as banks do.",
		columns: []column{
			{"entry_id", "VARCHAR", "Key, rising with booking_date."},
			{"booking_date", "DATE", "Day of the entry at the bank: up to four days after payments.payment_date."},
			{"value_date", "DATE", "Day from which interest counts. A few are 1970-01-01."},
			{"counterparty", "VARCHAR", "The other side, as the bank spells it."},
			{"purpose", "VARCHAR", "Text of the transfer."},
			{"type", "VARCHAR", "credit (in), debit (out) or charge (of the bank)."},
			{"amount", moneyKind, "Positive in, negative out."},
			{"balance", moneyKind, "Balance after the entry."},
		},
	}
	balance := money(25_000_000)
	for i, e := range s.entries {
		e.id = fmt.Sprintf("BK-%06d", i+1)
		balance += e.amount
		value := e.day
		if d.perMille(2) {
			value = 0
			s.count.zeroDate++
		}
		s.bank.add(e.id, e.day, value, e.counterparty, e.purpose, e.kind, e.amount, balance)
	}
}

// bookPayments books payments: transfers one by one, cards by week, cheques by day.
func (s *ledger) bookPayments(d random) {
	together := map[string]*bankEntry{}
	for _, p := range s.paid {
		if d.perMille(8) {
			continue // lost: the clerk booked what never came
		}
		switch p.method {
		case card:
			year, week := p.day.time().ISOWeek()
			key := fmt.Sprintf("%d-W%02d", year, week)
			if together[key] == nil {
				sunday := p.day + date((7-int(p.day.time().Weekday()))%7)
				together[key] = s.addEntry(&bankEntry{day: sunday + 2, counterparty: "CARDLINE PAYMENTS", purpose: "CARD PAYOUT " + key, kind: "credit"})
			}
			p.entry = together[key]
		case cheque:
			key := p.day.String()
			if together[key] == nil {
				together[key] = s.addEntry(&bankEntry{day: p.day + date(d.intBetween(1, 3)), counterparty: "CHEQUE DEPOSIT", purpose: "DEPOSIT SLIP " + key, kind: "credit"})
			}
			p.entry = together[key]
		default:
			purpose := strings.TrimSpace(pick(d, []string{"", "SEPA CREDIT ", "EREF+ "}) + p.reference)
			if d.perMille(300) {
				purpose = strings.ToUpper(purpose)
			}
			p.entry = s.addEntry(&bankEntry{day: p.day + date(d.IntN(3)), counterparty: p.payer, purpose: purpose, kind: "credit"})
		}
		p.entry.amount += p.amount
		if p.kind == duplicatePayment && d.perMille(500) {
			s.addEntry(&bankEntry{day: p.day + date(d.intBetween(5, 20)), counterparty: p.payer, purpose: "REFUND DOUBLE PAYMENT " + p.reference, kind: "debit", amount: -p.amount})
		}
	}
}

func (s *ledger) addEntry(e *bankEntry) *bankEntry {
	s.entries = append(s.entries, e)
	return e
}

// bookExpenses books rent, wages, suppliers and the bank's charges.
func (s *ledger) bookExpenses(d random) {
	suppliers := []string{"Papierfabrik Grünau GmbH", "Océane Emballages SARL", "Norrköping Pappersbruk AB", "Lámparas del Sur S.L.", "Whitfield Workwear Ltd"}
	for day := firstDay; day <= lastDay; day++ {
		t := day.time()
		if t.Day() == 1 {
			s.addEntry(&bankEntry{day: day, counterparty: "Hafenlager Süd GmbH & Co. KG", purpose: "RENT " + t.Format("01/2006"), kind: "debit", amount: -1_240_000})
			s.addEntry(&bankEntry{day: day, counterparty: "Brückenbank AG", purpose: "ACCOUNT FEE " + t.Format("01/2006"), kind: "charge", amount: -2990})
		}
		if t.Day() == 28 {
			s.addEntry(&bankEntry{day: day, counterparty: "WAGES", purpose: "WAGES " + t.Format("01/2006"), kind: "debit", amount: -5_200_000 - money(d.IntN(300_000))})
		}
		if t.Weekday() == time.Thursday {
			for range d.intBetween(1, 3) {
				s.addEntry(&bankEntry{day: day, counterparty: pick(d, suppliers), purpose: fmt.Sprintf("INVOICE %d", d.intBetween(100000, 999999)), kind: "debit", amount: -d.amountBetween(800, 16000)})
			}
		}
		if t.Weekday() == time.Tuesday && d.perMille(400) {
			s.addEntry(&bankEntry{day: day, counterparty: "Brückenbank AG", purpose: "FOREIGN TRANSFER FEE", kind: "charge", amount: -money(d.intBetween(3, 30) * 50)})
		}
		if t.Day() == 30 && t.Month()%3 == 0 {
			s.addEntry(&bankEntry{day: day, counterparty: "Brückenbank AG", purpose: "INTEREST", kind: "credit", amount: money(d.intBetween(9000, 42000))})
		}
	}
}
