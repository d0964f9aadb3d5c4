package store_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
	"interlock/internal/store/storetest"
)

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T, place string) store.Store { return open(t, place) })
}

func TestSQLitePowerSafe(t *testing.T) {
	s, err := store.OpenSQLite(store.SQLiteConfig{Path: filepath.Join(t.TempDir(), "log.db"), PowerSafe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Append(t.Context(), small("a", 0)); err != nil {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for _, dsn := range []string{
		filepath.Join(dir, "plain.db"), "sqlite:" + filepath.Join(dir, "scheme.db"), "sqlite://" + filepath.Join(dir, "slashes.db"),
		filepath.Join(dir, "new", "folder", "log.db"), filepath.Join(dir, "odd ?#%41&=+ü.db"),
	} {
		s, err := store.Open(store.Config{DSN: dsn})
		if err != nil {
			t.Errorf("%s: %v", dsn, err)
			continue
		}
		if err := s.Append(t.Context(), small("a", 0)); err != nil {
			t.Errorf("%s: %v", dsn, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", dsn, err)
		}
		path := strings.TrimPrefix(strings.TrimPrefix(dsn, "sqlite:"), "//")
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: the file is not there or not private: %v, %v", dsn, info, err)
		}
	}
	for _, dsn := range []string{"", "oracle://host/db", ":memory:"} {
		if _, err := store.Open(store.Config{DSN: dsn}); !fault.Is(err, fault.BadSetting) {
			t.Errorf("%q: %v, want bad_setting", dsn, err)
		}
	}
}

func TestSQLiteLogsMigrations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	for _, want := range []bool{true, false} {
		var out bytes.Buffer
		s, err := store.OpenSQLite(store.SQLiteConfig{Path: path, Log: slog.New(slog.NewTextHandler(&out, nil))})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if got := strings.Contains(out.String(), "up to date"); got != want {
			t.Errorf("logged %q", out.String())
		}
	}
}

// Bad files give a store_failed that names the file, the reason and a way out.
func TestSQLiteBadFiles(t *testing.T) {
	tests := []struct {
		name, want string
		path       func(t *testing.T, dir string) string
	}{
		{"no database", "no database", func(t *testing.T, dir string) string {
			return file(t, dir, []byte(strings.Repeat("this is a letter, not a log\n", 500)))
		}},
		{"damaged", "damaged", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "log.db")
			s := open(t, path)
			fill(t, s, 50)
			s.Close()
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := 4096; i < len(raw); i++ {
				raw[i] = 0xa5
			}
			return file(t, dir, raw)
		}},
		{"newer", "newer Interlock", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "log.db")
			open(t, path).Close()
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			raw[63] = 99 // the low byte of user_version
			return file(t, dir, raw)
		}},
		{"a folder", "cannot be opened", func(_ *testing.T, dir string) string { return dir }},
		{"below a file", "cannot be opened", func(t *testing.T, dir string) string {
			return filepath.Join(file(t, dir, nil), "log.db")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := tt.path(t, t.TempDir())
			s, err := store.OpenSQLite(store.SQLiteConfig{Path: path})
			if err == nil { // damage may show only when it is touched
				defer s.Close()
				_, err = s.Threads(t.Context(), store.Query{})
			}
			checkFault(t, err, path, tt.want)
		})
	}
}

func checkFault(t *testing.T, err error, path, want string) {
	t.Helper()
	if !fault.Is(err, fault.StoreFailed) {
		t.Fatalf("%v, want store_failed", err)
	}
	if f := fault.From(err); !strings.Contains(f.Message, want) || !strings.Contains(f.Message, path) || f.Suggestion == "" {
		t.Errorf("message %q, suggestion %q; want %q and the path", f.Message, f.Suggestion, want)
	}
}

// Many processes may start on a new file at once.
func TestSQLiteOpenedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	const n = 8
	errs := make(chan error, n)
	for range n {
		go func() {
			s, err := store.OpenSQLite(store.SQLiteConfig{Path: path})
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func open(t testing.TB, path string) *store.SQLite {
	t.Helper()
	s, err := store.OpenSQLite(store.SQLiteConfig{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func file(t *testing.T, dir string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, "bad.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// small is a batch of one event.
func small(thread string, after int64) store.Batch {
	return store.Batch{
		Thread: thread, After: after,
		Events: []event.Event{{Seq: after + 1, Time: time.Now(), Body: event.StepDone{State: "s"}}},
		Head:   store.Thread{ID: thread, Owner: "ann", Status: store.Running},
	}
}

func fill(t *testing.T, s store.Store, n int64) {
	t.Helper()
	for i := range n {
		b := small("a", i)
		b.Blobs = []store.Blob{{Hash: event.Hash(noise(i)), Bytes: noise(i)}}
		if err := s.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
}

func count(t *testing.T, s store.Store, thread string) (n int64) {
	t.Helper()
	for _, err := range s.Events(t.Context(), thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// noise is 8 KB that cannot be packed.
func noise(seed int64) []byte {
	var out []byte
	for i := byte(0); len(out) < 8<<10; i++ {
		out = append(out, event.Hash([]byte{byte(seed), byte(seed >> 8), i})...)
	}
	return out
}
