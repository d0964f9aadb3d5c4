package source_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/sqlpolicy"
)

// postgresTypes reads what the suite's table does not have, by both paths: COPY and
// a statement with bound values.
func postgresTypes(t *testing.T, address string) {
	execPostgres(t, address,
		`CREATE TYPE mood AS ENUM ('sad', 'glad')`, `CREATE DOMAIN cents AS numeric(8,2)`,
		`CREATE TABLE odd (id int PRIMARY KEY, small smallint, free numeric, huge numeric(38,10), toobig numeric(60,2), cents cents, price money, wide real, raw bytea, doc jsonb, plain json,
			tags text[], nums numeric[], fixed char(5), mood mood, at time, away timestamptz, endless date, span interval, ip inet, "sel""ect" text)`,
		`INSERT INTO odd VALUES
			(1, -32768, 12345.678, 1234567890123456789012345678.0123456789, 123456789012345678901234567890123456789012345678.25, 99.90, '1234.50', 0.1, '\x00ff27', '{"a": [1, null]}', '{"b":  1}',
			 '{"x","y z",NULL}', '{1.10,2}', 'ab', 'glad', '13:14:15.000016', '2024-07-01 12:00:00+02', 'infinity', '1 day 02:00', '10.0.0.1/8', ''),
			(2, NULL, -0.001, -0.0000000001, NULL, NULL, NULL, NULL, '', NULL, NULL, '{}', NULL, NULL, NULL, NULL, '-infinity', '0001-01-01', NULL, NULL, NULL)`)
	s := open(t, source.Config{URL: address, Table: "odd"})
	defer s.Close()
	want := `[[1,-32768,12345.678,"1234567890123456789012345678.0123456789","123456789012345678901234567890123456789012345678.25",99.90,1234.50,0.10000000149011612,"\\x00\\xFF\\x27","{\"a\": [1, null]}","{\"b\":  1}","[\"x\",\"y z\",null]","[1.10,2]","ab","glad","13:14:15.000016","2024-07-01 10:00:00+00","infinity","1 day 02:00:00","10.0.0.1/8",""],` +
		`[2,null,-0.001,-0.0000000001,null,null,null,null,"",null,null,"[]",null,null,null,null,"-infinity","0001-01-01",null,null,null]]`
	reads(t, s, want, map[string]schema.Filter{
		"copy":      {},
		"statement": {Conditions: []schema.Condition{{Column: "id", Op: schema.Gt, Value: 0}}},
	})
	containsWord(t, s, []schema.Condition{
		{Column: "free", Op: schema.Lt, Value: "-0.0005"},
		{Column: "fixed", Op: schema.Eq, Value: "ab"},
		{Column: "mood", Op: schema.Gt, Value: "a"},
		{Column: "price", Op: schema.Eq, Value: "1234.50"},
		{Column: "at", Op: schema.Lte, Value: "13:14:15.000016"},
		{Column: `sel"ect`, Op: schema.Eq, Value: ""},
		{Column: "wide", Op: schema.Gt, Value: 0.1},
		{Column: "cents", Op: schema.In, Value: []any{99.9}},
		{Column: "ip", Op: schema.Like, Value: "10.%"},
	})
}

func mysqlTypes(t *testing.T, db *sql.DB, config source.Config) {
	run(t, db, "SET SESSION sql_mode = ''",
		"CREATE TABLE odd (id int PRIMARY KEY, big bigint unsigned, flags bit(5), one bit(1), wide float, raw varbinary(10), day date, span time, mood enum('sad','glad'), fixed char(5), latin varchar(20), deep decimal(40,2), y year, five tinyint(1), yes tinyint(1))",
		`INSERT INTO odd VALUES (1, 18446744073709551615, b'10101', b'1', 0.1, x'00ff27', '0000-00-00', '-120:00:01', 'glad', 'ab', 'Grüße', '12345678901234567890123456789012345678.25', 2024, 5, 1), (2, 0, b'0', b'0', NULL, '', '2024-02-29', '10:00:00', '', '', '', NULL, NULL, NULL, 0)`)
	config.Table = "odd"
	s := open(t, config)
	defer s.Close()
	want := `[[1,"18446744073709551615",21,true,0.10000000149011612,"\\x00\\xFF\\x27","0000-00-00","-120:00:01","glad","ab","Grüße","12345678901234567890123456789012345678.25",2024,5,true],` +
		`[2,0,0,false,null,"","2024-02-29","10:00:00","","","",null,null,null,false]]`
	reads(t, s, want, map[string]schema.Filter{
		"text":   {},
		"binary": {Conditions: []schema.Condition{{Column: "id", Op: schema.Gt, Value: 0}}},
	})
	containsWord(t, s, []schema.Condition{
		{Column: "big", Op: schema.Gt, Value: "18446744073709551614"},
		{Column: "latin", Op: schema.Eq, Value: "Grüße"},
		{Column: "latin", Op: schema.Like, Value: "Gr__e"},
		{Column: "latin", Op: schema.Lt, Value: "A"},
		{Column: "one", Op: schema.Eq, Value: true},
		{Column: "flags", Op: schema.Gte, Value: 21},
		{Column: "mood", Op: schema.Eq, Value: "glad"},
	})
	wrong := config
	wrong.Password = source.NewSecret(secret + "?")
	s = open(t, wrong)
	defer s.Close()
	_, err := s.Describe(t.Context())
	if !fault.Is(err, fault.SourceUnreadable) || !strings.Contains(err.Error(), "refused the user or password") {
		t.Errorf("a wrong password: %v", err)
	}
	noSecret(t, err)
}

// noSecret looks for the password in an error and all its causes.
func noSecret(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, secret) {
			t.Errorf("the password is in %s", text)
		}
	}
}

// unchecked is a decision that nobody made: what the sessions refuse by themselves.
func unchecked(sql string) sqlpolicy.Decision { return sqlpolicy.Decision{SQL: sql} }

// runThere runs whole statements in the database, past the policy.
func runThere(t *testing.T, c source.Config, dialect string) {
	remote, err := source.Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	data := map[string]string{"postgres": "public.data", "mysql": "shop.data"}[dialect]
	got, err := remote.Run(t.Context(), unchecked("SELECT paid, count(*) AS n, sum(price) AS total, max(made) AS last FROM "+data+" WHERE name = 'alpha' GROUP BY paid ORDER BY n DESC, paid"), source.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	if err := json.Unmarshal(got.Rows, &rows); err != nil || len(rows) == 0 || len(rows[0]) != 4 || got.Count != len(rows) {
		t.Errorf("%s: %v", got.Rows, err)
	}
	long := map[string]string{"postgres": "public.long", "mysql": "shop.`long`"}[dialect]
	got, err = remote.Run(t.Context(), unchecked("SELECT * FROM "+long), source.Limits{Rows: 10})
	if err != nil || got.Count != 10 || !got.Limited {
		t.Errorf("ten of many: %d rows, limited %v, %v", got.Count, got.Limited, err)
	}
	if _, err = remote.Run(t.Context(), unchecked("SELECT count(*) FROM "+long+" a CROSS JOIN "+long+" b WHERE a.note <> b.note"), source.Limits{Timeout: 200e6}); !fault.Is(err, fault.QueryTimeout) {
		t.Errorf("a slow statement: %v, want query_timeout", err)
	}
	if _, err = remote.Run(t.Context(), unchecked("SELECT nonsense FROM "+data), source.Limits{}); !fault.Is(err, fault.SQLError) {
		t.Errorf("an unknown column: %v, want sql_error", err)
	}
	for _, sql := range writes[dialect] {
		if _, err := remote.Run(t.Context(), unchecked(sql), source.Limits{}); err == nil {
			t.Errorf("the session let through: %s", sql)
		}
	}
	if _, err = remote.Run(t.Context(), unchecked("SELECT id FROM "+data), source.Limits{Rows: 1}); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// writes are statements that a session refuses, whatever the policy would say.
var writes = map[string][]string{
	"postgres": {
		"DELETE FROM public.data", "CREATE TABLE public.evil (a int)", "CREATE TEMP TABLE evil (a int)", "SELECT * INTO public.evil FROM public.data", "SELECT id FROM public.data FOR UPDATE",
		"WITH x AS (DELETE FROM public.data RETURNING *) SELECT * FROM x", "SELECT 1; DELETE FROM public.data", "COPY public.data TO '/tmp/evil'", "SET TRANSACTION READ WRITE; DELETE FROM public.data",
		"SELECT nextval('evil')", "SELECT pg_read_file('/etc/passwd')", "COPY public.data TO PROGRAM 'cat'", "TRUNCATE public.data", "DO $$ BEGIN DELETE FROM public.data; END $$",
	},
	"mysql": {
		"DELETE FROM shop.data", "CREATE TABLE shop.evil (a int)", "SELECT 1; DELETE FROM shop.data", "INSERT INTO shop.data (id) VALUES (1)", "DROP TABLE shop.data",
		"TRUNCATE shop.data", "UPDATE shop.data SET id = 0",
	},
}

// reads checks that each way of reading a table gives the same rows, and that the
// engine takes them as they are.
func reads(t *testing.T, s source.Source, want string, ways map[string]schema.Filter) {
	t.Helper()
	for name, f := range ways {
		page, err := s.Preview(t.Context(), f, 0, 10)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, string(page.Rows)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	survives(t, newEngine(t), s)
}

// containsWord checks that each condition keeps exactly one row.
func containsWord(t *testing.T, s source.Source, conditions []schema.Condition) {
	t.Helper()
	for _, c := range conditions {
		if n, err := s.Count(t.Context(), schema.Filter{Conditions: []schema.Condition{c}}); err != nil || n != 1 {
			t.Errorf("%v: %d rows, %v; want 1", c, n, err)
		}
	}
}
