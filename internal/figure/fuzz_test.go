package figure

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// FuzzTrace holds for any text that figures stand where they say, in order and apart,
// and that the same evidence gives the same origins.
func FuzzTrace(f *testing.F) {
	for _, s := range []string{
		"There are 412 orders, 1.234,5 % of all.", "−5 −−5 1'2'3 0,0", "```5", "2024-13-99", "9" + "999999999999999999999999999999", "twice half third two thirds", "1\u202f", "№5 ５ ²",
		"about $1.2M — 3rd, 4x, 5 m", "1. one\n2) two", "5.,5", "31.12.2024 and 12/31/2024 and May 2024", "K 1k 1kk", "%5%", "`5`", "](5)",
	} {
		f.Add(s, 412.5)
	}
	f.Fuzz(func(t *testing.T, text string, value float64) {
		e := Evidence{Tables: []Table{{ID: "a", Columns: []string{"n_seconds", "name"}, Rows: [][]any{{value, text}, {nil, "x"}}}}, Questions: []string{text}}
		all := traced(text, e)
		end := 0
		for _, g := range all {
			if g.Start < end || g.End <= g.Start || g.End > len(text) || text[g.Start:g.End] != g.Text {
				t.Fatalf("a figure at %d to %d after %d of %q", g.Start, g.End, end, text)
			}
			end = g.End
		}
		if again := traced(text, e); !reflect.DeepEqual(all, again) {
			t.Fatalf("another time %v, before %v", again, all)
		}
	})
}

// TestWrittenCells: whatever a cell holds, written out in English or German with some
// rounding and with its row's name, is linked to it; off by one digit it is not.
func TestWrittenCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		value := float64(rng.IntN(1_000_000_000)) / 100
		table := Table{ID: "call", Columns: []string{"branch", "turnover"}, Rows: [][]any{{"Kiel", value}, {"Bonn", 1.0}}}
		places := rng.IntN(3)
		english := grouped(fmt.Sprintf("%.*f", places, value), ",", ".")
		german := grouped(fmt.Sprintf("%.*f", places, value), ".", ",")
		for _, text := range []string{"Kiel had a turnover of " + english + ".", "Kiel hatte einen Umsatz von " + german + " Euro."} {
			all := traced(text, Evidence{Tables: []Table{table}})
			if len(all) != 1 || all[0].Support != FromCell || all[0].Cells[0].Row != 0 {
				t.Fatalf("%v of %q: %+v", value, text, all)
			}
		}
		wrong := fmt.Sprintf("Kiel had a turnover of %.2f.", value*1.37+11.13)
		if all := traced(wrong, Evidence{Tables: []Table{table}}); len(all) != 1 || all[0].Support != None {
			t.Fatalf("%v of %q: %+v", value, wrong, all)
		}
	}
}

// grouped writes the digits of a plain decimal with separators.
func grouped(plain, thousands, point string) string {
	whole, fraction := plain, ""
	for i := range plain {
		if plain[i] == '.' {
			whole, fraction = plain[:i], point+plain[i+1:]
		}
	}
	out := ""
	for i, r := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			out += thousands
		}
		out += string(r)
	}
	return out + fraction
}
