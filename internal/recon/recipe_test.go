package recon

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/fault"
)

var update = flag.Bool("update", false, "write the golden files anew")

// smallTables are invoices and payments of which the first five belong together.
func (s *memorySpace) smallTables(tb testing.TB) Input {
	tb.Helper()
	b := newBank(150, 77)
	b.load(tb, s)
	return Input{Left: Side{"l", "no"}, Right: Side{"r", "zeile"}, Labels: Labels{Confirmed: s.confirmed(tb, 5, 1)}}
}

func TestRecipeGolden(t *testing.T) {
	s := newSpace(t)
	recipe, _ := s.learnAndRun(t, s.smallTables(t))
	path := filepath.Join("testdata", "recipe.json")
	if *update {
		if err := os.WriteFile(path, recipe.Encode(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := recipe.Encode(); string(got) != string(want) {
		t.Errorf("the learned recipe is not testdata/recipe.json (-update writes it):\n%s", got)
	}
	again, err := ParseRecipe(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(again.Encode()) != string(want) {
		t.Error("a recipe that is read and written changes")
	}
}

// TestRecipeProblems holds that every problem is told at once, with its place.
func TestRecipeProblems(t *testing.T) {
	good, err := os.ReadFile(filepath.Join("testdata", "recipe.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change []string // old, new …
		want   []string // pointers
	}{
		{"schema", []string{`"version": 1`, `"version": 2`, `"cardinality": "many_to_many"`, `"cardinality": "some"`}, []string{"/cardinality", "/version"}},
		{"references", []string{`"amount": "c`, `"amount": "x`, `"id": "c1"`, `"id": "d1"`}, []string{"/groups/amount"}},
		{"both", []string{`"version": 1`, `"version": 2`, `"amount": "c`, `"amount": "x`}, []string{"/groups/amount", "/version"}},
		{"columns of a number", []string{`"as": "number"`, `"as": "number", "unknown": 1`}, []string{"/comparisons/"}},
		{"levels", []string{`"transposed":`, `"reversed":`}, []string{"/scoring/weights/"}},
		{"formats", []string{`"1.234,56"`, `"1_234"`}, []string{"/comparisons/"}},
		{"no JSON", []string{`"version": 1`, `"version": `}, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseRecipe([]byte(strings.NewReplacer(c.change...).Replace(string(good))))
			if !fault.Is(err, fault.PlanInvalid) {
				t.Fatalf("got %v", err)
			}
			problems, _ := fault.From(err).Details.([]Problem)
			for _, want := range c.want {
				found := false
				for _, p := range problems {
					found = found || strings.HasPrefix(p.Pointer, want)
				}
				if !found {
					t.Errorf("no problem at %s in %v", want, problems)
				}
			}
		})
	}
	recipe, err := ParseRecipe(good)
	if err != nil {
		t.Fatal(err)
	}
	if problems := recipe.Check([]string{"no"}, []string{"zeile"}); len(problems) < len(recipe.Comparisons) {
		t.Errorf("missing columns: %v", problems)
	}
}

func FuzzParseRecipe(f *testing.F) {
	good, err := os.ReadFile(filepath.Join("testdata", "recipe.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"version":1,"left":{},"right":{},"cardinality":"one_to_one","comparisons":[{"id":"a","left":["x"],"right":["y"],"as":"text"}],"candidates":[],"rules":[{"id":"r","when":[{"compare":"a","at_least":"equal"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		recipe, err := ParseRecipe(data)
		if err != nil {
			if _, ok := fault.From(err).Details.([]Problem); !ok && !fault.Is(err, fault.TooLarge) {
				t.Fatalf("a failure without problems: %v", err)
			}
			return
		}
		again, err := ParseRecipe(recipe.Encode())
		if err != nil {
			t.Fatalf("a recipe that was read cannot be read again: %v", err)
		}
		if string(again.Encode()) != string(recipe.Encode()) {
			t.Fatal("a recipe that is read and written changes")
		}
	})
}
