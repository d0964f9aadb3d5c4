package sourcetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// A Fixture is a connector with the table in it.
type Fixture struct {
	// Open gives the table. Required.
	Open func(t testing.TB) source.Source
	// Types are the columns that this system cannot give as Columns says.
	Types map[string]schema.Type
	// Doubles says that the system has no other numbers, so that one of them cannot be there.
	Doubles bool
	// Seconds says that the system's times are whole seconds: the table holds no finer
	// ones, and conditions on finer ones are left out.
	Seconds bool
	// Lacks are columns whose type the system does not have, each with why: they have
	// another there, and conditions on them are left out.
	Lacks map[string]string
	// Printed says that the system has a sign in the place of control characters.
	Printed bool
	// Long opens a table of at least 200,000 rows with a column id; nil skips what needs one.
	Long func(t testing.TB) source.Source
	// Stop ends the server of Long; nil if there is none.
	Stop func(t testing.TB)
}

// Run runs the suite.
func Run(t *testing.T, f Fixture) {
	s := f.Open(t)
	t.Cleanup(func() { s.Close() })
	rows := f.rows()
	t.Run("schema", func(t *testing.T) { f.schema(t, s) })
	t.Run("values", func(t *testing.T) { f.values(t, s, rows) })
	t.Run("preview", func(t *testing.T) { f.preview(t, s) })
	t.Run("filters", func(t *testing.T) { f.filters(t, s, rows) })
	t.Run("odd values", func(t *testing.T) { f.oddValues(t, s, rows) })
	t.Run("profile", func(t *testing.T) { f.profile(t, s, rows) })
	t.Run("wrong filters", func(t *testing.T) { wrongFilters(t, s) })
	if f.Long != nil {
		t.Run("stop reading", func(t *testing.T) { stopReading(t, f.Long(t)) })
		t.Run("cancel", func(t *testing.T) { cancel(t, f.Long(t)) })
	}
	if f.Stop != nil {
		t.Run("server gone", func(t *testing.T) { f.gone(t) })
	}
}

func (f Fixture) rows() []Row {
	rows := slices.Clone(Rows)
	for i := range rows {
		if f.Printed && rows[i].Name != nil {
			rows[i].Name = new(printed.Replace(*rows[i].Name))
		}
		if f.Doubles && rows[i].Qty != nil && *rows[i].Qty > 1<<53 {
			rows[i].Qty = nil
		}
		if f.Seconds {
			rows[i].Made, rows[i].Seen = whole(rows[i].Made), whole(rows[i].Seen)
		}
	}
	return rows
}

// whole cuts a time to its second.
func whole(at *string) *string {
	if at == nil {
		return nil
	}
	second, _, _ := strings.Cut(*at, ".")
	return new(second + ".000000")
}

// omits says why a condition cannot be tried; "" if it can.
func (f Fixture) omits(c schema.Condition) string {
	if why := f.Lacks[c.Column]; why != "" {
		return c.Column + ": " + why
	}
	if !f.Seconds || c.Column != "made" && c.Column != "seen" {
		return ""
	}
	values, ok := c.Value.([]any)
	if !ok {
		values = []any{c.Value}
	}
	for _, v := range values {
		if !strings.HasSuffix(v.(string), ".000000") {
			return c.Column + ": its times are whole seconds"
		}
	}
	return ""
}

// printed is what XML makes of the control characters of the table.
var printed = strings.NewReplacer("\x01", "\ufffd", "\x1f", "\ufffd")

func (f Fixture) kind(c schema.Column) schema.Type {
	if t, ok := f.Types[c.Name]; ok {
		return t
	}
	return c.Type
}

func (f Fixture) schema(t *testing.T, s source.Source) {
	got, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range Columns {
		if i >= len(got) || got[i].Name != want.Name || got[i].Type.String() != f.kind(want).String() {
			t.Errorf("column %d: got %+v, want %s %s", i, got[min(i, len(got)-1)], want.Name, f.kind(want))
		}
	}
}

func (f Fixture) values(t *testing.T, s source.Source, rows []Row) {
	n, err := s.Count(t.Context(), schema.Filter{})
	if err != nil || n != int64(len(rows)) {
		t.Errorf("count: %d, %v; want %d", n, err, len(rows))
	}
	got := map[int64][]string{}
	for b, err := range s.Stream(t.Context(), nil, schema.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		for row := range b.Rows {
			cells := make([]string, len(b.Columns))
			for col := range b.Columns {
				cells[col] = show(b, col, row)
			}
			got[b.Int(0, row)] = cells
		}
	}
	for _, r := range rows {
		if diff := cmp.Diff(f.expect(r), got[r.ID]); diff != "" {
			t.Errorf("row %d (-want +got): %s", r.ID, diff)
		}
	}
}

// expect is a row the way show writes it.
func (f Fixture) expect(r Row) []string {
	cells := make([]string, len(Columns))
	for i, v := range r.Cells() {
		switch c := Columns[i]; {
		case v == nil:
			cells[i] = "NULL"
		case f.kind(c).Kind == schema.Float:
			cells[i] = number(v).FloatString(6)
		case f.kind(c).Kind == schema.Decimal:
			cells[i] = number(v).FloatString(f.kind(c).Scale)
		case c.Type.Kind == schema.Bool && f.kind(c).Kind == schema.Int:
			cells[i] = map[bool]string{true: "1", false: "0"}[v.(bool)]
		default:
			cells[i] = fmt.Sprint(v)
		}
	}
	return cells
}

func show(b *source.Batch, col, row int) string {
	if b.Null(col, row) {
		return "NULL"
	}
	switch t := b.Columns[col].Type; t.Kind {
	case schema.Int:
		return fmt.Sprint(b.Int(col, row))
	case schema.Bool:
		return fmt.Sprint(b.Int(col, row) == 1)
	case schema.Float:
		return number(b.Float(col, row)).FloatString(6)
	case schema.Decimal:
		if t.Width > 18 {
			return string(b.Bytes(col, row))
		}
		n := number(b.Int(col, row))
		for range t.Scale {
			n.Quo(n, number(10))
		}
		return n.FloatString(t.Scale)
	case schema.Date:
		return time.Unix(b.Int(col, row)*86400, 0).UTC().Format(time.DateOnly)
	case schema.Timestamp, schema.TimestampTZ:
		return time.UnixMicro(b.Int(col, row)).UTC().Format("2006-01-02 15:04:05.000000")
	case schema.UUID:
		u := b.Bytes(col, row)
		return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
	}
	return string(b.Bytes(col, row))
}

func (f Fixture) preview(t *testing.T, s source.Source) {
	page, err := s.Preview(t.Context(), schema.Filter{}, 20, 5)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	dec := json.NewDecoder(bytes.NewReader(page.Rows))
	dec.UseNumber()
	if err := dec.Decode(&rows); err != nil {
		t.Fatalf("%s: %v", page.Rows, err)
	}
	if page.Count != 5 || len(rows) != 5 {
		t.Fatalf("%d rows (%d said), want 5: %s", len(rows), page.Count, page.Rows)
	}
	if fmt.Sprint(rows[0][0]) != "21" || fmt.Sprint(rows[4][0]) != "25" {
		t.Errorf("rows 21 to 25 were asked for, got %s", page.Rows)
	}
	if f.kind(Columns[2]).Kind == schema.Int && !f.Doubles && rows[2][2] != "9007199254740993" {
		t.Errorf("an integer that no double holds must be text, got %v", rows[2][2])
	}
	for i, want := range Columns {
		if page.Columns[i].Name != want.Name {
			t.Errorf("column %d is %q, want %q", i, page.Columns[i].Name, want.Name)
		}
	}
}

func (f Fixture) filters(t *testing.T, s source.Source, rows []Row) {
	omitted := map[string]int{}
	for _, c := range Conditions() {
		if why := f.omits(c); why != "" {
			omitted[why]++
			continue
		}
		want := Matches(rows, c)
		filter := schema.Filter{Conditions: []schema.Condition{c}}
		got, err := ids(t.Context(), s, filter)
		if err != nil {
			t.Errorf("%s %s %q: %v", c.Column, c.Op, c.Value, err)
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s %s %q: got rows %v, want %v", c.Column, c.Op, c.Value, got, want)
		}
		if n, err := s.Count(t.Context(), filter); err != nil || n != int64(len(want)) {
			t.Errorf("%s %s %q: count %d, %v; want %d", c.Column, c.Op, c.Value, n, err, len(want))
		}
	}
	for why, n := range omitted {
		t.Logf("left out: %d conditions cannot be tried here: %s", n, why)
	}
	both := schema.Filter{Conditions: []schema.Condition{{Column: "ratio", Op: schema.Gt, Value: 0}, {Column: "qty", Op: schema.Gt, Value: 5}}}
	var want []int64
	for _, id := range Matches(rows, both.Conditions[0]) {
		if slices.Contains(Matches(rows, both.Conditions[1]), id) {
			want = append(want, id)
		}
	}
	if got, err := ids(t.Context(), s, both); err != nil || !slices.Equal(got, want) {
		t.Errorf("two conditions: got %v, %v; want %v", got, err, want)
	}
}

// oddValues holds that a text means the same as a value of a filter whatever is in
// it, and that a row is found by its own text.
func (f Fixture) oddValues(t *testing.T, s source.Source, rows []Row) {
	value := rapid.OneOf(rapid.SampledFrom(names), rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"'", "''", `"`, "`", `\`, "$1", "?", ":a", "@p1", "{p1:String}", "%", "_", "--", "/*", ";", "\n", "\r", "\x01", "\x7f", "\u2028", "é", "e\u0301", "😀",
		})), 0, 4).Draw(t, "parts")
		return strings.ReplaceAll(strings.Join(parts, ""), "\x00", "")
	}))
	rapid.Check(t, func(rt *rapid.T) {
		c := schema.Condition{Column: "name", Op: rapid.SampledFrom(schema.OpsFor(Columns[1].Type)).Draw(rt, "op")}
		switch c.Op {
		case schema.Between, schema.In:
			c.Value = []any{value.Draw(rt, "first"), value.Draw(rt, "second")}
		default:
			c.Value = value.Draw(rt, "value")
		}
		got, err := ids(t.Context(), s, schema.Filter{Conditions: []schema.Condition{c}})
		if want := Matches(rows, c); err != nil || !slices.Equal(got, want) {
			rt.Fatalf("%s %.200q: got rows %v, %v; want %v", c.Op, c.Value, got, err, want)
		}
	})
}

func ids(ctx context.Context, s source.Source, f schema.Filter) ([]int64, error) {
	var ids []int64
	for b, err := range s.Stream(ctx, []string{"id"}, f) {
		if err != nil {
			return nil, err
		}
		for row := range b.Rows {
			ids = append(ids, b.Int(0, row))
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func wrongFilters(t *testing.T, s source.Source) {
	for _, c := range []schema.Condition{
		{Column: "prize", Op: schema.Eq, Value: 1},
		{Column: "paid", Op: schema.Gt, Value: true},
		{Column: "qty", Op: schema.In, Value: 3},
		{Column: "day", Op: schema.Eq, Value: "yesterday"},
		{Column: "qty", Op: "=", Value: 3},
	} {
		f := schema.Filter{Conditions: []schema.Condition{c}}
		if got, err := ids(t.Context(), s, f); !fault.Is(err, fault.BadFilter) || got != nil {
			t.Errorf("stream %v: %v, %v; want bad_filter and nothing", c, got, err)
		}
		if _, err := s.Count(t.Context(), f); !fault.Is(err, fault.BadFilter) {
			t.Errorf("count %v: %v; want bad_filter", c, err)
		}
		if _, err := s.Preview(t.Context(), f, 0, 5); !fault.Is(err, fault.BadFilter) {
			t.Errorf("preview %v: %v; want bad_filter", c, err)
		}
	}
}

func stopReading(t *testing.T, s source.Source) {
	defer s.Close()
	for _, err := range s.Stream(t.Context(), nil, schema.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if n, err := s.Count(t.Context(), schema.Filter{}); err != nil || n < 200_000 {
		t.Errorf("after a stream that was left, count: %d, %v", n, err)
	}
}

func cancel(t *testing.T, s source.Source) {
	defer s.Close()
	if _, err := s.Describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var (
		failed error
		at     time.Time
	)
	rows := 0
	for b, err := range s.Stream(ctx, nil, schema.Filter{}) {
		if err != nil {
			failed = err
			break
		}
		if rows += b.Rows; at.IsZero() {
			stop()
			at = time.Now()
		}
	}
	if !fault.Is(failed, fault.QueryCancelled) {
		t.Errorf("got %v after %d rows, want query_cancelled", failed, rows)
	}
	if took := time.Since(at); took > 2*time.Second {
		t.Errorf("it took %s to stop", took)
	}
}

func (f Fixture) gone(t *testing.T) {
	s := f.Long(t)
	defer s.Close()
	var failed error
	rows, stopped := 0, false
	for b, err := range s.Stream(t.Context(), nil, schema.Filter{}) {
		if err != nil {
			failed = err
			break
		}
		if rows += b.Rows; !stopped {
			stopped = true
			f.Stop(t)
		}
	}
	if !fault.Is(failed, fault.SourceUnreadable) {
		t.Errorf("got %v after %d rows, want source_unreadable", failed, rows)
	}
	if _, err := s.Count(t.Context(), schema.Filter{}); !fault.Is(err, fault.SourceUnreadable) {
		t.Errorf("count without a server: %v, want source_unreadable", err)
	}
}
