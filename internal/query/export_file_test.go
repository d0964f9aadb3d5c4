package query_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/xuri/excelize/v2"

	"interlock/internal/fault"
	"interlock/internal/query"
)

const exportSQL = `SELECT id, amount, status, day, placed, note, id % 2 = 0 AS even, [id] AS list, 9007199254740993 + id AS big FROM shop.orders ORDER BY id;`

func TestExport(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	for format, check := range map[query.Format]func(t *testing.T, path string){
		query.CSV: func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
			if err != nil || len(rows) != 2001 {
				t.Fatal(len(rows), err)
			}
			if got := strings.Join(rows[2], "|"); got != "1|1.25|open|2023-11-14|2023-11-14 22:14:20|note |false|[1]|9007199254740994" {
				t.Error(got)
			}
			if !strings.Contains(string(text), "\n0,0.25,paid,2023-11-14,2023-11-14 22:13:20,,true") {
				t.Error("NULL is not nothing")
			}
			if !strings.Contains(string(text), "\n7,7.25,open,2023-11-14,2023-11-14 22:20:20,\"\",false") {
				t.Error("empty text is not quoted")
			}
		},
		query.Array: func(t *testing.T, path string) {
			var rows []map[string]any
			decodeFile(t, path, &rows)
			if len(rows) != 2000 || rows[1]["status"] != "open" || rows[0]["note"] != nil || rows[3]["big"] != "9007199254740996" {
				t.Errorf("%d %v", len(rows), rows[:2])
			}
		},
		query.NDJSON: func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			if err != nil || strings.Count(string(text), "\n") != 2000 || !json.Valid([]byte(strings.SplitN(string(text), "\n", 2)[0])) {
				t.Errorf("%v %.200s", err, text)
			}
		},
		query.Excel: func(t *testing.T, path string) {
			f, err := excelize.OpenFile(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			rows, err := f.GetRows("Sheet1")
			if err != nil || len(rows) != 2001 {
				t.Fatal(len(rows), err)
			}
			if got := strings.Join(rows[2], "|"); got != "1|1.25|open|2023-11-14|2023-11-14 22:14:20|note |FALSE|[1]|9007199254740994" {
				t.Error(got)
			}
		},
		query.Arrow: func(t *testing.T, path string) {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r, err := ipc.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			for r.Next() {
				rec := r.RecordBatch()
				if rows == 0 {
					if got := rec.Column(1).(*array.Decimal128).ValueStr(1); got != "1.25" {
						t.Error(got)
					}
					if !rec.Column(5).IsNull(0) {
						t.Error("NULL was lost")
					}
				}
				rows += int(rec.NumRows())
			}
			if rows != 2000 || r.Err() != nil {
				t.Error(rows, r.Err())
			}
		},
		query.Parquet: func(t *testing.T, path string) {
			built := filepath.Join(t.TempDir(), "back.duckdb")
			report, err := e.Build(t.Context(), built, []query.Import{{Table: "back", Files: []string{path}, Format: query.Parquet}}, nil)
			if err != nil || report.Tables[0].Rows != 2000 || report.Tables[0].Columns[1].Type.String() != "DECIMAL(12,2)" {
				t.Errorf("%+v %v", report, err)
			}
		},
	} {
		t.Run(string(format), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out."+string(format))
			n, err := e.Export(t.Context(), query.Request{Database: db, SQL: exportSQL}, format, path)
			if err != nil || n.Rows != 2000 {
				t.Fatal(n, err)
			}
			check(t, path)
		})
	}
}

func decodeFile(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A path that cannot be written is the caller's mistake: it costs no worker.
func TestExportToABadPath(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	for name, tt := range map[string]struct {
		path string
		want fault.Code
	}{
		"no such folder":   {filepath.Join(t.TempDir(), "missing", "rows.csv"), fault.BadRequest},
		"a folder's place": {t.TempDir(), fault.Unavailable},
	} {
		if _, err := e.Export(t.Context(), query.Request{Database: db, SQL: exportSQL}, query.CSV, tt.path); !fault.Is(err, tt.want) || !strings.Contains(err.Error(), filepath.Dir(tt.path)) {
			t.Errorf("%s: %v, want %s that names the path", name, err, tt.want)
		}
	}
}

func TestExportLimits(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{MaxExport: 100_000, SpillMB: 1})
	path := filepath.Join(t.TempDir(), "out")
	for _, format := range []query.Format{query.CSV, query.NDJSON, query.Parquet, query.Arrow} {
		_, err := e.Export(t.Context(), query.Request{Database: db, SQL: "SELECT md5(i::VARCHAR) AS m FROM range(2000000) t(i)"}, format, path)
		if !fault.Is(err, fault.TooLarge) {
			t.Errorf("%s: %v", format, err)
		}
	}
	_, err := e.Export(t.Context(), query.Request{Database: db, SQL: "SELECT * FROM hidden"}, query.CSV, path)
	wantFault(t, err, fault.SQLPolicy)
	_, err = e.Export(t.Context(), query.Request{Database: db, SQL: "SELECT 1"}, "pdf", path)
	wantFault(t, err, fault.BadRequest)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = e.Export(ctx, query.Request{Database: db, SQL: bombs["cross join"]}, query.CSV, path)
	wantFault(t, err, fault.QueryCancelled)
	if _, err := os.Stat(path); err == nil {
		t.Error("a half file was left")
	}
}
