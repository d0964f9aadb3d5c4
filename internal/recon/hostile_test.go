package recon

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/racetest"
)

// hostileRows makes n pairs of invoices and payments with other formats on each side.
func hostileRows(n int) (left, right [][]string, pairs []Pair) {
	b := newBank(1, 9)
	for i := range n {
		cents, day := b.amount(), b.IntN(300)
		l, r := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", (i*7)%n)
		party := pick(b, b.parties)
		left = append(left, []string{l, party, fmt.Sprintf("R%05d", i*13), fmt.Sprintf("%d.%02d", cents/100, cents%100), date(day).Format("2006-01-02T15:04:05-05:00")})
		right = append(right, []string{r, party, fmt.Sprintf("ref r%05d", i*13), fmt.Sprintf("%d,%02d EUR", cents/100, cents%100), date(day + 1).Format("02/01/2006")})
		pairs = append(pairs, Pair{l, r})
	}
	return left, right, pairs
}

var leftHead, rightHead = []string{"k", "who", "doc", "net", "at"}, []string{"k", "name", "memo", "value", "day"}

func TestHostileInput(t *testing.T) {
	side := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}}
	for _, c := range []struct {
		name   string
		change func(left, right [][]string) ([][]string, [][]string)
		least  int64 // matches of 120
	}{
		{"other formats", func(l, r [][]string) ([][]string, [][]string) { return l, r }, 118},
		{"nulls", func(l, r [][]string) ([][]string, [][]string) {
			for i := range l {
				l[i][1+i%4] = map[bool]string{true: "", false: l[i][1+i%4]}[i%10 == 0 && i > 10]
				r[i][1+(i+1)%4] = map[bool]string{true: "", false: r[i][1+(i+1)%4]}[i%10 == 5 && i > 10]
			}
			return l, r
		}, 105},
		{"ten times as many", func(l, r [][]string) ([][]string, [][]string) {
			more, _, _ := hostileRows(1200)
			for i := 120; i < 1200; i++ {
				more[i][2] = fmt.Sprintf("X%05d", 50_000+i)
			}
			return append(l, more[120:]...), r
		}, 110},
		{"accents and case", func(l, r [][]string) ([][]string, [][]string) {
			for i := range l {
				l[i][1] += " Müller"
				r[i][1] += " MULLER"
			}
			return l, r
		}, 118},
	} {
		t.Run(c.name, func(t *testing.T) {
			left, right, pairs := hostileRows(120)
			left, right = c.change(left, right)
			s := newSpace(t)
			s.table(t, "l", leftHead, left)
			s.table(t, "r", rightHead, right)
			in := side
			in.Labels.Confirmed = pairs[:5]
			_, outcome := s.learnAndRun(t, in)
			if outcome.Matched < c.least {
				t.Errorf("%+v", outcome)
			}
			s.checkResult(t, outcome)
		})
	}
}

// A recipe runs on a side without rows, on keys that repeat, and says what is wrong
// with labels.
func TestOddSides(t *testing.T) {
	left, right, pairs := hostileRows(60)
	s := newSpace(t)
	s.table(t, "l", leftHead, left)
	s.table(t, "r", rightHead, right)
	in := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}, Labels: Labels{Confirmed: pairs[:3]}}
	recipe, _ := s.learnAndRun(t, in)
	r, _ := New(Config{Workspace: s})
	in.Labels = Labels{}

	s.table(t, "r", rightHead, nil)
	outcome, err := r.Run(t.Context(), in, recipe)
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Matched != 0 || outcome.UnmatchedLeft != 60 {
		t.Errorf("one side empty: %+v", outcome)
	}
	if _, err = r.Learn(t.Context(), in); !fault.Is(err, fault.CannotAnswer) || !strings.Contains(err.Error(), "The right side has no rows") {
		t.Errorf("learning from one side: %v", err)
	}

	s.table(t, "r", rightHead, append(right, right[0], right[1]))
	if outcome, err = r.Run(t.Context(), in, recipe); err != nil {
		t.Fatal(err)
	}
	if outcome.Matched < 57 || outcome.Matched > 58 || outcome.Ambiguous < 6 {
		t.Errorf("rows that stand twice: %+v", outcome)
	}

	in.Labels.Confirmed = []Pair{{"a1", right[0][0]}, {"nobody", "b1"}}
	_, err = r.Run(t.Context(), in, recipe)
	problems, _ := fault.From(err).Details.([]LabelProblem)
	if len(problems) != 2 {
		t.Errorf("%v %v", err, problems)
	}
}

// A value that very many rows have makes no flood of candidates and is reported.
func TestManyEqualAmounts(t *testing.T) {
	racetest.Skip(t, "computes on many candidates")
	s := newSpace(t)
	left, right, pairs := hostileRows(200)
	s.table(t, "l", leftHead, left)
	s.table(t, "r", rightHead, right)
	in := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}, Labels: Labels{Confirmed: pairs[:5]}}
	recipe, _ := s.learnAndRun(t, in)
	recipe.Rules = nil // they would match all rows before the amounts are looked up
	recipe.Candidates = append(recipe.Candidates, Key{[]KeyPart{{Compare: recipe.Groups.Amount, By: ByValue}}})
	const rows = 50_000
	s.must(t, fmt.Sprintf("CREATE OR REPLACE TABLE l AS SELECT 'a' || i AS k, 'Firm ' || (i %% 500) AS who, printf('R%%07d', i) AS doc, '10.00' AS net, '2024-01-01' AS at FROM range(%d) AS t(i)", rows))
	s.must(t, fmt.Sprintf("CREATE OR REPLACE TABLE r AS SELECT 'b' || i AS k, 'Firm ' || (i %% 500) AS name, printf('ref r%%07d', i) AS memo, '10,00' AS value, '02/01/2024' AS day FROM range(%d) AS t(i)", rows))
	r, _ := New(Config{Workspace: s})
	in.Labels = Labels{}
	outcome, err := r.Run(t.Context(), in, recipe)
	if err != nil {
		t.Fatal(err)
	}
	n, err := selectOne[count](t.Context(), s, "SELECT count(*) FROM "+candidatePairs)
	if err != nil {
		t.Fatal(err)
	}
	if n.N > 50*rows || len(outcome.Skewed) == 0 || outcome.Matched < rows*9/10 {
		t.Errorf("%d candidates, %+v", n.N, outcome)
	}

	// Where nothing else tells the rows apart, none is matched and none is compared.
	s.must(t, "CREATE OR REPLACE TABLE l AS SELECT * REPLACE ('Firm' AS who, 'payment' AS doc) FROM l")
	s.must(t, "CREATE OR REPLACE TABLE r AS SELECT * REPLACE ('Firm' AS name, 'payment' AS memo) FROM r")
	if outcome, err = r.Run(t.Context(), in, recipe); err != nil {
		t.Fatal(err)
	}
	if n, err = selectOne[count](t.Context(), s, "SELECT count(*) FROM "+candidatePairs); err != nil {
		t.Fatal(err)
	}
	if n.N > rows || len(outcome.Skewed) == 0 || outcome.Skewed[0].Pairs < rows*rows || outcome.Matched != 0 || outcome.UnmatchedLeft != rows {
		t.Errorf("%d candidates of equal rows, %+v", n.N, outcome)
	}
}

// Without labels the rows themselves show which columns belong together; a rejected
// pair is never matched; a proposal is about a pair that was not decided.
func TestLearnWithoutLabels(t *testing.T) {
	left, right, pairs := hostileRows(120)
	s := newSpace(t)
	s.table(t, "l", leftHead, left)
	s.table(t, "r", rightHead, right)
	in := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}}
	_, outcome := s.learnAndRun(t, in)
	if outcome.Matched < 115 {
		t.Errorf("%+v", outcome)
	}
	in.Labels = Labels{Confirmed: pairs[:3], Rejected: []Pair{pairs[10]}}
	s.learnAndRun(t, in)
	n, err := selectOne[count](t.Context(), s, fmt.Sprintf("SELECT count(*) FROM %s WHERE left_key = '%s' AND right_key = '%s'", MatchTable, pairs[10].Left, pairs[10].Right))
	if err != nil || n.N != 0 {
		t.Errorf("a rejected pair was matched: %v %v", n, err)
	}
	r, _ := New(Config{Workspace: s})
	list, err := r.Proposals(t.Context(), in, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := &list[0]
	for _, known := range append(in.Labels.Confirmed, in.Labels.Rejected...) {
		if p.Pair == known || p.Pair.Left == "" || p.Pair.Right == "" {
			t.Errorf("proposed %+v", p)
		}
	}
	if p, err = r.Explain(t.Context(), in, pairs[20]); err != nil || len(p.Agree)+len(p.Nearly) < 3 {
		t.Errorf("%+v %v", p, err)
	}
}

// learnConfined learns and runs in a confined worker, whose policy bounds every statement.
func learnConfined(t *testing.T, s *memorySpace, in Input) *Outcome {
	t.Helper()
	e, err := query.New(query.Config{Dir: t.TempDir(), MemoryMB: 512})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	confined, err := e.OpenWorkspace(t.Context(), query.WorkspaceConfig{Inputs: []query.Input{copyTable(t, s, "l"), copyTable(t, s, "r")}})
	if err != nil {
		t.Fatal(err)
	}
	defer confined.Close()
	r, err := New(Config{Workspace: confined})
	if err != nil {
		t.Fatal(err)
	}
	lesson, err := r.Learn(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := r.Run(t.Context(), in, lesson.Recipe)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// Tables of hundreds of columns are compared by those that tell most, and wider ones are
// refused with what to do. Of documents in cells only the beginning is compared.
func TestWideTablesAndLongCells(t *testing.T) {
	racetest.Skip(t, "computes on wide tables")
	left, right, pairs := hostileRows(80)
	widen := func(head []string, rows [][]string, columns int) ([]string, [][]string) {
		head = slices.Clone(head)
		out := make([][]string, len(rows))
		for i, row := range rows {
			out[i] = slices.Clone(row)
			for c := range columns {
				out[i] = append(out[i], []string{"", "abc", fmt.Sprintf("%d,5 EUR", c), fmt.Sprint(i%9 + c), "2025-11-03"}[(i*7+c)%5])
			}
		}
		for c := range columns {
			head = append(head, fmt.Sprintf("more %d", c))
		}
		return head, out
	}
	in := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}}
	s := newSpace(t)
	lh, l := widen(leftHead, left, maxWidth-len(leftHead))
	rh, r2 := widen(rightHead, right, 60)
	s.table(t, "l", lh, l)
	s.table(t, "r", rh, r2)
	if outcome := learnConfined(t, s, in); outcome.Matched < 76 {
		t.Errorf("%d columns: %+v", maxWidth, outcome)
	}
	lh, l = widen(leftHead, left, 600)
	s.table(t, "l", lh, l)
	r, _ := New(Config{Workspace: s})
	if _, err := r.Learn(t.Context(), in); !fault.Is(err, fault.TooLarge) || !strings.Contains(err.Error(), "605 columns") {
		t.Errorf("605 columns: %v", err)
	}

	long := func(head []string, rows [][]string, text string) ([]string, [][]string) {
		head, rows = widen(head, rows, 0)
		for i := range rows {
			rows[i] = append(rows[i], strings.Repeat(text+rows[i][2]+" ", 2_000))
		}
		return append(head, "document"), rows
	}
	lh, l = long(leftHead, left, "word ")
	rh, r2 = long(rightHead, right, "text")
	s.table(t, "l", lh, l)
	s.table(t, "r", rh, r2)
	in.Labels.Confirmed = pairs[:5]
	if _, outcome := s.learnAndRun(t, in); outcome.Matched < 76 {
		t.Errorf("long cells: %+v", outcome)
	}
	longest, err := r.count(t.Context(), fmt.Sprintf("SELECT max(strlen(to_json(t))) FROM (SELECT COLUMNS('n[0-9]+') FROM %s) AS t", readyLeft))
	if err != nil || longest > 4*longestText {
		t.Errorf("values of %d bytes are compared: %v", longest, err)
	}
}

// A truth about other rows is no result of nought, but a mistake that is named.
func TestTruthOfOtherRows(t *testing.T) {
	left, right, pairs := hostileRows(60)
	s := newSpace(t)
	s.table(t, "l", leftHead, left)
	s.table(t, "r", rightHead, right)
	in := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}, Labels: Labels{Confirmed: pairs[:3]}}
	recipe, _ := s.learnAndRun(t, in)
	r, _ := New(Config{Workspace: s})
	if _, err := r.Run(t.Context(), in, recipe); err != nil {
		t.Fatal(err)
	}
	if score, err := r.ScoreRun(t.Context(), pairs); err != nil || score.F1 < 0.95 {
		t.Errorf("%+v, %v", score, err)
	}
	var turned []Pair
	for _, p := range pairs {
		turned = append(turned, Pair{p.Right, p.Left})
	}
	if _, err := r.ScoreRun(t.Context(), turned); !fault.Is(err, fault.BadRequest) || !strings.Contains(err.Error(), "No left row has a key of the truth") {
		t.Errorf("the columns of the truth are swapped: %v", err)
	}
	// Rows that exist and do not belong together are wrong, not unknown.
	if score, err := r.ScoreRun(t.Context(), []Pair{{pairs[0].Left, pairs[1].Right}}); err != nil || score.F1 != 0 {
		t.Errorf("%+v, %v", score, err)
	}
}

// Columns that have a type are part of all text as well.
func TestTypedColumnsInAllText(t *testing.T) {
	left, right, pairs := hostileRows(80)
	for i := range left {
		left[i] = append(left[i], fmt.Sprint(1990+i%30))
		right[i] = append(right[i], fmt.Sprint(1990+i%30))
	}
	s := newSpace(t)
	s.table(t, "ltext", append(slices.Clone(leftHead), "year"), left)
	s.table(t, "rtext", append(slices.Clone(rightHead), "since"), right)
	s.must(t, "CREATE TABLE l AS SELECT * REPLACE (CAST(year AS BIGINT) AS year) FROM ltext")
	s.must(t, "CREATE TABLE r AS SELECT * REPLACE (CAST(since AS BIGINT) AS since) FROM rtext")
	recipe, outcome := s.learnAndRun(t, Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}, Labels: Labels{Confirmed: pairs[:5]}})
	if !slices.ContainsFunc(recipe.Comparisons, func(c Comparison) bool { return len(c.Left) > 1 && slices.Contains(c.Left, "year") }) {
		t.Errorf("the year is no part of all text: %s", recipe.Encode())
	}
	if outcome.Matched < 76 {
		t.Errorf("%+v", outcome)
	}
	s.checkResult(t, outcome)
}
