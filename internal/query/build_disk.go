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

// watch ends the context of a table whose import fills more of the disk, or takes more
// time, than the dataset may: a small file can hold a large table. The returned function
// ends the watch and says whether that happened.
func (b *builder) watch(ctx context.Context, most time.Duration) (watched context.Context, end func() error) {
	// What earlier tables left free inside of the file is not taken again.
	free, _ := b.queryNumber(ctx, "SELECT CAST(free_blocks * block_size AS BIGINT) FROM pragma_database_size()")
	watched, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(watchDisk)
		defer tick.Stop()
		late := time.NewTimer(most)
		defer late.Stop()
		for {
			select {
			case <-watched.Done():
				return
			case <-late.C:
				cancel(&tooLong{b.order.MaxTime})
				return
			case <-tick.C:
				if err := b.checkSpace(free); err != nil {
					cancel(err)
					return
				}
			}
		}
	}()
	return watched, func() error {
		err := b.checkSpace(free)
		cancel(err)
		<-stopped
		cause := context.Cause(watched)
		if _, full := errors.AsType[*diskFull](cause); full {
			return cause
		}
		if _, late := errors.AsType[*tooLong](cause); late {
			return cause
		}
		return nil
	}
}

// timeFor is how long one of the tables that are left may take: half of the time that is
// left for all of them, so that one without an end leaves some to the others.
func (b *builder) timeFor(tables int) time.Duration {
	left := time.Until(b.ends)
	if tables > 1 {
		left /= 2
	}
	return left
}

// A tooLong says that an import would take longer than it may.
type tooLong struct{ time time.Duration }

func (t *tooLong) Error() string {
	return fmt.Sprintf("it takes too much of the %v that the files of a dataset may take to be read; remove the file, or raise the setting import-time", t.time)
}

// A diskFull says that an import would fill more of the disk than it may.
type diskFull struct{ bytes int64 }

func (d *diskFull) Error() string {
	return fmt.Sprintf("it takes more than the %d MB of disk that a dataset may have; remove the file, or raise the setting dataset-disk-mb", d.bytes>>20)
}

// checkSpace measures the new database and what lies in the worker's own folder.
func (b *builder) checkSpace(free int64) error {
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
