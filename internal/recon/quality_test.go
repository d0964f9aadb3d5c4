package recon

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"interlock/internal/racetest"
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
	draw        draw
}

// A draw says how many true pairs are confirmed, and by which seed they are chosen.
type draw struct{ pairs, seed int }

// draws lists the draws that are tried: the one of the set, or 3 and 5 pairs of as many
// seeds as RECON_SEEDS says.
func (b benchSet) draws() []draw {
	seeds, _ := strconv.Atoi(os.Getenv("RECON_SEEDS"))
	if seeds == 0 {
		return []draw{b.draw}
	}
	var out []draw
	for seed := range seeds {
		out = append(out, draw{3, 100 + seed}, draw{5, 200 + seed})
	}
	return out
}

var benchSets = []benchSet{
	{
		"papers", "dblp_acm/dblp.csv", "dblp_acm/acm.csv",
		`SELECT * FROM read_csv(%s, delim='%%', header=true, all_varchar=true, quote='"', ignore_errors=true, strict_mode=false)`,
		`SELECT D1 AS l, D2 AS r FROM read_csv(%s, delim='%%', header=true, all_varchar=true)`, 0.98,
		draw{3, 3},
	},
	{
		"restaurants", "restaurants/fodors.csv", "restaurants/zagats.csv",
		`SELECT * FROM read_csv(%s, header=true, all_varchar=true)`,
		`SELECT fodors_id AS l, zagats_id AS r FROM read_csv(%s, header=true, all_varchar=true)`, 0.96,
		draw{5, 5},
	},
	{
		"people", "people/dataset4a.csv", "people/dataset4b.csv",
		`SELECT rec_id, trim(given_name) AS given_name, * EXCLUDE (rec_id, given_name) FROM read_csv(%s, header=true, all_varchar=true, skip=0, normalize_names=true)`, "", 0.995,
		draw{3, 3},
	},
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

// learnAndRun makes a recipe and runs it.
func (s *memorySpace) learnAndRun(tb testing.TB, in Input) (*Recipe, *Outcome) {
	tb.Helper()
	r, err := New(Config{Workspace: s})
	if err != nil {
		tb.Fatal(err)
	}
	lesson, err := r.Learn(tb.Context(), in)
	if err != nil {
		tb.Fatal(err)
	}
	recipe, err := ParseRecipe(lesson.Recipe.Encode()) // as next month: from the document
	if err != nil {
		tb.Fatal(err)
	}
	outcome, err := r.Run(tb.Context(), in, recipe)
	if err != nil {
		tb.Fatal(err)
	}
	for _, rule := range recipe.Rules {
		tb.Logf("%s %.3f %.3f: %s", rule.ID, rule.Precision, rule.Share, rule.Sentence)
	}
	return recipe, outcome
}

// checkResult holds a result to what is true of all: partners are exclusive outside of
// sums, no row is lost, every unmatched row has a reason and a nearest miss, and the
// waterfall of a match adds up to its score.
func (s *memorySpace) checkResult(tb testing.TB, o *Outcome) {
	tb.Helper()
	matches, err := s.Query(tb.Context(), "SELECT * FROM recon_matches LIMIT 0")
	if err != nil {
		tb.Fatal(err)
	}
	var weights []string
	for _, c := range matches.Columns {
		if strings.HasSuffix(c.Name, "_weight") {
			weights = append(weights, c.Name)
		}
	}
	for what, sql := range map[string]string{
		"left rows with two partners":  "SELECT count(*) FROM (SELECT li FROM recon_matches WHERE group_id IS NULL GROUP BY li HAVING count(*) > 1)",
		"right rows with two partners": "SELECT count(*) FROM (SELECT ri FROM recon_matches WHERE group_id IS NULL GROUP BY ri HAVING count(*) > 1)",
		"sums that do not add up": `SELECT count(*) FROM (SELECT group_id, sum(DISTINCT left_amount) AS l, sum(DISTINCT right_amount) AS r, count(DISTINCT li) AS nl, count(DISTINCT ri) AS nr,
			sum(left_amount) AS al, sum(right_amount) AS ar FROM recon_matches WHERE group_id IS NOT NULL GROUP BY group_id)
			WHERE abs(CASE WHEN nr = 1 THEN al ELSE l END - CASE WHEN nl = 1 THEN ar ELSE r END) > 0.001`,
		"rows that are matched and unmatched": "SELECT count(*) FROM recon_unmatched AS u WHERE side = 'left' AND i IN (SELECT li FROM recon_matches) OR side = 'right' AND i IN (SELECT ri FROM recon_matches)",
		"rows without a reason":               "SELECT count(*) FROM recon_unmatched WHERE reason IS NULL",
		"rows without a nearest miss":         "SELECT count(*) FROM recon_unmatched WHERE nearest_key IS NULL",
		"waterfalls that do not add up":       fmt.Sprintf("SELECT count(*) FROM recon_matches WHERE abs(%s + closeness - score) > 0.0005", strings.Join(weights, " + ")),
		"matches without evidence":            fmt.Sprintf("SELECT count(*) FROM recon_matches WHERE %s IS NULL", strings.Join(weights, " + ")),
	} {
		n, err := selectOne[count](tb.Context(), s, sql)
		if err != nil {
			tb.Fatal(err)
		}
		if n.N != 0 {
			tb.Errorf("%s: %d", what, n.N)
		}
	}
	sizes, err := selectOne[struct{ L, R int64 }](tb.Context(), s, "SELECT (SELECT count(DISTINCT li) FROM recon_matches), (SELECT count(DISTINCT ri) FROM recon_matches)")
	if err != nil {
		tb.Fatal(err)
	}
	if sizes.L+o.UnmatchedLeft != o.LeftRows || sizes.R+o.UnmatchedRight != o.RightRows {
		tb.Errorf("%d and %d rows are matched, of %+v", sizes.L, sizes.R, o)
	}
}

func TestQuality(t *testing.T) {
	racetest.Skip(t, "measures F1")
	for _, b := range benchSets {
		t.Run(b.name, func(t *testing.T) {
			s := newSpace(t)
			b.load(t, s)
			for _, k := range b.draws() {
				began := time.Now()
				in := Input{Left: Side{"l", "id"}, Right: Side{"r", "id"}, Labels: Labels{Confirmed: s.confirmed(t, k.pairs, k.seed)}}
				_, outcome := s.learnAndRun(t, in)
				q := s.quality(t)
				t.Logf("%d pairs of seed %d: precision %.4f, recall %.4f, F1 %.4f in %v %+v", k.pairs, k.seed, q.precision(), q.recall(), q.f1(), time.Since(began), outcome)
				if q.f1() < b.f1 {
					t.Errorf("%d pairs of seed %d: F1 %.4f, want at least %.3f", k.pairs, k.seed, q.f1(), b.f1)
				}
				s.checkResult(t, outcome)
			}
		})
	}
}
