package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockEvery is how often a process looks whether another one has ended an import.
const lockEvery = 20 * time.Millisecond

// lockSuffix ends the name of the lock of a database file.
const lockSuffix = ".lock"

// lockImport lets one process at a time import a database file: a second one would replace
// the file under the first one's workers, which may open no other. The lock ends with the
// returned function, or with the process.
func (c *Catalog) lockImport(ctx context.Context, path string) (unlock func(), err error) {
	name := path + lockSuffix
	for {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("locking the import: %w", err)
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil && isFile(f, name) {
			return func() { _ = f.Close() }, nil
		}
		_ = f.Close()
		if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("locking the import: %w", err)
		}
		select {
		case <-time.After(lockEvery):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// removeLock removes the lock of a database that is dropped, unless a process holds it.
func removeLock(path string) {
	f, err := os.Open(path + lockSuffix)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		_ = os.Remove(path + lockSuffix)
	}
}

// isFile reports whether the open file is the one of this name, not one that was removed.
func isFile(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(name)
	return err == nil && os.SameFile(open, named)
}
