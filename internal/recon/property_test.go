package recon

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// result is everything that a run leaves, as text.
func (s *memorySpace) result(tb testing.TB) string {
	tb.Helper()
	out := ""
	for _, t := range []string{MatchTable, UnmatchedTable, ConflictTable} {
		res, err := s.Query(tb.Context(), "SELECT * FROM "+t+" ORDER BY ALL")
		if err != nil {
			tb.Fatal(err)
		}
		out += string(res.Rows) + "\n"
	}
	return out
}

// The same rows in another order, in another workspace, give the same bytes: recipe,
// matches, evidence, reasons and conflicts.
func TestSameInputSameBytes(t *testing.T) {
	b := newBank(300, 5)
	var recipes, results []string
	for range 2 {
		s := newSpace(t)
		b.load(t, s)
		in := Input{Left: Side{"l", "no"}, Right: Side{"r", "zeile"}, Labels: Labels{Confirmed: s.confirmed(t, 5, 1)}}
		recipe, _ := s.learnAndRun(t, in)
		recipes, results = append(recipes, string(recipe.Encode())), append(results, s.result(t))
		random := rand.New(rand.NewPCG(3, 3))
		random.Shuffle(len(b.ledger), func(i, j int) { b.ledger[i], b.ledger[j] = b.ledger[j], b.ledger[i] })
		random.Shuffle(len(b.statement), func(i, j int) { b.statement[i], b.statement[j] = b.statement[j], b.statement[i] })
	}
	if recipes[0] != recipes[1] {
		t.Error("the order of rows changes the recipe")
	}
	if results[0] != results[1] {
		t.Error("the order of rows changes the result")
	}
}

func TestSumsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		pool := make([]part, n)
		for i := range pool {
			pool[i] = part{int64(i), rapid.Int64Range(1, 1_000_000).Draw(t, "amount"), rapid.Int64Range(0, 3).Draw(t, "link")}
		}
		total := rapid.Int64Range(2, 3_000_000).Draw(t, "total")
		if rapid.Bool().Draw(t, "plant") {
			total = pool[0].amount + pool[1].amount
		}
		found, several := findSum(total, 0, pool, 6)
		if found != nil && several {
			t.Fatal("found and several")
		}
		sum := int64(0)
		for _, p := range found {
			sum += p.amount
		}
		if found != nil && (sum != total || len(found) < 2 || len(found) > 6) {
			t.Fatalf("%v does not add up to %d", found, total)
		}
		shuffled := slices.Clone(pool)
		slices.Reverse(shuffled)
		if again, _ := findSum(total, 0, shuffled, 6); fmt.Sprint(again) != fmt.Sprint(found) {
			t.Fatalf("%v, and of the same parts in another order %v", found, again)
		}
	})
}

func TestFindSum(t *testing.T) {
	for _, c := range []struct {
		name    string
		total   int64
		parts   []part
		want    int
		several bool
	}{
		{"two parts", 300_000, []part{{1, 100_000, 9}, {2, 200_000, 9}, {3, 70_707, 1}}, 2, false},
		{"two ways", 300_000, []part{{1, 100_000, 9}, {2, 200_000, 9}, {3, 150_000, 9}, {4, 150_000, 9}}, 0, true},
		{"the better linked way", 300_000, []part{{1, 100_000, 9}, {2, 200_000, 9}, {3, 150_000, 2}, {4, 150_000, 2}}, 2, false},
		{"none", 300_001, []part{{1, 100_000, 9}, {2, 200_000, 9}}, 0, false},
		{"negative", -300_000, []part{{1, -100_000, 9}, {2, -200_000, 9}}, 2, false},
		{"chance", 60, []part{{1, 10, 1}, {2, 20, 1}, {3, 30, 1}, {4, 40, 1}, {5, 50, 1}}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, several := findSum(c.total, 0, c.parts, 6)
			if len(found) != c.want || several != c.several {
				t.Errorf("found %v, several %v", found, several)
			}
		})
	}
}

func TestIsotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-10, 10), 1, 20).Draw(t, "values")
		mass := rapid.SliceOfN(rapid.Float64Range(0.1, 5), len(values), len(values)).Draw(t, "mass")
		out := isotonic(values, mass)
		before, after := 0.0, 0.0
		for i := range values {
			before += values[i] * mass[i]
			after += out[i] * mass[i]
		}
		if !slices.IsSorted(out) || len(out) != len(values) || before-after > 1e-6 || after-before > 1e-6 {
			t.Fatalf("%v of %v", out, values)
		}
	})
}

func TestContradictions(t *testing.T) {
	l := Labels{
		Confirmed: []Pair{{"a", "1"}, {"b", "2"}, {"a", "3"}},
		Rejected:  []Pair{{"b", "2"}, {"c", "4"}},
	}
	problems := l.Contradictions()
	if len(problems) != 2 || problems[0].Pair != (Pair{"a", "3"}) || problems[1].Pair != (Pair{"b", "2"}) {
		t.Errorf("%v", problems)
	}
}

func TestDrift(t *testing.T) {
	before := &Outcome{LeftRows: 100, UnmatchedLeft: 10, ByRule: map[string]int64{"r1": 60, "r2": 20, "scored": 10}}
	if d := CompareRuns(before, before); len(d.Findings) != 0 {
		t.Errorf("no change: %+v", d)
	}
	before.Agreements = []Agreement{{"both amount are equal", 10}}
	now := &Outcome{
		LeftRows: 100, UnmatchedLeft: 40, Ambiguous: 5, ByRule: map[string]int64{"r1": 20, "scored": 40},
		Agreements: []Agreement{{"both amount are equal", 30}, {"both amount differ by a cent", 8}, {"both amount differ by up to 1 %", 2}},
	}
	d := CompareRuns(before, now)
	if !slices.Equal(d.New, []string{"both amount differ by a cent"}) {
		t.Errorf("new: %q", d.New)
	}
	if len(d.Findings) != 5 || !slices.Equal(d.Silent, []string{"r2"}) || !slices.Equal(d.Falling, []string{"r1"}) {
		t.Errorf("%+v", d)
	}
}
