package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
	sqlite3 "modernc.org/sqlite/lib"
)

// sqliteSuffixes are the files that belong to a database file: its write-ahead log,
// the index of that, and the journal of a change in progress.
var sqliteSuffixes = []string{"", "-wal", "-shm", "-journal"}

// A fileStamp tells a file and its state from others. One that is not there is zero.
type fileStamp struct {
	Device, Inode  uint64
	Size           int64
	Change, Modify int64 // times, in nanoseconds
}

func stampOf(path string) fileStamp {
	var s unix.Stat_t
	if unix.Stat(path, &s) != nil {
		return fileStamp{}
	}
	return fileStamp{s.Dev, s.Ino, s.Size, s.Ctim.Nano(), s.Mtim.Nano()}
}

// A sqliteState is a database file with all that belongs to it, at one moment.
type sqliteState [4]fileStamp

func stateOf(path string) (s sqliteState) {
	for i, suffix := range sqliteSuffixes {
		s[i] = stampOf(path + suffix)
	}
	return s
}

// files are those that are there: a worker may open them, and no others.
func (s sqliteState) files(path string) (list []string) {
	for i, suffix := range sqliteSuffixes {
		if s[i].Inode != 0 {
			list = append(list, path+suffix)
		}
	}
	return list
}

// sameFiles says that the files are the same ones, whatever is in them.
func (s sqliteState) sameFiles(other sqliteState) bool {
	for i := range s {
		if s[i].Device != other[i].Device || s[i].Inode != other[i].Inode {
			return false
		}
	}
	return true
}

// hasMoved says that the database or its log are other files now.
func (s sqliteState) hasMoved(before sqliteState) bool {
	s[3], before[3] = fileStamp{}, fileStamp{}
	return !s.sameFiles(before)
}

// withoutIndex leaves out the index of the log, which readers touch too.
func (s sqliteState) withoutIndex() sqliteState {
	s[2] = fileStamp{}
	return s
}

// DatabaseVersion names the state of the file that a database is, its write-ahead log
// included; "" of one that is a server.
func (c Config) DatabaseVersion() string {
	if path := c.File(); path != "" {
		return fmt.Sprint(stateOf(path).withoutIndex())
	}
	return ""
}

// How a file is read. SQLite must write beside a file to read one that has a
// write-ahead log and nobody else who reads it; nothing is ever written there.
type sqliteMode byte

const (
	sqliteInPlace   sqliteMode = iota // with SQLite's own locks, the log included
	sqliteImmutable                   // a file without a log, which may not change meanwhile
	sqliteCopied                      // a private copy: the log or the journal must be worked in first
)

// A sqliteFile is an open file.
type sqliteFile struct {
	conn   *sqliteConn
	mode   sqliteMode
	path   string
	before sqliteState
}

// verify says that the file did not change while it was read, where SQLite itself
// does not see to that.
func (f *sqliteFile) verify() error {
	if f.mode == sqliteImmutable && stateOf(f.path).withoutIndex() != f.before.withoutIndex() {
		return &sqliteErr{Code: sqliteCodeChanged, Message: "the file was changed while it was read", Offset: -1}
	}
	return nil
}

func (w *sqliteWorker) open(path string) (*sqliteFile, error) {
	f := &sqliteFile{path: path, before: stateOf(path)}
	log, err := sqliteHeader(path)
	if err != nil {
		return nil, err
	}
	switch {
	case !log || f.before[1].Size > 0 && f.before[2].Inode != 0:
		err = f.connect(path, sqliteInPlace)
		// A journal that somebody's crash left must be played back, which is writing.
		// This worker can see the journal if it was started for that.
		if e, ok := errors.AsType[*sqliteErr](err); ok && readable(path+"-journal") && (e.primary() == sqlite3.SQLITE_READONLY || e.primary() == sqlite3.SQLITE_CANTOPEN) {
			err = w.openCopy(f)
		}
	case f.before[1].Size == 0:
		err = f.connect(path, sqliteImmutable)
	default:
		err = w.openCopy(f)
	}
	return f, err
}

func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

func (w *sqliteWorker) openCopy(f *sqliteFile) error {
	copied, err := w.clone.copyOf(f.path, f.before)
	if err != nil {
		return err
	}
	return f.connect(copied, sqliteCopied)
}

// sqliteHeader looks at the first bytes of a file: is it one of SQLite's, and does it
// have a write-ahead log.
func sqliteHeader(path string) (log bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, &sqliteErr{Code: sqlite3.SQLITE_CANTOPEN, Message: "the file cannot be opened", Offset: -1}
	}
	defer f.Close()
	head := make([]byte, 100)
	switch n, err := io.ReadFull(f, head); {
	case n == 0:
		return false, &sqliteErr{Code: sqliteCodeEmpty, Message: "the file is empty", Offset: -1}
	case err != nil || string(head[:16]) != "SQLite format 3\x00":
		return false, &sqliteErr{Code: sqlite3.SQLITE_NOTADB, Message: "the file is no SQLite database, or it is encrypted", Offset: -1}
	}
	return head[18] == 2 || head[19] == 2, nil
}

// connect opens the file for reading, with nothing in it trusted, and looks at its schema.
func (f *sqliteFile) connect(path string, mode sqliteMode) error {
	flags, params := int32(sqlite3.SQLITE_OPEN_READONLY), "mode=ro"
	switch mode {
	case sqliteImmutable:
		params = "mode=ro&immutable=1"
	case sqliteCopied:
		flags, params = sqlite3.SQLITE_OPEN_READWRITE, "mode=rw"
	}
	conn, err := dialSQLite((&url.URL{Scheme: "file", Path: path, RawQuery: params}).String(), flags)
	if err == nil {
		err = conn.harden()
	}
	if err != nil {
		conn.close()
		return err
	}
	f.conn, f.mode = conn, mode
	return nil
}

func (c *sqliteConn) harden() error {
	sqlite3.Xsqlite3_busy_timeout(c.tls, c.db, 5000)
	for _, o := range []struct{ op, on int32 }{
		{sqlite3.SQLITE_DBCONFIG_DEFENSIVE, 1},
		{sqlite3.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		{sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
		{sqlite3.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
		{sqlite3.SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
	} {
		if err := c.option(o.op, o.on); err != nil {
			return err
		}
	}
	c.limit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
	c.limit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
	if err := c.exec("PRAGMA query_only = 1", "PRAGMA cell_size_check = 1", "SELECT count(*) FROM sqlite_schema"); err != nil {
		return err
	}
	if err := c.function("days", sqliteDays); err != nil {
		return err
	}
	if err := c.function("micros", sqliteMicros); err != nil {
		return err
	}
	return c.function("exact", sqliteExact)
}

// A sqliteClone is a worker's private copy of a file.
type sqliteClone struct {
	state sqliteState
	path  string
	count int
}

// copyOf copies the file with its log or journal, unless the last copy is still current.
func (c *sqliteClone) copyOf(path string, state sqliteState) (string, error) {
	if c.path != "" && c.state == state {
		return c.path, nil
	}
	if c.path != "" {
		for _, suffix := range sqliteSuffixes {
			_ = os.Remove(c.path + suffix)
		}
		c.path = ""
	}
	c.count++
	target := filepath.Join(os.TempDir(), fmt.Sprintf("copy-%d.db", c.count))
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if err := copyFile(target+suffix, path+suffix); err != nil && (suffix == "" || !errors.Is(err, os.ErrNotExist)) {
			return "", &sqliteErr{Code: sqlite3.SQLITE_FULL, Message: "the file cannot be copied: " + err.Error(), Offset: -1}
		}
	}
	if stateOf(path).withoutIndex() != state.withoutIndex() {
		return "", &sqliteErr{Code: sqliteCodeChanged, Message: "the file was changed while it was copied", Offset: -1}
	}
	c.path, c.state = target, state
	return target, nil
}

// copyFile copies a file, by reference where the file system can.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// copyMoment makes a consistent copy of a file and its log: nothing changed while they
// were copied, and no change was in progress.
func copyMoment(ctx context.Context, to, from string) bool {
	const tries, most = 50, 256 << 20
	for range tries {
		before := stateOf(from)
		if before[0].Size+before[1].Size > most || ctx.Err() != nil {
			return false
		}
		if before[3].Size == 0 {
			err := copyFile(to, from)
			_ = os.Remove(to + "-wal")
			if before[1].Inode != 0 && err == nil {
				err = copyFile(to+"-wal", from+"-wal")
			}
			if err == nil && stateOf(from).withoutIndex() == before.withoutIndex() {
				return true
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(3 * time.Millisecond):
		}
	}
	return false
}
