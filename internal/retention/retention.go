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
	"fmt"
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

// Threads are told what is removed. The engine implements it.
type Threads interface {
	// RemoveArtifacts records in threads that artifacts are removed, and calls remove before
	// another turn can begin in one of them. It changes nothing if one of them has grown
	// since its number in seqs, or if a turn runs in it.
	RemoveArtifacts(ctx context.Context, seqs map[string]int64, ids []string, remove func() error) error
	// ThreadRemoved ends the followers of a thread that is no longer stored.
	ThreadRemoved(thread string)
}

// A Keeper plans and carries out the removal of old things. It is safe for concurrent use.
type Keeper struct {
	cfg   Config // fixed at creation
	known knownUsage
}

// New returns a keeper.
func New(cfg Config) (*Keeper, error) {
	if cfg.Store == nil || cfg.Artifacts == nil || cfg.Threads == nil {
		return nil, errors.New("retention: Config.Store, Artifacts and Threads are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Keeper{cfg: cfg}, nil
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
	// Damaged are documents of artifacts that cannot be read; nothing of them is removed.
	Damaged []artifact.Damaged `json:"damaged,omitempty"`

	limits   Limits
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

// A Kept is a thread or an artifact that a limit would remove and something needs.
type Kept struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"` // of an artifact; the title of a thread
	Used  time.Time `json:"used_at"`
	Bytes int64     `json:"bytes"` // that only it takes
	Why   string    `json:"why"`
}

// reasonText says in words why an artifact was removed.
func (p *Plan) reasonText(reason string) string {
	if reason == TooOld {
		return fmt.Sprintf("nobody had used it for %s (--keep-artifacts)", ageText(p.limits.ArtifactAge))
	}
	return fmt.Sprintf("artifacts took more than %d MiB together (--keep-artifacts-mb)", p.limits.ArtifactBytes>>20)
}

// ageText writes an age in days where it is some.
func ageText(age time.Duration) string {
	if days := age / (24 * time.Hour); days > 1 && age%(24*time.Hour) == 0 {
		return fmt.Sprintf("%d days", days)
	}
	return age.String()
}

// A Result is what was removed. Something that was used since the plan was made stays.
type Result struct {
	Threads   int   `json:"threads"`
	Artifacts int   `json:"artifacts"`
	Bytes     int64 `json:"bytes"`
}
