package query_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"interlock/internal/query"
	"interlock/internal/racetest"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// A bookTruth is a workbook that openpyxl or pandas wrote, as testdata/books.py says.
type bookTruth struct {
	Columns string        `json:"columns"`
	Rows    [][]*string   `json:"rows"`
	Rules   []schema.Rule `json:"rules"`
	Pandas  []*string     `json:"pandas"` // the column v as pandas reads it
}

// Every cell of the workbooks that openpyxl and pandas write is what it was, and where
// pandas reads a column it reads the same values.
func TestFidelityOfWorkbooks(t *testing.T) {
	racetest.Skip(t, "judges a corpus")
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import openpyxl, pandas").Run(); err != nil {
		t.Skip("needs python3 with openpyxl and pandas (package python3-openpyxl)")
	}
	dir := t.TempDir()
	out, err := exec.Command(python, filepath.Join("testdata", "books.py"), dir).Output()
	if err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			t.Fatal(err)
		}
		t.Fatalf("%v\n%s", err, exit.Stderr)
	}
	var books map[string]bookTruth
	if err := json.Unmarshal(out, &books); err != nil {
		t.Fatal(err)
	}
	if len(books) < 90 {
		t.Fatalf("only %d workbooks", len(books))
	}
	var truths []truth
	for name, b := range books {
		content, err := os.ReadFile(filepath.Join(dir, name+".xlsx"))
		if err != nil {
			t.Fatal(err)
		}
		w := truth{name: name, files: map[string][]byte{"book.xlsx": content}, columns: b.Columns, rules: b.Rules}
		for i, row := range b.Rows {
			cells := make([]string, len(row))
			for k, c := range row {
				if cells[k] = null; c != nil {
					cells[k] = *c
				}
			}
			w.rows = append(w.rows, cells)
			if i < len(b.Pandas) && !agrees(cells[1], b.Pandas[i]) {
				t.Errorf("%s: row %d is %s to us and %v to pandas", name, i, cells[1], *b.Pandas[i])
			}
		}
		truths = append(truths, w)
	}
	slices.SortFunc(truths, func(a, b truth) int { return strings.Compare(a.name, b.name) })
	checkTruths(t, truths)
}

// agrees compares a value that we print with how Python prints it. Errors and formulas
// without values are texts there, and durations are days.
func agrees(ours string, theirs *string) bool {
	if theirs == nil || strings.HasPrefix(*theirs, "#") || strings.HasPrefix(*theirs, "=") {
		return ours == null
	}
	their := strings.TrimSuffix(*theirs, " 00:00:00")
	if their == ours || strings.TrimSuffix(ours, " 00:00:00") == their || strings.EqualFold(ours, their) {
		return true
	}
	a, err1 := strconv.ParseFloat(ours, 64)
	b, err2 := strconv.ParseFloat(their, 64)
	return err1 == nil && err2 == nil && a == b || strings.Contains(their, "day, ") || strings.HasPrefix(their, "0") && strings.HasSuffix(ours, their) || their == "1900-01-01 02:30:00" && ours == "26:30:00"
}

// Each sheet is a table: the first has the name of the workbook, the others have it
// before theirs, and that is said.
func TestBuildSheets(t *testing.T) {
	e := newEngine(t, query.Config{})
	book := writeBook(t, map[string][][]any{"First": {{"a"}, {1}}, "My Second": {{"b"}, {"x"}}, "Empty": {}})
	path := filepath.Join(t.TempDir(), "built.duckdb")
	report, err := e.Build(t.Context(), path, []query.Import{{Table: "book", Files: []string{book}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Tables) != 2 || report.Tables[1].Table != "book_my_second" || report.Tables[1].From != "book" || report.Tables[1].Rows != 1 {
		t.Fatalf("%+v", report.Tables)
	}
	if notes := report.Tables[0].Notes; len(notes) != 1 || notes[0].Rule != schema.RuleSheet || !strings.Contains(notes[0].Message, "book_my_second") {
		t.Errorf("%+v", notes)
	}
}

// What is exported as a workbook comes back the same.
func TestExcelRoundTrip(t *testing.T) {
	e := newEngine(t, query.Config{})
	db := shop(t)
	file := filepath.Join(t.TempDir(), "out.xlsx")
	sql := `SELECT id, amount, status, day, placed, note, id % 2 = 0 AS even FROM shop.orders ORDER BY id`
	if _, err := e.Export(t.Context(), query.Request{Database: db, SQL: sql}, query.Excel, file); err != nil {
		t.Fatal(err)
	}
	want, err := e.Run(t.Context(), query.Request{Database: db, SQL: sql, MaxRows: 5000})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "back.duckdb")
	report, err := e.Build(t.Context(), path, []query.Import{{Table: "back", Files: []string{file}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Run(t.Context(), query.Request{Database: query.Database{Path: path, Tables: []sqlpolicy.Table{{Name: "back"}}}, SQL: "SELECT * FROM back", MaxRows: 5000})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want.Rows, got.Rows) {
		t.Errorf("%.600s\n%.600s\n%+v", want.Rows, got.Rows, report.Tables[0])
	}
}

// writeBook makes a workbook of sheets, in the order of their names.
func writeBook(t *testing.T, sheets map[string][][]any) string {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	names := slices.Sorted(maps.Keys(sheets))
	for i, name := range names {
		if i == 0 {
			if err := f.SetSheetName("Sheet1", name); err != nil {
				t.Fatal(err)
			}
		} else if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		for k, row := range sheets[name] {
			if err := f.SetSheetRow(name, "A"+strconv.Itoa(k+1), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "book.xlsx")
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Numbers come as the workbook holds them, to the last digit.
func TestBuildExcelNumbers(t *testing.T) {
	e := newEngine(t, query.Config{})
	tenth := 0.1
	book := writeBook(t, map[string][][]any{"Data": {{"a", "b"}, {tenth + 0.2, 1e300}, {1.5, 12345678901234567890.0}}})
	report, rows := built(t, e, query.Import{Files: []string{book}})
	if rows != `[[0.30000000000000004,1e+300],[1.5,12345678901234567000]]` {
		t.Errorf("%s %+v", rows, report)
	}
}
