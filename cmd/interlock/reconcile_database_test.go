package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"interlock/internal/source/sourcetest"
)

// TestReconcileDatabase matches a table of a real PostgreSQL with a file. The statistics of
// the server show that only the rows that meet the condition travelled.
func TestReconcileDatabase(t *testing.T) {
	t.Parallel()
	server := sourcetest.Postgres(t)
	conn, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://owner@/postgres?host=%s", server.Socket))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "CREATE EXTENSION pg_stat_statements"); err != nil {
		t.Skipf("this PostgreSQL does not count the rows of statements (package postgresql-contrib): %v", err)
	}
	for _, s := range append([]string{
		`CREATE TABLE invoices (no text PRIMARY KEY, customer text, booked date, total numeric(12,2))`,
		`INSERT INTO invoices SELECT 'INV-' || (10000 + i), 'Customer ' || i % 97, DATE '2020-01-01' + i / 10, i * 1.37 FROM generate_series(1, 20000) i`,
	}, sourcetest.PostgresReader...) {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	var bank strings.Builder
	bank.WriteString("line,day,payer,memo,amount\n")
	var scoped int
	rows, err := conn.Query(t.Context(), `SELECT no, customer, to_char(booked + 3, 'DD.MM.YYYY'), total::text FROM invoices WHERE booked BETWEEN '2024-10-01' AND '2024-10-06' ORDER BY no`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var no, customer, day, total string
		if err := rows.Scan(&no, &customer, &day, &total); err != nil {
			t.Fatal(err)
		}
		scoped++
		fmt.Fprintf(&bank, "B%d,%s,%s,payment %s,%s\n", 7000+scoped, day, strings.ToUpper(customer), strings.ReplaceAll(no, "-", ""), total)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if scoped != 60 {
		t.Fatalf("%d rows meet the condition", scoped)
	}
	w := newWorld(t)
	if err := os.WriteFile(w.path("bank.csv"), []byte(bank.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := w.run("sources", "add", fmt.Sprintf("postgres://reader@/postgres?host=%s", server.Socket), "--alias", "store", "--remote", "--table", "invoices"); code != 0 {
		t.Fatal(out, errs)
	}
	if _, err := conn.Exec(t.Context(), "SELECT pg_stat_statements_reset()"); err != nil {
		t.Fatal(err)
	}
	out, errs, code := w.run("reconcile", "store.invoices", w.path("bank.csv"), "--left-where", "booked between 2024-10-01,2024-10-06", "--yes", "--json")
	if code != 0 {
		t.Fatal(out, errs)
	}
	var result struct {
		Matched  int `json:"matched"`
		LeftRows int `json:"left_rows"`
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatal(err, out)
	}
	if result.LeftRows != scoped || result.Matched != scoped {
		t.Errorf("%+v of %d rows", result, scoped)
	}
	// Statements that count or check give one row; the one that loads gives the rows.
	var sent, most int64
	if err := conn.QueryRow(t.Context(), `SELECT sum(rows)::bigint, max(rows)::bigint FROM pg_stat_statements WHERE userid = 'reader'::regrole AND query LIKE '%FROM "public"."invoices"%'`).Scan(&sent, &most); err != nil {
		t.Fatal(err)
	}
	if most != int64(scoped) || sent > int64(scoped)+10 {
		t.Errorf("the server sent %d rows, %d of them for one statement; %d were wanted", sent, most, scoped)
	}
}
