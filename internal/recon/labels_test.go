package recon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"interlock/internal/query"
	"interlock/internal/racetest"
)

// Every label that cannot be true together with others is named, and so is one that the
// rest of the data contradicts.
func TestDoubtfulLabels(t *testing.T) {
	s := newSpace(t)
	left, right, pairs := hostileRows(150)
	s.table(t, "l", leftHead, left)
	s.table(t, "r", rightHead, right)
	r, _ := New(Config{Workspace: s})
	wrong := Pair{pairs[40].Left, pairs[90].Right}
	in := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}, Labels: Labels{
		Confirmed: append([]Pair{wrong}, pairs[:6]...),
		Rejected:  []Pair{pairs[60], pairs[3]},
	}}
	lesson, err := r.Learn(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	said := map[Pair]string{}
	for _, p := range lesson.Problems {
		said[p.Pair] += p.Problem
	}
	for pair, want := range map[Pair]string{
		wrong:     "were confirmed, but agree less",
		pairs[60]: "were rejected, but",
		pairs[3]:  "both confirmed and rejected",
	} {
		if !strings.Contains(said[pair], want) || !strings.Contains(said[pair], pair.Left) {
			t.Errorf("%v: %q, want %q", pair, said[pair], want)
		}
	}
	if said[pairs[0]] != "" {
		t.Errorf("a good label is doubted: %q", said[pairs[0]])
	}
}

// Where each row has one partner, labels that give a row two match neither: rules decide.
func TestContradictingLabelsMatchNothing(t *testing.T) {
	s := newSpace(t)
	left, right, pairs := hostileRows(80)
	s.table(t, "l", leftHead, left)
	s.table(t, "r", rightHead, right)
	in := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}, Labels: Labels{Confirmed: pairs[:5]}}
	recipe, _ := s.learnAndRun(t, in)
	recipe.Cardinality = OneToOne
	in.Labels.Confirmed = append(in.Labels.Confirmed, Pair{pairs[0].Left, pairs[40].Right})
	r, _ := New(Config{Workspace: s})
	outcome, err := r.Run(t.Context(), in, recipe)
	if err != nil {
		t.Fatal(err)
	}
	s.checkResult(t, outcome)
	if outcome.ByRule[ruleConfirmed] != 4 || outcome.Matched < 78 {
		t.Errorf("%+v", outcome)
	}
}

// Rejected pairs change the result beyond themselves: once enough pairs of a kind are
// rejected, the others of that kind are not matched any more.
func TestRejectedPairsTeach(t *testing.T) {
	var left, right [][]string
	var same, other []Pair
	for i := range 300 {
		l, r := fmt.Sprintf("a%03d", i), fmt.Sprintf("b%03d", i)
		street := fmt.Sprintf("%d %s street", 3+i*7%900, bankWords[i%len(bankWords)])
		name := fmt.Sprintf("%s %s %s", bankWords[(i*7)%len(bankWords)], bankTypes[i%len(bankTypes)], bankWords[(i*11)%len(bankWords)])
		left = append(left, []string{l, name, street, fmt.Sprintf("%05d", 10000+i)})
		if i < 200 {
			right = append(right, []string{r, strings.ToUpper(name), street, fmt.Sprintf("%05d", 10000+i)})
			same = append(same, Pair{l, r})
			continue
		}
		// A new tenant: the same address with another name.
		right = append(right, []string{r, fmt.Sprintf("%s and %s", bankTypes[(i*3+1)%len(bankTypes)], bankWords[(i*13+5)%len(bankWords)]), street, fmt.Sprintf("%05d", 10000+i)})
		other = append(other, Pair{l, r})
	}
	s := newSpace(t)
	s.table(t, "l", []string{"k", "name", "street", "zip"}, left)
	s.table(t, "r", []string{"k", "firm", "address", "code"}, right)
	in := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}, Labels: Labels{Confirmed: same[:5]}}
	tenants := func() (n int64) {
		t.Helper()
		c, err := selectOne[count](t.Context(), s, "SELECT count(*) FROM recon_matches WHERE left_key >= 'a200'")
		if err != nil {
			t.Fatal(err)
		}
		return c.N
	}
	s.learnAndRun(t, in)
	before := tenants()
	if before < 50 {
		t.Fatalf("without rejections %d new tenants are matched: the test shows nothing", before)
	}
	in.Labels.Rejected = other[:12]
	_, o := s.learnAndRun(t, in)
	if after := tenants(); after > before/4 {
		t.Errorf("%d new tenants were matched before 12 rejections and %d after: %+v", before, after, o)
	}
	if o.Matched < 195 {
		t.Errorf("rejections cost right matches: %+v", o)
	}
}

// Training looks at a sample of many rows, and the recipe holds for all.
func TestTrainingOnASample(t *testing.T) {
	racetest.Skip(t, "measures F1")
	s := newSpace(t)
	const rows = 41_000
	s.must(t, fmt.Sprintf(`CREATE TABLE l AS SELECT 'a' || i AS k, printf('INV-%%07d', i * 3) AS doc, (100 + hash(i * 13) %% 2000000) / 100.0 AS net, DATE '2024-01-01' + CAST(hash(i * 17) %% 365 AS INTEGER) AS booked FROM range(%d) AS t(i)`, rows))
	s.must(t, `CREATE TABLE r AS SELECT 'b' || hash(k) AS k, CASE WHEN hash(k) % 100 < 80 THEN 'pay ' || lower(doc) ELSE 'transfer' END AS memo, net AS value, booked + CAST(hash(k) % 8 AS INTEGER) AS day FROM l WHERE hash(k) % 100 < 95`)
	s.must(t, `CREATE TABLE truth AS SELECT k AS l, 'b' || hash(k) AS r FROM l WHERE hash(k) % 100 < 95`)
	in := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}, Labels: Labels{Confirmed: s.confirmed(t, 5, 1)}}
	recipe, o := s.learnAndRun(t, in)
	q := s.quality(t)
	t.Logf("precision %.4f, recall %.4f %+v", q.precision(), q.recall(), o)
	if q.precision() < 0.998 || q.f1() < 0.97 {
		t.Errorf("precision %.4f, F1 %.4f", q.precision(), q.f1())
	}
	if recipe.Learned.LeftRows != rows || recipe.Learned.MatchRate < 0.85 {
		t.Errorf("%+v", recipe.Learned)
	}
}

// A stoppedSpace cancels the call a moment after it began to make a table.
type stoppedSpace struct {
	*query.Workspace
	table  string
	cancel context.CancelFunc
	at     chan time.Time // when the call was cancelled
	once   sync.Once
}

func (s *stoppedSpace) begin(table string) {
	if strings.HasPrefix(table, s.table) {
		s.once.Do(func() {
			time.AfterFunc(5*time.Millisecond, func() {
				s.at <- time.Now()
				s.cancel()
			})
		})
	}
}

func (s *stoppedSpace) Create(ctx context.Context, table, sql string, args ...string) error {
	s.begin(table)
	return s.Workspace.Create(ctx, table, sql, args...)
}

func (s *stoppedSpace) Export(ctx context.Context, format query.Format, path, sql string, args ...string) (query.Exported, error) {
	s.begin(filepath.Base(path))
	return s.Workspace.Export(ctx, format, path, sql, args...)
}

// shareOfProcessor says how many times longer than alone the test takes on a machine that
// does other things too, from a little work: 1 on an idle one.
func shareOfProcessor() float64 {
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began, before := time.Now(), used()
	for used()-before < 100*time.Millisecond { // the calls are the work
	}
	return max(1, float64(time.Since(began))/float64(100*time.Millisecond))
}

// A call that is stopped in any part of the work ends within a second, with the confined
// worker that it ran in. The next one is opened at once.
func TestStop(t *testing.T) {
	plain := newSpace(t)
	in := plain.smallTables(t)
	raw, err := os.ReadFile("testdata/recipe.json")
	if err != nil {
		t.Fatal(err)
	}
	recipe, err := ParseRecipe(raw)
	if err != nil {
		t.Fatal(err)
	}
	const times = 8
	plain.must(t, fmt.Sprintf("CREATE OR REPLACE TABLE more AS SELECT * REPLACE (no || '/' || n AS no, beleg || n AS beleg) FROM l, range(%d) AS t(n)", times))
	plain.must(t, fmt.Sprintf("CREATE OR REPLACE TABLE bmore AS SELECT * REPLACE (zeile || '/' || n AS zeile, zweck || n AS zweck) FROM r, range(%d) AS t(n)", times))
	e, err := query.New(query.Config{Dir: t.TempDir(), MemoryMB: 1024})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	inputs := []query.Input{copyTable(t, plain, "more"), copyTable(t, plain, "bmore")}
	open := func(ctx context.Context, begun func()) (*query.Workspace, error) {
		first := inputs[0]
		first.Write = func(ctx context.Context, w *query.Writer, table string) error {
			begun()
			return inputs[0].Write(ctx, w, table)
		}
		return e.OpenWorkspace(ctx, query.WorkspaceConfig{Inputs: []query.Input{first, inputs[1]}, MemoryMB: 1024})
	}
	promptly := func(t *testing.T, what string, at chan time.Time, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: the call ended before it was stopped", what)
			return
		}
		select {
		case began := <-at:
			took := time.Since(began)
			t.Logf("%s: it took %v", what, took)
			if limit := time.Duration(float64(time.Second) * shareOfProcessor()); took > limit {
				t.Errorf("%s: it took %v, more than %v", what, took, limit)
			}
		default:
			t.Errorf("%s: the call failed before it was stopped: %v", what, err)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	at := make(chan time.Time, 1)
	space, err := open(ctx, func() {
		at <- time.Now()
		cancel()
	})
	if err == nil {
		_ = space.Close()
	}
	promptly(t, "loading", at, err)

	in.Left.Table, in.Right.Table, in.Labels = "more", "bmore", Labels{}
	dir := t.TempDir()
	learn := func(ctx context.Context, r *Reconciler) error { _, err := r.Learn(ctx, in); return err }
	run := func(ctx context.Context, r *Reconciler) error { _, err := r.Run(ctx, in, recipe); return err }
	for _, c := range []struct {
		what, table string
		call        func(context.Context, *Reconciler) error
	}{
		{"joining", "recon_joined", func(ctx context.Context, r *Reconciler) error { // for hours
			return r.space.Create(ctx, "recon_joined", "SELECT count(*) FROM more AS a, more AS b, more AS c, more AS d WHERE a.no || b.no < c.no || d.no")
		}},
		{"learning", levelTable, learn},
		{"finding candidates", candidatePairs, run},
		{"assigning", "recon_pass_1", run},
		{"exporting", "matches.csv", func(ctx context.Context, r *Reconciler) error {
			if _, err := r.Run(t.Context(), in, recipe); err != nil {
				t.Fatal(err)
			}
			_, err := r.WriteEvidence(ctx, dir, in, Report{Recipe: recipe, Outcome: &Outcome{}})
			return err
		}},
	} {
		space, err := open(t.Context(), func() {})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stopped := &stoppedSpace{Workspace: space, table: c.table, cancel: cancel, at: make(chan time.Time, 1)}
		r, err := New(Config{Workspace: stopped})
		if err != nil {
			t.Fatal(err)
		}
		err = c.call(ctx, r)
		promptly(t, c.what, stopped.at, err)
		cancel()
		_ = space.Close()
	}
}

// Dates of other zones, and keys that repeat.
func TestOddColumns(t *testing.T) {
	s := newSpace(t)
	left, right, pairs := hostileRows(80)
	s.table(t, "l1", leftHead, left)
	s.table(t, "r", rightHead, right)
	in := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}, Labels: Labels{Confirmed: pairs[:5]}}
	// The same moments, written in another zone: the day is that of UTC.
	s.must(t, `CREATE OR REPLACE TABLE l AS SELECT k, who, doc, net, strftime(CAST("at" AS TIMESTAMPTZ) + INTERVAL 9 HOUR, '%Y-%m-%dT%H:%M:%S+09:00') AS "at" FROM l1`)
	if _, o := s.learnAndRun(t, in); o.Matched < 78 {
		t.Errorf("another zone: %+v", o)
	}
	s.table(t, "l", leftHead, append(left, left[0], left[1]))
	r, _ := New(Config{Workspace: s})
	in.Labels.Confirmed = pairs[2:7]
	lesson, err := r.Learn(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if lesson.Left.DuplicateKeys != 2 {
		t.Errorf("%d keys repeat", lesson.Left.DuplicateKeys)
	}
	if _, o := s.learnAndRun(t, in); o.Matched < 76 || o.Ambiguous < 4 {
		t.Errorf("keys that repeat: %+v", o)
	}
}

var _ Exporter = (*query.Workspace)(nil)

// A person who confirms one part of an invoice that was paid in parts does not keep the
// others from being found.
func TestConfirmedPartOfASum(t *testing.T) {
	racetest.Skip(t, "measures what is found")
	b := newBank(400, 11)
	s := newSpace(t)
	b.load(t, s)
	parts := map[string][]string{}
	var confirmed []Pair
	for _, p := range b.truth {
		if b.kinds[p[0]+"/"+p[1]] != "part" {
			continue
		}
		if parts[p[0]] = append(parts[p[0]], p[1]); len(parts[p[0]]) == 1 && len(confirmed) < 5 {
			confirmed = append(confirmed, Pair{p[0], p[1]})
		}
	}
	if len(confirmed) < 3 {
		t.Fatalf("%d invoices are paid in parts", len(confirmed))
	}
	in := Input{Left: Side{"l", "no"}, Right: Side{"r", "zeile"}, Labels: Labels{Confirmed: confirmed}}
	_, outcome := s.learnAndRun(t, in)
	s.checkResult(t, outcome)
	rows, err := selectRows[struct{ L, R string }](t.Context(), s, "SELECT left_key, right_key FROM recon_matches")
	if err != nil {
		t.Fatal(err)
	}
	got := map[Pair]bool{}
	for _, x := range rows {
		got[Pair{x.L, x.R}] = true
	}
	found, all := 0, 0
	for _, p := range confirmed {
		if !got[p] {
			t.Errorf("%v was confirmed and is not matched", p)
		}
		for _, right := range parts[p.Left] {
			if all++; got[Pair{p.Left, right}] {
				found++
			}
		}
	}
	if found < all-1 {
		t.Errorf("%d of the %d parts of these invoices are found", found, all)
	}
}
