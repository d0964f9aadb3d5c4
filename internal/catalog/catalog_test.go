package catalog_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"interlock/internal/catalog"
	"interlock/internal/fault"
	"interlock/internal/jail"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
)

func TestMain(m *testing.M) {
	jail.Main()
	query.Main()
	source.Main()
	os.Exit(m.Run())
}

// counting counts the imports that an engine is asked for.
type counting struct {
	*query.Engine
	builds, runs atomic.Int64
}

func (c *counting) Run(ctx context.Context, r query.Request) (*query.Result, error) {
	c.runs.Add(1)
	return c.Engine.Run(ctx, r)
}

func (c *counting) Build(ctx context.Context, path string, imports []query.Import, p query.Progress) (query.Report, error) {
	c.builds.Add(1)
	return c.Engine.Build(ctx, path, imports, p)
}

// A world is a data folder with a catalog over it that looks at every change.
type world struct {
	*catalog.Catalog
	root   string
	engine *counting
	config catalog.Config
	// address is where the shop stays, in tests of databases that stay where they are.
	address string
}

func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	engine, err := query.New(query.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	w := &world{root: t.TempDir(), engine: &counting{Engine: engine}}
	for name, text := range files {
		w.write(t, name, text)
	}
	w.config = catalog.Config{Roots: []string{w.root}, Dir: t.TempDir(), Engine: w.engine, Policy: engine, Rescan: time.Nanosecond}
	w.Catalog, err = catalog.New(w.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (w *world) rows(t *testing.T, id, sql string) string {
	t.Helper()
	db, _, err := w.Database(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	result, err := w.engine.Run(t.Context(), query.Request{Database: db, SQL: sql})
	if err != nil {
		t.Fatal(err)
	}
	return string(result.Rows)
}

var shop = map[string]string{
	"shop/customers.csv":            "id,name,country\n1,Ada,UK\n2,Bob,US\n3,Cid,US\n",
	"shop/orders.csv":               "order_id,customer_id,amount,placed\n10,1,19.90,2024-01-05\n11,1,5.00,2024-01-06\n12,2,100.25,2024-02-01\n13,,7.5,2024-02-02\n",
	"shop/Order Items (2024).jsonl": `{"order_id": 10, "sku": "A-1", "n": 2}` + "\n" + `{"order_id": 12, "sku": "B-2", "n": 1}` + "\n",
	"shop/events/2024-01.csv":       "at,what\n2024-01-01,open\n",
	"shop/events/2024-02.csv":       "at,what\n2024-02-01,close\n2024-02-02,open\n",
	"shop/notes.md":                 "# nothing to import",
	"shop/data_dictionary.json": `{"tables": {"orders": {"description": "One row per order.", "columns": {"amount": "Gross, in EUR", "nope": "?", "placed": {"description": "Day of the order"}}},
		"ghosts": "none"}, "glossary": [{"term": "AOV", "definition": "average order value"}, {"term": "x"}], "colour": 1}`,
	"loose.csv":             "a,b\n1,x\n",
	"Ümläut & Co/äpfel.csv": "sorte,kg\nBoskop,3\n",
}

func TestFolders(t *testing.T) {
	w := newWorld(t, shop)
	list, err := w.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		for _, table := range d.Tables {
			got = append(got, d.ID+"/"+table.Name+" "+table.Kind+" "+table.File)
		}
		if len(d.Problems) > 0 {
			t.Errorf("%s has problems: %v", d.ID, d.Problems)
		}
		if len(d.Version) != 64 {
			t.Errorf("%s has version %q", d.ID, d.Version)
		}
	}
	want := []string{
		"default/loose csv loose.csv", "shop/order_items_2024 ndjson Order Items (2024).jsonl", "shop/customers csv customers.csv",
		"shop/events csv events", "shop/orders csv orders.csv", "umlaut_co/apfel csv äpfel.csv",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := w.rows(t, "shop", "SELECT count(*), (SELECT sum(amount) FROM orders) FROM shop.events"); got != `[[3,132.65]]` {
		t.Errorf("rows: %s", got)
	}
	if got := w.rows(t, "umlaut_co", "SELECT sorte, kg FROM apfel"); got != `[["Boskop",3]]` {
		t.Errorf("rows: %s", got)
	}
	d, err := w.Get(t.Context(), "shop")
	if err != nil || d.Tables[3].Rows != 4 || d.Tables[3].Columns[3].Type.String() != "DATE" {
		t.Errorf("after the import: %+v, %v", d, err)
	}
}

func TestUnknownDataset(t *testing.T) {
	w := newWorld(t, shop)
	_, err := w.Get(t.Context(), "shpo")
	if !fault.Is(err, fault.DatasetNotFound) || !strings.Contains(err.Error(), `"shop"`) {
		t.Errorf("got %v", err)
	}
	if near := fault.From(err).Details.([]string); near[0] != "shop" {
		t.Errorf("nearest first: %v", near)
	}
	if _, _, err := w.Database(t.Context(), "../etc"); !fault.Is(err, fault.DatasetNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestSchema(t *testing.T) {
	w := newWorld(t, shop)
	s, err := w.Schema(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(s.Tables, func(t schema.Table) bool { return t.Name == "orders" })
	want := schema.Table{
		File: "orders.csv", Name: "orders", Kind: "csv", Rows: 4,
		Columns: []schema.Column{{Name: "order_id", Type: schema.ParseType("BIGINT")}, {Name: "customer_id", Type: schema.ParseType("BIGINT")}, {Name: "amount", Type: schema.ParseType("DECIMAL(18,2)")}, {Name: "placed", Type: schema.ParseType("DATE")}},
		Sample:  json.RawMessage(`[[10,1,19.90,"2024-01-05"],[11,1,5.00,"2024-01-06"],[12,2,100.25,"2024-02-01"]]`),
	}
	if diff := cmp.Diff(want, s.Tables[i]); diff != "" {
		t.Error(diff)
	}
}

func TestDictionary(t *testing.T) {
	w := newWorld(t, shop)
	if _, _, err := w.Database(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	got, err := w.Dictionary(t.Context(), "shop", "")
	if err != nil {
		t.Fatal(err)
	}
	want := schema.Dictionary{
		Tables:   map[string]schema.TableText{"orders": {Text: "One row per order.", Columns: map[string]string{"amount": "Gross, in EUR", "placed": "Day of the order"}}},
		Glossary: map[string]string{"AOV": "average order value"},
		Warnings: []string{`"colour" is neither tables nor glossary nor a table's name`, `the term "x" has no definition`, `there is no table "ghosts"`, `table "orders" has no column "nope"`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	w.write(t, "shop/data_dictionary.json", "{broken")
	if got, err = w.Dictionary(t.Context(), "shop", ""); err != nil || len(got.Warnings) != 1 {
		t.Errorf("a broken dictionary: %+v, %v", got, err)
	}
	if got, err = w.Dictionary(t.Context(), "default", ""); err != nil || len(got.Warnings) != 0 {
		t.Errorf("none: %+v, %v", got, err)
	}
}

func TestRelations(t *testing.T) {
	w := newWorld(t, shop)
	got, err := w.Relations(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	want := catalog.Relations{
		Keys: []catalog.Key{{Table: "order_items_2024", Column: "order_id"}, {Table: "customers", Column: "id"}, {Table: "orders", Column: "order_id"}},
		Links: []schema.Relation{
			{Table: "order_items_2024", Column: "order_id", RefTable: "orders", RefColumn: "order_id"},
			{Table: "orders", Column: "customer_id", RefTable: "customers", RefColumn: "id"},
		},
	}
	got.Keys = slices.DeleteFunc(got.Keys, func(k catalog.Key) bool { return k.Table == "events" || k.Column == "sku" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Relations outlive a restart, and of a dataset that changed only those of the changed
// table are looked for again.
func TestRelationsAreKept(t *testing.T) {
	w := newWorld(t, shop)
	relations := func() (catalog.Relations, int64) {
		t.Helper()
		if _, _, err := w.Database(t.Context(), "shop"); err != nil {
			t.Fatal(err)
		}
		before := w.engine.runs.Load()
		got, err := w.Relations(t.Context(), "shop")
		if err != nil {
			t.Fatal(err)
		}
		return got, w.engine.runs.Load() - before
	}
	first, asked := relations()
	if asked == 0 || len(first.Links) == 0 {
		t.Fatalf("%d statements for %+v", asked, first)
	}
	again, err := catalog.New(w.config)
	if err != nil {
		t.Fatal(err)
	}
	w.Catalog = again
	if got, n := relations(); n != 0 || !cmp.Equal(got, first) {
		t.Errorf("after a restart: %d statements, %s", n, cmp.Diff(first, got))
	}
	shown, err := w.Schema(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	if again, err = catalog.New(w.config); err != nil {
		t.Fatal(err)
	}
	w.Catalog = again
	before := w.engine.runs.Load()
	if same, err := w.Schema(t.Context(), "shop"); err != nil || w.engine.runs.Load() != before || !cmp.Equal(same.Tables, shown.Tables) {
		t.Errorf("rows that are shown, after a restart: %d statements, %v", w.engine.runs.Load()-before, err)
	}
	w.write(t, "shop/extra.csv", "extra_id,customer_id\n1,1\n2,2\n")
	got, n := relations()
	if n == 0 || n >= asked || !slices.Contains(got.Links, schema.Relation{Table: "extra", Column: "customer_id", RefTable: "customers", RefColumn: "id"}) {
		t.Errorf("after one table came: %d statements instead of %d, %+v", n, asked, got.Links)
	}
	for _, l := range first.Links {
		if !slices.Contains(got.Links, l) {
			t.Errorf("%v is lost", l)
		}
	}
}

func TestVersions(t *testing.T) {
	w := newWorld(t, map[string]string{"d/a.csv": "x\n1\n", "d/b.csv": "y\n2\n"})
	first, err := w.Get(t.Context(), "d")
	if err != nil {
		t.Fatal(err)
	}
	if got := w.rows(t, "d", "SELECT x FROM a"); got != "[[1]]" {
		t.Fatal(got)
	}
	w.rows(t, "d", "SELECT y FROM b")
	if n := w.engine.builds.Load(); n != 1 {
		t.Errorf("%d imports of one version", n)
	}
	// A new time alone is no new version.
	later := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(w.root, "d/a.csv"), later, later); err != nil {
		t.Fatal(err)
	}
	same, err := w.Get(t.Context(), "d")
	if err != nil || same.Version != first.Version {
		t.Errorf("touched: %v, %v", same.Version, err)
	}
	w.write(t, "d/a.csv", "x\n3\n")
	if got := w.rows(t, "d", "SELECT x FROM a"); got != "[[3]]" {
		t.Errorf("changed: %s", got)
	}
	changed, err := w.Get(t.Context(), "d")
	if err != nil || changed.Version == first.Version {
		t.Errorf("changed: %v, %v", changed.Version, err)
	}
	w.write(t, "d/c.csv", "z\n4\n")
	if got := w.rows(t, "d", "SELECT z FROM c"); got != "[[4]]" {
		t.Errorf("added: %s", got)
	}
	if err := os.Remove(filepath.Join(w.root, "d/b.csv")); err != nil {
		t.Fatal(err)
	}
	d, err := w.Get(t.Context(), "d")
	if err != nil || len(d.Tables) != 2 {
		t.Errorf("removed: %+v, %v", d.Tables, err)
	}
	w.write(t, "new/n.csv", "n\n1\n")
	if _, err := w.Get(t.Context(), "new"); err != nil {
		t.Errorf("a new folder: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(w.root, "new")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Get(t.Context(), "new"); !fault.Is(err, fault.DatasetNotFound) {
		t.Errorf("a removed folder: %v", err)
	}
	// Another catalog finds what this one imported.
	n := w.engine.builds.Load()
	again, err := catalog.New(w.config)
	if err != nil {
		t.Fatal(err)
	}
	w.Catalog = again
	w.rows(t, "d", "SELECT z FROM c")
	if got := w.engine.builds.Load() - n; got != 1 { // b.csv was removed since
		t.Errorf("%d imports after a restart, want 1", got)
	}
	w.rows(t, "d", "SELECT z FROM c")
	if again, err = catalog.New(w.config); err != nil {
		t.Fatal(err)
	}
	w.Catalog = again
	w.rows(t, "d", "SELECT z FROM c")
	if got := w.engine.builds.Load() - n; got != 1 {
		t.Errorf("%d imports after another restart, want 1", got)
	}
}

func TestOneImportForAll(t *testing.T) {
	w := newWorld(t, shop)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, _, err := w.Database(t.Context(), "shop"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := w.engine.builds.Load(); n != 1 {
		t.Errorf("%d imports for eight callers", n)
	}
}

func TestOldVersionsAreSwept(t *testing.T) {
	w := newWorld(t, map[string]string{"d/a.csv": "x\n1\n"})
	w.config.Keep = time.Nanosecond
	var err error
	if w.Catalog, err = catalog.New(w.config); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"x\n1\n", "x\n2\n", "x\n3\n"} {
		w.write(t, "d/a.csv", text)
		w.rows(t, "d", "SELECT x FROM a")
	}
	left, _ := filepath.Glob(filepath.Join(w.config.Dir, "d-*.duckdb"))
	if len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	if got := w.rows(t, "d", "SELECT x FROM a"); got != "[[3]]" {
		t.Error(got)
	}
}

func TestRegistry(t *testing.T) {
	w := newWorld(t, map[string]string{
		"one/registry.yaml": `id: sales
name: Sales of the year
description: What was sold
prompts: [How much?, To whom?]
files:
  - path: raw/S1.csv
    table_name: sales
    description: One row per sale
    schema: [{name: zip, type: string}, {name: amount, type: "decimal(10,2)"}]
  - path: ../secret.csv
  - path: missing.csv
`,
		"one/raw/S1.csv":    "zip,amount\n01234,10.10\n98765,2\n",
		"two/registry.json": `{"datasets": [{"id": "east", "name": "East", "files": [{"name": "e.csv"}]}, {"id": "west", "files": [{"name": "w.csv", "schema": {"v": "int"}}], "version_hash": "abc"}]}`,
		"two/e.csv":         "v\n1\n", "two/w.csv": "v\n2\n",
		"bad/registry.yaml": "datasets: [",
	})
	list, err := w.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, d := range list {
		ids = append(ids, d.ID)
	}
	if diff := cmp.Diff([]string{"bad", "east", "sales", "west"}, ids); diff != "" {
		t.Fatal(diff)
	}
	sales := list[2]
	if sales.Name != "Sales of the year" || len(sales.Prompts) != 2 || sales.Tables[0].Name != "sales" || len(sales.Problems) != 2 {
		t.Errorf("%+v", sales)
	}
	if len(list[0].Problems) != 1 || len(list[3].Problems) != 1 || !strings.Contains(list[3].Problems[0].Message, "registry says version abc") {
		t.Errorf("problems: %v, %v", list[0].Problems, list[3].Problems)
	}
	if got := w.rows(t, "sales", "SELECT zip, sum(amount) FROM sales GROUP BY zip ORDER BY zip"); got != `[["01234",10.10],["98765",2.00]]` {
		t.Errorf("rows: %s", got)
	}
}

func TestHostileFolders(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.csv")
	if err := os.WriteFile(outside, []byte("secret\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, map[string]string{"d/good.csv": "x\n1\n", "d/empty.csv": "", "d/bad.parquet": "this is no parquet", "d/select.csv": "a\n1\n", "d/good.tsv": "x\n2\n", "d/latin.csv": "name\nM\xfcller\n"})
	for link, target := range map[string]string{"d/leak.csv": outside, "d/dir": filepath.Dir(outside), "leak": filepath.Dir(outside), "d/gone.csv": "/nonexistent"} {
		if err := os.Symlink(target, filepath.Join(w.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	w.write(t, "d/we\nird'\".csv", "x\n7\n")
	w.write(t, "d/broken\xff.csv", "x\n7\n")
	db, d, err := w.Database(t.Context(), "d")
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for _, table := range db.Tables {
		tables = append(tables, table.Name)
	}
	if len(tables) != 5 || !slices.Contains(tables, "good") || !slices.Contains(tables, "select_table") || !slices.Contains(tables, "latin") || !slices.Contains(tables, "we_ird") {
		t.Errorf("tables: %v", tables)
	}
	if got := w.rows(t, "d", "SELECT name FROM latin"); got != `[["Müller"]]` {
		t.Errorf("another encoding: %s", got)
	}
	problems := map[string]string{}
	for _, p := range d.Problems {
		problems[p.Path] = p.Message
	}
	for path, want := range map[string]string{"leak.csv": "leads out", "dir": "leads out", "gone.csv": "does not exist", "empty.csv": "empty", "bad.parquet": "", "broken\uFFFD.csv": "rename"} {
		if message, ok := problems[path]; !ok || !strings.Contains(message, want) {
			t.Errorf("%s: %q, want %q", path, message, want)
		}
	}
	leak, err := w.Get(t.Context(), "leak")
	if err != nil || len(leak.Tables) != 0 || len(leak.Problems) != 1 {
		t.Errorf("a folder that leads out: %+v, %v", leak, err)
	}
	if _, err := json.Marshal(d); err != nil {
		t.Error(err)
	}
}

func TestSQLiteInFolder(t *testing.T) {
	w := newWorld(t, map[string]string{"d/extra.csv": "city,mayor\nRome,M\n"})
	db, err := sql.Open("sqlite", filepath.Join(w.root, "d", "geo.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{`CREATE TABLE "City List" (name TEXT, people INTEGER, since DATE)`, `INSERT INTO "City List" VALUES ('Rome', 2800000, '0753-04-21'), (NULL, NULL, NULL)`, `CREATE TABLE river (name TEXT)`} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	if got := w.rows(t, "d", "SELECT c.name, people, since, mayor FROM city_list c JOIN extra e ON e.city = c.name"); got != `[["Rome",2800000,"0753-04-21","M"]]` {
		t.Errorf("rows: %s", got)
	}
	s, err := w.Schema(t.Context(), "d")
	if err != nil || len(s.Tables) != 3 {
		t.Errorf("%+v, %v", s, err)
	}
}

// Processes that share a folder import a version once: who came second would replace the
// file that the first one's workers may open.
func TestProcessesImportOnce(t *testing.T) {
	w := newWorld(t, map[string]string{"shop/orders.csv": "id,total\n1,10\n2,20\n"})
	catalogs := []*catalog.Catalog{w.Catalog}
	for range 3 {
		c, err := catalog.New(w.config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		catalogs = append(catalogs, c)
	}
	var all sync.WaitGroup
	for _, c := range catalogs {
		all.Go(func() {
			db, _, err := c.Database(t.Context(), "shop")
			if err != nil {
				t.Error(err)
				return
			}
			if r, err := w.engine.Run(t.Context(), query.Request{Database: db, SQL: "SELECT sum(total) FROM orders"}); err != nil || r.RowCount != 1 {
				t.Error(r, err)
			}
		})
	}
	all.Wait()
	if n := w.engine.builds.Load(); n != 1 {
		t.Errorf("the dataset was imported %d times", n)
	}
	// The lock stays with its database, and goes with it.
	w.config.Keep = time.Nanosecond
	again, err := catalog.New(w.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	for _, text := range []string{"id,total\n1,11\n", "id,total\n1,12\n"} {
		w.write(t, "shop/orders.csv", text)
		if _, _, err := again.Database(t.Context(), "shop"); err != nil {
			t.Fatal(err)
		}
	}
	databases, _ := filepath.Glob(filepath.Join(w.config.Dir, "*.duckdb"))
	locks, _ := filepath.Glob(filepath.Join(w.config.Dir, "*.lock"))
	if len(databases) != 1 || len(locks) != 1 || locks[0] != databases[0]+".lock" {
		t.Errorf("databases %v with locks %v", databases, locks)
	}
}
