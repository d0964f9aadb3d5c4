package query_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// built is what Build made of one import: its report and all its rows.
func built(t *testing.T, e *query.Engine, im query.Import) (query.TableReport, string) {
	t.Helper()
	im.Table = "t"
	path := filepath.Join(t.TempDir(), "built.duckdb")
	report, err := e.Build(t.Context(), path, []query.Import{im}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Run(t.Context(), query.Request{Database: query.Database{Path: path, Tables: []sqlpolicy.Table{{Name: "t"}}}, SQL: "SELECT * FROM t"})
	if err != nil {
		t.Fatal(err)
	}
	return report.Tables[0], string(r.Rows)
}

func put(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gz(t *testing.T, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBuildText(t *testing.T) {
	e := newEngine(t, query.Config{})
	const plain = "id,name,amount,day\n1,Ann,2.5,2024-01-01\n2,\"Bob, Jr\",,2024-01-02\n"
	const rows = `[[1,"Ann",2.5,"2024-01-01"],[2,"Bob, Jr",null,"2024-01-02"]]`
	zst, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	latin, _ := charmap.Windows1252.NewEncoder().String("id,name\n1,Café\n2,Zoë €\n")
	wide, _ := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("id,name\n1,Café\n")
	greek, _ := charmap.ISO8859_7.NewEncoder().String("id,name\n1,Ωμέγα\n")
	no := false
	for _, c := range []struct {
		name, file string
		content    []byte
		options    query.ImportOptions
		rows       string
	}{
		{"plain", "a.csv", []byte(plain), query.ImportOptions{}, rows},
		{"tabs", "a.tsv", []byte(strings.ReplaceAll(strings.ReplaceAll(plain, "Bob, Jr", "Bob\\ Jr"), ",", "\t")), query.ImportOptions{}, strings.ReplaceAll(rows, "Bob, Jr", `Bob\\ Jr`)},
		{"semicolons", "a.txt", []byte("a;b\n1;x\n2;y\n"), query.ImportOptions{}, `[[1,"x"],[2,"y"]]`},
		{"pipes as told", "a.csv", []byte("a|b\n1|x,y\n"), query.ImportOptions{Delimiter: "|"}, `[[1,"x,y"]]`},
		{"gzip", "a.csv.gz", gz(t, plain), query.ImportOptions{}, rows},
		{"gzip without the name", "a.csv", gz(t, plain), query.ImportOptions{}, rows},
		{"zstd", "a.csv.zst", zst.EncodeAll([]byte(plain), nil), query.ImportOptions{}, rows},
		{"no header", "a.csv", []byte("1,x\n2,y\n"), query.ImportOptions{Header: &no}, `[[1,"x"],[2,"y"]]`},
		{"byte order mark", "a.csv", []byte("\uFEFFa,b\n1,x\n"), query.ImportOptions{}, `[[1,"x"]]`},
		{"windows-1252 found out", "a.csv", []byte(latin), query.ImportOptions{}, `[[1,"Café"],[2,"Zoë €"]]`},
		{"utf-16 found out", "a.csv", []byte(wide), query.ImportOptions{}, `[[1,"Café"]]`},
		{"greek as told", "a.csv", []byte(greek), query.ImportOptions{Encoding: "iso-8859-7"}, `[[1,"Ωμέγα"]]`},
		{"types as told", "a.csv", []byte("zip,n\n00501,7\n"), query.ImportOptions{Types: map[string]string{"zip": "VARCHAR"}}, `[["00501",7]]`},
		{"single quotes", "a.csv", []byte("a,b\n'x,y',1\n'z',2\n"), query.ImportOptions{Quote: "'"}, `[["x,y",1],["z",2]]`},
		{"a name like a pattern", "a[1]*.csv", []byte("a,b\n1,x\n"), query.ImportOptions{}, `[[1,"x"]]`},
		{"json array", "a.json", []byte(`[{"a": 1, "b": {"c": [true]}}, {"a": 2}]`), query.ImportOptions{}, `[[1,{"c":[true]}],[2,null]]`},
		{"json lines", "a.jsonl", []byte("{\"a\": 1}\n{\"a\": 2, \"b\": \"x\"}\n"), query.ImportOptions{}, `[[1,null],[2,"x"]]`},
		{"json lines gzip", "a.ndjson.gz", gz(t, "{\"a\": 1}\n"), query.ImportOptions{}, `[[1]]`},
		{"json with a mark", "a.json", []byte("\uFEFF[{\"a\": 1}]"), query.ImportOptions{}, `[[1]]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, got := built(t, e, query.Import{Files: []string{put(t, c.file, c.content)}, Options: c.options})
			if diff := cmp.Diff(c.rows, got); diff != "" {
				t.Errorf("%s\n%+v", diff, report)
			}
		})
	}
}

// Whole numbers are BIGINT, of one sign or both; those that do not fit are HUGEINT,
// never a double that would lose digits. Columns keep the order of the file, and
// those whose types are not told keep theirs.
func TestBuildColumns(t *testing.T) {
	e := newEngine(t, query.Config{})
	const edges = "9223372036854775807"
	for _, c := range []struct {
		name, file, content string
		types               map[string]string
		columns, rows       string
	}{
		{"CSV, both signs", "a.csv", "n,m\n1,-" + edges + "\n-2," + edges + "\n", nil, "n BIGINT, m BIGINT", `[[1,"-` + edges + `"],[-2,"` + edges + `"]]`},
		{"CSV, beyond 64 bits", "a.csv", "n,x,y\n-1,1.5e20,18446744073709551615.5\n18446744073709551615,2.5e20,1\n,,\n", nil, "n HUGEINT, x DOUBLE, y DECIMAL(38,1)", `[[-1,150000000000000000000,"18446744073709551615.5"],["18446744073709551615",250000000000000000000,1.0],[null,null,null]]`},
		{"CSV, beyond 128 bits", "a.csv", "n\n1\n" + strings.Repeat("9", 40) + "\n", nil, "n VARCHAR", `[["1"],["` + strings.Repeat("9", 40) + `"]]`},
		{"JSON, both signs", "a.json", `[{"n": 1, "m": -5}, {"n": -2, "m": ` + edges + `}]`, nil, "n BIGINT, m BIGINT", `[[1,-5],[-2,"` + edges + `"]]`},
		{
			"JSON, inside", "a.ndjson", `{"l": [1, -2], "s": {"HUGEINT": -1, "k\"": {"v": [3]}}}` + "\n" + `{"l": [-1], "s": {"HUGEINT": 1, "k\"": {"v": [-3]}}}`, nil,
			`l BIGINT[], s STRUCT("HUGEINT" BIGINT, "k""" STRUCT("v" BIGINT[]))`, `[[[1,-2],{"HUGEINT":-1,"k\"":{"v":[3]}}],[[-1],{"HUGEINT":1,"k\"":{"v":[-3]}}]]`,
		},
		{"JSON, beyond 64 bits", "a.ndjson", "{\"n\": -1}\n{\"n\": 9223372036854775808}\n", nil, "n HUGEINT", `[[-1],["9223372036854775808"]]`},
		{
			"JSON, types as told", "a.json", `[{"z": 1, "b": "x", "a": 2.5, "m": -1}, {"z": -1, "b": "y", "a": 1, "m": 1}]`,
			map[string]string{"z": "VARCHAR", "m": "HUGEINT", "gone": "DATE"},
			"z VARCHAR, b VARCHAR, a DOUBLE, m HUGEINT, gone DATE", `[["1","x",2.5,-1,null],["-1","y",1,1,null]]`,
		},
		{"JSON lines, types as told and nonsense", "a.ndjson", "{\"z\": 1, \"a\": 2}\nnonsense\n{\"z\": 3, \"a\": -4}\n", map[string]string{"z": "VARCHAR"}, "z VARCHAR, a BIGINT", `[["1",2],["3",-4]]`},
		{
			"JSON lines, values of another type than told", "a.ndjson", "{\"d\": \"2024-01-02\", \"n\": 1}\n{\"d\": \"0000-00-00\", \"n\": 2}\nnonsense\n{\"n\": 3}\n",
			map[string]string{"d": "DATE", "n": "BIGINT"},
			"d VARCHAR, n BIGINT", `[["2024-01-02",1],["0000-00-00",2],[null,3]]`,
		},
		{"JSON lines, texts and numbers beside each other", "a.ndjson", "{\"a\": 1, \"b\": {\"c\": 1}}\n{\"a\": \"x\", \"b\": \"y\"}\n{\"a\": null}\n", nil, "a VARCHAR, b JSON", `[["1","{\"c\":1}"],["x","\"y\""],[null,null]]`},
		{"JSON array, values of another type than told", "a.json", `[{"d": "2024-01-02"}, {"d": "never"}]`, map[string]string{"d": "DATE"}, "d VARCHAR", `[["2024-01-02"],["never"]]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, rows := built(t, e, query.Import{Files: []string{put(t, c.file, []byte(c.content))}, Options: query.ImportOptions{Types: c.types}})
			var columns []string
			for _, col := range report.Columns {
				columns = append(columns, col.Name+" "+col.Type.String())
			}
			if diff := cmp.Diff([]string{c.columns, c.rows}, []string{strings.Join(columns, ", "), rows}); diff != "" {
				t.Errorf("%s\n%+v", diff, report)
			}
		})
	}
}

// No row is lost for a value of another type; one that cannot be read at all is counted.
func TestBuildWarnings(t *testing.T) {
	e := newEngine(t, query.Config{})
	report, rows := built(t, e, query.Import{Files: []string{put(t, "a.csv", []byte("id,v\n1,10\n2,20\n3,oops\n"))}, Options: query.ImportOptions{Types: map[string]string{"id": "INTEGER"}}})
	if rows != `[[1,"10"],[2,"20"],[3,"oops"]]` || report.Rejected != 0 {
		t.Errorf("%+v %s", report, rows)
	}
	var big strings.Builder
	big.WriteString("id,name\n")
	for i := range 1000 {
		fmt.Fprintf(&big, "%d,n%d\n", i, i)
	}
	big.WriteString("1000,x,too,many,cells\n")
	report, _ = built(t, e, query.Import{Files: []string{put(t, "b.csv", []byte(big.String()))}})
	if report.Rows+report.Rejected != 1001 || len(report.Notes) == 0 && report.Rejected > 0 {
		t.Errorf("%+v", report)
	}
	report, rows = built(t, e, query.Import{Files: []string{put(t, "c.ndjson", []byte("{\"a\": 1}\nnonsense\n{\"a\": 2}\n"))}})
	if rows != "[[1],[2]]" || report.Rejected != 1 {
		t.Errorf("%+v %s", report, rows)
	}
}

func TestBuildSeveral(t *testing.T) {
	e := newEngine(t, query.Config{})
	a, b := put(t, "a.csv", []byte("x\n1\n")), put(t, "b.csv", []byte("x,y\n2,3\n"))
	path := filepath.Join(t.TempDir(), "built.duckdb")
	seen := map[string]bool{}
	report, err := e.Build(t.Context(), path, []query.Import{
		{Table: "both", Files: []string{a, b}},
		{Table: "broken", Files: []string{put(t, "c.parquet", []byte("no parquet"))}},
		{Table: "sheet", Files: []string{put(t, "d.xlsx", []byte("no workbook"))}},
		{Table: "my \"odd\" name", Files: []string{a}},
	}, func(table string, _ int64) { seen[table] = true })
	if err != nil {
		t.Fatal(err)
	}
	if both := report.Tables[0]; both.Rows != 2 || len(both.Columns) != 2 || both.Error != "" {
		t.Errorf("%+v", both)
	}
	for _, r := range report.Tables[1:3] {
		if r.Error == "" || strings.Contains(r.Error, "/") || r.Rows != 0 {
			t.Errorf("%+v", r)
		}
	}
	if odd := report.Tables[3]; odd.Rows != 1 {
		t.Errorf("%+v", odd)
	}
	if len(seen) != 4 {
		t.Errorf("progress was told about %v", seen)
	}
	left, _ := os.ReadDir(filepath.Dir(path))
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestBuildFailures(t *testing.T) {
	e := newEngine(t, query.Config{})
	path := filepath.Join(t.TempDir(), "built.duckdb")
	_, err := e.Build(t.Context(), path, []query.Import{{Table: "t", Files: []string{"/no/such/file.csv"}}}, nil)
	wantFault(t, err, fault.SourceUnreadable)
	_, err = e.Build(t.Context(), path, []query.Import{{Table: "t", Files: []string{put(t, "x.parquet", []byte("x"))}}}, nil)
	wantFault(t, err, fault.SourceUnreadable)
	_, err = e.Build(t.Context(), path, []query.Import{{Table: "T", Files: []string{path}}, {Table: "t", Files: []string{path}}}, nil)
	if err == nil {
		t.Error("two tables of one name")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a database of nothing was left")
	}
}

func TestBuildCancel(t *testing.T) {
	e := newEngine(t, query.Config{})
	var text strings.Builder
	for i := range 2_000_000 {
		fmt.Fprintf(&text, "%d,some text number %d,%d.5\n", i, i, i)
	}
	file := put(t, "big.csv", []byte(text.String()))
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan time.Time, 1)
	time.AfterFunc(300*time.Millisecond, func() {
		stopped <- time.Now()
		cancel()
	})
	_, err := e.Build(ctx, filepath.Join(t.TempDir(), "built.duckdb"), []query.Import{{Table: "t", Files: []string{file}}}, nil)
	wantFault(t, err, fault.QueryCancelled)
	if over := time.Since(<-stopped); over > slack(300*time.Millisecond) {
		t.Errorf("over %v after the cancel", over)
	}
}

func TestBuildExcel(t *testing.T) {
	e := newEngine(t, query.Config{})
	f := excelize.NewFile()
	defer f.Close()
	day := "yyyy-mm-dd"
	style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &day})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.NewSheet("Data"); err != nil {
		t.Fatal(err)
	}
	for i, row := range [][]any{
		{"id", "name", "amount", "when", "ok", "mixed", "name"},
		{1, "Ann", 2.5, time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC), true, 1, nil},
		{2, "00501", nil, time.Date(2024, 3, 2, 0, 0, 0, 0, time.UTC), false, "x", "z"},
	} {
		if err := f.SetSheetRow("Data", fmt.Sprintf("A%d", i+2), &row); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SetCellStyle("Data", "D3", "D4", style); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "book.xlsx")
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	report, rows := built(t, e, query.Import{Files: []string{path}})
	if diff := cmp.Diff(`[[1,"Ann",2.5,"2024-03-01",true,"1",null],[2,"00501",null,"2024-03-02",false,"x","z"]]`, rows); diff != "" {
		t.Errorf("%s %+v", diff, report)
	}
	if report.Columns[6].Name != "name_1" || report.Columns[3].Type.String() != "DATE" || report.Columns[0].Type.String() != "BIGINT" {
		t.Errorf("%+v", report.Columns)
	}
	_, err = e.Build(t.Context(), filepath.Join(t.TempDir(), "x.duckdb"), []query.Import{{Table: "t", Files: []string{path}, Options: query.ImportOptions{Sheet: "None"}}}, nil)
	wantFault(t, err, fault.SourceUnreadable)
}

// A foreign database gives its rows and nothing else: no view, no macro.
func TestBuildForeign(t *testing.T) {
	e := newEngine(t, query.Config{})
	db := shop(t)
	path := filepath.Join(t.TempDir(), "built.duckdb")
	report, err := e.Build(t.Context(), path, []query.Import{
		{Table: "bought", Files: []string{db.Path}, Options: query.ImportOptions{From: "orders"}},
		{Table: "nothing", Files: []string{db.Path}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := report.Tables[0]; got.Rows != 2000 || len(got.Columns) != 7 {
		t.Errorf("%+v", got)
	}
	if got := report.Tables[1]; got.Error == "" {
		t.Errorf("%+v", got)
	}
}

// Whatever is written is read back the same.
func TestWriterRoundTrip(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		path := filepath.Join(dir, fmt.Sprintf("%d.duckdb", run))
		texts := rapid.SliceOfN(rapid.StringN(0, 40, 200), 1, 30).Draw(t, "texts")
		numbers := rapid.SliceOfN(rapid.Int64(), len(texts), len(texts)).Draw(t, "numbers")
		scale := rapid.IntRange(0, 19).Draw(t, "scale")
		w, err := query.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		a, err := w.Table("t", []schema.Column{
			{Name: "s", Type: schema.Type{Kind: schema.Text}},
			{Name: "n", Type: schema.Type{Kind: schema.Int}},
			{Name: "d", Type: schema.Type{Kind: schema.Decimal, Width: 38, Scale: scale}},
			{Name: "b", Type: schema.Type{Kind: schema.Bytes}},
			{Name: "h", Type: schema.Type{Kind: schema.Uint}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for i, s := range texts {
			n := big.NewInt(numbers[i])
			a.String(0, s)
			a.Int(1, numbers[i])
			a.DecimalBig(2, n, scale)
			a.Bytes(3, []byte(s))
			a.BigInt(4, new(big.Int).Mul(n, n))
			if err := a.EndRow(); err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("%x|%d|%s|%x|%s", s, numbers[i], decimal(n, scale), s, new(big.Int).Mul(n, n)))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		back, err := query.OpenBare(path, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer back.Close()
		got, err := back.Text(context.Background(), "SELECT string_agg(concat_ws('|', lower(hex(s)), n, d, lower(hex(b)), h), chr(10) ORDER BY rowid) FROM t")
		if err != nil || got != strings.Join(want, "\n") {
			t.Fatalf("got %s, want %s, %v", got, want, err)
		}
	})
}

// decimal writes n / 10^scale by simple means.
func decimal(n *big.Int, scale int) string {
	s := new(big.Int).Abs(n).String()
	for len(s) <= scale {
		s = "0" + s
	}
	if scale > 0 {
		s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	}
	if n.Sign() < 0 {
		s = "-" + s
	}
	return s
}

func TestWriterMistakes(t *testing.T) {
	for _, c := range []struct {
		column schema.Column
		set    func(a *query.Appender)
	}{
		{schema.Column{Name: "c", Type: schema.Type{Kind: schema.Int}}, func(a *query.Appender) { a.Uint(0, 1<<63) }},
		{schema.Column{Name: "c", Type: schema.Type{Kind: schema.Int}}, func(a *query.Appender) { a.String(0, "x") }},
		{schema.Column{Name: "c", Type: schema.Type{Kind: schema.Int}}, func(a *query.Appender) { a.Int(7, 1) }},
		{schema.Column{Name: "c", Type: schema.Type{Kind: schema.Decimal, Width: 4, Scale: 2}}, func(a *query.Appender) { a.DecimalText(0, []byte("100.00")) }},
		{schema.Column{Name: "c", Type: schema.Type{Kind: schema.Decimal, Width: 4, Scale: 2}}, func(a *query.Appender) { a.DecimalText(0, []byte("1.005")) }},
		{schema.Column{Name: "c", Type: schema.Type{Kind: schema.Decimal, Width: 4, Scale: 2}}, func(a *query.Appender) { a.DecimalText(0, []byte("NaN")) }},
		{schema.Column{Name: "c", Type: schema.Type{Kind: schema.Time}}, func(a *query.Appender) { a.TimeOfDay(0, -1) }},
	} {
		w, err := query.Create(filepath.Join(t.TempDir(), "x.duckdb"))
		if err != nil {
			t.Fatal(err)
		}
		a, err := w.Table("t", []schema.Column{c.column})
		if err != nil {
			t.Fatal(err)
		}
		c.set(a)
		if err := a.EndRow(); err == nil {
			t.Errorf("%+v took a wrong value", c.column)
		}
		if err := w.Close(); err == nil {
			t.Errorf("%+v: a broken table was kept", c.column)
		}
	}
}
