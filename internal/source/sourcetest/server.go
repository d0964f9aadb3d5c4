package sourcetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A Server is a database server of the test's own, on a socket in a folder of its own.
type Server struct {
	Socket string // PostgreSQL: the folder; MariaDB: the socket; ClickHouse: host and port
	stop   func() error
}

// Stop ends the server at once, as if it had died.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if s.stop == nil {
		return
	}
	if err := s.stop(); err != nil {
		t.Errorf("stopping the server: %v", err)
	}
	s.stop = nil
}

// PostgresReader are statements that make the role reader, which may read the tables
// of the schema public that are there by then, and nothing else.
var PostgresReader = []string{"CREATE ROLE reader LOGIN", "GRANT USAGE ON SCHEMA public TO reader", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader"}

// Postgres starts a PostgreSQL server, whose superuser is owner; the test is skipped where none is installed.
func Postgres(t testing.TB) *Server {
	t.Helper()
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl")
	if len(bins) == 0 {
		t.Skip("no PostgreSQL server is installed here (package postgresql)")
	}
	bin := filepath.Dir(bins[len(bins)-1])
	dir, run := unprivileged(t, "postgres")
	data := filepath.Join(dir, "data")
	initialize(t, data, run, filepath.Join(bin, "initdb"), "-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	options := fmt.Sprintf("-k %s -c listen_addresses= -c fsync=off -c full_page_writes=off -c timezone=America/New_York", dir)
	if found, _ := filepath.Glob(filepath.Join(bin, "../lib/pg_stat_statements.so")); len(found) > 0 {
		options += " -c shared_preload_libraries=pg_stat_statements"
	}
	must(t, run(filepath.Join(bin, "pg_ctl"), "-D", data, "-w", "-l", filepath.Join(dir, "log"), "-o", options, "start"))
	s := &Server{Socket: dir, stop: func() error { return run(filepath.Join(bin, "pg_ctl"), "-D", data, "-m", "immediate", "stop") }}
	t.Cleanup(func() { s.Stop(t) })
	return s
}

// MariaDB starts a MariaDB server; the test is skipped where none is installed.
func MariaDB(t testing.TB) *Server {
	t.Helper()
	daemon, err := exec.LookPath("mariadbd")
	if err != nil {
		t.Skip("no MariaDB server is installed here (package mariadb-server)")
	}
	dir, run := unprivileged(t, "mysql")
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "s")
	initialize(t, data, run, "mariadb-install-db", "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db", smallLog)
	cmd := exec.Command(daemon, "--no-defaults", "--datadir="+data, "--socket="+socket, "--skip-networking", "--innodb-flush-log-at-trx-commit=0", smallLog,
		"--pid-file="+filepath.Join(dir, "pid"), "--default-time-zone=-05:00")
	cmd.SysProcAttr = credential(t, "mysql")
	must(t, cmd.Start())
	s := &Server{Socket: socket, stop: func() error { return kill(cmd) }}
	t.Cleanup(func() { s.Stop(t) })
	must(t, awaitListener(t.Context(), "unix", socket, time.Minute))
	return s
}

// kill ends a server that this program started.
func kill(cmd *exec.Cmd) error {
	if err := cmd.Process.Kill(); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		return err
	}
	return nil
}

// smallLog keeps the redo log of MariaDB from being 96 MB, which every copy would have.
const smallLog = "--innodb-log-file-size=16M"

// initialize makes the data folder of a server with its own program. That takes seconds,
// so the first result is kept in the user's cache folder, under a name of the program
// and its arguments, and later calls copy it.
func initialize(t testing.TB, data string, run func(program string, args ...string) error, program string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(program)
	must(t, err)
	info, err := os.Stat(path)
	must(t, err)
	key := sha256.Sum256([]byte(fmt.Sprint(path, info.Size(), info.ModTime(), strings.ReplaceAll(strings.Join(args, " "), data, ""))))
	cache, err := os.UserCacheDir()
	if err != nil {
		must(t, run(path, args...)) // a user without a home
		return
	}
	kept := filepath.Join(cache, "interlock-test", fmt.Sprintf("%s-%x", filepath.Base(path), key[:6]))
	if _, err := os.Stat(kept); err == nil {
		must(t, copyFolder(data, kept))
		return
	}
	must(t, run(path, args...))
	must(t, os.MkdirAll(filepath.Dir(kept), 0o700))
	fresh, err := os.MkdirTemp(filepath.Dir(kept), "new-")
	must(t, err)
	defer os.RemoveAll(fresh)
	must(t, copyFolder(filepath.Join(fresh, "data"), data))
	_ = os.Rename(filepath.Join(fresh, "data"), kept) // another process may have been first
}

// copyFolder copies a folder with owners and permissions.
func copyFolder(to, from string) error {
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copying %s: %w: %s", from, err, out)
	}
	return nil
}

// unprivileged makes a folder of the user that servers insist on not being root, and
// a way to run programs as that user.
func unprivileged(t testing.TB, name string) (dir string, run func(program string, args ...string) error) {
	t.Helper()
	dir, err := os.MkdirTemp("", "db") // short: the path of a socket is
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	attr := credential(t, name)
	if attr != nil {
		must(t, os.Chown(dir, int(attr.Credential.Uid), int(attr.Credential.Gid)))
	}
	return dir, func(program string, args ...string) error {
		cmd := exec.Command(program, args...)
		cmd.SysProcAttr, cmd.Dir = attr, dir
		log, err := os.CreateTemp(dir, "out") // a file: a daemon would keep a pipe open
		if err != nil {
			return err
		}
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Run(); err != nil {
			said, _ := os.ReadFile(log.Name())
			return fmt.Errorf("%s: %w: %s", program, err, said)
		}
		return nil
	}
}

// credential is needed by root only.
func credential(t testing.TB, name string) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		t.Skipf("root needs the user %s to run the server: %v", name, err)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
