package store

import "context"

// After checkpointFrom pages of the write-ahead log the checkpointer copies them into the
// file. If it does not keep up, the writer does so after checkpointMust pages.
const (
	checkpointFrom = 750
	checkpointMust = "4000"
	pageSize       = 4096
)

// runCheckpoints copies the write-ahead log into the file when it has grown, so that no
// batch has to wait for that. It is the store's only goroutine: Append wakes it and Close
// ends it.
func (s *SQLite) runCheckpoints() {
	defer close(s.checkpointDone)
	for range s.checkpointDue {
		// If this fails, the writer fails for the same reason and reports it.
		_, _ = s.readers.ExecContext(context.Background(), `PRAGMA wal_checkpoint(PASSIVE)`)
	}
}

// countPages estimates how many pages a batch added to the write-ahead log, and wakes the
// checkpointer when there are enough. The caller owns the writer.
func (s *SQLite) countPages(w *writer, blobs []packedBlob) {
	w.pages += 3
	for _, b := range blobs {
		w.pages += 1 + len(b.bytes)/pageSize
	}
	if w.pages < checkpointFrom {
		return
	}
	w.pages = 0
	select {
	case s.checkpointDue <- struct{}{}:
	default: // it is busy with a checkpoint
	}
}
