package source_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/source/sourcetest"
)

// TestTrino runs the suite through the real driver against [trinoServer], which
// speaks Trino's protocol over SQLite. It shows that values, pages, errors and
// cancelling pass rightly through driver and connector; that Trino itself reads the
// dialect so is shown by nothing here.
func TestTrino(t *testing.T) {
	t.Parallel()
	server := newTrinoServer(t)
	at := func(table string) source.Config {
		return source.Config{URL: "trino://reader@" + server.host() + "/lake/shop", Table: table}
	}
	t.Run("types", func(t *testing.T) {
		s := open(t, at("odd"))
		defer s.Close()
		page, err := s.Preview(t.Context(), schema.Filter{}, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		if want := `[[1,0.10000000149011612,"12345678901234567890.123","13:14:15.000016","ab   ","2024-07-01 10:00:00+00"],[2,null,null,null,null,null]]`; string(page.Rows) != want {
			t.Errorf("got  %s\nwant %s", page.Rows, want)
		}
	})
	t.Run("tables", func(t *testing.T) {
		tables, err := source.Tables(t.Context(), at(""))
		if err != nil || len(tables) != 4 || tables[0] != (source.TableName{Schema: "shop", Name: "broken"}) {
			t.Errorf("tables: %v, %v", tables, err)
		}
		s := open(t, at("nothing"))
		defer s.Close()
		if _, err := s.Describe(t.Context()); !fault.Is(err, fault.SourceUnreadable) || !strings.Contains(err.Error(), "there is no table nothing") {
			t.Errorf("a table that is not there: %v", err)
		}
	})
	t.Run("error in the middle", func(t *testing.T) {
		s := open(t, at("broken"))
		defer s.Close()
		for name, code := range map[string]fault.Code{"GENERIC_INTERNAL_ERROR": fault.SourceUnreadable, "EXCEEDED_TIME_LIMIT": fault.QueryTimeout, "EXCEEDED_GLOBAL_MEMORY_LIMIT": fault.QueryMemory} {
			server.breakWith(name)
			rows, failed := 0, error(nil)
			for b, err := range s.Stream(t.Context(), nil, schema.Filter{}) {
				if failed = err; err == nil {
					rows += b.Rows
				}
			}
			if !fault.Is(failed, code) {
				t.Errorf("%s after %d rows: %v, want %s", name, rows, failed, code)
			}
		}
	})
	t.Run("limits", func(t *testing.T) {
		c := at("data")
		c.Timeout = 90 * time.Second
		s := open(t, c)
		defer s.Close()
		if _, err := s.Count(t.Context(), schema.Filter{}); err != nil {
			t.Fatal(err)
		}
		h := server.lastHeader()
		session := strings.Join(h.Values("X-Trino-Session"), ",")
		if !strings.Contains(session, "query_max_run_time=90000ms") || h.Get("X-Trino-Time-Zone") != "UTC" || h.Get("X-Trino-Catalog") != "lake" || h.Get("X-Trino-User") != "reader" {
			t.Errorf("the session is %s, the headers %v", session, h)
		}
	})
	t.Run("password", func(t *testing.T) {
		c := at("data")
		c.Password = source.NewSecret(secret)
		_, err := source.Open(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), "secure=1") {
			t.Errorf("a password without TLS: %v", err)
		}
		noSecret(t, err)
	})
	t.Run("cancel", func(t *testing.T) {
		before := server.cancelled()
		db, err := source.OpenDB(at(""))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		rows, err := db.QueryContext(ctx, `SELECT id, note FROM "shop"."long"`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for range 10 {
			rows.Next()
		}
		cancel()
		for rows.Next() {
		}
		if err := rows.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("after cancelling: %v", err)
		}
		server.await(t, func() bool { return server.cancelled() > before })
	})
	sourcetest.Run(t, sourcetest.Fixture{
		Open: func(t testing.TB) source.Source { return open(t, at("data")) },
		Long: func(t testing.TB) source.Source { return open(t, at("long")) },
		Stop: func(testing.TB) { server.die() },
	})
}
