package demo_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"
	"modernc.org/sqlite"

	"interlock/internal/demo"
)

// A registry is registry.json as a reader needs it.
type registry struct {
	ID        string
	Name      string
	Prompts   []string
	Documents string
	Files     []struct {
		Path    string
		Table   string `json:"table_name"`
		Format  string
		Rows    int
		Options struct{ Delimiter, Encoding string }
		Schema  []field
	}
	Relations []struct{ From, To string }
}

// A field is a column of a schema; of some formats only the name is given.
type field struct{ Name, Type string }

func (f *field) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, &f.Name)
	}
	type object field
	return json.Unmarshal(raw, (*object)(f))
}

func readJSON(tb testing.TB, into any, path ...string) {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		tb.Fatalf("%s: %v", filepath.Join(path...), err)
	}
}

// seedOne is a folder with the data of seed 1, shared by the tests that only read.
var seedOne = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "interlock-demo-*")
	if err != nil {
		return "", err
	}
	_, err = demo.Write(dir, demo.Options{})
	return dir, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := seedOne(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

func demoData(tb testing.TB) string {
	tb.Helper()
	dir, err := seedOne()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// loaded are the datasets of seed 1 in SQLite, by id.
var loaded = map[string]*sql.DB{}

func openSeedOne(tb testing.TB, id string) *sql.DB {
	tb.Helper()
	if loaded[id] == nil {
		loaded[id] = open(tb, demoData(tb), id)
	}
	return loaded[id]
}

// open loads a dataset, as its registry describes it, and its truth into SQLite.
func open(tb testing.TB, dir, id string) *sql.DB {
	tb.Helper()
	dateFunctions()
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		tb.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	var r registry
	readJSON(tb, &r, dir, id, "registry.json")
	for _, f := range r.Files {
		raw, err := os.ReadFile(filepath.Join(dir, id, f.Path))
		if err != nil {
			tb.Fatal(err)
		}
		names, types := make([]string, len(f.Schema)), make([]string, len(f.Schema))
		for i, c := range f.Schema {
			names[i], types[i] = c.Name, c.Type
		}
		var rows [][]any
		switch f.Format {
		case "csv":
			rows = fromCSV(tb, raw, f.Options.Delimiter, f.Options.Encoding, names, types)
		case "json", "ndjson":
			rows = fromJSON(tb, raw, f.Format, names)
		case "parquet":
			rows = readParquet(tb, raw, names)
		default:
			tb.Fatalf("%s: format %q", f.Path, f.Format)
		}
		if len(rows) != f.Rows {
			tb.Errorf("%s: %d rows, registry says %d", f.Path, len(rows), f.Rows)
		}
		insert(tb, db, f.Table, names, rows)
	}
	for _, name := range []string{"invoices_payments", "pairs", "unmatched", "payments_bank"} {
		if raw, err := os.ReadFile(filepath.Join(dir, ".truth", id, name+".csv")); err == nil {
			header, _, _ := strings.Cut(string(raw), "\n")
			names := strings.Split(header, ",")
			types := make([]string, len(names))
			if name == "invoices_payments" {
				types[3] = "DECIMAL(12,2)"
			}
			insert(tb, db, name, names, fromCSV(tb, raw, "", "", names, types))
		}
	}
	return db
}

func fromCSV(tb testing.TB, raw []byte, delimiter, encoding string, names, types []string) [][]any {
	tb.Helper()
	if encoding == "windows-1252" {
		var err error
		if raw, err = charmap.Windows1252.NewDecoder().Bytes(raw); err != nil {
			tb.Fatal(err)
		}
	}
	r := csv.NewReader(bytes.NewReader(raw))
	if delimiter != "" {
		r.Comma = rune(delimiter[0])
	}
	lines, err := r.ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	if got, want := fmt.Sprint(lines[0]), fmt.Sprint(names); got != want {
		tb.Errorf("columns %s, registry says %s", got, want)
	}
	rows := make([][]any, len(lines)-1)
	for i, cells := range lines[1:] {
		rows[i] = make([]any, len(cells))
		for j, cell := range cells {
			if rows[i][j], err = typedColumn(cell, types[j]); err != nil {
				tb.Fatalf("row %d, column %s: %v", i, names[j], err)
			}
		}
	}
	return rows
}

func typedColumn(cell, kind string) (any, error) {
	switch {
	case cell == "":
		return nil, nil
	case kind == "BIGINT":
		return strconv.ParseInt(cell, 10, 64)
	case kind == "BOOLEAN":
		return strconv.ParseBool(cell)
	case strings.HasPrefix(kind, "DECIMAL"):
		return strconv.ParseFloat(cell, 64)
	}
	return cell, nil
}

func fromJSON(tb testing.TB, raw []byte, format string, names []string) [][]any {
	tb.Helper()
	if format == "ndjson" {
		raw = []byte("[" + strings.Join(strings.Split(strings.TrimSpace(string(raw)), "\n"), ",") + "]")
	}
	var objects []map[string]any
	if err := json.Unmarshal(raw, &objects); err != nil {
		tb.Fatal(err)
	}
	rows := make([][]any, len(objects))
	for i, o := range objects {
		rows[i] = make([]any, len(names))
		for j, name := range names {
			rows[i][j] = o[name]
			if list, ok := o[name].([]any); ok {
				rows[i][j] = fmt.Sprint(list)
			}
			delete(o, name)
		}
		if len(o) > 0 {
			tb.Fatalf("object %d has keys that the registry does not know: %v", i, o)
		}
	}
	return rows
}

func insert(tb testing.TB, db *sql.DB, table string, names []string, rows [][]any) {
	tb.Helper()
	if _, err := db.Exec("CREATE TABLE " + table + " (" + strings.Join(names, ", ") + ")"); err != nil {
		tb.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		tb.Fatal(err)
	}
	defer tx.Rollback()
	marks := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ") + ")"
	for batch := range slices.Chunk(rows, 100) {
		values := strings.TrimSuffix(strings.Repeat(marks+", ", len(batch)), ", ")
		if _, err := tx.Exec("INSERT INTO "+table+" VALUES "+values, slices.Concat(batch...)...); err != nil {
			tb.Fatalf("%s: %v", table, err)
		}
	}
	if err := tx.Commit(); err != nil {
		tb.Fatal(err)
	}
}

// number runs a query that gives one number.
func number(tb testing.TB, db *sql.DB, query string) int {
	tb.Helper()
	var n int
	if err := db.QueryRow(query).Scan(&n); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return n
}

// dateFunctions teaches SQLite the functions of the engine that golden queries use.
var dateFunctions = sync.OnceFunc(func() {
	part := func(name string, of func(time.Time) int) {
		sqlite.MustRegisterDeterministicScalarFunction(name, 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			t, err := moment(args[0])
			return int64(of(t)), err
		})
	}
	part("year", func(t time.Time) int { return t.Year() })
	part("month", func(t time.Time) int { return int(t.Month()) })
	part("quarter", func(t time.Time) int { return int(t.Month()+2) / 3 })
	sqlite.MustRegisterDeterministicScalarFunction("date_diff", 3, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		from, err := moment(args[1])
		if err != nil {
			return nil, err
		}
		to, err := moment(args[2])
		if args[0] != "second" {
			return nil, fmt.Errorf("no date_diff in %v here", args[0])
		}
		return int64(to.Sub(from) / time.Second), err
	})
})

func moment(v driver.Value) (time.Time, error) {
	text := fmt.Sprint(v)
	if len(text) == len(time.DateOnly) {
		return time.Parse(time.DateOnly, text)
	}
	return time.Parse(time.DateTime, text)
}
