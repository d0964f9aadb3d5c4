// Package artifact keeps outputs: files that tools made and people download. A
// content is stored once under its hash; a small document beside it says what it
// is, whose it is and which version of which thing.
//
//	objects/ab/cdef...                     contents, by SHA-256
//	meta/OWNER/THREAD/KEY/1.json, 2.json   what is known of each version
//	meta/OWNER/THREAD/KEY/1.unconfirmed    its writer has yet to check that it owns the thread
//	meta/OWNER/THREAD/KEY/2.removed        the newest version that was removed, when and why
//	meta/OWNER/THREAD/hashes/TYPE-HASH     links to the documents, by content
//	tmp/                                   contents on their way
//	locks/                                 one at a time per thread
//
// A file gets its final name only when it is whole and on the disk, so that a crash leaves
// nothing but files in tmp, which New sweeps, and contents without a document, which Sweep does. Several processes may share a folder. A
// document that cannot be read, because the disk or a person damaged it, is skipped; All
// and Open name it.
package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// A Config says where artifacts are kept.
type Config struct {
	// Dir is the folder. Required; made if it is missing.
	Dir string
	// MaxBytes is the size of the largest artifact. Default 256 MiB.
	MaxBytes int64
}

// A Store keeps artifacts in a folder. It is safe for concurrent use, also by several
// processes: the folder holds its locks.
type Store struct {
	dir      string
	maxBytes int64
}

// Meta is what is known of one version of an artifact.
type Meta struct {
	event.ArtifactMade
	Hash   string `json:"sha256"`
	Owner  string `json:"owner"`
	Thread string `json:"thread"`
	// Lineage is what the content was made of, where that is known.
	Lineage *Lineage `json:"lineage,omitempty"`
}

// exportPrefix begins what stands for the thread of an export.
const exportPrefix = "export "

// ExportThread is the Thread of rows that a person exported, outside of all threads, under
// a logical key.
func ExportThread(key string) string { return exportPrefix + key }

// OfThread reports whether a thread made the artifact; else it was exported by a person.
func (m Meta) OfThread() bool { return m.Thread != "" && !strings.HasPrefix(m.Thread, exportPrefix) }

// A Lineage is the query and the data that a content was made of.
type Lineage struct {
	Dataset string   `json:"dataset_id"`
	Version string   `json:"dataset_version_hash"`
	SQL     string   `json:"sql"`
	Tables  []string `json:"tables"`
	Rows    int64    `json:"row_count"`
	// Notes say what the format could not carry as it is.
	Notes []string `json:"notes,omitempty"`
	// Columns are those read of each table.
	Columns map[string][]string `json:"columns,omitempty"`
	// At is when the statement ran; Volatile says that another run of it may differ.
	At       time.Time `json:"at,omitzero"`
	Volatile bool      `json:"volatile,omitempty"`
	// Run and Call are the recorded call whose statement it was; Recorded is the version
	// that the call read, where that is not Version.
	Run      string `json:"run_id,omitempty"`
	Call     string `json:"call,omitempty"`
	Recorded string `json:"recorded_version_hash,omitempty"`
	// Frames are the earlier results that the statement read as tables.
	Frames []event.Frame `json:"frames,omitempty"`
}

const (
	defaultMaxBytes = 256 << 20
	leftoverAge     = time.Hour // nothing takes that long to write
)

// New opens the folder and sweeps what crashed writers left.
func New(c Config) (*Store, error) {
	if c.Dir == "" {
		return nil, fault.New(fault.BadSetting, "the artifact store needs a folder")
	}
	s := &Store{dir: c.Dir, maxBytes: c.MaxBytes}
	if s.maxBytes <= 0 {
		s.maxBytes = defaultMaxBytes
	}
	for _, sub := range []string{"objects", "meta", "tmp", "locks"} {
		if err := os.MkdirAll(filepath.Join(s.dir, sub), 0o700); err != nil {
			return nil, s.wrapError(err, "make the folder of")
		}
	}
	if err := s.removeUnfinished(); err != nil {
		return nil, s.wrapError(err, "clean")
	}
	return s, nil
}

// removeUnfinished removes the temporary files of crashed writers, but not those that
// another process may be writing, and finishes removals that were cut off.
func (s *Store) removeUnfinished() error {
	entries, err := os.ReadDir(filepath.Join(s.dir, "tmp"))
	if err != nil {
		return err
	}
	cutOff := false
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), removedPrefix) || strings.HasPrefix(e.Name(), unusedPrefix) {
			cutOff = true
			continue
		}
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < leftoverAge {
			continue // gone meanwhile, or young
		}
		if err := os.Remove(filepath.Join(s.dir, "tmp", e.Name())); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	if !cutOff {
		return nil
	}
	unlock, held, err := s.tryLock(removalLock)
	if err != nil || held {
		return err // held: a live process removes them
	}
	defer unlock()
	_, err = s.sweep(context.Background())
	return err
}

func (s *Store) wrapError(err error, doing string) *fault.Fault {
	return fault.Wrap(err, fault.StoreFailed, "cannot %s the artifacts in %s", doing, s.dir)
}

func (s *Store) objectPath(hash string) string {
	return filepath.Join(s.dir, "objects", hash[:2], hash[2:])
}

func (s *Store) ownerDir(owner string) string {
	return filepath.Join(s.dir, "meta", digest(owner)[:32])
}

// An identity is the two halves of an artifact's id: the thread, and the artifact
// within it.
type identity struct{ thread, key string }

const (
	threadDigits = 16
	keyDigits    = 24
)

// newIdentity returns the identity of a content: that of its type and logical key,
// else of its type and hash.
func newIdentity(p Put, hash string) identity {
	key := digest("content", p.Type, hash)
	if p.LogicalKey != "" {
		key = digest("key", p.Type, p.LogicalKey)
	}
	return identity{threadPart(p.Owner, p.Thread), key[:keyDigits]}
}

// threadPart is the half of an id that means the thread.
func threadPart(owner, thread string) string { return digest(owner, thread)[:threadDigits] }

func (id identity) String() string { return "art_" + id.thread + id.key }

// parseID reads an id, with "@N" behind it for a version that is not the newest (0).
func parseID(s string) (id identity, version int, ok bool) {
	s, ok = strings.CutPrefix(s, "art_")
	if !ok {
		return id, 0, false
	}
	if s, number, found := strings.Cut(s, "@"); found {
		version, err := strconv.Atoi(number)
		if err != nil || version < 1 || strconv.Itoa(version) != number {
			return id, 0, false
		}
		id, _, ok := parseID("art_" + s)
		return id, version, ok
	}
	if raw, err := hex.DecodeString(s); err != nil || hex.EncodeToString(raw) != s || len(s) != threadDigits+keyDigits {
		return id, 0, false
	}
	return identity{s[:threadDigits], s[threadDigits:]}, 0, true
}

// digest hashes parts, each with its length, so that no two lists look alike.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
