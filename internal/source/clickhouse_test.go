package source_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/source/sourcetest"
)

// TestClickHouse runs the suite against a real server, which for Debian is one of
// 2018: it has neither booleans nor fractions of seconds, and takes no parameters.
func TestClickHouse(t *testing.T) {
	t.Parallel()
	server := sourcetest.ClickHouse(t, secret)
	db, err := sql.Open("clickhouse", "clickhouse://writer@"+server.Socket+"/default")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run(t, db, append(clickhouseData(),
		"CREATE TABLE long (id UInt64, note String) ENGINE = MergeTree ORDER BY id",
		"INSERT INTO long SELECT number, concat('text of row ', toString(number)) FROM system.numbers LIMIT 400000")...)
	config := source.Config{URL: "clickhouse://reader@" + server.Socket + "/default", Password: source.NewSecret(secret)}
	at := func(table string) func(testing.TB) source.Source {
		return func(t testing.TB) source.Source {
			c := config
			c.Table = table
			return open(t, c)
		}
	}
	t.Run("types", func(t *testing.T) { clickhouseTypes(t, db, config) })
	t.Run("operators", func(t *testing.T) { clickhouseOperators(t, db, config) })
	t.Run("run", func(t *testing.T) { clickhouseRun(t, config) })
	t.Run("session", func(t *testing.T) { clickhouseSession(t, config) })
	t.Run("users", func(t *testing.T) { clickhouseUsers(t, server, config) })
	t.Run("limits", func(t *testing.T) { clickhouseLimits(t, config) })
	t.Run("tables", func(t *testing.T) {
		got, err := source.Tables(t.Context(), config)
		if want := []source.TableName{{Schema: "default", Name: "data"}, {Schema: "default", Name: "long"}, {Schema: "default", Name: "odd"}, {Schema: "default", Name: "typed"}}; err != nil || !slices.Equal(got, want) {
			t.Errorf("tables: %v, %v; want %v", got, err, want)
		}
	})
	sourcetest.Run(t, sourcetest.Fixture{
		Open: at("data"), Long: at("long"), Stop: server.Stop,
		Types:   map[string]schema.Type{"paid": {Kind: schema.Int}, "made": {Kind: schema.TimestampTZ}},
		Lacks:   map[string]string{"paid": "ClickHouse 18 has no type for true and false"},
		Seconds: true,
	})
}

// clickhouseTypes reads what the suite's table does not have.
func clickhouseTypes(t *testing.T, db *sql.DB, config source.Config) {
	run(t, db, "CREATE TABLE odd (id UInt8, small Int8, big UInt64, wide Float32, deep Decimal(38, 10), mood Enum8('sad' = 1, 'glad' = 2), fixed FixedString(5), tags Array(String), `a{p1:Int64}?b` String, day Date, at DateTime) ENGINE = MergeTree ORDER BY id",
		"INSERT INTO odd SELECT 1, -128, 18446744073709551615, toFloat32(0.1), toDecimal128('1234567890123456789012345678.0123456789', 10), 'glad', toFixedString('ab', 5), ['x', 'it''s'], 'q', toDate('2024-07-01'), toDateTime('2024-07-01 10:00:00', 'UTC')",
		"INSERT INTO odd SELECT 2, 127, 0, 0, toDecimal128('-0.0000000001', 10), 'sad', toFixedString('', 5), emptyArrayString(), '', toDate('1970-01-01'), toDateTime('1970-01-01 00:00:00', 'UTC')")
	config.Table = "odd"
	s := open(t, config)
	defer s.Close()
	want := `[[1,-128,"18446744073709551615",0.10000000149011612,"1234567890123456789012345678.0123456789","glad","ab","['x','it\\'s']","q","2024-07-01","2024-07-01 10:00:00+00"],` +
		`[2,127,0,0,-0.0000000001,"sad","","[]","","1970-01-01","1970-01-01 00:00:00+00"]]`
	reads(t, s, want, map[string]schema.Filter{
		"whole":    {},
		"filtered": {Conditions: []schema.Condition{{Column: "id", Op: schema.Gt, Value: 0}}},
	})
	containsWord(t, s, []schema.Condition{
		{Column: "small", Op: schema.Lt, Value: -127},
		{Column: "big", Op: schema.Gt, Value: "18446744073709551614"},
		{Column: "big", Op: schema.In, Value: []any{"18446744073709551615", 7}},
		{Column: "wide", Op: schema.Gt, Value: 0.1},
		{Column: "deep", Op: schema.In, Value: []any{"-0.0000000001"}},
		{Column: "mood", Op: schema.Gt, Value: "h"},
		{Column: "mood", Op: schema.In, Value: []any{"glad", "angry"}},
		{Column: "fixed", Op: schema.Like, Value: "_b"},
		{Column: "a{p1:Int64}?b", Op: schema.Eq, Value: "q"},
		{Column: "day", Op: schema.Between, Value: []any{"2024-07-01", "2024-07-01"}},
		{Column: "at", Op: schema.Eq, Value: "2024-07-01T12:00:00+02:00"},
	})
	for _, c := range []schema.Condition{{Column: "at", Op: schema.Eq, Value: "2024-07-01T12:00:00.5Z"}, {Column: "day", Op: schema.Lt, Value: "1900-01-01"}} {
		if _, err := s.Count(t.Context(), schema.Filter{Conditions: []schema.Condition{c}}); !fault.Is(err, fault.BadFilter) {
			t.Errorf("%v, which this server cannot hold: %v, want bad_filter", c, err)
		}
	}
}

// clickhouseOperators runs every operator of the golden texts, on columns that hold
// their three values and NULL.
func clickhouseOperators(t *testing.T, db *sql.DB, config source.Config) {
	natives := map[string]string{"qty": "Int64", "serial": "UInt64", "score": "Float64", "amount": "Decimal(9, 2)", "day": "Date", "key": "UUID", typed[5].column.Name: "String"}
	names, types := []string{"id"}, []string{"`id` UInt8"}
	rows := [4][]string{{"1"}, {"2"}, {"3"}, {"4"}}
	for _, c := range typed {
		native := natives[c.column.Name]
		if native == "" {
			t.Logf("left out: this server has no type for the values of %s (%s)", c.column.Name, c.column.Type)
			continue
		}
		names, types = append(names, c.column.Name), append(types, "`"+strings.ReplaceAll(c.column.Name, "`", "\\`")+"` Nullable("+native+")")
		for i, v := range c.values {
			if n, ok := v.(json.Number); ok && n == "1e3" {
				v = 1000
			}
			literal := strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(strings.Trim(fmt.Sprint(v), "{}"))
			if c.column.Name == "key" && len(literal) == 32 {
				literal = strings.ToLower(fmt.Sprint(typed[len(typed)-1].values[0]))
			}
			rows[i] = append(rows[i], fmt.Sprintf("CAST('%s' AS %s)", literal, native))
		}
		rows[3] = append(rows[3], "NULL")
	}
	statements := []string{"CREATE TABLE typed (" + strings.Join(types, ", ") + ") ENGINE = MergeTree ORDER BY id"}
	for _, r := range rows {
		statements = append(statements, "INSERT INTO typed SELECT "+strings.Join(r, ", "))
	}
	run(t, db, statements...)
	config.Table = "typed"
	s := open(t, config)
	defer s.Close()
	rising := map[schema.Op]string{schema.Eq: "2", schema.Neq: "1 3", schema.Gt: "3", schema.Gte: "2 3", schema.Lt: "1", schema.Lte: "1 2", schema.Between: "1 2 3", schema.In: "1 2 3"}
	wants := map[string]map[schema.Op]string{ // whose values do not rise
		"key":                {schema.Eq: "1 2", schema.Neq: "3", schema.In: "1 2 3"},
		typed[5].column.Name: {schema.Eq: "2", schema.Neq: "1 3", schema.Gt: "", schema.Gte: "2", schema.Lt: "1 3", schema.Lte: "1 2 3", schema.Between: "", schema.In: "1 2 3", schema.Like: ""},
	}
	for _, c := range typed {
		if !slices.Contains(names, c.column.Name) {
			continue
		}
		want, ok := wants[c.column.Name]
		if !ok {
			want = rising
		}
		for _, op := range schema.OpsFor(c.column.Type) {
			f := schema.Filter{Conditions: []schema.Condition{{Column: c.column.Name, Op: op, Value: valueFor(op, c.values)}}}
			var got []string
			for b, err := range s.Stream(t.Context(), []string{"id"}, f) {
				if err != nil {
					t.Fatalf("%s %s: %v", c.column.Name, op, err)
				}
				for row := range b.Rows {
					got = append(got, fmt.Sprint(b.Int(0, row)))
				}
			}
			if slices.Sort(got); strings.Join(got, " ") != want[op] {
				t.Errorf("%s %s: rows %v, want %s", c.column.Name, op, got, want[op])
			}
		}
	}
}

// clickhouseRun runs whole statements there.
func clickhouseRun(t *testing.T, config source.Config) {
	remote, err := source.Connect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	got, err := remote.Run(t.Context(), unchecked("SELECT id, qty, price, ratio, paid, day, seen, key, count() AS n FROM data WHERE id IN (2, 23) GROUP BY id, qty, price, ratio, paid, day, seen, key ORDER BY id"), source.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := `[[2,27,719.13,1.875,0,"2024-02-06","2024-03-04 05:13:19+00","9e3779b1-0000-4000-8000-000000000001",1],[23,"9007199254740993",18.86,2,0,"2024-11-27","2024-03-11 14:46:58+00","98c47536-0000-4000-8000-000000000016",1]]`
	if string(got.Rows) != want {
		t.Errorf("got  %s\nwant %s", got.Rows, want)
	}
	got, err = remote.Run(t.Context(), unchecked("SELECT * FROM long"), source.Limits{Rows: 10})
	if err != nil || got.Count != 10 || !got.Limited {
		t.Errorf("ten of many: %d rows, limited %v, %v", got.Count, got.Limited, err)
	}
	if _, err = remote.Run(t.Context(), unchecked("SELECT count() FROM system.numbers WHERE number < 3"), source.Limits{Timeout: 200e6}); !fault.Is(err, fault.QueryTimeout) {
		t.Errorf("a slow statement: %v, want query_timeout", err)
	}
	if _, err = remote.Run(t.Context(), unchecked("SELECT nonsense FROM data"), source.Limits{}); !fault.Is(err, fault.SQLError) {
		t.Errorf("an unknown column: %v, want sql_error", err)
	}
	if _, err = remote.Run(t.Context(), unchecked("DROP TABLE data"), source.Limits{}); !fault.Is(err, fault.SQLPolicy) {
		t.Errorf("a statement that writes: %v, want it refused", err)
	}
}

// clickhouseSession sends what no policy would let through: the session refuses it.
func clickhouseSession(t *testing.T, config source.Config) {
	db, err := source.OpenDB(config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{
		"INSERT INTO data SELECT * FROM data",
		"CREATE TABLE mine (a Int8) ENGINE = Memory",
		"CREATE TEMPORARY TABLE mine (a Int8)",
		"CREATE DATABASE mine",
		"DROP TABLE data",
		"ALTER TABLE data DELETE WHERE 1",
		"SET max_memory_usage = 1",
		"SET readonly = 0",
		"SELECT 1 SETTINGS readonly = 0",
		"SELECT * FROM file('x.csv', 'CSV', 'a String')",
		"SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')",
		"SYSTEM SHUTDOWN",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := drain(ctx, db, text)
		cancel()
		if said, ok := errors.AsType[*clickhouse.Exception](err); !ok || said.Code != 164 {
			t.Errorf("%s: %v, want the server to refuse it as read only (164)", text, err)
		}
	}
	if _, err := db.ExecContext(t.Context(), "DROP TABLE data"); err == nil {
		t.Error("a statement that only does something was taken")
	}
}

// clickhouseUsers connects as a user who is bound to read and may change no setting,
// and with a wrong password.
func clickhouseUsers(t *testing.T, server *sourcetest.Server, config source.Config) {
	bound := open(t, source.Config{URL: "clickhouse://bound@" + server.Socket + "/default", Table: "data"})
	defer bound.Close()
	if n, err := bound.Count(t.Context(), schema.Filter{Conditions: []schema.Condition{{Column: "id", Op: schema.Lte, Value: 10}}}); err != nil || n != 10 {
		t.Errorf("a user who only reads: %d, %v; want 10", n, err)
	}
	config.Table, config.Password = "data", source.NewSecret(secret+"?")
	wrong := open(t, config)
	defer wrong.Close()
	_, err := wrong.Describe(t.Context())
	if !fault.Is(err, fault.SourceUnreadable) || !strings.Contains(err.Error(), "refused the user or password") {
		t.Errorf("a wrong password: %v", err)
	}
	noSecret(t, err)
}

// clickhouseLimits runs into the limits at the server itself.
func clickhouseLimits(t *testing.T, config source.Config) {
	config.Timeout = time.Second
	db, err := source.OpenDB(config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for text, code := range map[string]int32{
		"SELECT count() FROM system.numbers WHERE number < 3":                               159,
		"SELECT groupArray(number) FROM (SELECT * FROM system.numbers LIMIT 2000000000000)": 0,
	} {
		err := drain(t.Context(), db, text)
		said, ok := errors.AsType[*clickhouse.Exception](err)
		if !ok || code != 0 && said.Code != code {
			t.Errorf("%s: %v, want code %d", text, err, code)
		}
	}
}

// clickhouseData gives the statements that make the suite's table. Rows come by SELECT
// because the driver and so old a server wait for each other over VALUES.
func clickhouseData() []string {
	types := []string{
		"Int64", "Nullable(String)", "Nullable(Int64)", "Nullable(Decimal(12, 2))", "Nullable(Float64)", "Nullable(UInt8)",
		"Nullable(Date)", "Nullable(DateTime)", "Nullable(DateTime('UTC'))", "Nullable(UUID)",
	}
	forms := []string{"%s", "'%s'", "%s", "toDecimal64('%s', 2)", "%s", "toUInt8('%s' = 'true')", "toDate('%s')", "toDateTime('%.19s', 'UTC')", "toDateTime('%.19s', 'UTC')", "toUUID('%s')"}
	var columns, rows []string
	for i, c := range sourcetest.Columns {
		columns = append(columns, c.Name+" "+types[i])
	}
	escape := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	for _, r := range sourcetest.Rows {
		cells := make([]string, len(columns))
		for i, v := range r.Cells() {
			if cells[i] = "NULL"; v != nil {
				cells[i] = fmt.Sprintf(forms[i], escape.Replace(fmt.Sprint(v)))
			}
		}
		rows = append(rows, "INSERT INTO data SELECT "+strings.Join(cells, ", "))
	}
	return append([]string{"CREATE TABLE data (" + strings.Join(columns, ", ") + ") ENGINE = MergeTree ORDER BY id"}, rows...)
}
