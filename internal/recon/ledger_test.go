package recon

import (
	"fmt"
	"strings"
	"time"
)

// drawLedger books a ledger with signs and accounts against a statement in two currencies
// with a credit and a debit column, whose free text names the payer and perhaps a number, the
// first and the last of several, or none.
func drawLedger(seed uint64) *drawn {
	d := newDrawn(seed)
	var parties []string
	for range 70 {
		parties = append(parties, fmt.Sprintf("%s %s %s", one(d, bankWords), one(d, bankTypes), one(d, bankForms)))
	}
	number := 7000
	newDoc := func() string {
		number += 1 + d.IntN(4)
		return fmt.Sprintf("%s%d-25", one(d, []string{"RE", "RE", "GS"}), number)
	}
	key := func(prefix string) string { return fmt.Sprintf("%s%07d", prefix, d.IntN(10_000_000)) }
	day := func(n int) time.Time { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n) }
	entry := func(doc, party, currency string, booked, cents int) string {
		sign := ""
		if cents < 0 {
			sign = "-"
		}
		d.left = append(d.left, []string{key("a"), doc, day(booked).Format("2006-01-02"), party, fmt.Sprintf("%s%d.%02d", sign, abs(cents)/100, abs(cents)%100), currency, one(d, []string{"8400", "1200", "4400"})})
		return d.left[len(d.left)-1][0]
	}
	line := func(party, ref, currency string, booked, cents int) string {
		party = strings.ToUpper(party)
		text := fmt.Sprintf(one(d, []string{"SEPA-GUTSCHRIFT %[1]s %[2]s", "%[1]s SVWZ+%[2]s EREF+NOTPROVIDED", "%[2]s %[1]s"}), party[:min(len(party), 14+d.IntN(14))], ref)
		in, out := fmt.Sprintf("%d,%02d", abs(cents)/100, abs(cents)%100), ""
		if cents < 0 {
			in, out = out, in
		}
		d.right = append(d.right, []string{key("b"), day(booked).Format("02.01.06"), text, out, in, currency})
		return d.right[len(d.right)-1][0]
	}
	match := func(l, r string) { d.truth = append(d.truth, []string{l, r}) }
	for len(d.left) < 700 {
		party, doc, booked, cents := one(d, parties), newDoc(), d.IntN(330), 1500+int(d.ExpFloat64()*90_000)
		currency := one(d, []string{"EUR", "EUR", "EUR", "CHF"})
		paid := booked + d.IntN(25)
		if d.often(20) {
			cents = -cents
		}
		ref := one(d, []string{doc, strings.TrimSuffix(doc, "-25"), "Rechnung " + doc, "RG-NR " + doc[2:]})
		switch n := d.IntN(100); {
		case n < 62:
			match(entry(doc, party, currency, booked, cents), line(party, ref, currency, paid, cents))
		case n < 70: // no reference
			match(entry(doc, party, currency, booked, cents), line(party, "DANKE", currency, paid, cents))
		case n < 75: // a fee was kept
			match(entry(doc, party, currency, booked, cents), line(party, ref, currency, paid, cents-50-d.IntN(900)))
		case n < 84: // several are paid at once
			var keys []string
			first, last, total := doc, doc, 0
			for range 2 + d.IntN(4) {
				c := 1500 + int(d.ExpFloat64()*60_000)
				keys, total, last = append(keys, entry(doc, party, currency, booked-d.IntN(8), c)), total+c, doc
				doc = newDoc()
			}
			right := line(party, one(d, []string{"SAMMEL " + first + " BIS " + last, "SAMMELZAHLUNG"}), currency, paid, total)
			for _, k := range keys {
				match(k, right)
			}
		case n < 88: // booked and reversed
			entry(doc, party, currency, booked, cents)
			entry(doc, party, currency, booked+2, -cents)
		case n < 90: // entered twice, in two accounts perhaps
			entry(doc, party, currency, booked, cents)
			entry(doc, party, currency, booked, cents)
			line(party, ref, currency, paid, cents)
		case n < 95:
			entry(doc, party, currency, booked, cents)
		default:
			line(party, ref, currency, paid, cents)
		}
	}
	return d
}
