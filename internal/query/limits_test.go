package query_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/racetest"
)

// wantFault fails unless err has the code, and gives it.
func wantFault(tb testing.TB, err error, code fault.Code) *fault.Fault {
	tb.Helper()
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Code != code {
		tb.Fatalf("want %s, got %v", code, err)
	}
	for _, inside := range []string{"/tmp", "duckdb", "worker", "SIG", ".go:"} {
		if strings.Contains(strings.ToLower(f.Message), strings.ToLower(inside)) {
			tb.Errorf("the message tells %q: %s", inside, f.Message)
		}
	}
	return f
}

// Statements that the engine does not interrupt by itself: they compute inside one
// function call, or plan without end.
var bombs = map[string]string{
	"cross join":     "SELECT count(*) FROM items a, items b, items c, items d WHERE a.price + b.price > c.price + d.price",
	"recursion":      "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n > 0) SELECT count(*) FROM t",
	"scalar":         "SELECT sum(length(repeat(note, 10000000))) FROM orders",
	"sort":           "SELECT a.id, b.id FROM items_ a, items_ b ORDER BY hash(a.id, b.id) LIMIT 10",
	"nested lambdas": "SELECT list_transform(range(100000), a -> list_sum(list_transform(range(100000), b -> list_sum(list_transform(range(100000), c -> a + b + c)))))",
	"endless range":  "SELECT sum(i) FROM range(1000000000000000) t(i)",
	"plan":           "SELECT " + strings.Repeat("(", 60) + "1" + strings.Repeat("+random())", 60),
}

func TestTimeout(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{MemoryMB: 256})
	for name, sql := range bombs {
		sql = strings.ReplaceAll(sql, "items_", "(SELECT i AS id FROM range(100000) r(i))")
		t.Run(name, func(t *testing.T) {
			if _, err := e.Check(t.Context(), db, sql); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err := e.Run(t.Context(), query.Request{Database: db, SQL: sql, Timeout: 300 * time.Millisecond})
			took := time.Since(began)
			if name == "plan" && err == nil {
				return
			}
			f, ok := errors.AsType[*fault.Fault](err)
			if !ok || f.Code != fault.QueryTimeout && f.Code != fault.QueryMemory {
				t.Fatal(err)
			}
			if over := took - 300*time.Millisecond; over > slack(100*time.Millisecond) {
				t.Errorf("over only %v after its time", over)
			}
			wantFault(t, err, f.Code)
		})
	}
	if _, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT count(*) FROM orders"}); err != nil {
		t.Error("the engine does not recover:", err)
	}
}

// slack widens a bound on time where the race detector slows everything down.
func slack(d time.Duration) time.Duration {
	if racetest.On {
		return 10 * d
	}
	return d
}

func TestCancel(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{})
	for _, name := range []string{"cross join", "scalar"} {
		ctx, cancel := context.WithCancel(t.Context())
		running := make(chan time.Time, 1)
		time.AfterFunc(200*time.Millisecond, func() {
			running <- time.Now()
			cancel()
		})
		_, err := e.Run(ctx, query.Request{Database: db, SQL: bombs[name]})
		over := time.Since(<-running)
		wantFault(t, err, fault.QueryCancelled)
		if over > slack(100*time.Millisecond) {
			t.Errorf("%s: over %v after the cancel", name, over)
		}
		cancel()
	}
}

func TestMemory(t *testing.T) {
	racetest.Skip(t, "the race detector takes more address space than a worker may have, so the limit is off")
	db := shop(t)
	e := newEngine(t, query.Config{MemoryMB: 200, SpillMB: 10})
	for name, sql := range map[string]string{
		"repeat":    "SELECT length(repeat('x', 4000000000))",
		"list":      "SELECT len(list(a.id)) FROM items a, items b, items c",
		"transform": "SELECT len(list_transform(range(400000000), x -> x + 1))",
		"hash":      "SELECT count(*) FROM (SELECT hash(i) AS h, count(*) FROM range(20000000) t(i) GROUP BY 1)",
		"sort":      "SELECT max(i) FROM (SELECT i, repeat('x', 100) || i AS k FROM range(20000000) t(i) ORDER BY k DESC LIMIT 15000000)",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.Run(t.Context(), query.Request{Database: db, SQL: sql, Timeout: 20 * time.Second})
			if fault.Is(err, fault.SQLError) { // "the result is too large for a string"
				return
			}
			wantFault(t, err, fault.QueryMemory)
		})
	}
	if _, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT count(*) FROM orders"}); err != nil {
		t.Error("the engine does not recover:", err)
	}
}

func TestResultLimits(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{MaxCell: 100})
	rows, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT i FROM range(1000000000000) t(i)", MaxRows: 10})
	if err != nil {
		t.Fatal(err)
	}
	if rows.RowCount != 10 || !rows.Limited || string(rows.Rows) != "[[0],[1],[2],[3],[4],[5],[6],[7],[8],[9]]" {
		t.Errorf("%d rows, limited %v: %s", rows.RowCount, rows.Limited, rows.Rows)
	}
	exact, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT i FROM range(10) t(i)", MaxRows: 10})
	if err != nil || exact.Limited || exact.RowCount != 10 {
		t.Errorf("%+v %v", exact, err)
	}
	large, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT md5(i::VARCHAR) FROM range(1000000) t(i)", MaxBytes: 10_000, MaxRows: 1_000_000})
	if err != nil || !large.Limited || len(large.Rows) > 10_000 || large.RowCount < 200 {
		t.Errorf("%d bytes, %d rows, limited %v, %v", len(large.Rows), large.RowCount, large.Limited, err)
	}
	long, err := e.Run(t.Context(), query.Request{Database: db, SQL: "SELECT repeat('é', 1000)"})
	if err != nil || long.Cut != 1 || len(long.Rows) > 120 || !strings.Contains(string(long.Rows), "é…") {
		t.Errorf("%+v %v", long, err)
	}
}

// One user's bombs do not keep others from their answers.
func TestFairness(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{Workers: 2, Timeout: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	for range 6 {
		flood.Go(func() {
			_, _ = e.Run(ctx, query.Request{Database: db, SQL: bombs["cross join"], User: "mallory"})
		})
	}
	defer flood.Wait()
	defer cancel()
	for i := range 5 {
		ask, done := context.WithTimeout(t.Context(), slack(5*time.Second))
		_, err := e.Run(ask, query.Request{Database: db, SQL: fmt.Sprintf("SELECT count(*) + %d FROM orders", i), User: "alice"})
		done()
		if err != nil {
			t.Fatal("alice waits for mallory:", err)
		}
	}
}

func TestTooManyWaiting(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{Workers: 1, PerUser: 1, QueueMax: 1, Timeout: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	full := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := e.Run(ctx, query.Request{Database: db, SQL: bombs["cross join"], User: "bob"})
			full <- err
		}()
	}
	wantFault(t, <-full, fault.TooMany)
	cancel()
	wantFault(t, <-full, fault.QueryCancelled)
	wantFault(t, <-full, fault.QueryCancelled)
}
