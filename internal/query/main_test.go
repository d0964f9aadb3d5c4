package query_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"interlock/internal/jail"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

func TestMain(m *testing.M) {
	_ = os.Unsetenv("INTERLOCK_PLAIN_PROGRAM") // the race detector watches the workers of this package
	jail.Main()
	query.Main()
	unlockedMain()
	orphanMain()
	code := m.Run()
	// The jail keeps one goroutine that starts processes.
	if err := goleak.Find(goleak.IgnoreTopFunction("interlock/internal/jail.init.func1.1")); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// shop is the dataset that the tests ask about: three tables that may be used and
// one, hidden, that is in the file and may not.
var shopTables = []sqlpolicy.Table{
	{Name: "customers", Columns: []string{"id", "name", "city", "signup", "meta"}},
	{Name: "orders", Columns: []string{"id", "customer_id", "amount", "status", "placed", "day", "note"}},
	{Name: "items", Columns: []string{"order_id", "sku", "qty", "price"}},
}

func shop(tb testing.TB) query.Database {
	tb.Helper()
	return writeShop(tb, filepath.Join(tb.TempDir(), "shop-1.duckdb"), 2000)
}

func writeShop(tb testing.TB, path string, orders int) query.Database {
	tb.Helper()
	w, err := query.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer w.Abort()
	fill := func(name string, columns []schema.Column, rows int, row func(a *query.Appender, i int)) {
		a, err := w.Table(name, columns)
		if err != nil {
			tb.Fatal(err)
		}
		for i := range rows {
			row(a, i)
			if err := a.EndRow(); err != nil {
				tb.Fatal(err)
			}
		}
	}
	fill("customers", []schema.Column{
		{Name: "id", Type: schema.Type{Kind: schema.Int}},
		{Name: "name", Type: schema.Type{Kind: schema.Text}},
		{Name: "city", Type: schema.Type{Kind: schema.Text}},
		{Name: "signup", Type: schema.Type{Kind: schema.Date}},
		{Name: "meta", Type: schema.Type{Kind: schema.JSON}},
	}, 100, func(a *query.Appender, i int) {
		a.Int(0, int64(i))
		a.String(1, fmt.Sprintf("Customer number %d", i))
		a.String(2, []string{"Rome", "Lima", "Oslo", "Bern"}[i%4])
		a.Date(3, int32(19000+i))
		a.String(4, fmt.Sprintf(`{"tier": %d, "tags": ["a", "b%d"]}`, i%3, i))
	})
	fill("orders", []schema.Column{
		{Name: "id", Type: schema.Type{Kind: schema.Int}},
		{Name: "customer_id", Type: schema.Type{Kind: schema.Int}},
		{Name: "amount", Type: schema.Type{Kind: schema.Decimal, Width: 12, Scale: 2}},
		{Name: "status", Type: schema.Type{Kind: schema.Text}},
		{Name: "placed", Type: schema.Type{Kind: schema.Timestamp}},
		{Name: "day", Type: schema.Type{Kind: schema.Date}},
		{Name: "note", Type: schema.Type{Kind: schema.Text}},
	}, orders, func(a *query.Appender, i int) {
		a.Int(0, int64(i))
		a.Int(1, int64(i%100))
		a.DecimalInt(2, int64(i%977)*100+25, 2)
		a.String(3, []string{"paid", "open", "cancelled"}[i%3])
		a.Timestamp(4, 1_700_000_000_000_000+int64(i)*60_000_000)
		a.Date(5, int32(19675+i/1440))
		if i%5 != 0 {
			a.String(6, strings.Repeat("note ", i%7))
		}
	})
	fill("items", []schema.Column{
		{Name: "order_id", Type: schema.Type{Kind: schema.Int}},
		{Name: "sku", Type: schema.Type{Kind: schema.Text}},
		{Name: "qty", Type: schema.Type{Kind: schema.Int}},
		{Name: "price", Type: schema.Type{Kind: schema.Float}},
	}, 3*orders, func(a *query.Appender, i int) {
		a.Int(0, int64(i/3))
		a.String(1, fmt.Sprintf("SKU-%03d", i%150))
		a.Int(2, int64(i%5+1))
		a.Float(3, float64(i%100)+0.5)
	})
	fill("hidden", []schema.Column{{Name: "id", Type: schema.Type{Kind: schema.Int}}, {Name: "pw", Type: schema.Type{Kind: schema.Text}}}, 3, func(a *query.Appender, i int) {
		a.Int(0, int64(i))
		a.String(1, "swordfish")
	})
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return query.Database{Path: path, Tables: shopTables, Alias: "shop"}
}

func newEngine(tb testing.TB, c query.Config) *query.Engine {
	tb.Helper()
	c.Dir = tb.TempDir()
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(tb.Output(), nil))
	}
	e, err := query.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
		left, _ := os.ReadDir(c.Dir)
		for _, f := range left {
			tb.Errorf("left behind: %s", f.Name())
		}
	})
	return e
}
