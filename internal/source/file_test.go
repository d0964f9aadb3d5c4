package source_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/xuri/excelize/v2"

	"interlock/internal/fault"
	"interlock/internal/jail"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/source/sourcetest"
	"interlock/internal/sqlpolicy"
)

func TestMain(m *testing.M) {
	_ = os.Unsetenv("INTERLOCK_PLAIN_PROGRAM") // the race detector watches the workers of this package
	jail.Main()
	query.Main()
	source.Main()
	sqliteOrphanMain()
	os.Exit(m.Run())
}

func newEngine(t testing.TB) *query.Engine {
	t.Helper()
	e, err := query.New(query.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

var (
	double = schema.Type{Kind: schema.Float}
	text   = schema.Type{Kind: schema.Text}
	// Numbers that are written with a point are decimals, of the most places that one has.
	money  = schema.Type{Kind: schema.Decimal, Width: 18, Scale: 2}
	places = schema.Type{Kind: schema.Decimal, Width: 18, Scale: 3}
	// JSON has no times with a zone and no decimals.
	fromJSON = map[string]schema.Type{"price": double, "seen": {Kind: schema.Timestamp}}
)

func TestFiles(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	dir := t.TempDir()
	lines := sourcetest.Objects()
	for _, f := range []struct {
		name    string
		content []byte
		fixture sourcetest.Fixture
	}{
		{"data.csv", sourcetest.CSV(), sourcetest.Fixture{Types: map[string]schema.Type{"price": money, "ratio": places, "key": text}}},
		{"data.csv.gz", gzipped(t, sourcetest.CSV()), sourcetest.Fixture{Types: map[string]schema.Type{"price": money, "ratio": places, "key": text}}},
		{"data.ndjson", []byte(strings.Join(lines, "\n")), sourcetest.Fixture{Types: fromJSON}},
		{"data.json", []byte("[" + strings.Join(lines, ",\n") + "]"), sourcetest.Fixture{Types: fromJSON}},
		{"data.parquet", parquet(t, engine), sourcetest.Fixture{}},
		{"data.xlsx", workbook(t), sourcetest.Fixture{Types: map[string]schema.Type{"price": money, "ratio": places, "made": text, "seen": text, "key": text}, Doubles: true, Printed: true}},
	} {
		t.Run(f.name, func(t *testing.T) {
			path := filepath.Join(dir, f.name)
			if err := os.WriteFile(path, f.content, 0o600); err != nil {
				t.Fatal(err)
			}
			f.fixture.Open = func(t testing.TB) source.Source {
				return open(t, source.Config{URL: path, Engine: engine, Dir: dir})
			}
			sourcetest.Run(t, f.fixture)
		})
	}
	if _, err := source.Open(t.Context(), source.Config{URL: filepath.Join(dir, "none.csv"), Engine: engine, Dir: dir}); !fault.Is(err, fault.SourceUnreadable) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func gzipped(t *testing.T, content []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// parquet has the engine write the table with its exact types.
func parquet(t *testing.T, engine *query.Engine) []byte {
	dir := t.TempDir()
	lines, db, out := filepath.Join(dir, "x.ndjson"), filepath.Join(dir, "x.duckdb"), filepath.Join(dir, "x.parquet")
	if err := os.WriteFile(lines, []byte(strings.Join(sourcetest.Objects(), "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	table := sqlpolicy.Table{Name: "data"}
	for _, c := range sourcetest.Columns {
		types[c.Name] = c.Type.String()
		table.Columns = append(table.Columns, c.Name)
	}
	if _, err := engine.Build(t.Context(), db, []query.Import{{Table: "data", Files: []string{lines}, Options: query.ImportOptions{Types: types}}}, nil); err != nil {
		t.Fatal(err)
	}
	request := query.Request{Database: query.Database{Path: db, Tables: []sqlpolicy.Table{table}}, SQL: "SELECT " + strings.Join(table.Columns, ", ") + " FROM data"}
	if _, err := engine.Export(t.Context(), request, query.Parquet, out); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func workbook(t *testing.T) []byte {
	book := excelize.NewFile()
	defer book.Close()
	set := func(col, row int, v any) {
		cell, err := excelize.CoordinatesToCellName(col, row)
		if err == nil {
			err = book.SetCellValue("Sheet1", cell, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range sourcetest.Columns {
		set(i+1, 1, c.Name)
	}
	for n, r := range sourcetest.Rows {
		for i, v := range r.Cells() {
			if day, ok := v.(string); ok && sourcetest.Columns[i].Name == "day" {
				v, _ = time.Parse(time.DateOnly, day)
			}
			if price, ok := v.(string); ok && sourcetest.Columns[i].Name == "price" {
				v, _ = strconv.ParseFloat(price, 64)
			}
			if qty, ok := v.(int64); v != nil && (!ok || qty < 1<<53) {
				set(i+1, n+2, v)
			}
		}
	}
	out, err := book.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
