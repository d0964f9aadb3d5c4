// Package retention removes old threads and artifacts. A plan says what would go, why, and
// what has to stay although it is old; a dry run is a plan that nobody carries out.
//
// A thread stays if one of its runs is kept, if a process runs it, or if a fork of it stays:
// the runs before the fork are those of the parent. An artifact stays as long as a thread
// names it that is kept, runs or was used lately.
package retention

import (
	"context"
	"errors"
	"time"

	"interlock/internal/artifact"
	"interlock/internal/store"
)

// Limits say how long and how much is kept. Zero is no limit.
type Limits struct {
	ThreadAge     time.Duration // since the last turn
	ThreadBytes   int64         // of all threads together; the oldest go first
	ArtifactAge   time.Duration // since a thread that names the artifact was used
	ArtifactBytes int64         // of all artifacts together; the oldest go first
}

// IsZero reports whether nothing is limited.
func (l Limits) IsZero() bool { return l == Limits{} }

// Config says what to look after. All fields but Now are required.
type Config struct {
	Store     store.Store
	Artifacts *artifact.Store
	Threads   Threads
	// Now is for tests.
	Now func() time.Time
}

// Threads records in their threads that artifacts are removed. The engine implements it.
type Threads interface {
	// RemoveArtifacts fails if the thread has grown since seq or if a turn runs in it.
	// It calls remove once the event is stored and before another turn can begin.
	RemoveArtifacts(ctx context.Context, thread string, seq int64, ids []string, remove func() error) error
}

// A Keeper plans and carries out the removal of old things.
type Keeper struct{ cfg Config }

// New returns a keeper.
func New(cfg Config) (*Keeper, error) {
	if cfg.Store == nil || cfg.Artifacts == nil || cfg.Threads == nil {
		return nil, errors.New("retention: Config.Store, Artifacts and Threads are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Keeper{cfg}, nil
}

// The reasons for which something is removed.
const (
	TooOld     = "age"
	TooMuch    = "size"
	WithThread = "thread" // of an artifact: no thread that names it is left
)

// A Plan says what would be removed.
type Plan struct {
	Threads   []Thread   `json:"threads"`
	Artifacts []Artifact `json:"artifacts"`
	// Kept are the things beyond a limit that stay nevertheless.
	Kept []Kept `json:"kept"`

	usage    *store.Usage
	versions map[string][]artifact.Meta // by id
	seqs     map[string]int64           // the last event of each thread when the plan was made
}

// A Thread is one that is removed.
type Thread struct {
	ID      string    `json:"thread"`
	Owner   string    `json:"owner"`
	Title   string    `json:"title"`
	Updated time.Time `json:"updated_at"`
	Bytes   int64     `json:"bytes"` // that only this thread takes
	Reason  string    `json:"reason"`
}

// An Artifact is one that is removed, with all its versions.
type Artifact struct {
	ID     string    `json:"artifact_id"`
	Name   string    `json:"name"`
	Owner  string    `json:"owner"`
	Thread string    `json:"thread"` // that made it
	Used   time.Time `json:"used_at"`
	Bytes  int64     `json:"bytes"`
	Reason string    `json:"reason"`

	named []string // the threads that stay and name it
}

// A Kept is a thing that a limit would remove and something needs.
type Kept struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// A Result is what was removed. Something that was used since the plan was made stays.
type Result struct {
	Threads   int   `json:"threads"`
	Artifacts int   `json:"artifacts"`
	Bytes     int64 `json:"bytes"`
}
