package query_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"interlock/internal/query"
	"interlock/internal/sqlpolicy"
)

// everyType is a row of edge values, one of ordinary values, and one of nothing.
const everyType = `SELECT * FROM (VALUES
	(1, true, (-128)::TINYINT, 255::UTINYINT, (-9223372036854775808)::BIGINT, 18446744073709551615::UBIGINT, 9007199254740995::HUGEINT, 1e-7::DOUBLE, 'Infinity'::DOUBLE, 0.1::FLOAT,
		12.30::DECIMAL(10,2), 99999999999999999999999999999999999.999::DECIMAL(38,3), '=1+1', '0001', DATE '0044-03-15', DATE '9999-12-31', TIME '23:59:59.999999', TIMESTAMP '1899-12-31 10:00:00',
		TIMESTAMP '2024-02-29 23:59:59.123456', TIMESTAMPTZ '2024-07-02 10:00:00+02', '2024-01-02 03:04:05.123456789'::TIMESTAMP_NS, TIMETZ '10:00:00+02:30', INTERVAL '1 year 2 days 00:00:00.000001',
		'12345678-1234-1234-1234-123456789abc'::UUID, '\xFF\x00a'::BLOB, '0101'::BIT, [1, NULL, 3], {'a': 9007199254740993, 'b': 'x'}, MAP {'k': 1}, 'b'::ENUM('a', 'b')),
	(2, false, 5, 6, 7, 8, 9, 1.5, 2.5, 3.5, 0.01, 0.001, 'say "hi", you' || chr(10) || 'there', '', DATE '2024-02-29', DATE '2024-01-01', TIME '01:02:03', TIMESTAMP '2024-01-01 00:00:00',
		TIMESTAMP '2024-01-01 12:00:00.5', TIMESTAMPTZ '2024-01-01 00:00:00+00', '2024-01-02 03:04:05'::TIMESTAMP_NS, TIMETZ '01:02:03+00', INTERVAL '3 hours',
		'00000000-0000-0000-0000-000000000001'::UUID, 'plain'::BLOB, '1'::BIT, [4], {'a': 1, 'b': NULL}, MAP {'k': 2}, 'a'::ENUM('a', 'b')),
	(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
) t(n, b, i8, u8, i64, u64, huge, small, inf, f4, d, wide, text, code, old, far, clock, before, moment, zoned, ns, timetz, span, id, raw, bits, list, parts, pairs, choice) ORDER BY n`

// changed are the values that a format gives back in another form than they had:
// docs/fidelity.md lists them.
var changed = map[query.Format]map[string]string{
	query.CSV: {
		"wide 1": "1e+35", "ns 1": "2024-01-02 03:04:05.123456",
	},
	query.Excel: {
		"zoned 1": "2024-07-02 08:00:00", "zoned 2": "2024-01-01 00:00:00", "code 2": "NULL",
	},
	query.NDJSON: nestedJSON,
	query.Array:  nestedJSON,
}

// nestedJSON is what becomes of structs with a number that travels as text, and of maps.
var nestedJSON = map[string]string{
	"parts 1": `{"a":"\"9007199254740993\"","b":"x"}`, "parts 2": `{"a":"1","b":null}`,
	"pairs 1": `[["\"k\"","1"]]`, "pairs 2": `[["\"k\"","2"]]`,
}

// TestExportFidelity exports every type in every format, imports the file again and compares
// value by value.
func TestExportFidelity(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	want, err := e.Run(t.Context(), query.Request{Database: db, SQL: everyType})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []query.Format{query.CSV, query.NDJSON, query.Array, query.Parquet, query.Excel, query.Cells} {
		t.Run(string(format), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out."+string(format))
			im := query.Import{Table: "back", Files: []string{path}, Format: format}
			if format == query.Cells {
				writeCells(t, path, want.Rows)
				im.Options.Columns = want.Columns
			} else {
				written, err := e.Export(t.Context(), query.Request{Database: db, SQL: everyType}, format, path)
				if err != nil || written.Rows != 3 {
					t.Fatal(written, err)
				}
				t.Log(written.Notes)
			}
			head := true
			im.Options.Header = &head
			built := filepath.Join(t.TempDir(), "back.duckdb")
			report, err := e.Build(t.Context(), built, []query.Import{im}, nil)
			if err != nil || report.Tables[0].Error != "" {
				t.Fatal(report, err)
			}
			back := sqlpolicy.Table{Name: "back"}
			for _, c := range report.Tables[0].Columns {
				back.Columns = append(back.Columns, c.Name)
			}
			got, err := e.Run(t.Context(), query.Request{Database: query.Database{Path: built, Tables: []sqlpolicy.Table{back}}, SQL: "SELECT * FROM back ORDER BY n"})
			if err != nil {
				t.Fatal(err)
			}
			sameCells(t, changed[format], want, got)
		})
	}
}

func writeCells(t *testing.T, path string, rows json.RawMessage) {
	t.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal(rows, &list); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, row := range list {
		text.Write(row)
		text.WriteByte('\n')
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sameCells compares results cell by cell, but for what is known to change.
func sameCells(t *testing.T, known map[string]string, want, got *query.Result) {
	t.Helper()
	w, g := cellTexts(t, want.Rows), cellTexts(t, got.Rows)
	if len(w) != len(g) || len(want.Columns) != len(got.Columns) {
		t.Fatalf("%d rows of %d columns, want %d of %d: %v", len(g), len(got.Columns), len(w), len(want.Columns), got.Columns)
	}
	for i := range w {
		for k, c := range want.Columns {
			if sameText(w[i][k], g[i][k]) {
				continue
			}
			at := fmt.Sprintf("%s %d", c.Name, i+1)
			if known[at] != g[i][k] {
				t.Errorf("%q: %q, // %s %s read as %s", at, g[i][k], c.Type, w[i][k], got.Columns[k].Type)
			}
		}
	}
}

// cellTexts gives the cells as texts; NULL is its own.
func cellTexts(t *testing.T, rows json.RawMessage) [][]string {
	t.Helper()
	var list [][]json.RawMessage
	if err := json.Unmarshal(rows, &list); err != nil {
		t.Fatal(err)
	}
	out := make([][]string, len(list))
	for i, row := range list {
		for _, raw := range row {
			text := string(raw)
			var s string
			if json.Unmarshal(raw, &s) == nil && text != "null" {
				text = s
			} else if text == "null" {
				text = "NULL"
			}
			out[i] = append(out[i], text)
		}
	}
	return out
}

// sameText says that two texts are one value: equal, or one number.
func sameText(a, b string) bool {
	if a == b {
		return true
	}
	x, ok := new(big.Rat).SetString(a)
	y, fine := new(big.Rat).SetString(b)
	return ok && fine && x.Cmp(y) == 0 && !strings.HasPrefix(a, "0")
}

// TestExportArrowFidelity reads the stream with Arrow's own library.
func TestExportArrowFidelity(t *testing.T) {
	e := newEngine(t, query.Config{})
	path := filepath.Join(t.TempDir(), "out.arrow")
	sql := "SELECT sum(x) AS total, 170141183460469231731687303715884105727::HUGEINT AS most FROM (SELECT 9007199254740990 AS x UNION ALL SELECT 5)"
	for column, want := range map[string]string{sql: "9007199254740995", "SELECT sum(x) AS total FROM (SELECT 9007199254740990 AS x UNION ALL SELECT 5)": "9007199254740995"} {
		if _, err := e.Export(t.Context(), query.Request{Database: shop(t), SQL: column}, query.Arrow, path); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ipc.NewReader(f)
		if err != nil || !r.Next() {
			t.Fatal(err)
		}
		if got := r.RecordBatch().Column(0).ValueStr(0); got != want {
			t.Errorf("the sum is %s, want %s", got, want)
		}
		if r.RecordBatch().NumCols() == 2 && r.RecordBatch().Column(1).ValueStr(0) != "170141183460469231731687303715884105727" {
			t.Error(r.RecordBatch().Column(1).ValueStr(0))
		}
		_ = f.Close()
	}
}

// TestExcelLimits holds what a sheet cannot hold, read by another library where it is installed.
func TestExcelLimits(t *testing.T) {
	e := newEngine(t, query.Config{})
	path := filepath.Join(t.TempDir(), "out.xlsx")
	sql := `SELECT repeat('ä', 32767) AS fits, repeat('ä', 32768) AS cut, repeat('😀', 20000) AS pairs, 1234567890123456 AS many, 123456789012345 AS few, DATE '1900-02-28' AS early,
		DATE '1900-03-01' AS first, DATE '9999-12-31' AS last, '=SUM(A1)' AS formula, '+1' AS plus, 'infinity'::DATE AS never, TIMESTAMP '2024-05-05 10:11:12.123' AS ms`
	written, err := e.Export(t.Context(), query.Request{Database: shop(t), SQL: sql}, query.Excel, path)
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(written.Notes, "\n")
	for _, want := range []string{"cut: 1 texts are longer", "pairs: 1 texts are longer", "many: 1 numbers of more than 15 digits", "early: 1 days outside", "never: 1 days outside"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not said: %s", want, notes)
		}
	}
	if strings.Contains(notes, "fits") || strings.Contains(notes, "few") || strings.Contains(notes, "last") {
		t.Error(notes)
	}
	script := `import openpyxl, sys
s = openpyxl.load_workbook(sys.argv[1]).active
r = [c for c in s[2]]
print([len(r[0].value), len(r[1].value), len(r[2].value), r[3].value, r[4].value, r[5].value, str(r[6].value), str(r[7].value), r[8].value, r[8].data_type, r[9].value, r[10].value, str(r[11].value)])`
	out, err := exec.Command("/usr/bin/python3", "-c", script, path).CombinedOutput()
	if err != nil && strings.Contains(string(out), "No module named") {
		t.Skip("openpyxl is not installed (package python3-openpyxl)")
	}
	want := `[32767, 32767, 16383, '1234567890123456', 123456789012345, '1900-02-28', '1900-03-01 00:00:00', '9999-12-31 00:00:00', '=SUM(A1)', 's', '+1', 'infinity', '2024-05-05 10:11:12.123000']` + "\n"
	if err != nil || string(out) != want {
		t.Errorf("%s%v, want %s", out, err, want)
	}
}
