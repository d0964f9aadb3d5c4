package catalog_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"interlock/internal/catalog"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/source/sourcetest"
)

func ledger(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{
		`CREATE TABLE payments (ref TEXT, amount DECIMAL(10,2), booked DATE)`,
		`INSERT INTO payments VALUES ('INV-1', 10.10, '2024-01-01'), ('INV-2', 20.20, '2024-02-01'), (NULL, 5, '2024-02-02')`,
		`CREATE TABLE orders (n INTEGER)`,
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestSources(t *testing.T) {
	w := newWorld(t, shop)
	if err := w.Add(t.Context(), catalog.Connection{Alias: "bank", URL: "sqlite:" + ledger(t), Description: "The bank's view"}, source.Secret{}); err != nil {
		t.Fatal(err)
	}
	all, err := w.Sources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprintf("%s %s %s %d %d", s.Alias, s.Dataset, s.Kind, len(s.Columns), s.Rows))
	}
	want := []string{
		"apfel umlaut_co csv 2 1", "bank.orders bank sqlite 1 0", "customers shop csv 3 3", "events shop csv 2 3", "loose default csv 2 1",
		"order_items_2024 shop ndjson 3 2", "payments bank sqlite 3 3", "shop.orders shop csv 4 4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := w.Source(t.Context(), "paiments"); !fault.Is(err, fault.SourceNotRegistered) || !strings.Contains(err.Error(), `"payments"`) {
		t.Errorf("an unknown alias: %v", err)
	}
	if s, err := w.Source(t.Context(), "shop.customers"); err != nil || s.Alias != "customers" {
		t.Errorf("by its full name: %+v, %v", s, err)
	}
	// As a dataset of its own it is copied.
	if got := w.rows(t, "bank", "SELECT ref, amount, booked FROM payments WHERE amount > 15"); got != `[["INV-2",20.20,"2024-02-01"]]` {
		t.Errorf("rows: %s", got)
	}
	if err := w.Remove(t.Context(), "bank"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Get(t.Context(), "bank"); !fault.Is(err, fault.DatasetNotFound) {
		t.Errorf("removed: %v", err)
	}
	if err := w.Remove(t.Context(), "bank"); !fault.Is(err, fault.SourceNotRegistered) {
		t.Errorf("removed twice: %v", err)
	}
}

func TestLoadScoped(t *testing.T) {
	w := newWorld(t, shop)
	if err := w.Add(t.Context(), catalog.Connection{Alias: "bank", URL: "sqlite:" + ledger(t)}, source.Secret{}); err != nil {
		t.Fatal(err)
	}
	var conditions []schema.Condition
	if err := json.Unmarshal([]byte(`[{"column": "amount", "op": "gte", "value": 7.5}]`), &conditions); err != nil {
		t.Fatal(err)
	}
	for alias, want := range map[string]catalog.Scoped{
		"shop.orders": {Alias: "shop.orders", TotalRows: 3, PreviewRows: 1, Rows: json.RawMessage(`[[10,1,19.90,"2024-01-05"]]`)},
		"payments":    {Alias: "payments", TotalRows: 2, PreviewRows: 1, Rows: json.RawMessage(`[["INV-1",10.10,"2024-01-01"]]`)},
	} {
		got, err := w.LoadScoped(t.Context(), alias, conditions, 1)
		if err != nil {
			t.Errorf("%s: %v", alias, err)
			continue
		}
		if len(got.Columns) < 3 {
			t.Errorf("%s: columns %v", alias, got.Columns)
		}
		got.Columns = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", alias, diff)
		}
	}
	bad := []schema.Condition{{Column: "amuont", Op: schema.Eq, Value: 1}}
	for _, alias := range []string{"shop.orders", "payments"} {
		if _, err := w.LoadScoped(t.Context(), alias, bad, 10); !fault.Is(err, fault.BadFilter) || !strings.Contains(err.Error(), `"amount"`) {
			t.Errorf("%s: %v, want bad_filter", alias, err)
		}
	}
}

// Each side of a workspace holds the rows of its source under its conditions, wherever
// the source is; the same table may be there twice, and so may two of one name.
func TestWorkspaceInputs(t *testing.T) {
	w := newWorld(t, shop)
	if err := w.Add(t.Context(), catalog.Connection{Alias: "bank", URL: "sqlite:" + ledger(t)}, source.Secret{}); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "orders.csv"), []byte("v\n5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(t.Context(), catalog.Connection{Alias: "second", URL: other}, source.Secret{}); err != nil {
		t.Fatal(err)
	}
	parts := []catalog.Part{
		{Table: "a", Alias: "shop.orders", Conditions: []schema.Condition{{Column: "placed", Op: schema.Lt, Value: "2024-02-01"}}},
		{Table: "b", Alias: "payments", Conditions: []schema.Condition{{Column: "ref", Op: schema.Like, Value: "INV%"}}},
		{Table: "c", Alias: "customers"},
		{Table: "d", Alias: "shop.orders"},
		{Table: "e", Alias: "second.orders"},
		{Table: "f", Columns: []schema.Column{{Name: "n", Type: schema.ParseType("DECIMAL(9,2)")}, {Name: "t", Type: schema.ParseType("VARCHAR")}}, Rows: []byte(`[[1.50,"x"],[null,"y"]]`)},
	}
	inputs, selects, err := w.WorkspaceInputs(t.Context(), parts)
	if err != nil {
		t.Fatal(err)
	}
	space, err := w.engine.OpenWorkspace(t.Context(), query.WorkspaceConfig{Inputs: inputs})
	if err != nil {
		t.Fatal(err)
	}
	defer space.Close()
	for i, sel := range selects {
		if sel.SQL == "" {
			sel.SQL = `SELECT * FROM "` + sel.Table + `"`
		}
		if err := space.Create(t.Context(), parts[i].Table+"_rows", sel.SQL, sel.Args...); err != nil {
			t.Fatal(err)
		}
	}
	got, err := space.Query(t.Context(), `SELECT (SELECT count(*) FROM a_rows), (SELECT sum(amount) FROM b_rows), (SELECT max(name) FROM c_rows), (SELECT max(placed) FROM a_rows),
		(SELECT count(*) > 2 FROM d_rows), (SELECT v FROM e_rows), (SELECT sum(n) FROM f_rows)`)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Rows) != `[[2,30.30,"Cid","2024-01-06",true,5,1.50]]` {
		t.Errorf("rows: %s", got.Rows)
	}
	if _, _, err := w.WorkspaceInputs(t.Context(), []catalog.Part{{Table: "a", Alias: "customers", Conditions: []schema.Condition{{Column: "nmae", Op: schema.Eq, Value: "x"}}}}); !fault.Is(err, fault.BadFilter) {
		t.Errorf("a column that is not there: %v", err)
	}
}

func TestFolderAddedByHand(t *testing.T) {
	w := newWorld(t, nil)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.csv"), []byte("v\n5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for alias, path := range map[string]string{"folder": dir, "file": filepath.Join(dir, "x.csv")} {
		if err := w.Add(t.Context(), catalog.Connection{Alias: alias, URL: path}, source.Secret{}); err != nil {
			t.Fatal(err)
		}
		if got := w.rows(t, alias, "SELECT v FROM x"); got != "[[5]]" {
			t.Errorf("%s: %s", alias, got)
		}
		if err := w.Add(t.Context(), catalog.Connection{Alias: alias, URL: path}, source.Secret{}); !fault.Is(err, fault.BadRequest) {
			t.Errorf("%s twice: %v", alias, err)
		}
	}
	for _, c := range []catalog.Connection{{Alias: "../x", URL: dir}, {Alias: "", URL: dir}, {Alias: "ok", URL: filepath.Join(dir, "none")}, {Alias: "ok", URL: "oracle://x"}} {
		if err := w.Add(t.Context(), c, source.Secret{}); err == nil {
			t.Errorf("%+v was added", c)
		}
	}
}

func TestPasswordsAreKeptApart(t *testing.T) {
	server := sourcetest.Postgres(t)
	const password = "s3cr3t-w0rd"
	address := fmt.Sprintf("postgres://owner:%s@/postgres?host=%s", password, server.Socket)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `CREATE SCHEMA hr; CREATE TABLE hr.staff AS SELECT i AS id, 'name ' || i AS name, i * 1.5 AS pay FROM generate_series(1, 5000) i`); err != nil {
		t.Fatal(err)
	}
	conn.Close(t.Context())
	w := newWorld(t, nil)
	if err := w.Add(t.Context(), catalog.Connection{Alias: "people", URL: address}, source.Secret{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(w.config.Dir, "sources.yaml"))
	if err != nil || strings.Contains(string(text), password) || !strings.Contains(string(text), "people") {
		t.Errorf("sources.yaml: %s, %v", text, err)
	}
	info, err := os.Stat(filepath.Join(w.config.Dir, "secrets.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("secrets: %v, %v", info.Mode(), err)
	}
	if got := w.rows(t, "people", "SELECT count(*), sum(pay) FROM staff"); got != `[[5000,18753750.0]]` {
		t.Errorf("rows: %s", got)
	}
	first, err := w.Get(t.Context(), "people")
	if err != nil || first.Tables[0].Rows != 5000 || first.Version == "" {
		t.Errorf("%+v, %v", first, err)
	}
	if encoded, err := json.Marshal(first); err != nil || strings.Contains(string(encoded), password) {
		t.Errorf("%s, %v", encoded, err)
	}
	server.Stop(t)
	_, err = w.Refresh(t.Context(), "people")
	if got := w.rows(t, "people", "SELECT count(*) FROM staff"); got != `[[5000]]` {
		t.Errorf("the copy after a refresh that failed: %s", got)
	}
	if !fault.Is(err, fault.SourceUnreadable) || strings.Contains(fmt.Sprintf("%+v", err), password) {
		t.Errorf("without its server: %v", err)
	}
	// The rest goes on.
	w.write(t, "d/x.csv", "v\n1\n")
	all, err := w.Sources(t.Context())
	if err != nil || len(all) < 1 || all[len(all)-1].Alias != "x" {
		t.Errorf("the other sources: %+v, %v", all, err)
	}
}
