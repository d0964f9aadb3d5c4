package demo

// expectedMatches returns what a perfect reconciliation finds: which payment belongs to which
// invoice and with how much, which to which bank entry, and why the rest has none.
// pairs.csv is five of the pairs, as a person would confirm them to teach the rules.
func (s *ledger) expectedMatches() []*table {
	taught := &table{name: "pairs", file: "pairs.csv", format: "csv", columns: []column{{name: "invoice_id"}, {name: "payment_id"}}}
	teach := []string{exact, byText, byText, byAmount, withFee}
	pairs := &table{
		name: "invoices_payments", file: "invoices_payments.csv", format: "csv",
		columns: []column{{name: "invoice_id"}, {name: "payment_id"}, {name: "kind"}, {name: "allocated"}},
	}
	alone := &table{
		name: "unmatched", file: "unmatched.csv", format: "csv",
		columns: []column{{name: "side"}, {name: "id"}, {name: "reason"}},
	}
	banked := &table{
		name: "payments_bank", file: "payments_bank.csv", format: "csv",
		columns: []column{{name: "payment_id"}, {name: "entry_id"}},
	}
	for _, b := range s.bills {
		for _, p := range b.parts {
			pairs.add(b.id, p.payment.id, p.payment.kind, p.amount)
			if n := len(taught.rows); n < len(teach) && p.payment.kind == teach[n] {
				taught.add(b.id, p.payment.id)
			}
		}
		if len(b.parts) == 0 {
			alone.add("invoice", b.id, b.reason)
		}
	}
	for _, p := range s.paid {
		if len(p.bills) == 0 {
			alone.add("payment", p.id, p.kind)
		}
		if p.entry != nil {
			banked.add(p.id, p.entry.id)
		}
	}
	return []*table{pairs, taught, alone, banked}
}
