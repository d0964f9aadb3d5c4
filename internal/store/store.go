// Package store keeps the log: threads, their events in order, and blobs by content hash.
// It also keeps an index of threads and runs, the leases that give each running thread one
// owner among processes, and the audit log.
package store

import (
	"context"
	"errors"
	"iter"
	"time"

	"interlock/internal/audit"
	"interlock/internal/event"
)

// Errors that callers test for.
var (
	ErrConflict = errors.New("the thread has grown meanwhile")
	ErrNotFound = errors.New("not stored")
	ErrLocked   = errors.New("another process keeps the store locked") // trying again may help
	// ErrNotWritable: this user may not write the store. Config.ReadOnly may help.
	ErrNotWritable = errors.New("the store cannot be written")
)

// A Log holds the events of all threads. It is safe for concurrent use.
type Log interface {
	// Append stores a batch atomically. Events must continue at After+1; if the thread
	// does not end at After, nothing is stored and the error is ErrConflict. If the lease
	// has another fence than the batch, nothing is stored and the error is ErrFenced, also
	// if whoever has the lease now has stored events already.
	Append(ctx context.Context, b Batch) error
	// Events yields the thread's events with Seq > after in order. Large values are not
	// resolved. An unknown thread yields ErrNotFound.
	Events(ctx context.Context, thread string, after int64) iter.Seq2[event.Event, error]
	// Snapshot returns the newest snapshot of a thread's fold and its sequence number;
	// (nil, 0, nil) if there is none.
	Snapshot(ctx context.Context, thread string) ([]byte, int64, error)
	// Blob returns the bytes stored under a content hash, or ErrNotFound.
	Blob(ctx context.Context, hash string) ([]byte, error)
	Close() error
}

// An Index lists threads, runs and sayings. Append writes it.
type Index interface {
	Thread(ctx context.Context, id string) (Thread, error)
	Threads(ctx context.Context, q Query) ([]Thread, error)
	Run(ctx context.Context, id string) (Run, error)
	Runs(ctx context.Context, q Query) ([]Run, error)
	// Sayings returns what an owner said under names that begin with this, the last name first.
	Sayings(ctx context.Context, owner, prefix string, limit int) ([]Saying, error)
}

// A Store is the whole contract of a store.
type Store interface {
	Log
	Index
	Leases
	Retention
	Audit
}

// An Audit is the log of who did what. Append and RemoveThreads write it as well, in their own
// transactions.
type Audit interface {
	// RecordAction adds an entry; who acts and when is filled in from the context.
	RecordAction(ctx context.Context, e audit.Entry) error
	// Actions yields the records after a number, in order.
	Actions(ctx context.Context, after int64) iter.Seq2[audit.Record, error]
	// LastActions returns the newest records before a number, the newest first; 0 is the end.
	LastActions(ctx context.Context, before int64, limit int) ([]audit.Record, error)
	// VerifyActions checks the log against itself, the runs of threads and heads that were
	// kept elsewhere.
	VerifyActions(ctx context.Context, kept ...audit.Head) (audit.Verification, error)
}

// A Batch is what one step of the engine stores, whole or not at all.
type Batch struct {
	Thread   string
	After    int64  // sequence number of the thread's last event before the batch; 0 creates the thread
	Fence    int64  // of the thread's lease; 0 for a thread that never had one
	Parent   string // of a new fork: nothing is stored if the parent has been removed
	Events   []event.Event
	Blobs    []Blob
	Head     Thread // the thread's row after this batch
	Runs     []Run  // rows of the runs that this batch begins, suspends or ends
	Said     Saying // what the batch begins with, where a client named it. A name that its owner has used is a conflict
	Snapshot []byte // of the fold after the last event; nil for none
}

// A Blob is bytes under their content hash. Storing one that exists is no error.
type Blob struct {
	Hash  string
	Bytes []byte
}

// Thread statuses.
const (
	Idle     = "idle"    // nothing runs, nothing waits
	Running  = "running" // a turn runs, or ran when its process died
	Waiting  = "waiting" // a card is open
	Complete = "complete"
	Failed   = "failed" // the last turn failed; the thread can go on
)

// A Thread is one row of the index.
type Thread struct {
	ID      string    `json:"id"`
	Owner   string    `json:"owner"`
	Machine string    `json:"machine"`
	Version string    `json:"version"`
	Title   string    `json:"title"`
	Dataset string    `json:"dataset,omitempty"`
	Status  string    `json:"status"`
	State   string    `json:"state"`
	Run     string    `json:"run,omitempty"`     // the newest run
	Outcome string    `json:"outcome,omitempty"` // of the newest run, as Run.Status says it
	Seq     int64     `json:"seq"`               // of the last event
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
}

// A Run is one turn in the index. Its audit document is made from the log.
type Run struct {
	ID       string    `json:"run_id"`
	Thread   string    `json:"thread_id"`
	Owner    string    `json:"owner"`
	Machine  string    `json:"machine"`
	Dataset  string    `json:"dataset_id,omitempty"`
	Question string    `json:"question"`
	Status   string    `json:"status"` // running, waiting, or an event.Outcome
	First    int64     `json:"first_seq"`
	Last     int64     `json:"last_seq,omitempty"` // 0 while it runs
	Started  time.Time `json:"started_at"`
	Ended    time.Time `json:"ended_at,omitzero"`
	MicroUSD int64     `json:"micro_usd,omitempty"` // cost when the status last changed; Tokens likewise
	Tokens   int       `json:"tokens,omitempty"`
}

// A Saying is a message or an answer that a client named, so that it can be found again.
type Saying struct {
	Owner, Name string // no name: nobody looks for it
	Thread, Run string
	Seq         int64 // of the event with which it begins
}

// A Query filters a listing, which is sorted with the newest first. Zero fields do not
// filter.
type Query struct {
	Owner   string
	Machine string
	Status  string
	Thread  string // of runs
	Text    string // part of title or question
	Kept    bool   // runs that somebody keeps
	Limit   int    // 0 = 100
	Before  time.Time
}
