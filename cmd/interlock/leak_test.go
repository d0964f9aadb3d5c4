package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Whatever fails, nobody is told over HTTP where the data lie, on which host and as
// whom a database is asked: that is for the server's log.
func TestFailuresTellNoPlaces(t *testing.T) {
	const host, user = "dbhost-k7.invalid", "dbuser_k7"
	w := newWorld(t, map[string]string{
		"data/bad/broken.parquet": "PAR1 this is no parquet", "data/bad/broken.xlsx": "PK\x03\x04 no workbook", "data/bad/broken.json": `[{"a":`,
		"data/bad/broken.sqlite": "SQLite format 3\x00 no database", "data/bad/broken.duckdb": "no database", "data/bad/fine.csv": "a\n1\n",
		"data/listed/registry.yaml": "id: listed\nfiles: [{path: missing.csv}, {path: ../../people}, {path: here.csv}]\n", "data/listed/here.csv": "a\n1\n",
		"data/worse/registry.yaml": "a: [", "data/alone/broken.parquet": "PAR1", "outside.csv": "a\n1\n",
		"state/sources.yaml": fmt.Sprintf("sources:\n"+
			"- {alias: pg, url: 'postgres://%[2]s@%[1]s:54321/shop'}\n- {alias: pgr, url: 'postgres://%[2]s@127.0.0.1:54321/shop', remote: true}\n"+
			"- {alias: my, url: 'mysql://%[2]s@127.0.0.1:54321/shop'}\n- {alias: ch, url: 'clickhouse://%[2]s@127.0.0.1:54321/shop'}\n"+
			"- {alias: tr, url: 'trino://%[2]s@127.0.0.1:54321/shop/x'}\n- {alias: lite, url: 'sqlite:%[3]s/gone.db'}\n- {alias: gone, url: '%[3]s/gone.csv'}\n", host, user, t.TempDir()),
	})
	if err := os.Symlink(w.path("outside.csv"), w.path("data/bad/link.csv")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.path("nowhere"), w.path("data/bad/dangling.csv")); err != nil {
		t.Fatal(err)
	}
	w.flags = append(w.flags, "--provider", "offline")
	p := w.serve()
	secrets := []string{w.dir, host, user, "54321", os.TempDir() + "/Test"}
	try := func(method, path, body string) string {
		t.Helper()
		_, text := p.text("", method, path, body)
		for _, secret := range secrets {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s %s %s tells %s: …%s…", method, path, body, secret, text[max(0, i-150):min(len(text), i+150)])
			}
		}
		return text
	}
	threads := map[string]bool{}
	said := func(text string) {
		var doc struct {
			Thread string `json:"thread_id"`
			Run    string `json:"run_id"`
		}
		if json.Unmarshal([]byte(text), &doc) == nil && doc.Thread != "" {
			threads[doc.Thread] = true
			try("GET", "/runs/"+doc.Run, "")
			try("GET", "/runs/"+doc.Run+"/status", "")
		}
	}
	for _, path := range []string{"/datasets", "/api/datasets", "/api/sources", "/readyz", "/api/machines"} {
		try("GET", path, "")
	}
	for _, id := range []string{"bad", "listed", "worse", "alone", "pg", "pgr", "my", "ch", "tr", "lite", "gone"} {
		try("GET", "/datasets/"+id+"/schema", "")
		for _, alias := range []string{id, id + ".orders", "fine", "here"} {
			try("GET", "/api/sources/"+alias, "")
			try("GET", "/api/sources/"+alias+"/profile", "")
			try("POST", "/api/sources/"+alias+"/load-scoped", `{"conditions":[]}`)
		}
		for _, body := range []map[string]any{
			{"message": "SQL: SELECT * FROM nowhere", "dataset_id": id},
			{"message": "SQL: SELECT * FROM read_csv('/etc/passwd')", "dataset_id": id},
			{"message": "How many rows are there?", "dataset_id": id},
			{"message": "PYTHON: open('/etc/shadow').read()", "dataset_id": id},
		} {
			said(try("POST", "/chat", toJSON(body)))
		}
		said(try("POST", "/runs", toJSON(map[string]string{"dataset_id": id, "query_type": "sql", "sql": "SELECT 1/0, * FROM fine"})))
		try("POST", "/api/export", toJSON(map[string]string{"dataset_id": id, "sql": "SELECT * FROM fine", "format": "csv"}))
	}
	said(try("POST", "/runs", toJSON(map[string]string{"dataset_id": "bad", "query_type": "sql", "sql": "SELECT len(list_transform(range(400000000), x -> x + 1))"})))
	said(try("POST", "/runs", toJSON(map[string]string{"dataset_id": "bad", "query_type": "python", "python": "import os\nos.listdir('/root')"})))
	said(try("POST", "/runs", toJSON(map[string]string{"dataset_id": "bad", "query_type": "python", "python": "raise ValueError(__file__)"})))
	try("POST", "/api/sources", toJSON(map[string]string{"url": "sqlite:/missing.db", "alias": "x"}))
	try("DELETE", "/api/datasets/bad/files/none.csv", "")
	for thread := range threads {
		try("GET", "/api/threads/"+thread, "")
		try("GET", "/threads/"+thread+"/messages", "")
	}
	if len(threads) == 0 {
		t.Error("no thread was made")
	}
}
