package store

import "context"

// Pages of the write-ahead log after which they are carried over into the file. The
// checkpointer is told in time; should it not keep up, the writer does it itself.
const (
	checkpointFrom = 750
	checkpointMust = "4000"
	pageSize       = 4096
)

// checkpoint carries the write-ahead log over into the file when there is enough of
// it, so that no batch has to wait for the disk. It is the store's one goroutine: it
// is woken by Append and ends with Close.
func (s *SQLite) checkpoint() {
	defer close(s.ended)
	for range s.due {
		// Where this fails, the writer meets the same trouble and reports it.
		_, _ = s.readers.ExecContext(context.Background(), `PRAGMA wal_checkpoint(PASSIVE)`)
	}
}

// wrote counts what a batch put into the write-ahead log; the caller owns the writer.
func (s *SQLite) wrote(w *writer, blobs []packedBlob) {
	w.pages += 3
	for _, b := range blobs {
		w.pages += 1 + len(b.bytes)/pageSize
	}
	if w.pages < checkpointFrom {
		return
	}
	w.pages = 0
	select {
	case s.due <- struct{}{}:
	default: // it is at it
	}
}
