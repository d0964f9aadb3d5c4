package recon

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"interlock/internal/racetest"
)

// A drawn is two tables whose true pairs are known, drawn by a seed. Their keys say nothing.
type drawn struct {
	*rand.Rand
	left, right [][]string
	truth       [][]string
}

func newDrawn(seed uint64) *drawn { return &drawn{Rand: rand.New(rand.NewPCG(seed, 11))} }

func one[T any](d *drawn, list []T) T { return list[d.IntN(len(list))] }

// often is true in so many of a hundred cases.
func (d *drawn) often(percent int) bool { return d.IntN(100) < percent }

// add books a row on each side; a side that is nil does not have it.
func (d *drawn) add(left, right []string) {
	l, r := fmt.Sprintf("a%07d", d.IntN(10_000_000)), fmt.Sprintf("b%07d", d.IntN(10_000_000))
	if left != nil {
		d.left = append(d.left, append([]string{l}, left...))
	}
	if right != nil {
		d.right = append(d.right, append([]string{r}, right...))
	}
	if left != nil && right != nil {
		d.truth = append(d.truth, []string{l, r})
	}
}

// slip swaps two neighbouring letters, drops one or doubles one.
func (d *drawn) slip(s string) string {
	if len(s) < 3 {
		return s
	}
	i := 1 + d.IntN(len(s)-2)
	switch d.IntN(3) {
	case 0:
		return s[:i] + s[i+1:i+2] + s[i:i+1] + s[i+2:]
	case 1:
		return s[:i] + s[i+1:]
	}
	return s[:i] + s[i:i+1] + s[i:]
}

func shuffled(d *drawn, words []string) string {
	words = append([]string{}, words...)
	d.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return strings.Join(words, " ")
}

// drawProducts lists the goods of two shops: free text for names, prices that differ.
func drawProducts(seed uint64) *drawn {
	d := newDrawn(seed)
	brands := strings.Fields("Sonara Kyotek Halden Briva Lumix Orsted Pentar Velox Nordan Zephyr Quantum Tessel")
	things := strings.Fields("Camera Lens Headphones Speaker Printer Monitor Keyboard Router Charger Microphone Projector Scanner Tripod Drive")
	looks := strings.Fields("black white silver blue red graphite")
	traits := strings.Fields("wireless compact portable digital professional ultra slim bluetooth dual stereo zoom rechargeable")
	for range 500 {
		brand, thing := one(d, brands), one(d, things)
		model := fmt.Sprintf("%c%c-%d", 'A'+d.IntN(26), 'A'+d.IntN(26), 100+d.IntN(900))
		cents := 900 + int(d.ExpFloat64()*25_000)
		trait := []string{one(d, traits), one(d, traits)}
		variants := 1
		if d.often(15) { // the same thing in two colours, with two model numbers
			variants = 2
		}
		for v := range variants {
			look := looks[(d.IntN(3)+3*v)%len(looks)]
			if v > 0 {
				model += string('A' + rune(d.IntN(4)))
			}
			left := []string{fmt.Sprintf("%s %s %s %s", brand, model, strings.Join(trait, " "), thing), brand, fmt.Sprintf("%d.%02d", cents/100, cents%100)}
			words := []string{thing, trait[0], look}
			if d.often(70) {
				words = append(words, strings.ReplaceAll(model, "-", one(d, []string{"", "-", " "})))
			} else {
				words = append(words, trait[1])
			}
			if d.often(85) {
				words = append(words, strings.ToUpper(brand))
			}
			asked := cents
			if d.often(60) {
				asked = cents * (90 + d.IntN(20)) / 100
			}
			price := fmt.Sprintf("%d,%02d", asked/100, asked%100)
			if d.often(10) {
				price = ""
			}
			right := []string{shuffled(d, words), price, one(d, []string{"in stock", "2 days", "sold out"})}
			switch n := d.IntN(100); {
			case n < 20:
				d.add(left, nil)
			case n < 45:
				d.add(nil, right)
			default:
				d.add(left, right)
			}
		}
	}
	return d
}

// drawPeople lists the members of households twice: dates with day and month swapped,
// nicknames, slips and moves.
func drawPeople(seed uint64) *drawn {
	d := newDrawn(seed)
	given := strings.Fields("Anna Robert Katharina William Thomas Elisabeth Johann Maria Peter Susanne Michael Christine Andreas Barbara Stefan Monika Klaus Ursula Daniel Laura Felix Nina Oskar Paula Ruth Simon Tina Viktor")
	short := map[string]string{"Robert": "Bob", "Katharina": "Kathi", "William": "Bill", "Elisabeth": "Lisa", "Johann": "Hans", "Michael": "Mike", "Susanne": "Susi"}
	family := strings.Fields("Maier Huber Schmidt Wagner Bauer Gruber Steiner Moser Berger Fuchs Eder Fischer Lang Winkler Weber Schwarz Reiter Brunner Wimmer Egger")
	streets := strings.Fields("Lindenweg Hauptstrasse Bahnhofstrasse Kirchgasse Schulweg Ringstrasse Gartengasse Feldweg Seeuferweg Bergstrasse")
	towns := strings.Fields("Linz Graz Wels Steyr Villach Bregenz Leoben Krems")
	for range 200 {
		name, street, town := one(d, family), fmt.Sprintf("%s %d", one(d, streets), 1+d.IntN(80)), one(d, towns)
		for range 1 + d.IntN(3) {
			first := one(d, given)
			born := time.Date(1940+d.IntN(70), time.Month(1+d.IntN(12)), 1+d.IntN(28), 0, 0, 0, 0, time.UTC)
			phone := fmt.Sprintf("0%d %06d", 650+d.IntN(40), d.IntN(1_000_000))
			left := []string{first, name, born.Format("2006-01-02"), street, town, phone}
			other, last, where, day := first, name, street, born
			if s := short[first]; s != "" && d.often(30) {
				other = s
			}
			if d.often(12) {
				other = d.slip(other)
			}
			if d.often(12) {
				last = d.slip(last)
			}
			if born.Day() <= 12 && d.often(35) {
				day = time.Date(born.Year(), time.Month(born.Day()), int(born.Month()), 0, 0, 0, 0, time.UTC)
			}
			if d.often(10) {
				where = fmt.Sprintf("%s %d", one(d, streets), 1+d.IntN(80))
			}
			phone = strings.ReplaceAll(phone, " ", one(d, []string{"", "/", "-"}))
			if d.often(30) {
				phone = ""
			}
			written := day.Format("02.01.2006")
			if d.often(8) {
				written = ""
			}
			right := []string{last + ", " + other, written, where + ", " + town, phone}
			switch n := d.IntN(100); {
			case n < 20:
				d.add(left, nil)
			case n < 35:
				d.add(nil, right)
			default:
				d.add(left, right)
			}
		}
	}
	return d
}

// drawPayments lists invoices and payments that name only the end of a number, or none.
func drawPayments(seed uint64) *drawn {
	d := newDrawn(seed)
	words := strings.Fields("Alpen Donau Adler Krone Stern Post Sonnen Berg See Wald Mühl Ried Stein Eisen Silber Gold")
	kinds := strings.Fields("Bau Handel Transport Technik Gastro Druck Möbel Reisen")
	var parties []string
	for range 60 {
		parties = append(parties, one(d, words)+strings.ToLower(one(d, words))+" "+one(d, kinds)+" GmbH")
	}
	number := 4000
	for range 500 {
		number += 1 + d.IntN(4)
		party := one(d, parties)
		day := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, d.IntN(300))
		cents := 500 * (2 + int(d.ExpFloat64()*60)) // round amounts, which repeat
		left := []string{fmt.Sprintf("R%d/%06d", day.Year(), number), party, day.Format("02.01.2006"), fmt.Sprintf("%d,%02d", cents/100, cents%100)}
		memo := ""
		switch n := d.IntN(100); {
		case n < 55:
			memo = fmt.Sprintf(one(d, []string{"Rg %d", "Rechnung Nr. %d danke", "%d", "RE%d", "invoice no %d"}), number)
		case n < 75:
			memo = fmt.Sprintf("R%d/%06d", day.Year(), number)
		default:
			memo = one(d, []string{"Zahlung", "Ueberweisung", "lt. Rechnung", "Danke"})
		}
		payer := party
		if d.often(50) {
			payer = strings.ToUpper(strings.TrimSuffix(party, " GmbH"))
		}
		paid := day.AddDate(0, 0, 5+d.IntN(25))
		right := []string{paid.Format("2006-01-02"), fmt.Sprintf("%d.%02d", cents/100, cents%100), payer, memo}
		switch n := d.IntN(100); {
		case n < 10:
			d.add(left, nil)
		case n < 18:
			d.add(nil, right)
		default:
			d.add(left, right)
		}
	}
	return d
}

// TestOtherKinds holds the quality from five pairs on tables of other kinds than those
// that the comparisons were made with.
func TestOtherKinds(t *testing.T) {
	racetest.Skip(t, "measures F1")
	seeds, _ := strconv.Atoi(cmp.Or(os.Getenv("RECON_SEEDS"), "1"))
	for _, k := range []struct {
		name        string
		draw        func(uint64) *drawn
		left, right []string
		f1          float64
	}{
		{"products", drawProducts, []string{"no", "title", "maker", "price"}, []string{"ref", "article", "asked", "stock"}, 0.9},
		{"people", drawPeople, []string{"no", "given", "family", "born", "street", "town", "phone"}, []string{"id", "name", "birthday", "address", "contact"}, 0.96},
		{"ledger", drawLedger, []string{"no", "doc", "booked", "party", "amount", "currency", "account"}, []string{"line", "day", "text", "debit", "credit", "currency"}, 0.98},
		{"payments", drawPayments, []string{"no", "invoice", "customer", "issued", "total"}, []string{"line", "booked", "amount", "payer", "memo"}, 0.96},
	} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for seed := 1; seed <= seeds; seed++ {
				d := k.draw(uint64(seed))
				s := newSpace(t)
				s.table(t, "l", k.left, d.left)
				s.table(t, "r", k.right, d.right)
				s.table(t, "truth", []string{"l", "r"}, d.truth)
				in := Input{Left: Side{"l", k.left[0]}, Right: Side{"r", k.right[0]}, Labels: Labels{Confirmed: s.confirmed(t, 5, seed)}}
				recipe, outcome := s.learnAndRun(t, in)
				q := s.quality(t)
				t.Logf("seed %d: precision %.4f, recall %.4f, F1 %.4f of %d, %d, %d rows", seed, q.precision(), q.recall(), q.f1(), len(d.left), len(d.right), len(d.truth))
				if q.f1() < k.f1 {
					t.Errorf("seed %d: F1 %.4f, want at least %.2f: %s", seed, q.f1(), k.f1, recipe.Encode())
				}
				s.checkResult(t, outcome)
			}
		})
	}
}
