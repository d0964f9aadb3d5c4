package source_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/source/sourcetest"
)

// A standIn holds the suite's tables in SQLite for servers of tests that speak the
// protocol of a system that cannot be had: in the schema shop, with a catalogue in
// information_schema.
type standIn struct{ dir string }

// newStandIn makes the tables. Types are those of columns, by their names; utc ends a
// literal of an instant.
func newStandIn(t testing.TB, types map[string]string, utc string) standIn {
	s := standIn{t.TempDir()}
	db, err := s.open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	statements := sourcetest.SQL("sqlite")
	for i, text := range statements {
		statements[i] = strings.NewReplacer("TABLE data", "TABLE shop.data", "INTO data", "INTO shop.data", "+00:00'", utc).Replace(text)
	}
	statements = append(statements,
		`CREATE TABLE shop.long AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 250000) SELECT i AS id, 'text of row ' || i AS note FROM n`,
		`CREATE TABLE shop.broken AS SELECT * FROM shop.long LIMIT 5000`,
		`CREATE TABLE shop.odd (id, wide, deep, at, fixed, away)`,
		`INSERT INTO shop.odd VALUES (1, 0.10000000149011612, '12345678901234567890.123', '13:14:15.000016', 'ab   ', '2024-07-01 12:00:00.000 Europe/Berlin'), (2, NULL, NULL, NULL, NULL, NULL)`,
		`CREATE TABLE information_schema.columns (table_schema, table_name, column_name, data_type, numeric_precision, numeric_scale, ordinal_position)`,
		`CREATE TABLE information_schema.tables (table_schema, table_name)`)
	for table, columns := range map[string]string{"data": "id name qty price ratio paid day made seen key", "long": "id note", "broken": "id note", "odd": "id wide deep at fixed away"} {
		statements = append(statements, fmt.Sprintf("INSERT INTO information_schema.tables VALUES ('shop', '%s')", table))
		for i, c := range strings.Fields(columns) {
			kind, width, scale := types[c], 0, 0
			if n, _ := fmt.Sscanf(kind, "NUMBER(%d,%d)", &width, &scale); n == 2 {
				kind = "NUMBER"
			}
			statements = append(statements, fmt.Sprintf("INSERT INTO information_schema.columns VALUES ('shop', '%s', '%s', '%s', %d, %d, %d)", table, c, kind, width, scale, i))
		}
	}
	run(t, db, statements...)
	return s
}

// open gives the tables to one statement: what it holds open is its own.
func (s standIn) open() (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.dir, "main")+"?_pragma=case_sensitive_like(1)&_pragma=journal_mode(off)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("ATTACH ? AS shop; ATTACH ? AS information_schema", filepath.Join(s.dir, "shop"), filepath.Join(s.dir, "info")); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// drain runs a statement to its end.
func drain(ctx context.Context, db *sql.DB, text string) error {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// split takes literals apart.
func split(list string) []string {
	var parts []string
	start, quoted := 0, false
	for i, c := range list {
		switch {
		case c == '\'':
			quoted = !quoted
		case c == ',' && !quoted:
			parts, start = append(parts, list[start:i]), i+1
		}
	}
	return append(parts, list[start:])
}

// fill puts literals where the marks are.
func fill(text string, literals []string) string {
	var out strings.Builder
	var quote rune
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && c == '?' && len(literals) > 0:
			out.WriteString(literals[0])
			literals = literals[1:]
			continue
		}
		out.WriteRune(c)
	}
	return out.String()
}
