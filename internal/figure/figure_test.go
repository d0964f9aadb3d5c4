package figure

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"interlock/internal/racetest"
)

// A given is an answer with its evidence, and what each of its figures must rest on.
type given struct {
	Name      string
	Kind      string // true, rounded, derived, unit, invented, coincidence, question, document, form, sign, size, stated
	Answer    string
	Question  string
	Statement string
	Document  string
	Columns   []string
	Rows      [][]any
	Total     int64
	Columns2  []string
	Rows2     [][]any
	Want      []string // "text: support", in order; a prefix of the formula may follow
	Against   []string // words of a direction, and names, that the data denies
}

func (g given) evidence() Evidence {
	e := Evidence{Questions: []string{g.Question}}
	if g.Statement != "" {
		e.AddStatement(g.Statement)
	}
	if g.Columns != nil {
		first := Table{ID: "call_1", Columns: g.Columns, Rows: g.Rows, Total: max(g.Total, int64(len(g.Rows)))}
		if g.Statement != "" {
			first.made = readStatement(g.Statement)
		}
		e.Tables = append(e.Tables, first)
	}
	if g.Columns2 != nil {
		e.Tables = append(e.Tables, Table{ID: "call_2", Columns: g.Columns2, Rows: g.Rows2})
	}
	if g.Document != "" {
		e.Documents = []Document{{ID: "doc_1", Text: g.Document}}
	}
	return e
}

func corpus(t *testing.T, name string) []given {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var all []given
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCorpus traces every figure of the answers in testdata, and counts by kind how many
// answers are as wanted, and how many figures are linked and alarmed that should be.
func TestCorpus(t *testing.T) {
	found := rates{}
	linked, right := map[string]int{}, map[string]int{}
	for _, g := range corpus(t, "answers.json") {
		t.Run(g.Name, func(t *testing.T) {
			var got []string
			for i, f := range traced(g.Answer, g.evidence()) {
				line := fmt.Sprintf("%s: %s", f.Text, f.Support)
				if i < len(g.Want) && strings.HasPrefix(line+" "+f.Formula, g.Want[i]) {
					line = g.Want[i]
				} else if f.Formula != "" {
					line += " " + f.Formula
				}
				got = append(got, line)
				if i < len(g.Want) {
					found.add(strings.Contains(g.Want[i], ": none") || strings.Contains(g.Want[i], ": stated"), f)
				}
				if g.Answer[f.Start:f.End] != f.Text {
					t.Errorf("%q does not stand at %d", f.Text, f.Start)
				}
			}
			linked[g.Kind]++
			if strings.Join(got, "; ") == strings.Join(g.Want, "; ") {
				right[g.Kind]++
			} else {
				t.Errorf("%s\ngot  %s\nwant %s", g.Answer, strings.Join(got, "; "), strings.Join(g.Want, "; "))
			}
		})
	}
	for kind, n := range linked {
		t.Logf("%-12s %d of %d answers as wanted", kind, right[kind], n)
	}
	t.Log(found)
}

// rates count figures that have an origin, and figures that have none, by what was found.
type rates struct{ origin, linked, weak, alarmed, none, found, chance, doubted int }

func (r *rates) add(none bool, f Figure) {
	switch {
	case none && (f.Unsupported() || f.Support == Contradicted):
		r.none, r.found = r.none+1, r.found+1
	case none:
		r.none++
	case f.Unsupported():
		r.origin, r.alarmed = r.origin+1, r.alarmed+1
	case f.Support == Weak:
		r.origin, r.weak = r.origin+1, r.weak+1
	default:
		r.origin, r.linked = r.origin+1, r.linked+1
	}
}

func (r rates) String() string {
	return fmt.Sprintf("of %d figures with an origin %d are linked, %d weak, %d alarms are false; of %d without one %d raise an alarm; of %d that only happen to fit %d are doubted", r.origin, r.linked, r.weak, r.alarmed, r.none, r.found, r.chance, r.doubted)
}

// TestBlindCorpus traces answers that were written without looking at how the code treats
// them, and holds three rates: figures with an origin that are linked, false alarms, and
// figures without an origin that raise one. On first sight, of blind.json 271 of 309 were
// linked, 21 weak, 17 alarms false, and 24 of 26 invented figures found; of blind2.json 51
// of 62 were linked, 1 weak, 10 alarms false, and 4 of 8 found; of blind3.json 102 of 131
// were linked, 15 weak, 12 alarms false, 2 not seen, and 7 of 11 found; of the first 187 of
// blind4.json 271 of 298 were linked, 15 weak, 13 alarms false, 2 not seen, 35 of 39 invented
// ones found, but none of 32 values of another row and 1 of 6 in a wrong unit; of its last
// 64, which were written after the mends of those, 72 of 77 were linked, 1 weak, 5 alarms
// false, and 14 of 15, 8 of 10 and 2 of 2 found. Then the code was improved with them. A
// direction or a name that the data denies, such as "rose from 5 to 4", is held exactly:
// each of them is found, and no other.
func TestBlindCorpus(t *testing.T) {
	racetest.Skip(t, "judges a corpus")
	for _, file := range []string{"blind.json", "blind2.json", "blind3.json", "blind4.json"} {
		found := rates{}
		for _, g := range corpus(t, file) {
			found.measure(t, g)
		}
		t.Log(file, found)
		if found.linked*100 < found.origin*97 || found.alarmed*100 > found.origin*2 || found.found*100 < found.none*90 || found.doubted*2 < found.chance {
			t.Errorf("%s: the rates got worse: %v", file, found)
		}
	}
}

// measure counts the figures of one answer.
func (r *rates) measure(t *testing.T, g given) {
	t.Helper()
	all := traced(g.Answer, g.evidence())
	var against []string
	for _, f := range all {
		if f.Denies != "" {
			against = append(against, f.Denies)
		}
	}
	if !slices.Equal(against, g.Against) {
		t.Errorf("%s: the words %q were found to be against the data, want %q: %s", g.Name, against, g.Against, g.Answer)
	}
	for _, want := range g.Want {
		i := strings.LastIndex(want, ": ")
		text, support := want[:i], Support(want[i+2:])
		n := slices.IndexFunc(all, func(f Figure) bool { return f.Text == text })
		if n < 0 {
			t.Errorf("%s: %q was not seen as a figure", g.Name, text)
			continue
		}
		if support == Weak {
			r.chance++
			if all[n].Support == Weak || all[n].Support == Contradicted || all[n].Unsupported() {
				r.doubted++
			}
			all = all[n+1:]
			continue
		}
		for _, f := range all[:n] {
			r.addOther(f)
		}
		r.add(support == None || support == Stated || support == Contradicted, all[n])
		if all[n].Support != support && all[n].Support != Contradicted {
			t.Logf("%s: %q is %s, want %s", g.Name, text, all[n].Support, support)
		}
		all = all[n+1:]
	}
	for _, f := range all {
		r.addOther(f)
	}
}

// addOther counts a figure of which nothing is said, such as the number of an item: it must
// not raise an alarm.
func (r *rates) addOther(f Figure) {
	if f.Unsupported() {
		r.alarmed++
	}
}

// traced is what Trace finds.
func traced(answer string, e Evidence) []Figure {
	all, _ := Trace(answer, e)
	return all
}
