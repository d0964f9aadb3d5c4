package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"modernc.org/sqlite"

	"interlock/internal/fault"
)

// SQLiteConfig configures a SQLite store.
type SQLiteConfig struct {
	// Path of the database file. Required. Its folder is created if it is missing.
	Path string
	// PowerSafe flushes every batch to the disk. Default: batches survive the death of
	// the process; a loss of power may lose the last ones, but never one in the middle.
	PowerSafe bool
	// Log is for the operator. Default: nothing is logged.
	Log *slog.Logger
}

// SQLite is a Store in one SQLite file, which several processes may open. One connection
// writes and a few read; readers never wait for the writer.
type SQLite struct {
	// fixed at creation
	path    string
	readers *sql.DB
	packer  *packer
	// readOnly: there is no writing connection
	readOnly bool

	// writer holds the writing connection while nobody uses it, and nil after Close.
	writer         chan *writer
	checkpointDue  chan struct{} // wakes the checkpointer; closed by Close
	checkpointDone chan struct{} // closed when the checkpointer has ended

	mu         sync.Mutex
	knownBlobs map[string]struct{} // hashes of blobs that are stored
	sweep      int64               // the number of the sweep since which they are known
}

const (
	busyMillis = "5000" // how long to wait for a writer of another process
	maxReaders = 5      // one of them watches the file
	maxKnown   = 8192
	walLimit   = "16777216" // the size to which the write-ahead log is truncated
)

// OpenSQLite opens or creates the file and brings its tables up to date.
func OpenSQLite(c SQLiteConfig) (*SQLite, error) {
	if c.Path == "" || c.Path == ":memory:" {
		return nil, fault.New(fault.BadSetting, "the store needs the path of a file, not %q", c.Path)
	}
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return nil, storeFault(err, c.Path, "open")
	}
	if err := createPrivate(path); err != nil {
		return nil, storeFault(err, path, "open")
	}
	if err := migrate(path, cmp.Or(c.Log, slog.New(slog.DiscardHandler))); err != nil {
		return nil, storeFault(err, path, "open")
	}
	sync := "NORMAL"
	if c.PowerSafe {
		sync = "FULL"
	}
	w, err := openWriter(dataSource(path, "synchronous("+sync+")", "journal_size_limit("+walLimit+")", "wal_autocheckpoint("+checkpointMust+")"))
	if err != nil {
		return nil, storeFault(err, path, "open")
	}
	readers, err := openDB(dataSource(path, "query_only(1)"))
	if err != nil {
		return nil, errors.Join(storeFault(err, path, "open"), w.close())
	}
	readers.SetMaxOpenConns(maxReaders)
	readers.SetMaxIdleConns(maxReaders)

	s := &SQLite{
		path: path, readers: readers, packer: newPacker(),
		writer: make(chan *writer, 1), checkpointDue: make(chan struct{}, 1), checkpointDone: make(chan struct{}),
		knownBlobs: map[string]struct{}{},
	}
	s.writer <- w
	go s.runCheckpoints()
	if _, err := s.forgetSwept(context.Background(), -1); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close waits for the batch that is being written and closes the store.
func (s *SQLite) Close() error {
	w := <-s.writer
	defer func() { s.writer <- nil }()
	if s.readOnly {
		return s.readers.Close()
	}
	if w == nil {
		return nil
	}
	close(s.checkpointDue)
	<-s.checkpointDone
	if err := errors.Join(s.readers.Close(), w.close()); err != nil {
		return storeFault(err, s.path, "close")
	}
	return nil
}

// createPrivate creates the file with access for its owner only. SQLite gives its
// write-ahead log the same mode.
func createPrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// dataSource returns the driver's name of the file. The path may hold any character.
func dataSource(path string, pragmas ...string) string {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": append([]string{"busy_timeout(" + busyMillis + ")"}, pragmas...)}
	u := url.URL{Path: filepath.ToSlash(path)}
	return "file:" + u.EscapedPath() + "?" + q.Encode()
}

func openDB(dsn string) (*sql.DB, error) {
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}
