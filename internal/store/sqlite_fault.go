package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"interlock/internal/fault"
)

// storeFault converts an error of the file into a fault with a reason and a fix. Faults,
// and errors of a cancelled context, are returned as they are.
func storeFault(err error, path, doing string) error {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	why, fix := "it failed", ""
	switch code := resultCode(err); {
	case code == sqlite3.SQLITE_FULL, errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		why, fix = "the disk is full", "Free some space; nothing was half-written, and the same can be tried again."
	case code == sqlite3.SQLITE_NOTADB:
		why, fix = "the file is no database", "Give another path, or move this file away."
	case code == sqlite3.SQLITE_CORRUPT:
		why, fix = "the file is damaged", "Put back a copy of the file, or rescue it with `sqlite3 FILE .recover`; move it away to begin anew."
	case code == sqlite3.SQLITE_READONLY, code == sqlite3.SQLITE_PERM, errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		err = fmt.Errorf("%w: %w", ErrNotWritable, err)
		why, fix = "the file or its folder cannot be written", "Let this user write the folder and the file, or give another path."
	case code == sqlite3.SQLITE_CANTOPEN, errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		why, fix = "the file cannot be opened", "Check that the path names a file in a folder that this user may write."
	case code == sqlite3.SQLITE_BUSY, code == sqlite3.SQLITE_LOCKED:
		err = fmt.Errorf("%w: %w", ErrLocked, err)
		why, fix = "another process keeps it locked", "End the other process that uses this file, or wait for it."
	case code == sqlite3.SQLITE_IOERR:
		why, fix = "the disk does not answer as it should", "Check the disk and its free space; the same can be tried again."
	}
	f := fault.Wrap(err, fault.StoreFailed, "cannot %s the log %s: %s", doing, path, why)
	if fix != "" {
		f.Suggest("%s", fix)
	}
	return f
}

// resultCode returns SQLite's primary result code, 0 for other errors.
func resultCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}
