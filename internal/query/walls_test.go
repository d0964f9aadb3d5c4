package query_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/jail"
	"interlock/internal/query"
)

// The third wall alone: an unconfined worker, no policy, only the engine's settings.
func TestSettingsAlone(t *testing.T) {
	db := shop(t)
	e := newEngine(t, query.Config{Unconfined: true})
	secret := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(secret, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "out.csv")
	for _, sql := range []string{
		"SELECT * FROM read_text('/etc/passwd')",
		"SELECT * FROM read_csv('" + secret + "')",
		"SELECT * FROM '" + secret + "'",
		"SELECT * FROM glob('/etc/*')",
		"SELECT * FROM read_blob('" + secret + "')",
		"SELECT * FROM read_json('/etc/passwd')",
		"SELECT * FROM read_parquet('" + secret + "')",
		"SELECT * FROM sniff_csv('" + secret + "')",
		"COPY (SELECT 1) TO '" + target + "'",
		"EXPORT DATABASE '" + target + "'",
		"ATTACH '" + target + "'",
		"ATTACH ':memory:' AS m; COPY (SELECT 1) TO '" + target + "'",
		"INSTALL httpfs",
		"LOAD httpfs",
		"SELECT * FROM 'https://example.com/x.csv'",
		"CREATE SECRET s (TYPE s3)",
		"SET enable_external_access = true",
		"SET memory_limit = '100GB'",
		"SET threads = 64",
		"SET temp_directory = '/tmp'",
		"SET max_temp_directory_size = '1TB'",
		"SET lock_configuration = false",
		"RESET enable_external_access",
		"PRAGMA memory_limit = '100GB'",
		"INSERT INTO orders SELECT * FROM orders",
		"CREATE TABLE x AS SELECT 1",
		"DROP TABLE orders",
		"UPDATE orders SET amount = 1",
		"SELECT 1; SELECT 2",
	} {
		t.Run(sql, func(t *testing.T) {
			if r, err := query.RunUnchecked(t.Context(), e, db, sql); err == nil {
				t.Errorf("the engine ran it: %s", r.Rows)
			}
		})
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("a file was written")
	}
	if _, err := query.RunUnchecked(t.Context(), e, db, "SELECT count(*) FROM orders"); err != nil {
		t.Error("the engine does not run what it should:", err)
	}
}

const unlockedArg = "test-unlocked-engine"

// unlockedMain is the process of TestConfinementAlone.
func unlockedMain() {
	if len(os.Args) < 2 || os.Args[1] != unlockedArg {
		return
	}
	var in struct {
		Path       string
		Statements []string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	errs, err := query.RunUnlocked(in.Path, in.Statements)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out := make([]string, len(errs))
	for i, err := range errs {
		if err != nil {
			out[i] = err.Error()
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(out)
	os.Exit(0)
}

// The fourth wall alone: the engine as it comes, in a process that is confined as
// workers are. Even the statement that overwrites its own read-only file fails.
func TestConfinementAlone(t *testing.T) {
	db := shop(t)
	before, err := os.ReadFile(db.Path)
	if err != nil {
		t.Fatal(err)
	}
	work, elsewhere := t.TempDir(), t.TempDir()
	statements := []string{
		"SELECT count(*) FROM orders",
		"COPY (SELECT 1) TO '" + filepath.Join(work, "mine.csv") + "'",
		// from here on everything must fail
		"COPY (SELECT 1) TO '" + db.Path + "' (use_tmp_file false)",
		"COPY (SELECT 1) TO '" + filepath.Join(elsewhere, "x.csv") + "'",
		"SELECT * FROM read_text('/etc/passwd')",
		"SELECT * FROM read_blob('/etc/hostname')",
		"SELECT * FROM read_text('/proc/" + fmt.Sprint(os.Getpid()) + "/environ')",
		"SELECT * FROM read_csv('" + filepath.Join(elsewhere, "*.csv") + "')",
		"ATTACH '" + filepath.Join(elsewhere, "x.duckdb") + "'",
		"SELECT * FROM 'http://127.0.0.1:1/x.csv'",
		"INSTALL httpfs",
	}
	if err := os.WriteFile(filepath.Join(elsewhere, "there.csv"), []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := json.Marshal(map[string]any{"Path": db.Path, "Statements": statements})
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := jail.Command(t.Context(), jail.Spec{
		Args:     []string{jail.Self, unlockedArg},
		ReadOnly: []string{db.Path, "/proc/self/cgroup", "/sys/fs/cgroup"}, ReadWrite: []string{work},
		Dir: work, Env: []string{"HOME=" + work},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &said
	if err := jail.Start(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, said.String())
	}
	var errs []string
	if err := json.Unmarshal(out.Bytes(), &errs); err != nil {
		t.Fatal(err)
	}
	for i, sql := range statements {
		if failed := errs[i] != ""; failed != (i >= 2) {
			t.Errorf("%s: %q", sql, errs[i])
		}
		if strings.Contains(errs[i], "root:") {
			t.Errorf("%s: told too much: %s", sql, errs[i])
		}
	}
	if after, _ := os.ReadFile(db.Path); !bytes.Equal(before, after) {
		t.Error("the dataset was changed")
	}
}
