package artifact

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"interlock/internal/fault"
)

// A removal is what is remembered of an artifact whose newest version was removed.
type removal struct {
	Name    string    `json:"name"`
	Version int       `json:"version"` // the newest that was removed
	At      time.Time `json:"removed_at"`
	Reason  string    `json:"reason"`
}

func (s *Store) removalPath(owner string, id identity) string {
	return filepath.Join(s.keyDir(owner, id), "removed")
}

// noteRemoval remembers that a version is removed, unless a newer one was before.
func (s *Store) noteRemoval(id identity, m Meta, reason string) error {
	if known, err := s.readRemoval(m.Owner, id); err != nil || known.Version >= m.Version {
		return err
	}
	raw, err := json.Marshal(removal{m.Name, m.Version, time.Now().UTC(), reason})
	if err != nil {
		return err
	}
	return s.writeWhole(s.removalPath(m.Owner, id), raw)
}

// readRemoval returns what was removed of an artifact; Version is 0 if nothing was. A
// damaged note is as good as none.
func (s *Store) readRemoval(owner string, id identity) (r removal, err error) {
	raw, err := os.ReadFile(s.removalPath(owner, id))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil && json.Unmarshal(raw, &r) != nil {
		r = removal{}
	}
	return r, err
}

// nextVersion is the version after all that an artifact has or had: a number never means
// two contents.
func (s *Store) nextVersion(owner string, id identity) (int, error) {
	last, err := s.readRemoval(owner, id)
	if err != nil {
		return 0, err
	}
	entries, err := os.ReadDir(s.keyDir(owner, id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	newest := last.Version
	for _, e := range entries {
		if number, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			if n, err := strconv.Atoi(number); err == nil {
				newest = max(newest, n)
			}
		}
	}
	return newest + 1, nil
}

// missing is the error for an artifact, or one version of it, that is not there.
func (s *Store) missing(owner string, which identity, id string, version int) error {
	r, err := s.readRemoval(owner, which)
	if err != nil {
		return s.wrapError(err, "read")
	}
	if r.Version == 0 || version > r.Version {
		return fault.New(fault.NotFound, "there is no artifact %.80q", id)
	}
	return fault.New(fault.NotFound, "the artifact %s (%s) was removed on %s: %s", id, r.Name, r.At.Format("2006-01-02"), r.Reason).
		Suggest("Ask for it again in its thread: it is made anew, as version %d.", r.Version+1)
}
