package nlq_test

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"interlock/internal/dialect"
	"interlock/internal/eval"
	"interlock/internal/nlq"
)

// today is the day that relative periods of the tests are measured from.
var today = time.Date(2024, 4, 15, 9, 0, 0, 0, time.UTC)

// small makes one of the small databases of the tests.
func small(t testing.TB, name string) *base {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".sqlite")
	script, err := os.ReadFile(filepath.Join("testdata", name+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(script)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, path)
}

// TestAmbiguity asks questions that can be read in two ways, and the same said
// clearly: the first must be asked back with readings that differ, the second not.
func TestAmbiguity(t *testing.T) {
	raw, err := os.ReadFile("testdata/ambiguity.json")
	if err != nil {
		t.Fatal(err)
	}
	var pairs []struct{ Schema, Ambiguous, Clear string }
	if err := json.Unmarshal(raw, &pairs); err != nil {
		t.Fatal(err)
	}
	bases := map[string]*base{"shop": small(t, "shop"), "league": small(t, "league")}
	asked, unasked, answered := 0, 0, 0
	for _, p := range pairs {
		b := bases[p.Schema]
		a := nlq.Plan(nlq.Question{Text: p.Ambiguous, Index: b.index, Now: today})
		if differ(t, b, a) {
			asked++
		} else {
			t.Logf("not asked: %s (%q, declined %q)", p.Ambiguous, a.SQL, a.Declined)
		}
		c := nlq.Plan(nlq.Question{Text: p.Clear, Index: b.index, Now: today})
		if len(c.Questions) > 0 && len(c.Questions[0].Alternatives) > 1 {
			t.Logf("asked needlessly: %s (%+v)", p.Clear, c.Questions)
		} else {
			unasked++
		}
		if c.Sure() {
			answered++
		} else {
			t.Logf("not answered: %s (%.2f %q, declined %q)", p.Clear, c.Confidence, c.SQL, c.Declined)
		}
	}
	n := len(pairs)
	t.Logf("of %d questions with two readings %d asked back; of as many clear ones %d not asked back, %d answered", n, asked, unasked, answered)
	if asked*100 < n*85 || unasked*100 < n*90 || answered*100 < n*80 {
		t.Errorf("too few asked (%d of %d), or clear ones not left alone (%d) or answered (%d)", asked, n, unasked, answered)
	}
}

// TestChoices chooses every reading that is offered of an ambiguous question, by its number and by
// its words: the plan is the one that was offered, without another question.
func TestChoices(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/ambiguity.json")
	if err != nil {
		t.Fatal(err)
	}
	var asked []struct{ Schema, Ambiguous string }
	if err := json.Unmarshal(raw, &asked); err != nil {
		t.Fatal(err)
	}
	indexes := map[string]*nlq.Index{"shop": small(t, "shop").index, "league": small(t, "league").index, "store": storeIndex()}
	for _, text := range []string{"sales per month", "sales in May 2025", "sales per country in 2024", "total quantity in May 2025", "total quantity per brand in May 2025"} {
		asked = append(asked, struct{ Schema, Ambiguous string }{"store", text})
	}
	chosen := 0
	for _, p := range asked {
		q := nlq.Question{Text: p.Ambiguous, Index: indexes[p.Schema], Now: today}
		a := nlq.Plan(q)
		if len(a.Questions) == 0 {
			continue
		}
		for i, alt := range a.Questions[0].Alternatives {
			for _, said := range []string{strconv.Itoa(i + 1), alt.Text, strings.ToUpper(alt.Text)} {
				q.Clarification = said
				if got := nlq.Plan(q); alt.Plan == nil || got.SQL != alt.SQL || len(got.Questions) > 0 {
					t.Errorf("%s: %q leads to\n%s (declined %q, asked %v)\nbut was offered as %q:\n%s", p.Ambiguous, said, got.SQL, got.Declined, got.Questions, alt.Text, alt.SQL)
				}
				chosen++
			}
		}
	}
	if chosen < 3*2*len(asked)*8/10 {
		t.Errorf("only %d choices of %d questions", chosen, len(asked))
	}
}

// differ says whether the answer asks back with at least two alternatives of which
// two give different results.
func differ(t *testing.T, b *base, a nlq.Answer) bool {
	t.Helper()
	if len(a.Questions) == 0 || len(a.Questions[0].Alternatives) < 2 {
		return false
	}
	var first eval.Result
	for i, alt := range a.Questions[0].Alternatives {
		statement, err := alt.Plan.SQLFor(dialect.SQLite, b.schema)
		if err != nil {
			t.Fatalf("%s: %v", alt.Text, err)
		}
		r := b.query(t, statement)
		if i == 0 {
			first = r
		} else if !eval.Same(first, r, false) {
			return true
		}
	}
	return false
}
