package source_test

import (
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"interlock/internal/fault"
	"interlock/internal/source"
	"interlock/internal/source/sourcetest"
	"interlock/internal/sqlpolicy"
)

// A row that is larger than a result may be is never held whole: the connection ends
// first, and the fault names the limit.
func TestRowBoundMySQL(t *testing.T) {
	server := sourcetest.MariaDB(t)
	db, err := sql.Open("mysql", "root@unix("+server.Socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{"CREATE DATABASE store", "SET GLOBAL max_allowed_packet = 268435456"} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	remote, err := source.Connect(t.Context(), source.Config{URL: "mysql://root@localhost/store?socket=" + server.Socket})
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	limits := source.Limits{Timeout: 2 * time.Minute}
	for name, s := range map[string]string{
		"a long value": "SELECT REPEAT('x', 200000000)",
		"a wide row":   "SELECT " + strings.TrimSuffix(strings.Repeat("REPEAT('x', 1900000),", 100), ","),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := remote.Run(t.Context(), sqlpolicy.Decision{SQL: s}, limits)
		runtime.ReadMemStats(&after)
		if !fault.Is(err, fault.TooLarge) || !strings.Contains(err.Error(), "9 MB") {
			t.Errorf("%s: %v", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
			t.Errorf("%s took %d MB", name, used>>20)
		}
	}
	// Rows that are small pass, however many there are, and the next statement has a connection.
	got, err := remote.Run(t.Context(), sqlpolicy.Decision{SQL: "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, REPEAT('x', 100000) FROM n"}, source.Limits{Bytes: 64 << 20})
	if err != nil || got.Count != 500 {
		t.Errorf("%d rows, %v", got.Count, err)
	}
	got, err = remote.Run(t.Context(), sqlpolicy.Decision{SQL: "SELECT @@sql_mode, @@character_set_client, DATABASE(), @@tx_read_only"}, source.Limits{})
	if want := fmt.Sprintf(`[["%s","utf8mb4",null,1]]`, sqlpolicy.MySQLMode); err != nil || sortModes(string(got.Rows)) != sortModes(want) {
		t.Errorf("a session has %s, %v", got.Rows, err)
	}
}

// sortModes makes the order of the SQL modes, which servers choose, not matter.
func sortModes(text string) string {
	for mode := range strings.SplitSeq(sqlpolicy.MySQLMode, ",") {
		if !strings.Contains(text, mode) {
			return text
		}
		text = strings.NewReplacer(mode+",", "", ","+mode, "", mode, "").Replace(text)
	}
	return text
}

// The same for a block of ClickHouse.
func TestRowBoundClickHouse(t *testing.T) {
	server := sourcetest.ClickHouse(t, "secret")
	remote, err := source.Connect(t.Context(), source.Config{URL: "clickhouse://writer@" + server.Socket + "/default"})
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	before := peakMemory(t)
	_, err = remote.Run(t.Context(), sqlpolicy.Decision{SQL: "SELECT arrayStringConcat(arrayMap(x -> 'xxxxxxxxxxxxxxxxxxxx', range(20000000)))"}, source.Limits{Timeout: 2 * time.Minute})
	if !fault.Is(err, fault.TooLarge) || !strings.Contains(err.Error(), "limit of a result's bytes") {
		t.Error(err)
	}
	if used := peakMemory(t) - before; used > 300<<20 {
		t.Errorf("it took %d MB", used>>20)
	}
	got, err := remote.Run(t.Context(), sqlpolicy.Decision{SQL: "SELECT arrayJoin(range(1000))"}, source.Limits{})
	if err != nil || got.Count != 1000 {
		t.Errorf("%d rows, %v", got.Count, err)
	}
}

// peakMemory is the most memory that this process has had, in bytes.
func peakMemory(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	kb, err := strconv.Atoi(string(peak[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
