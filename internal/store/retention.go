package store

import "context"

// Retention removes threads that are no longer wanted. Package retention decides which.
type Retention interface {
	// KeepRun marks a run so that its thread is not removed, or takes the mark away.
	KeepRun(ctx context.Context, run string, keep bool) error
	// Usage returns what each thread takes and refers to.
	Usage(ctx context.Context) (*Usage, error)
	// UpdateUsage adds to a Usage what was stored and removed since it was taken. It reads
	// new events only.
	UpdateUsage(ctx context.Context, u *Usage) error
	// RemoveThreads removes threads of a Usage, and the blobs to which no other thread
	// refers. A thread stays if it has grown since the Usage was taken, if a process runs
	// it, if one of its runs is kept, or if a fork of it stays.
	RemoveThreads(ctx context.Context, u *Usage, threads []string) (Removal, error)
	// Compact gives the space of what was removed back to the file system. It rewrites
	// the store, and writers wait meanwhile.
	Compact(ctx context.Context) error
}

// A Usage says what the threads of a store take and refer to.
type Usage struct {
	Threads map[string]*ThreadUsage // by id
	Blobs   map[string]int64        // stored bytes of each blob, by hash
	chunks  map[string][]string     // of the blobs that are stored in chunks
}

// A ThreadUsage is what one thread takes and refers to.
type ThreadUsage struct {
	Thread
	Parent    string              // the thread that it is a fork of
	Bytes     int64               // of its events and its snapshot
	Blobs     map[string]struct{} // hashes of the blobs that it needs
	Artifacts map[string]struct{} // ids of artifacts that its events name
	Kept      []string            // runs of it that somebody keeps
	Held      bool                // a process runs it
	snapshot  int64               // bytes of the snapshot
}

// A Removal is what RemoveThreads removed.
type Removal struct {
	Threads []string
	Bytes   int64 // of events, snapshots and blobs
}
