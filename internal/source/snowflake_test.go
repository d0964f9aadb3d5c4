package source_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/source/sourcetest"
)

// TestSnowflake runs the suite through the real driver against [snowflakeServer],
// which speaks the protocol over SQLite. That Snowflake itself reads the dialect so
// is shown by nothing here.
func TestSnowflake(t *testing.T) {
	t.Parallel()
	server := newSnowflakeServer(t)
	at := func(table string) source.Config {
		return source.Config{URL: server.address(""), Table: table, Password: source.NewSecret(snowflakePassword)}
	}
	t.Run("types", func(t *testing.T) {
		s := open(t, at("odd"))
		defer s.Close()
		page, err := s.Preview(t.Context(), schema.Filter{}, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		if want := `[[1,0.10000000149011612,"12345678901234567890.123","13:14:15.000016","ab   ","2024-07-01 12:00:00.000 Europe/Berlin"],[2,null,null,null,null,null]]`; string(page.Rows) != want {
			t.Errorf("got  %s\nwant %s", page.Rows, want)
		}
	})
	t.Run("session", func(t *testing.T) {
		c := at("")
		c.Timeout = 90 * time.Second
		if _, err := source.Tables(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		server.mu.Lock()
		defer server.mu.Unlock()
		for name, want := range map[string]any{"STATEMENT_TIMEOUT_IN_SECONDS": "90", "TIMEZONE": "UTC"} {
			if got := server.session[name]; got != want {
				t.Errorf("%s is %v (%T), want %v", name, got, got, want)
			}
		}
	})
	t.Run("errors", func(t *testing.T) {
		s := open(t, at("broken"))
		defer s.Close()
		for code, want := range map[int]fault.Code{630: fault.QueryTimeout, 2003: fault.SourceUnreadable} {
			server.mu.Lock()
			server.failure = code
			server.mu.Unlock()
			if _, err := s.Count(t.Context(), schema.Filter{}); !fault.Is(err, want) {
				t.Errorf("code %d: %v, want %s", code, err, want)
			}
		}
		c := at("data")
		c.Password = source.NewSecret(secret)
		wrong := open(t, c)
		defer wrong.Close()
		_, err := wrong.Describe(t.Context())
		if !fault.Is(err, fault.SourceUnreadable) || !strings.Contains(err.Error(), "refused the user or password") {
			t.Errorf("a wrong password: %v", err)
		}
		noSecret(t, err)
	})
	t.Run("cancel a statement", func(t *testing.T) {
		db, err := source.OpenDB(at(""))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if err := drain(ctx, db, "SELECT forever"); err == nil {
			t.Error("a statement that never ends gave an answer")
		}
		select {
		case <-server.aborted:
		case <-time.After(10 * time.Second):
			t.Error("the server was never told to stop")
		}
	})
	t.Run("addresses", func(t *testing.T) {
		for _, address := range []string{"snowflake://account/db", "snowflake://user@account", "snowflake://user@10.0.0.1:80/db?protocol=http", "snowflake://user@account/db?key=/nowhere", "bigquery://project/dataset"} {
			if _, err := source.Open(t.Context(), source.Config{URL: address, Table: "x"}); !fault.Is(err, fault.SourceUnreadable) || fault.From(err).Suggestion == "" {
				t.Errorf("%s: %v, want source_unreadable that says what to do", address, err)
			}
		}
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "key.p8")
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := source.Open(t.Context(), source.Config{URL: "snowflake://user@account/db?key=" + path, Table: "x"})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	})
	sourcetest.Run(t, sourcetest.Fixture{
		Open:  func(t testing.TB) source.Source { return open(t, at("data")) },
		Types: map[string]schema.Type{"key": {Kind: schema.Text}},
	})
	server.http.Close()
	s := open(t, at("data"))
	defer s.Close()
	if _, err := s.Describe(t.Context()); !fault.Is(err, fault.SourceUnreadable) {
		t.Errorf("without a server: %v, want source_unreadable", err)
	}
}
