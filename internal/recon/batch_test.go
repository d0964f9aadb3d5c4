package recon

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// A till makes the sales of a shop and its bank account. Card sales arrive as one entry
// for a week, cash of a day is brought to the bank as one, transfers come one by one.
type till struct {
	*rand.Rand
	sales, entries [][]string
	truth          [][]string
	names          int
}

var tillNames = []string{"Panadería Sol", "Café Luna", "Librería Mar", "Taller Norte", "Óptica Río", "Floristería Alba", "Ferretería Roca", "Mercería Hilo"}

// newTill draws n sales; of a card sale the bank keeps something.
func newTill(n int, seed uint64, kept func(cents int) int) *till {
	b := &till{Rand: rand.New(rand.NewPCG(seed, 11))}
	sums, members := map[string]int{}, map[string][]string{}
	days := map[string]time.Time{}
	var order []string
	for i := range n {
		day := time.Date(2025, 3, 3, 0, 0, 0, 0, time.UTC).AddDate(0, 0, b.IntN(120))
		cents := 300 + b.IntN(90_000)
		key, name := b.name("V"), pick(&bank{Rand: b.Rand}, tillNames)
		way := []string{"tarjeta", "efectivo", "transferencia"}[b.IntN(3)]
		b.sales = append(b.sales, []string{key, day.Format("02/01/2006"), name, way, fmt.Sprintf("%d,%02d", cents/100, cents%100)})
		if i%50 == 0 {
			continue // it never arrived
		}
		batch, booked := key, day.AddDate(0, 0, b.IntN(3))
		switch way {
		case "tarjeta":
			cents -= kept(cents)
			monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
			batch, booked = "liquidación "+monday.Format("2006-01-02"), monday.AddDate(0, 0, 9)
		case "efectivo":
			batch, booked = "ingreso "+day.Format("2006-01-02"), day.AddDate(0, 0, 1)
		}
		if members[batch] == nil {
			order = append(order, batch)
		}
		sums[batch] += cents
		members[batch] = append(members[batch], key)
		days[batch] = booked
	}
	for _, batch := range order {
		entry, text := b.name("M"), batch
		if batch[0] == 'V' {
			text = "TRANSF " + pick(&bank{Rand: b.Rand}, tillNames)
		}
		b.entries = append(b.entries, []string{entry, days[batch].Format("2006-01-02"), text, fmt.Sprintf("%d.%02d", sums[batch]/100, sums[batch]%100)})
		for _, key := range members[batch] {
			b.truth = append(b.truth, []string{key, entry})
		}
	}
	for range n / 20 { // what has nothing to do with sales
		b.entries = append(b.entries, []string{b.name("M"), fmt.Sprintf("2025-05-%02d", 1+b.IntN(28)), "RECIBO LUZ", fmt.Sprintf("-%d.%02d", 20+b.IntN(300), b.IntN(100))})
	}
	b.Shuffle(len(b.sales), func(i, j int) { b.sales[i], b.sales[j] = b.sales[j], b.sales[i] })
	b.Shuffle(len(b.entries), func(i, j int) { b.entries[i], b.entries[j] = b.entries[j], b.entries[i] })
	return b
}

// name gives a row a key that says nothing.
func (b *till) name(prefix string) string {
	b.names++
	return fmt.Sprintf("%s%04d%03d", prefix, b.names, b.IntN(1000))
}

func (b *till) load(tb testing.TB, s *memorySpace, way string) {
	tb.Helper()
	s.table(tb, "l", []string{"venta", "fecha", "cliente", way, "importe"}, b.sales)
	s.table(tb, "r", []string{"apunte", "valor", "concepto", "abono"}, b.entries)
	s.table(tb, "truth", []string{"l", "r"}, b.truth)
}

// Rows that are booked together are found without any label, whichever side has them; a
// batch of which a row was never booked is matched without it.
func TestBatches(t *testing.T) {
	t.Parallel()
	b := newTill(700, 5, func(int) int { return 0 })
	s := newSpace(t)
	b.load(t, s, "medio de pago")
	in := Input{Left: Side{"l", "venta"}, Right: Side{"r", "apunte"}}
	recipe, outcome := s.learnAndRun(t, in)
	q := s.quality(t)
	t.Logf("precision %.4f, recall %.4f: %+v", q.precision(), q.recall(), outcome)
	if q.precision() < 0.98 || q.recall() < 0.95 {
		t.Errorf("precision %.4f and recall %.4f", q.precision(), q.recall())
	}
	s.checkResult(t, outcome)
	want := map[string]bool{
		"All rows of the left side whose medio de pago is tarjeta of one week add up to one row of the right side.": true,
		"All rows of the left side whose medio de pago is efectivo of one day add up to one row of the right side.": true,
	}
	for _, batch := range recipe.Groups.Batches {
		if !want[batch.Sentence] {
			t.Errorf("unexpected: %s", batch.Sentence)
		}
		delete(want, batch.Sentence)
	}
	for sentence := range want {
		t.Errorf("not learned: %s", sentence)
	}

	// A person rejects a pair of a batch: the batch is none.
	pair, err := selectOne[Pair](t.Context(), s, "SELECT left_key, right_key FROM recon_matches WHERE group_id IS NOT NULL ORDER BY match_id LIMIT 1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(Config{Workspace: s})
	if err != nil {
		t.Fatal(err)
	}
	in.Labels.Rejected = []Pair{pair}
	if _, err := r.Run(t.Context(), in, recipe); err != nil {
		t.Fatal(err)
	}
	if n, err := r.count(t.Context(), fmt.Sprintf("SELECT count(*) FROM recon_matches WHERE right_key = %s AND group_id IS NOT NULL", text(pair.Right))); err != nil || n != 0 {
		t.Errorf("%d rows of the rejected batch are matched: %v", n, err)
	}

	// The other way round the right side has the rows.
	turned, _ := s.learnAndRun(t, Input{Left: Side{"r", "apunte"}, Right: Side{"l", "venta"}})
	if len(turned.Groups.Batches) != 2 || turned.Groups.Batches[0].Many != sideRight {
		t.Errorf("turned round: %+v", turned.Groups.Batches)
	}
}

// A bank that pays card sales of a week out keeps a share and something for each: the fee is
// learned from the amounts, told, and shown beside each match.
func TestPayoutsLessFees(t *testing.T) {
	t.Parallel()
	for what, x := range map[string]struct {
		kept func(cents int) int
		fee  Fee
		says string
	}{
		"a share and something for each": {func(cents int) int { return (cents*14+500)/1000 + 25 }, Fee{0.014, 0.25}, ", less a fee of 1.4 % and 0.25 for each row, add up"},
		"a share":                        {func(cents int) int { return (cents*175 + 5000) / 10_000 }, Fee{0.0175, 0}, ", less a fee of 1.75 %, add up"},
	} {
		b := newTill(500, 6, x.kept)
		s := newSpace(t)
		b.load(t, s, "medio de pago")
		in := Input{Left: Side{"l", "venta"}, Right: Side{"r", "apunte"}}
		recipe, outcome := s.learnAndRun(t, in)
		q := s.quality(t)
		t.Logf("%s: precision %.4f, recall %.4f: %+v", what, q.precision(), q.recall(), outcome)
		if q.precision() < 0.98 || q.recall() < 0.93 {
			t.Errorf("%s: precision %.4f and recall %.4f", what, q.precision(), q.recall())
		}
		var learned []string
		for _, batch := range recipe.Groups.Batches {
			if batch.Fee != nil {
				learned = append(learned, batch.Sentence)
				if *batch.Fee != x.fee || !strings.Contains(batch.Sentence, x.says) {
					t.Errorf("%s: %+v, %s", what, *batch.Fee, batch.Sentence)
				}
			}
		}
		if len(learned) != 1 {
			t.Errorf("%s: learned %q", what, learned)
		}
		if again, err := ParseRecipe(recipe.Encode()); err != nil || string(again.Encode()) != string(recipe.Encode()) {
			t.Errorf("%s: the recipe cannot be read again: %v", what, err)
		}
		r, err := New(Config{Workspace: s})
		if err != nil {
			t.Fatal(err)
		}
		n, err := r.count(t.Context(), fmt.Sprintf("SELECT count(*) FROM (SELECT rule, %s AS fee FROM %s) WHERE fee > 0 AND rule LIKE 'b%%'", recipe.feeSQL(), MatchTable))
		if err != nil || n < 100 {
			t.Errorf("%s: %d matches with a fee: %v", what, n, err)
		}
	}
}
