package sandbox_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/sandbox"
)

// TestTypesSurvive hands a column of every kind in and looks at it from inside and
// from where it comes out again.
func TestTypesSurvive(t *testing.T) {
	e := walls[0].open(t, nil)
	path := filepath.Join(t.TempDir(), "t.bundle")
	type F = sandbox.Field
	w, err := sandbox.Create(path, []F{
		{Name: "b", Kind: sandbox.Bool},
		{Name: "bn", Kind: sandbox.Bool},
		{Name: "i8", Kind: sandbox.Int8},
		{Name: "i64", Kind: sandbox.Int64},
		{Name: "i64n", Kind: sandbox.Int64},
		{Name: "u64", Kind: sandbox.Uint64},
		{Name: "f", Kind: sandbox.Float64},
		{Name: "dec", Kind: sandbox.Decimal, Scale: 2},
		{Name: "wide", Kind: sandbox.Decimal, Scale: 1, Wide: true},
		{Name: "day", Kind: sandbox.Date},
		{Name: "at", Kind: sandbox.Timestamp},
		{Name: "zoned", Kind: sandbox.Timestamp, Zone: "Europe/Berlin"},
		{Name: "far", Kind: sandbox.Timestamp},
		{Name: "clock", Kind: sandbox.Time},
		{Name: "span", Kind: sandbox.Duration},
		{Name: "text", Kind: sandbox.Text},
		{Name: "nul", Kind: sandbox.Text},
		{Name: "tree", Kind: sandbox.JSON},
		{Name: "raw", Kind: sandbox.Bytes},
	})
	if err != nil {
		t.Fatal(err)
	}
	second := []uint64{0b01} // the second value is null
	sandbox.Append(w, 0, []bool{true, false}, nil)
	sandbox.Append(w, 1, []bool{true, false}, second)
	sandbox.Append(w, 2, []int8{-128, 127}, nil)
	sandbox.Append(w, 3, []int64{-1 << 63, 1<<63 - 1}, nil)
	sandbox.Append(w, 4, []int64{9007199254740993, 0}, second)
	sandbox.Append(w, 5, []uint64{1<<64 - 1, 0}, nil)
	sandbox.Append(w, 6, []float64{0.1, 7}, second)
	sandbox.Append(w, 7, []int64{-12345, 110}, nil)
	sandbox.Append(w, 8, [][2]uint64{{0, 1}, {^uint64(0), ^uint64(0)}}, nil)
	sandbox.Append(w, 9, []int32{0, 19723}, nil)
	sandbox.Append(w, 10, []int64{1_500_000, 0}, second)
	sandbox.Append(w, 11, []int64{1704067200_000_000, 0}, second)
	sandbox.Append(w, 12, []int64{253402214400_000_000, 0}, second)
	sandbox.Append(w, 13, []int64{3_661_500_000, 0}, second)
	sandbox.Append(w, 14, []int64{90_061_000_000, 0}, second)
	w.Strings(15, []string{"Grüße 🌍", ""}, nil)
	w.Strings(16, []string{"a\x00b", ""}, second)
	w.Strings(17, []string{`{"a":[1,2]}`, ""}, second)
	w.Strings(18, []string{"\xff\x00", "ok"}, nil)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o, err := e.Run(t.Context(), sandbox.Job{Code: "print(' '.join(str(d) for d in t.dtypes))\nresult_df = t", Tables: []sandbox.Table{{Name: "t", Bundle: path}}})
	if err != nil {
		t.Fatalf("%v %s", err, o.Stderr)
	}
	wantTypes := "bool boolean int8 int64 Int64 uint64 float64 object object datetime64[ns] datetime64[ns] datetime64[ns, Europe/Berlin] object object timedelta64[ns] object object object object"
	if d := cmp.Diff(wantTypes, strings.TrimSpace(o.Stdout)); d != "" {
		t.Error(d)
	}
	var columns []string
	for _, c := range o.Columns {
		columns = append(columns, c.Type.String())
	}
	want := "BOOLEAN BOOLEAN TINYINT BIGINT BIGINT UBIGINT DOUBLE DECIMAL(38,2) DECIMAL(38,1) DATE TIMESTAMP TIMESTAMP WITH TIME ZONE TIMESTAMP TIME INTERVAL VARCHAR VARCHAR JSON BLOB"
	if d := cmp.Diff(want, strings.Join(columns, " ")); d != "" {
		t.Error(d)
	}
	rows := `[[true,true,-128,"-9223372036854775808","9007199254740993","18446744073709551615",0.1,-123.45,"1844674407370955161.6","1970-01-01","1970-01-01 00:00:01.5","2024-01-01 00:00:00+00","9999-12-31 00:00:00","01:01:01.5","1 day 01:01:01","Grüße 🌍","a\u0000b",{"a":[1,2]},"\\xFF\\x00"],` +
		`[false,null,127,"9223372036854775807",null,0,null,1.1,-0.1,"2024-01-01",null,null,null,null,null,"",null,null,"ok"]]`
	if d := cmp.Diff(rows, string(o.Rows)); d != "" {
		t.Error(d)
	}
}

// TestResultsSurvive hands the rows of one job to the next: they come out again as they went in.
func TestResultsSurvive(t *testing.T) {
	e := walls[0].open(t, nil)
	code := "import decimal\nresult_df = pd.DataFrame({'i': pd.array([1, None, 2**60], dtype='Int64'), 'd': [decimal.Decimal('0.10'), None, decimal.Decimal('99999999999999999999.01')], 't': pd.to_datetime(['2024-01-02 03:04:05.123456', None, '1969-12-31 23:59:59']), 'z': pd.to_datetime(['2024-01-02', None, '2024-06-01']).tz_localize('Asia/Tokyo'), 'b': pd.array([True, None, False], dtype='boolean'), 's': ['ä', None, ''], 'f': [1.5, None, -0.0], 'u': np.array([2**64-1, 0, 1], dtype='uint64'), 'span': pd.to_timedelta(['1 days', None, '00:00:01'])})"
	first, err := e.Run(t.Context(), sandbox.Job{Code: code})
	if err != nil {
		t.Fatal(err)
	}
	second, err := e.Run(t.Context(), sandbox.Job{Code: "result_df = step_1", Tables: []sandbox.Table{{Name: "step_1", Result: &sandbox.Result{Columns: first.Columns, Rows: first.Rows}}}})
	if err != nil {
		t.Fatalf("%v %s", err, second.Stderr)
	}
	if d := cmp.Diff(string(first.Rows), string(second.Rows)); d != "" {
		t.Error(d)
	}
	for i, c := range first.Columns {
		if got := second.Columns[i]; (got.Name != c.Name || !got.Type.Equal(c.Type)) && c.Type.String() != "INTERVAL" { // an interval comes back as text
			t.Errorf("column %v became %v", c, got)
		}
	}
}

// TestStringsProperty reads back what the writer wrote, whatever mix of repeated,
// unique and odd values it was given in whatever pieces.
func TestStringsProperty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.bundle")
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b\x00c", "ü"}), rapid.String()), 0, 300).Draw(t, "values")
		repeat := rapid.SampledFrom([]int{1, 1, 1000}).Draw(t, "repeat")
		var want []string
		var nulls []bool
		w, err := sandbox.Create(path, []sandbox.Field{{Name: "s", Kind: sandbox.Text}})
		if err != nil {
			t.Fatal(err)
		}
		for range repeat {
			mask := make([]uint64, (len(values)+63)/64)
			for i := range values {
				if rapid.Uint64().Draw(t, "seed")%3 > 0 || repeat > 1 {
					mask[i/64] |= 1 << (i % 64)
				}
				want, nulls = append(want, values[i]), append(nulls, mask[i/64]>>(i%64)&1 == 0)
			}
			w.Strings(0, values, mask)
			if repeat > 1 && len(want) > 200_000 {
				break
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, gotNulls := readStrings(t, path)
		if len(got) != len(want) {
			t.Fatalf("%d values, want %d", len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] || gotNulls(i) != nulls[i] {
				t.Fatalf("value %d is %q (null %v), want %q (null %v)", i, got[i], gotNulls(i), want[i], nulls[i])
			}
		}
	})
}

// readStrings is a second reader of the format, for its first column.
func readStrings(t *rapid.T, path string) ([]string, func(int) bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := len(raw)
	if !bytes.HasPrefix(raw, []byte("ILBUNDL1")) || !bytes.HasSuffix(raw, []byte("ILBUNDL1")) {
		t.Fatal("no magic")
	}
	size := int(binary.LittleEndian.Uint64(raw[n-16:]))
	var footer struct {
		Rows    int
		Columns []struct {
			Nulls, Dict []int64
			Segments    [][4]int64
		}
	}
	if err := json.Unmarshal(raw[n-16-size:n-16], &footer); err != nil {
		t.Fatal(err)
	}
	c := footer.Columns[0]
	var words, out []string
	if c.Dict != nil {
		words = strings.Split(string(raw[c.Dict[0]:c.Dict[0]+c.Dict[1]]), "\x00")
	}
	for _, s := range c.Segments {
		part := raw[s[2] : s[2]+s[3]]
		rest := part[4*s[0]:]
		for i := range s[0] {
			n := binary.LittleEndian.Uint32(part[4*i:])
			if s[1] == 1 {
				out = append(out, words[n])
				continue
			}
			out, rest = append(out, string(rest[:n])), rest[n:]
		}
	}
	return out, func(i int) bool { return c.Nulls != nil && raw[c.Nulls[0]+int64(i/8)]>>(i%8)&1 == 1 }
}

func TestWriterRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.bundle")
	for name, fields := range map[string][]sandbox.Field{
		"an unknown kind": {{Name: "a", Kind: "complex"}},
		"one name twice":  {{Name: "a", Kind: sandbox.Text}, {Name: "a", Kind: sandbox.Text}},
	} {
		if _, err := sandbox.Create(path, fields); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	for name, fill := range map[string]func(*sandbox.Writer){
		"columns of unequal length": func(w *sandbox.Writer) { sandbox.Append(w, 0, []int64{1}, nil) },
		"values of a wrong width":   func(w *sandbox.Writer) { sandbox.Append(w, 0, []int32{1}, nil); w.Strings(1, []string{"x"}, nil) },
		"a mask that is too short": func(w *sandbox.Writer) {
			sandbox.Append(w, 0, make([]int64, 65), []uint64{1})
			w.Strings(1, make([]string, 65), nil)
		},
	} {
		w, err := sandbox.Create(path, []sandbox.Field{{Name: "a", Kind: sandbox.Int64}, {Name: "b", Kind: sandbox.Text}})
		if err != nil {
			t.Fatal(err)
		}
		fill(w)
		if err := w.Close(); err == nil {
			t.Errorf("%s were taken", name)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
