package recon

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// benchDir holds labelled tables, where they are at hand.
const benchDir = "../../../shared/bench/reconcile"

// A benchSet is two tables whose true pairs are known.
type benchSet struct {
	name        string
	left, right string // files
	sql         string // how to read a file into rows with the key "id"
	truth       string // SELECT of l and r
	f1          float64
	pairs       []int // numbers of confirmed pairs that are tried
}

var benchSets = []benchSet{
	{"papers", "dblp_acm/dblp.csv", "dblp_acm/acm.csv",
		`SELECT * FROM read_csv(%s, delim='%%', header=true, all_varchar=true, quote='"', ignore_errors=true, strict_mode=false)`,
		`SELECT D1 AS l, D2 AS r FROM read_csv(%s, delim='%%', header=true, all_varchar=true)`, 0.98, []int{3}},
	{"restaurants", "restaurants/fodors.csv", "restaurants/zagats.csv",
		`SELECT * FROM read_csv(%s, header=true, all_varchar=true)`,
		`SELECT fodors_id AS l, zagats_id AS r FROM read_csv(%s, header=true, all_varchar=true)`, 0.96, []int{3, 5}},
	{"people", "people/dataset4a.csv", "people/dataset4b.csv",
		`SELECT rec_id, trim(given_name) AS given_name, * EXCLUDE (rec_id, given_name) FROM read_csv(%s, header=true, all_varchar=true, skip=0, normalize_names=true)`, "", 0.995, []int{3}},
}

func (b benchSet) load(tb testing.TB, s *memorySpace) {
	tb.Helper()
	path := func(file string) string {
		p := filepath.Join(benchDir, file)
		if _, err := os.Stat(p); err != nil {
			tb.Skipf("the labelled tables are not at hand (files outside): %v", err)
		}
		return text(p)
	}
	s.must(tb, "CREATE TABLE lraw AS "+fmt.Sprintf(b.sql, path(b.left)))
	s.must(tb, "CREATE TABLE rraw AS "+fmt.Sprintf(b.sql, path(b.right)))
	if b.truth != "" {
		files := map[string]string{"papers": "dblp_acm/gt.csv", "restaurants": "restaurants/matches_fodors_zagats.csv"}
		s.must(tb, "CREATE TABLE truth AS SELECT DISTINCT * FROM ("+fmt.Sprintf(b.truth, path(files[b.name]))+")")
		s.must(tb, "CREATE TABLE l AS SELECT * FROM lraw")
		s.must(tb, "CREATE TABLE r AS SELECT * FROM rraw")
		return
	}
	// The record numbers hold the truth: the rows get keys that say nothing.
	for _, side := range []string{"l", "r"} {
		s.must(tb, fmt.Sprintf("CREATE TABLE %[1]skeys AS SELECT rec_id, regexp_extract(rec_id, 'rec-(\\d+)-', 1) AS n, 'k' || row_number() OVER (ORDER BY hash('%[1]s' || rec_id)) AS id FROM %[1]sraw", side))
		s.must(tb, fmt.Sprintf("CREATE TABLE %[1]s AS SELECT id, %[1]sraw.* EXCLUDE (rec_id) FROM %[1]sraw JOIN %[1]skeys USING (rec_id)", side))
	}
	s.must(tb, "CREATE TABLE truth AS SELECT a.id AS l, b.id AS r FROM lkeys AS a JOIN rkeys AS b USING (n)")
}

// confirmed draws true pairs, by a seed.
func (s *memorySpace) confirmed(tb testing.TB, n, seed int) []Pair {
	tb.Helper()
	rows, err := selectRows[Pair](tb.Context(), s, fmt.Sprintf("SELECT CAST(l AS VARCHAR), CAST(r AS VARCHAR) FROM truth ORDER BY hash(l || '/' || r || '/%d'), l, r LIMIT %d", seed, n))
	if err != nil {
		tb.Fatal(err)
	}
	return rows
}

// quality is what a run found of the truth.
type quality struct{ Found, Right, True int64 }

func (q quality) precision() float64 { return float64(q.Right) / float64(max(1, q.Found)) }
func (q quality) recall() float64    { return float64(q.Right) / float64(max(1, q.True)) }
func (q quality) f1() float64        { return 2 * float64(q.Right) / float64(max(1, q.Found+q.True)) }

func (s *memorySpace) quality(tb testing.TB) quality {
	tb.Helper()
	q, err := selectOne[quality](tb.Context(), s, "SELECT (SELECT count(*) FROM recon_matches), (SELECT count(*) FROM recon_matches JOIN truth ON left_key = l AND right_key = r), (SELECT count(*) FROM truth)")
	if err != nil {
		tb.Fatal(err)
	}
	return q
}

func TestQuality(t *testing.T) {
	for _, b := range benchSets {
		t.Run(b.name, func(t *testing.T) {
			s := newSpace(t)
			b.load(t, s)
			for _, k := range b.pairs {
				began := time.Now()
				r, _ := New(Config{Workspace: s})
				in := Input{Left: Side{"l", "id"}, Right: Side{"r", "id"}, Labels: Labels{Confirmed: s.confirmed(t, k, k)}}
				recipe, err := r.Learn(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				outcome, err := r.Run(t.Context(), in, recipe)
				if err != nil {
					t.Fatal(err)
				}
				q := s.quality(t)
				t.Logf("%d pairs: precision %.4f, recall %.4f, F1 %.4f in %v %+v", k, q.precision(), q.recall(), q.f1(), time.Since(began), outcome)
				if q.f1() < b.f1 {
					t.Errorf("%d pairs: F1 %.4f, want at least %.3f", k, q.f1(), b.f1)
				}
			}
		})
	}
}
