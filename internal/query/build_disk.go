package query

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// watchDisk is how often an import's files are looked at.
const watchDisk = 50 * time.Millisecond

// watch ends the context of a table whose import fills more of the disk than the
// dataset may: a small file can hold a large table. The returned function ends the
// watch and says whether that happened.
func (b *builder) watch(ctx context.Context) (watched context.Context, end func() error) {
	// What earlier tables left free inside of the file is not taken again.
	free, _ := b.number(ctx, "SELECT CAST(free_blocks * block_size AS BIGINT) FROM pragma_database_size()")
	watched, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(watchDisk)
		defer tick.Stop()
		for {
			select {
			case <-watched.Done():
				return
			case <-tick.C:
				if err := b.full(free); err != nil {
					cancel(err)
					return
				}
			}
		}
	}()
	return watched, func() error {
		err := b.full(free)
		cancel(err)
		<-stopped
		if full, ok := errors.AsType[*diskFull](context.Cause(watched)); ok {
			return full
		}
		return nil
	}
}

// A diskFull says that an import would fill more of the disk than it may.
type diskFull struct{ bytes int64 }

func (d *diskFull) Error() string {
	return fmt.Sprintf("it takes more than the %d MB of disk that a dataset may have; remove the file, or raise the setting dataset-disk-mb", d.bytes>>20)
}

// full measures the new database and what lies in the worker's own folder.
func (b *builder) full(free int64) error {
	bytes := bytesIn(b.order.Scratch) + bytesIn(filepath.Dir(b.order.Out)) - free
	if bytes > b.order.MaxBytes {
		return &diskFull{b.order.MaxBytes}
	}
	return nil
}

// bytesIn is the size of the files in a folder.
func bytesIn(dir string) (bytes int64) {
	entries, _ := os.ReadDir(dir) // what is gone takes nothing
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
	}
	return bytes
}
