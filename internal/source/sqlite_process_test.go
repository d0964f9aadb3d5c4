package source_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/source"
	"interlock/internal/sqlpolicy"
)

const sqliteOrphanArg = "test-sqlite-orphan"

// sqliteOrphanMain is a program that will be killed while a statement runs.
func sqliteOrphanMain() {
	if len(os.Args) != 4 || os.Args[1] != sqliteOrphanArg {
		return
	}
	remote, err := source.Connect(context.Background(), source.Config{URL: "sqlite:" + os.Args[3], SQLite: source.NewSQLitePool(os.Args[2])})
	if err == nil {
		_, err = remote.Run(context.Background(), sqlpolicy.Decision{SQL: "SELECT 1"}, source.Limits{})
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	_, _ = remote.Run(context.Background(), sqlpolicy.Decision{SQL: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", Functions: []string{"count"}}, source.Limits{Timeout: time.Hour})
	os.Exit(1)
}

// sqliteWorkers lists the workers that a process has.
func sqliteWorkers(pid int) (out []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range lists {
		text, _ := os.ReadFile(path)
		for _, f := range strings.Fields(string(text)) {
			n, _ := strconv.Atoi(f)
			if line, _ := os.ReadFile("/proc/" + f + "/cmdline"); strings.Contains(string(line), "interlock-sqlite-worker") && alive(n) {
				out = append(out, n)
			}
		}
	}
	return out
}

func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z")
}

// eventually waits for a condition.
func eventually(t testing.TB, holds func() bool, what string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// A worker stays warm for its file, is confined, is replaced when it dies, and ends
// with its pool and with this program, by kill -9 too.
func TestSQLiteWorkers(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("needs /proc")
	}
	path, dir := sqliteFile(t, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)"), t.TempDir()
	shared := source.NewSQLitePool(dir)
	before := sqliteWorkers(os.Getpid())
	one := func() int {
		t.Helper()
		if a, err := runSQLite(t.Context(), t, source.Config{URL: "sqlite:" + path, SQLite: shared}, "SELECT a FROM t", source.Limits{}); err != nil || string(a.Rows) != "[[1]]" {
			t.Fatalf("%s, %v", a.Rows, err)
		}
		now := slices.DeleteFunc(sqliteWorkers(os.Getpid()), func(pid int) bool { return slices.Contains(before, pid) })
		if len(now) != 1 {
			t.Fatalf("%d workers for one file", len(now))
		}
		return now[0]
	}
	first := one()
	if again := one(); again != first {
		t.Error("a second statement had another worker")
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", first))
	for _, want := range []string{"NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(string(status), want) {
			t.Errorf("the worker has not %q", want)
		}
	}
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", first))
	if !strings.Contains(string(env), "landlock") {
		t.Logf("without Landlock: %q", env)
	}
	if strings.Contains(string(env), "PATH=") {
		t.Error("the worker has the environment of this program")
	}
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return !alive(first) }, "the worker lives on")
	second := one()
	if err := shared.Close(); err != nil || alive(second) {
		t.Errorf("a worker outlives its pool: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}

	cmd := exec.Command("/proc/self/exe", sqliteOrphanArg, dir, path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatal(line, err)
	}
	workers := sqliteWorkers(cmd.Process.Pid)
	if len(workers) != 1 {
		t.Fatalf("the program has %d workers", len(workers))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	eventually(t, func() bool { return !alive(workers[0]) }, "a worker outlives the program")
}

// While another program writes, every answer is of one moment: money that moves
// between two rows is never seen twice or not at all. A reader may be told to try again,
// but gets its answer as soon as the writer pauses.
func TestSQLiteBesideAWriter(t *testing.T) {
	const readers, answers, attempts = 3, 2, 100
	for _, mode := range []string{"delete", "wal"} {
		t.Run(mode, func(t *testing.T) {
			path := sqliteFile(t, "PRAGMA journal_mode = "+mode, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (100), (0)")
			conf := source.Config{URL: "sqlite:" + path, SQLite: pool(t)}
			done, cancel := context.WithCancel(t.Context())
			answered := make(chan struct{}, readers*answers)
			var writer, group sync.WaitGroup
			writer.Go(func() { transfer(done, t, path, answered) })
			for range readers {
				group.Go(func() {
					got := 0
					for range attempts {
						a, err := runSQLite(t.Context(), t, conf, "SELECT (SELECT sum(a) FROM t), (SELECT min(a) FROM t) + (SELECT max(a) FROM t)", source.Limits{})
						switch {
						case fault.Is(err, fault.SourceUnreadable) || fault.Is(err, fault.QueryTimeout):
							continue // the writer was in the way
						case err != nil || string(a.Rows) != "[[100,100]]":
							t.Errorf("%s, %v, want one moment", a.Rows, err)
							return
						}
						answered <- struct{}{}
						if got++; got == answers {
							return
						}
					}
					t.Errorf("%d of %d answers after %d attempts", got, answers, attempts)
				})
			}
			group.Wait()
			cancel()
			writer.Wait()
		})
	}
}

// transfer moves money to and fro, in bursts, until ctx is done. Each burst opens the
// file anew, so that a log comes and goes, and after it the file rests until a reader
// has an answer.
func transfer(ctx context.Context, t testing.TB, path string, answered <-chan struct{}) {
	for ctx.Err() == nil {
		db := openSQL(t, path+"?_pragma=busy_timeout(60000)&_pragma=synchronous(0)")
		for n := 0; n < 20 && ctx.Err() == nil; n++ {
			if _, err := db.ExecContext(ctx, "UPDATE t SET a = 100 - a"); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
		db.Close()
		select {
		case <-answered:
		case <-ctx.Done():
		}
	}
}
