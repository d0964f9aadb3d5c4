package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"interlock/internal/fault"
)

// openSQLiteReadOnly opens a file that this user cannot write. All that writes is refused.
func openSQLiteReadOnly(path string) (*SQLite, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, storeFault(err, path, "read")
	}
	steps, err := loadMigrations()
	if err != nil {
		return nil, err
	}
	dsn := dataSource(path, "query_only(1)") + "&mode=ro"
	if wal, err := os.Stat(path + "-wal"); err != nil || wal.Size() == 0 {
		dsn += "&immutable=1" // without a write-ahead log there is no writer; SQLite would want to make one
	}
	readers, err := openDB(dsn)
	if err != nil {
		return nil, storeFault(err, path, "read")
	}
	readers.SetMaxOpenConns(maxReaders)
	var version int
	if err := readers.QueryRowContext(context.Background(), `PRAGMA user_version`).Scan(&version); err != nil {
		return nil, errors.Join(storeFault(err, path, "read"), readers.Close())
	}
	if version != len(steps) {
		return nil, errors.Join(fault.New(fault.StoreFailed, "the log %s has tables of the version %d, this Interlock reads %d, and it cannot be changed", path, version, len(steps)).
			Suggest("Let this user write the folder once, or use the Interlock that wrote it."), readers.Close())
	}
	s := &SQLite{path: path, readers: readers, readOnly: true, packer: newPacker(), writer: make(chan *writer, 1), knownBlobs: map[string]struct{}{}}
	s.writer <- nil
	return s, nil
}

// newReadOnly refuses to write a file that was opened for reading.
func newReadOnly(path string) *fault.Fault {
	return fault.New(fault.StoreFailed, "cannot write the log %s: the file or its folder cannot be written", path).
		Suggest("Let this user write the folder %s and the file, or give another path.", filepath.Dir(path))
}
