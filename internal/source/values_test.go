package source_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/source/sourcetest"
)

// A valueCase is a column with one value that is hard to keep and one that is not.
type valueCase struct {
	declared string
	hard     string // SQL of the value
	easy     string
	copied   string // the hard value in a copy, as text
	remote   string // and in a result that the database gave; "" is the same
	kind     string // of the copy's column, in the words of the embedded engine
	live     string // of the result's column; "" is the same
	noted    bool   // the copy's column says what became of it
}

var postgresValues = []valueCase{
	{declared: "date", hard: "'infinity'", easy: "'2024-02-29'", copied: "infinity", kind: "DATE"},
	{declared: "date", hard: "'-infinity'", easy: "'2024-02-29'", copied: "-infinity", kind: "DATE"},
	{declared: "date", hard: "'0044-03-15 BC'", easy: "'2024-02-29'", copied: "0044-03-15 BC", kind: "VARCHAR", noted: true},
	{declared: "date", hard: "'5874897-12-31'", easy: "'2024-02-29'", copied: "5874897-12-31", kind: "VARCHAR", noted: true},
	{declared: "date", hard: "'10000-01-01'", easy: "'0001-01-01'", copied: "10000-01-01", kind: "DATE"},
	{declared: "timestamp", hard: "'infinity'", easy: "'2024-02-29 01:02:03'", copied: "infinity", kind: "TIMESTAMP"},
	{declared: "timestamp", hard: "'4713-01-01 00:00:00 BC'", easy: "'2024-02-29 01:02:03'", copied: "4713-01-01 00:00:00 BC", kind: "VARCHAR", noted: true},
	{declared: "timestamp", hard: "'294276-12-31 23:59:59.999999'", easy: "'2024-02-29 01:02:03'", copied: "294276-12-31 23:59:59.999999", kind: "VARCHAR", noted: true},
	{declared: "timestamp", hard: "'294246-12-31 23:59:59.999999'", easy: "'0001-01-01'", copied: "294246-12-31 23:59:59.999999", kind: "TIMESTAMP"},
	{declared: "timestamptz", hard: "'-infinity'", easy: "'2024-02-29 01:02:03+02'", copied: "-infinity", kind: "TIMESTAMP WITH TIME ZONE"},
	{declared: "timestamptz", hard: "'294276-12-31 23:59:59+00'", easy: "'2024-02-29 01:02:03+02'", copied: "294276-12-31 23:59:59+00", kind: "VARCHAR", noted: true},
	{declared: "timestamptz", hard: "'0044-03-15 12:00:00+00 BC'", easy: "'2024-02-29 01:02:03+02'", copied: "0044-03-15 12:00:00+00 BC", kind: "VARCHAR", noted: true},
	{declared: "time", hard: "'24:00:00'", easy: "'01:02:03'", copied: "24:00:00", kind: "VARCHAR", noted: true},
	{declared: "time", hard: "'23:59:59.999999'", easy: "'01:02:03'", copied: "23:59:59.999999", kind: "TIME"},
	{declared: "timetz", hard: "'13:14:15.5+05:30'", easy: "'01:02:03+00'", copied: "13:14:15.5+05:30", kind: "VARCHAR"},
	{declared: "numeric", hard: "'NaN'", easy: "1.5", copied: "NaN", kind: "VARCHAR", noted: true},
	{declared: "numeric", hard: "'-Infinity'", easy: "1.5", copied: "-Infinity", kind: "VARCHAR", noted: true},
	{declared: "numeric(10,2)", hard: "'NaN'", easy: "1.50", copied: "NaN", kind: "VARCHAR", noted: true},
	{declared: "numeric", hard: "1" + strings.Repeat("0", 38), easy: "1", copied: "1" + strings.Repeat("0", 38), kind: "VARCHAR", noted: true},
	{declared: "numeric", hard: "0." + strings.Repeat("0", 99) + "1", easy: "1", copied: "0." + strings.Repeat("0", 99) + "1", kind: "VARCHAR", noted: true},
	{declared: "numeric(38,0)", hard: strings.Repeat("9", 38), easy: "1", copied: strings.Repeat("9", 38), kind: "DECIMAL(38,0)"},
	{declared: "numeric(3,-2)", hard: "12345", easy: "100", copied: "12300", kind: "DECIMAL(18,0)", live: "DECIMAL(5,0)"},
	{declared: "float4", hard: "'NaN'", easy: "1.5", copied: "NaN", kind: "DOUBLE"},
	{declared: "float8", hard: "'-Infinity'", easy: "0.1", copied: "-Infinity", kind: "DOUBLE"},
	{declared: "float8", hard: "1.7976931348623157e308", easy: "0.30000000000000004", copied: "1.7976931348623157e+308", kind: "DOUBLE"},
	{declared: "interval", hard: "'14 mons -3 days -04:05:06.5'", easy: "'1 day'", copied: "1 year 2 mons -3 days -04:05:06.5", kind: "VARCHAR"},
	{declared: "money", hard: "(-92233720368547758.08)::numeric::money", easy: "1.5::numeric::money", copied: "-92233720368547758.08", remote: "-$92,233,720,368,547,758.08", kind: "DECIMAL(19,2)", live: "VARCHAR"},
	{declared: "bytea", hard: `'\x00ff5c'`, easy: "''", copied: `\x00\xFF\x5C`, remote: `\x00ff5c`, kind: "BLOB", live: "VARCHAR"},
	{declared: "bit(5)", hard: "B'00101'", easy: "B'11111'", copied: "00101", kind: "VARCHAR"},
	{declared: "varbit", hard: "B'0010'", easy: "B''", copied: "0010", kind: "VARCHAR"},
	{declared: "jsonb", hard: `'{"n": 123456789012345678901234567890.10}'`, easy: "'1'", copied: `{"n": 123456789012345678901234567890.10}`, kind: "JSON"},
	{declared: "int8", hard: "-9223372036854775808", easy: "1", copied: "-9223372036854775808", kind: "BIGINT"},
	{declared: "oid", hard: "4294967295", easy: "1", copied: "4294967295", kind: "BIGINT"},
	{declared: "date[]", hard: "'{infinity,0044-03-15 BC,NULL}'", easy: "'{}'", copied: `["infinity","0044-03-15 BC",null]`, remote: `{infinity,"0044-03-15 BC",NULL}`, kind: "JSON", live: "VARCHAR"},
	{declared: "numeric[]", hard: "'{NaN,123456789012345678901234567890.10}'", easy: "'{}'", copied: `["NaN",123456789012345678901234567890.10]`, remote: "{NaN,123456789012345678901234567890.10}", kind: "JSON", live: "VARCHAR"},
	{declared: "interval[]", hard: "'{14 mons -3 days}'", easy: "'{}'", copied: `["1 year 2 mons -3 days"]`, remote: `{"1 year 2 mons -3 days"}`, kind: "JSON", live: "VARCHAR"},
	{declared: "timetz[]", hard: "'{24:00:00+02}'", easy: "'{}'", copied: `["24:00:00+02"]`, remote: "{24:00:00+02}", kind: "JSON", live: "VARCHAR"},
	{declared: "bool", hard: "false", easy: "true", copied: "false", kind: "BOOLEAN"},
}

func TestPostgresValues(t *testing.T) {
	t.Parallel()
	server := sourcetest.Postgres(t)
	address := fmt.Sprintf("postgres:///postgres?host=%s&user=owner", server.Socket)
	execPostgres(t, address, append(fillValues(postgresValues),
		// What a database sets for its sessions does not change how values are read.
		"ALTER DATABASE postgres SET intervalstyle = 'iso_8601'", "ALTER DATABASE postgres SET bytea_output = 'escape'",
		"ALTER DATABASE postgres SET extra_float_digits = 0", "ALTER DATABASE postgres SET timezone = 'Asia/Kolkata'", "ALTER DATABASE postgres SET datestyle = 'German'")...)
	checkValues(t, source.Config{URL: address, AllowOwner: true}, "public.hard", postgresValues)
}

var mariaValues = []valueCase{
	{declared: "date", hard: "'0000-00-00'", easy: "'2024-02-29'", copied: "0000-00-00", kind: "VARCHAR", noted: true},
	{declared: "date", hard: "'2024-00-10'", easy: "'2024-02-29'", copied: "2024-00-10", kind: "VARCHAR", noted: true},
	{declared: "date", hard: "'0000-01-01'", easy: "'2024-02-29'", copied: "0000-01-01", kind: "VARCHAR", noted: true},
	{declared: "date", hard: "'9999-12-31'", easy: "'0001-01-01'", copied: "9999-12-31", kind: "DATE"},
	{declared: "datetime", hard: "'0000-00-00 00:00:00'", easy: "'2024-02-29 01:02:03'", copied: "0000-00-00 00:00:00", kind: "VARCHAR", noted: true},
	{declared: "datetime(6)", hard: "'2024-05-00 01:02:03.000004'", easy: "'2024-02-29 01:02:03'", copied: "2024-05-00 01:02:03.000004", kind: "VARCHAR", noted: true},
	{declared: "datetime(6)", hard: "'9999-12-31 23:59:59.999999'", easy: "'2024-02-29 01:02:03'", copied: "9999-12-31 23:59:59.999999", kind: "TIMESTAMP"},
	{declared: "timestamp NULL", hard: "'0000-00-00 00:00:00'", easy: "'2024-02-29 01:02:03'", copied: "0000-00-00 00:00:00", kind: "VARCHAR", noted: true},
	{declared: "time", hard: "'838:59:59'", easy: "'01:02:03'", copied: "838:59:59", kind: "VARCHAR"},
	{declared: "time(3)", hard: "'-25:00:00.5'", easy: "'01:02:03'", copied: "-25:00:00.500", kind: "VARCHAR"},
	{declared: "bigint unsigned", hard: "18446744073709551615", easy: "1", copied: "18446744073709551615", kind: "HUGEINT", live: "UBIGINT"},
	{declared: "bigint", hard: "-9223372036854775808", easy: "1", copied: "-9223372036854775808", kind: "BIGINT"},
	{declared: "tinyint(1)", hard: "5", easy: "1", copied: "5", kind: "BIGINT"},
	{declared: "tinyint(1)", hard: "1", easy: "0", copied: "true", remote: "1", kind: "BOOLEAN", live: "BIGINT"},
	{declared: "bit(64)", hard: "b'" + strings.Repeat("1", 64) + "'", easy: "b'1'", copied: "18446744073709551615", kind: "HUGEINT", live: "UBIGINT"},
	{declared: "bit(9)", hard: "b'100000001'", easy: "b'1'", copied: "257", kind: "BIGINT", live: "UBIGINT"},
	{declared: "bit(1)", hard: "b'1'", easy: "b'0'", copied: "true", remote: "1", kind: "BOOLEAN", live: "UBIGINT"},
	{declared: "year", hard: "0", easy: "2024", copied: "0000", kind: "VARCHAR", noted: true},
	{declared: "year", hard: "2155", easy: "1901", copied: "2155", kind: "BIGINT"},
	{declared: "decimal(65,30)", hard: "-" + strings.Repeat("9", 35) + "." + strings.Repeat("9", 30), easy: "1", copied: "-" + strings.Repeat("9", 35) + "." + strings.Repeat("9", 30), kind: "VARCHAR", noted: true},
	{declared: "decimal(38,10)", hard: "1234567890123456789012345678.0123456789", easy: "1", copied: "1234567890123456789012345678.0123456789", kind: "DECIMAL(38,10)"},
	{declared: "float", hard: "16777215", easy: "1", copied: "16777215", remote: "16777200", kind: "DOUBLE"},
	{declared: "double", hard: "1.7976931348623157e308", easy: "0.30000000000000004", copied: "1.7976931348623157e+308", kind: "DOUBLE"},
	{declared: "json", hard: `'{"n": 123456789012345678901234567890.10}'`, easy: "'1'", copied: `{"n": 123456789012345678901234567890.10}`, kind: "VARCHAR"},
	{declared: "varbinary(4)", hard: "x'00ff5c'", easy: "''", copied: `\x00\xFF\x5C`, kind: "BLOB"},
	{
		declared: "point", hard: "ST_GeomFromText('POINT(1 2)')", easy: "ST_GeomFromText('POINT(0 0)')",
		copied: `\x00\x00\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xF0?\x00\x00\x00\x00\x00\x00\x00@`, kind: "BLOB",
	},
}

func TestMariaDBValues(t *testing.T) {
	t.Parallel()
	server := sourcetest.MariaDB(t)
	db, err := sql.Open("mysql", "root@unix("+server.Socket+")/?sql_mode=%27%27&time_zone=%27%2B00:00%27")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	run(t, db, append([]string{"CREATE DATABASE shop", "CREATE USER reader IDENTIFIED BY '" + secret + "'", "GRANT SELECT ON shop.* TO reader", "USE shop"}, fillValues(mariaValues)...)...)
	checkValues(t, source.Config{URL: "mysql://reader@localhost/shop?socket=" + server.Socket, Password: source.NewSecret(secret)}, "shop.hard", mariaValues)
}

// fillValues makes a table of which each case is a column.
func fillValues(cases []valueCase) []string {
	columns, hard, easy := "id int PRIMARY KEY", "1", "2"
	for i, c := range cases {
		columns += fmt.Sprintf(", c%d %s", i, c.declared)
		hard += ", " + c.hard
		easy += ", " + c.easy
	}
	return []string{"CREATE TABLE hard (" + columns + ")", "INSERT INTO hard VALUES (" + hard + ")", "INSERT INTO hard VALUES (" + easy + ")"}
}

// checkValues compares the values in previews by both protocols, in a copy, and in a result of the database.
func checkValues(t *testing.T, config source.Config, table string, cases []valueCase) {
	t.Helper()
	remote, err := source.Connect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	answer, err := remote.Run(t.Context(), unchecked("SELECT * FROM "+table+" ORDER BY id"), source.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	config.Table = "hard"
	s := open(t, config)
	defer s.Close()
	columns, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plain, err := s.Preview(t.Context(), schema.Filter{}, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := s.Preview(t.Context(), schema.Filter{Conditions: []schema.Condition{{Column: "id", Op: schema.Gt, Value: 0}}}, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	db, _ := loaded(t, s, schema.Filter{})
	copied, err := newEngine(t).Run(t.Context(), query.Request{Database: db, SQL: "SELECT * FROM data ORDER BY id"})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		name := c.declared + " " + c.hard
		live, kind := c.remote, c.live
		if live == "" {
			live = c.copied
		}
		if kind == "" {
			kind = c.kind
		}
		for way, rows := range map[string]json.RawMessage{"preview": plain.Rows, "bound preview": bound.Rows, "copy": copied.Rows} {
			if got := firstCell(t, rows, i+1); got != c.copied {
				t.Errorf("%s: %s has %s, want %s", name, way, got, c.copied)
			}
		}
		if got := firstCell(t, answer.Rows, i+1); got != live {
			t.Errorf("%s: the result has %s, want %s", name, got, live)
		}
		if got := answer.Columns[i+1].Type.String(); got != kind {
			t.Errorf("%s: the result's column is %s, want %s", name, got, kind)
		}
		if got := copied.Columns[i+1].Type.String(); got != c.kind {
			t.Errorf("%s: the copy's column is %s, want %s", name, got, c.kind)
		}
		if note := columns[i+1].Note; (note != nil) != c.noted || note != nil && (note.Rule != schema.RuleKeptText || !strings.Contains(note.Message, columns[i+1].Name)) {
			t.Errorf("%s: the note is %+v, want one: %v", name, note, c.noted)
		}
	}
}

// firstCell gives a cell of the first row as text.
func firstCell(t *testing.T, rows json.RawMessage, column int) string {
	t.Helper()
	var cells [][]json.RawMessage
	if err := json.Unmarshal(rows, &cells); err != nil || len(cells) != 2 {
		t.Fatalf("%d rows, %v", len(cells), err)
	}
	var text string
	if json.Unmarshal(cells[0][column], &text) == nil && cells[0][column][0] == '"' {
		return text
	}
	return string(cells[0][column])
}
