package store

import (
	"cmp"
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

// A SQLiteConfig says where a SQLite store is and how safe it must be.
type SQLiteConfig struct {
	// Path of the database file. Required. Its folder is made if it is missing.
	Path string
	// PowerSafe flushes every batch to the disk. Default: the file survives the death
	// of the process; a loss of power may cost the last batches, never their order.
	PowerSafe bool
	// Log receives what an operator should know. Default: nothing is logged.
	Log *slog.Logger
}

// A SQLite keeps the log in one SQLite file. Several processes may open the same
// file. One connection writes, a few read; reading never waits for writing.
type SQLite struct {
	// fixed at creation
	path    string
	readers *sql.DB
	pack    *packer

	// writer holds the one writing connection while nobody uses it; nil once closed.
	writer chan *writer
	due    chan struct{} // wakes the checkpointer; closed by Close
	ended  chan struct{} // closed when the checkpointer has ended

	mu    sync.Mutex
	known map[string]struct{} // hashes of blobs that are surely stored
}

const (
	busyMillis = "5000" // how long a writer of another process is waited for
	maxReaders = 5      // one of them watches the file
	maxKnown   = 8192
	walLimit   = "16777216" // the size to which the write-ahead log is cut back
)

// OpenSQLite opens the file, makes it if it is missing, and brings its tables up to date.
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
		path: path, readers: readers, pack: newPacker(),
		writer: make(chan *writer, 1), due: make(chan struct{}, 1), ended: make(chan struct{}),
		known: map[string]struct{}{},
	}
	s.writer <- w
	go s.checkpoint()
	return s, nil
}

// Close waits for the batch that is being written and ends the store.
func (s *SQLite) Close() error {
	w := <-s.writer
	defer func() { s.writer <- nil }()
	if w == nil {
		return nil
	}
	close(s.due)
	<-s.ended
	if err := errors.Join(s.readers.Close(), w.close()); err != nil {
		return storeFault(err, s.path, "close")
	}
	return nil
}

// createPrivate makes the file readable by its owner alone; SQLite gives the files
// beside it the same mode.
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

// dataSource names the file for the driver, whatever characters its path has.
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
