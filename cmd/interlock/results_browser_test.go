package main

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"interlock/web/e2e"
)

// TestDataInBrowser drives the page in Chromium, on the whole program: files are dropped, asked,
// paged, exported and deleted, charts and reports are made, two files are reconciled.
func TestDataInBrowser(t *testing.T) {
	w := newWorld(t, map[string]string{
		"data/broken/good.csv":    "id,city\n1,Bern\n2,Basel\n",
		"data/broken/bad.parquet": "this is not Parquet",
		"databases/readme.txt":    "The folder of databases that may be connected.",
	})
	var long strings.Builder
	long.WriteString("id,status,total\n")
	for i := range 300 {
		long.WriteString([]string{"1,paid,10\n", "2,open,20.5\n", "3,paid,7\n"}[i%3])
	}
	w.write("data/many/lines.csv", long.String())
	db, err := sql.Open("sqlite", w.path("databases/stock.sqlite"))
	if err == nil {
		_, err = db.ExecContext(t.Context(), `CREATE TABLE parts (part_id INTEGER PRIMARY KEY, name TEXT, price NUMERIC);
			INSERT INTO parts VALUES (1, 'bolt', 0.5), (2, 'nut', 0.25), (3, 'gear', 12)`)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	w.flags = append(w.flags, "--provider", "offline", "--source-folders", w.path("databases"))
	e2e.Run(t, w.serve().url, "whole.test.js", "DATA="+w.path("data"), "STATE="+w.path("state"), "SQLITE="+w.path("databases/stock.sqlite"))
}
