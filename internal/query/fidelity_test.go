package query_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"

	"interlock/internal/query"
	"interlock/internal/racetest"
	"interlock/internal/schema"
)

// A truth is one file, or several of one table, and what must come of it.
type truth struct {
	name    string
	files   map[string][]byte // in the order of their names
	options query.ImportOptions
	columns string     // "name TYPE, ..."
	rows    [][]string // printed by the engine; null where there is none
	rules   []schema.Rule
	lost    int64 // lines that are kept aside
}

const null = "∅"

// A set is a column of texts and what it must become.
type set struct {
	name    string
	texts   []string
	kind    string
	printed []string // nil = the texts themselves
	rules   []schema.Rule
}

var valueSets = []set{
	{name: "integers", texts: []string{"1", "-2", "0", "300"}, kind: "BIGINT"},
	{name: "integers of 19 digits", texts: []string{"9223372036854775807", "-9223372036854775808", "1"}, kind: "BIGINT"},
	{name: "integers of 19 digits beyond 64 bits", texts: []string{"9223372036854775808", "1"}, kind: "HUGEINT"},
	{name: "integers of 20 digits beside NA", texts: []string{"18446744073709551615", "NA", "7"}, kind: "HUGEINT", printed: []string{"18446744073709551615", null, "7"}, rules: []schema.Rule{schema.RuleMissing}},
	{name: "integers of 19 digits beside NA", texts: []string{"1234567890123456789", "NA", "1234567890123456788"}, kind: "BIGINT", printed: []string{"1234567890123456789", null, "1234567890123456788"}, rules: []schema.Rule{schema.RuleMissing}},
	{name: "integers of 38 digits", texts: []string{"12345678901234567890123456789012345678", "5"}, kind: "HUGEINT"},
	{name: "integers of 45 digits", texts: []string{"123456789012345678901234567890123456789012345", "5"}, kind: "VARCHAR"},
	{name: "leading zeros", texts: []string{"01234", "00501", "12345"}, kind: "VARCHAR"},
	{name: "a leading zero among many", texts: []string{"12345", "12346", "12347", "01234"}, kind: "VARCHAR", rules: []schema.Rule{schema.RuleKeptText}},
	{name: "plus signs", texts: []string{"+5", "+6"}, kind: "VARCHAR"},
	{name: "phone numbers", texts: []string{"+4915112345678", "+4930123456"}, kind: "VARCHAR"},
	{name: "minus zero", texts: []string{"-0", "1"}, kind: "VARCHAR"},
	{name: "card numbers", texts: []string{"4111111111111111", "4111111111111112"}, kind: "BIGINT"},
	{name: "card numbers with spaces", texts: []string{"4111 1111 1111 1111", "4111 1111 1111 1112"}, kind: "VARCHAR"},
	{name: "money", texts: []string{"0.10", "0.20", "1234567.89"}, kind: "DECIMAL(18,2)"},
	{name: "decimals of several lengths", texts: []string{"2.5", "10.25", "3"}, kind: "DECIMAL(18,2)", printed: []string{"2.50", "10.25", "3.00"}},
	{name: "decimals of 38 digits", texts: []string{"12345678901234567890123456.123456789012", "0.000000000001"}, kind: "DECIMAL(38,12)", printed: []string{"12345678901234567890123456.123456789012", "0.000000000001"}},
	{name: "decimals of 50 digits", texts: []string{"12345678901234567890123456.123456789012345678901234", "1.5"}, kind: "VARCHAR"},
	{name: "doubles", texts: []string{"0.8414709848078965", "0.1411200080598672"}, kind: "DOUBLE"},
	{name: "minus zero with decimals", texts: []string{"-0.0", "1.5"}, kind: "DOUBLE"},
	{name: "names like numbers", texts: []string{"1e5", "2e7", "3E2"}, kind: "VARCHAR"},
	{name: "scientific", texts: []string{"6.02e+23", "1.6e-19"}, kind: "DOUBLE", printed: []string{"6.02e+23", "1.6e-19"}},
	{name: "scientific in capitals", texts: []string{"6.02E+23", "1.60E-19"}, kind: "DOUBLE", printed: []string{"6.02e+23", "1.6e-19"}, rules: []schema.Rule{schema.RuleNumberFormat}},
	{name: "infinity and nan as words", texts: []string{"inf", "infinity"}, kind: "VARCHAR"},
	{name: "underscores and hex", texts: []string{"1_000", "0x1F"}, kind: "VARCHAR"},
	{name: "F alone", texts: []string{"F", "F"}, kind: "VARCHAR"},
	{name: "NO alone", texts: []string{"NO", "NO"}, kind: "VARCHAR"},
	{name: "T alone", texts: []string{"T"}, kind: "VARCHAR"},
	{name: "yes and no", texts: []string{"yes", "no"}, kind: "VARCHAR"},
	{name: "t and f", texts: []string{"t", "f"}, kind: "VARCHAR"},
	{name: "true and false", texts: []string{"true", "false", "true"}, kind: "BOOLEAN"},
	{name: "True and False", texts: []string{"True", "False"}, kind: "BOOLEAN", printed: []string{"true", "false"}, rules: []schema.Rule{schema.RuleBoolean}},
	{name: "true and TRUE", texts: []string{"true", "TRUE"}, kind: "VARCHAR"},
	{name: "dates", texts: []string{"2024-01-31", "1999-12-31"}, kind: "DATE"},
	{name: "a date that is none", texts: []string{"2024-01-31", "2024-02-30"}, kind: "VARCHAR", rules: []schema.Rule{schema.RuleKeptText}},
	{name: "days first", texts: []string{"31.12.2024", "01.02.2024"}, kind: "DATE", printed: []string{"2024-12-31", "2024-02-01"}, rules: []schema.Rule{schema.RuleDateOrder}},
	{name: "months first", texts: []string{"12/31/2024", "01/02/2024"}, kind: "DATE", printed: []string{"2024-12-31", "2024-01-02"}, rules: []schema.Rule{schema.RuleDateOrder}},
	{name: "months first without zeros", texts: []string{"1/2/2024", "12/31/2024"}, kind: "DATE", printed: []string{"2024-01-02", "2024-12-31"}, rules: []schema.Rule{schema.RuleDateOrder}},
	{name: "two orders", texts: []string{"31/12/2024", "12/31/2024"}, kind: "VARCHAR", rules: []schema.Rule{schema.RuleDateOrder}},
	{name: "part numbers", texts: []string{"10-11-12", "09-08-07"}, kind: "VARCHAR"},
	{name: "two-digit years that fit one way", texts: []string{"31/12/99", "01/02/98"}, kind: "DATE", printed: []string{"1999-12-31", "1998-02-01"}, rules: []schema.Rule{schema.RuleDateOrder}},
	{name: "dates with names of months", texts: []string{"5 Jan 2024", "17 Mar 2024"}, kind: "DATE", printed: []string{"2024-01-05", "2024-03-17"}, rules: []schema.Rule{schema.RuleDateOrder}},
	{name: "versions", texts: []string{"1.2.3", "10.11.12"}, kind: "VARCHAR"},
	{name: "addresses", texts: []string{"192.168.0.1", "10.0.0.1"}, kind: "VARCHAR"},
	{name: "timestamps", texts: []string{"2024-01-31 23:59:59", "2024-02-01 00:00:00"}, kind: "TIMESTAMP"},
	{name: "timestamps with fractions", texts: []string{"2024-01-31 23:59:59.123456", "2024-02-01 00:00:00.500"}, kind: "TIMESTAMP", printed: []string{"2024-01-31 23:59:59.123456", "2024-02-01 00:00:00.5"}},
	{name: "timestamps with nanoseconds", texts: []string{"2024-01-31 23:59:59.123456789", "2024-02-01 00:00:00"}, kind: "VARCHAR"},
	{name: "timestamps with T", texts: []string{"2024-01-31T23:59:59", "2024-02-01T00:00:00"}, kind: "TIMESTAMP", printed: []string{"2024-01-31 23:59:59", "2024-02-01 00:00:00"}, rules: []schema.Rule{schema.RuleTimeFormat}},
	{name: "timestamps in UTC", texts: []string{"2024-01-31T23:59:59Z", "2024-02-01T00:00:00Z"}, kind: "TIMESTAMP WITH TIME ZONE", printed: []string{"2024-01-31 23:59:59+00", "2024-02-01 00:00:00+00"}, rules: []schema.Rule{schema.RuleOffset}},
	{name: "timestamps at one offset", texts: []string{"2024-01-31T23:59:59+02:00", "2024-02-01T00:00:00+02:00"}, kind: "TIMESTAMP WITH TIME ZONE", printed: []string{"2024-01-31 21:59:59+00", "2024-01-31 22:00:00+00"}, rules: []schema.Rule{schema.RuleOffset}},
	{name: "timestamps at two offsets", texts: []string{"2024-01-31T23:59:59+01:00", "2024-07-01T00:00:00+02:00"}, kind: "VARCHAR"},
	{name: "times", texts: []string{"08:30:00", "23:59:59"}, kind: "TIME"},
	{name: "times of 24:00", texts: []string{"08:30:00", "24:00:00"}, kind: "VARCHAR"},
	{name: "midnight as 24:00", texts: []string{"2024-01-01 24:00:00", "2024-01-02 00:00:00"}, kind: "VARCHAR"},
	{name: "thousands", texts: []string{"1,000", "2,500,000"}, kind: "BIGINT", printed: []string{"1000", "2500000"}, rules: []schema.Rule{schema.RuleNumberFormat}},
	{name: "decimal comma", texts: []string{"1.234,56", "0,50"}, kind: "DECIMAL(18,2)", printed: []string{"1234.56", "0.50"}, rules: []schema.Rule{schema.RuleNumberFormat}},
	{name: "dollars", texts: []string{"$1,000.50", "-$3.00"}, kind: "DECIMAL(18,2)", printed: []string{"1000.50", "-3.00"}, rules: []schema.Rule{schema.RuleNumberFormat}},
	{name: "spaces around numbers", texts: []string{" 5", "6 "}, kind: "BIGINT", printed: []string{"5", "6"}, rules: []schema.Rule{schema.RuleSpaces}},
	{name: "spaces around texts", texts: []string{" a", "b "}, kind: "VARCHAR"},
	{name: "texts in quotes", texts: []string{`say "hi"`, `"`, "it's"}, kind: "VARCHAR"},
	{name: "texts with lines", texts: []string{"a\nb", "c"}, kind: "VARCHAR"},
	{name: "letters", texts: []string{"Zoë", "北京", "🙂"}, kind: "VARCHAR"},
	{name: "identifiers", texts: []string{"550e8400-e29b-41d4-a716-446655440000"}, kind: "VARCHAR"},
}

// A page is a way to lay a column out as a file.
type page struct {
	name, ext string
	write     func(s set) []byte
	late      int // rows of the first text before the others
}

func delimited(delimiter, end string, always bool, repeat int) func(s set) []byte {
	return func(s set) []byte {
		var b bytes.Buffer
		b.WriteString("k" + delimiter + "v" + delimiter + "w" + end)
		row := func(text string) {
			if always || strings.ContainsAny(text, delimiter+"\"\n\r") || strings.HasPrefix(text, "'") {
				text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
			}
			b.WriteString("x" + delimiter + text + delimiter + "y" + end)
		}
		for range repeat {
			row(s.texts[0])
		}
		for _, t := range s.texts {
			row(t)
		}
		return b.Bytes()
	}
}

var pages = []page{
	{"commas", "csv", delimited(",", "\n", false, 0), 0},
	{"semicolons and CR LF", "csv", delimited(";", "\r\n", false, 0), 0},
	{"tabs, all quoted", "tsv", delimited("\t", "\n", true, 0), 0},
	{"after many rows", "csv", delimited("|", "\n", false, 2500), 2500},
	{"UTF-16", "csv", func(s set) []byte {
		out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes(delimited(",", "\n", false, 0)(s))
		if err != nil {
			panic(err)
		}
		return out
	}, 0},
}

// setTruths lays every set out in every way.
func setTruths() []truth {
	var out []truth
	for _, s := range valueSets {
		printed := s.printed
		if printed == nil {
			printed = s.texts
		}
		for _, p := range pages {
			if p.name == "semicolons and CR LF" && s.name == "texts with lines" {
				continue // the line in the cell would be another
			}
			w := truth{name: s.name + ", " + p.name, files: map[string][]byte{"a." + p.ext: p.write(s)}, columns: "k VARCHAR, v " + s.kind + ", w VARCHAR", rules: s.rules}
			for range p.late {
				w.rows = append(w.rows, []string{"x", printed[0], "y"})
			}
			for _, v := range printed {
				w.rows = append(w.rows, []string{"x", v, "y"})
			}
			if p.late > 0 && s.kind == "VARCHAR" {
				w.rules = nil // what stays text may be said or not
			}
			out = append(out, w)
		}
	}
	return out
}

// A built corpus is compared table by table with its truth.
func checkTruths(t *testing.T, truths []truth) {
	t.Helper()
	e := newEngine(t, query.Config{})
	dir := t.TempDir()
	var imports []query.Import
	for i, w := range truths {
		im := query.Import{Table: fmt.Sprintf("t%d", i), Options: w.options}
		for _, name := range slices.Sorted(mapKeys(w.files)) {
			path := filepath.Join(dir, fmt.Sprintf("%d-%s", i, name))
			if err := os.WriteFile(path, w.files[name], 0o600); err != nil {
				t.Fatal(err)
			}
			im.Files = append(im.Files, path)
		}
		imports = append(imports, im)
	}
	path := filepath.Join(dir, "corpus.duckdb")
	report, err := e.Build(t.Context(), path, imports, nil)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := query.OpenBare(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	for i, w := range truths {
		r := report.Tables[slices.IndexFunc(report.Tables, func(r query.TableReport) bool { return r.Table == imports[i].Table })]
		t.Run(w.name, func(t *testing.T) {
			if r.Error != "" {
				t.Fatal(r.Error)
			}
			var columns, cells []string
			for _, c := range r.Columns {
				columns = append(columns, c.Name+" "+c.Type.String())
				cells = append(cells, `coalesce(CAST("`+strings.ReplaceAll(c.Name, `"`, `""`)+`" AS VARCHAR), '`+null+`')`)
			}
			if diff := cmp.Diff(w.columns, strings.Join(columns, ", ")); diff != "" {
				t.Errorf("%s\n%+v", diff, r.Notes)
			}
			got, err := bare.Text(t.Context(), "SELECT coalesce(string_agg(concat_ws(chr(31), "+strings.Join(cells, ", ")+"), chr(30) ORDER BY rowid), '') FROM "+r.Table)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, row := range w.rows {
				want = append(want, strings.Join(row, "\x1f"))
			}
			if diff := cmp.Diff(strings.Join(want, "\x1e"), got); diff != "" {
				t.Errorf("%s\n%+v", diff, r.Notes)
			}
			for _, rule := range w.rules {
				if !slices.ContainsFunc(r.Notes, func(n schema.Note) bool { return n.Rule == rule && n.Message != "" }) {
					t.Errorf("nothing was said about %s: %+v", rule, r.Notes)
				}
			}
			if r.Rejected != w.lost {
				t.Errorf("%d lines were kept aside, not %d", r.Rejected, w.lost)
			}
		})
	}
}

func mapKeys(m map[string][]byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// Every value of a corpus of columns, in five layouts each, is what it was, or what is
// declared and said.
func TestFidelityOfColumns(t *testing.T) {
	racetest.Skip(t, "judges a corpus")
	truths := setTruths()
	if len(truths) < 200 {
		t.Fatalf("only %d files", len(truths))
	}
	checkTruths(t, truths)
}
