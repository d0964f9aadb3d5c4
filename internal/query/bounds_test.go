package query_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/racetest"
	"interlock/internal/sqlpolicy"
)

// noise is text that a window of 32 KB repeats and a column of different values does not.
func noise(n int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('!' + rng.IntN(90))
		if b[i] == '"' || b[i] == ',' || b[i] == '\'' || b[i] == '\\' {
			b[i] = 'x'
		}
	}
	return string(b)
}

// A small file that holds a large table is not imported beyond the bound on disk; the
// other tables are, and nothing is left of the large one.
func TestImportIsBoundedOnDisk(t *testing.T) {
	racetest.Skip(t, "builds large files")
	const bound = 12 << 20
	e := newEngine(t, query.Config{MaxImport: bound})
	block := noise(20_000)
	var rows strings.Builder
	rows.WriteString("id,text\n")
	for i := range 2500 { // 50 MB
		fmt.Fprintf(&rows, "%d,%s%d\n", i, block[i%977:], i)
	}
	packed := gz(t, rows.String())
	utf16 := gz(t, "\xff\xfe"+strings.Repeat("a\x00,\x00b\x00\n\x00", 3<<20))
	if len(packed) > 4<<20 || len(utf16) > 4<<20 {
		t.Fatalf("the bombs have %d and %d bytes", len(packed), len(utf16))
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "built.duckdb")
	report, err := e.Build(t.Context(), path, []query.Import{
		{Table: "before", Files: []string{put(t, "before.csv", []byte("a\n1\n"))}},
		{Table: "bomb", Files: []string{put(t, "bomb.csv.gz", packed)}},
		{Table: "copied", Files: []string{put(t, "copied.csv.gz", utf16)}},
		{Table: "after", Files: []string{put(t, "after.csv", []byte("a\n2\n"))}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Tables {
		bombed := r.Table == "bomb" || r.Table == "copied"
		if strings.Contains(r.Error, "dataset-disk-mb") != bombed || (r.Error != "") != bombed {
			t.Errorf("%s: %d rows, %q", r.Table, r.Rows, r.Error)
		}
	}
	got, err := e.Run(t.Context(), query.Request{
		Database: query.Database{Path: path, Tables: []sqlpolicy.Table{{Name: "before"}, {Name: "after"}}}, SQL: "SELECT before.a + after.a FROM before, after",
	})
	if err != nil || string(got.Rows) != "[[3]]" {
		t.Errorf("%v %v", got, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files are left: %v", len(entries), err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > bound {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}

// endless is a Parquet file of 115 bytes that holds two thousand million rows: one page
// whose levels are a single run.
const endless = "504152311500151415142c1580d0acf30e15001506150600000600000080d0acf30e001502192c4806736368656d6115020015022502180178001680" +
	"d0acf30e191c191c26081c1502192500061918017815001680d0acf30e163e163e26080000163e1680d0acf30e00004800000050415231"

// A small file that takes hours to read does not hold a place for imports for ever; the
// other tables are there, those that come after it too.
func TestImportIsBoundedInTime(t *testing.T) {
	e := newEngine(t, query.Config{ImportTime: 8 * time.Second})
	bomb, err := hex.DecodeString(endless)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "built.duckdb")
	report, err := e.Build(t.Context(), path, []query.Import{
		{Table: "before", Files: []string{put(t, "before.csv", []byte("a\n1\n"))}},
		{Table: "bomb", Files: []string{put(t, "bomb.parquet", bomb)}},
		{Table: "after", Files: []string{put(t, "after.csv", []byte("a\n2\n"))}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Tables {
		bombed := r.Table == "bomb"
		if strings.Contains(r.Error, "import-time") != bombed || (r.Error != "") != bombed {
			t.Errorf("%s: %d rows, %q", r.Table, r.Rows, r.Error)
		}
	}
}

// Sheets of a workbook are packed: a small one can be large.
func TestWorkbookBomb(t *testing.T) {
	racetest.Skip(t, "unpacks a bomb")
	e := newEngine(t, query.Config{MaxImport: 4 << 20})
	f := excelize.NewFile()
	w, err := f.NewStreamWriter("Sheet1")
	if err != nil {
		t.Fatal(err)
	}
	block := noise(20_000)
	for i := range 600 { // 12 MB
		if err := w.SetRow(fmt.Sprintf("A%d", i+1), []any{i, fmt.Sprint(block[i%977:], i)}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "bomb.xlsx")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	report, err := e.Build(t.Context(), filepath.Join(t.TempDir(), "built.duckdb"), []query.Import{
		{Table: "bomb", Files: []string{path}}, {Table: "fine", Files: []string{put(t, "fine.csv", []byte("a\n1\n"))}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Tables) != 2 || report.Tables[0].Error == "" || report.Tables[1].Rows != 1 {
		t.Errorf("%+v", report)
	}
}

// Exports last long; nobody's statement waits for those of others.
func TestStatementsDoNotWaitForExports(t *testing.T) {
	e := newEngine(t, query.Config{Workers: 2, QueueMax: 64})
	db := shop(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for _, user := range []string{"ann", "bob"} {
		go func() {
			_, err := e.Export(ctx, query.Request{Database: db, SQL: "SELECT count(*) FROM range(10000000) a(x), range(10000000) b(y) WHERE x + y = 7", User: user},
				query.CSV, filepath.Join(t.TempDir(), "out.csv"))
			ended <- err
		}()
	}
	defer func() {
		cancel()
		for range 2 {
			if err := <-ended; !fault.Is(err, fault.QueryCancelled) && err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	}()
	wait, done := context.WithTimeout(t.Context(), 20*time.Second)
	defer done()
	for range 5 {
		if _, err := e.Run(wait, query.Request{Database: db, SQL: "SELECT 1", User: "eve"}); err != nil {
			t.Fatalf("beside two exports: %v", err)
		}
	}
}
