package artifact

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

// removalEnd ends the name of a note, which begins with the number of the version: the number
// is known even where the note is damaged.
const removalEnd = ".removed"

func (s *Store) removalPath(owner string, id identity, version int) string {
	return filepath.Join(s.keyDir(owner, id), strconv.Itoa(version)+removalEnd)
}

// noteRemoval remembers that a version is removed, unless a newer one was before.
func (s *Store) noteRemoval(id identity, m Meta, reason string) error {
	known, err := s.readRemoval(m.Owner, id)
	if err != nil || known.Version >= m.Version {
		return err
	}
	raw, err := json.Marshal(removal{m.Name, m.Version, time.Now().UTC(), reason})
	if err != nil {
		return err
	}
	if err := s.writeWhole(s.removalPath(m.Owner, id, m.Version), raw); err != nil {
		return err
	}
	if known.Version == 0 {
		return nil
	}
	if err := os.Remove(s.removalPath(m.Owner, id, known.Version)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readRemoval returns what was removed of an artifact; Version is 0 if nothing was. Of a
// damaged note only the version is known.
func (s *Store) readRemoval(owner string, id identity) (r removal, err error) {
	entries, err := os.ReadDir(s.keyDir(owner, id))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	version, path := 0, ""
	for _, e := range entries {
		number, ok := strings.CutSuffix(e.Name(), removalEnd)
		if n, err := strconv.Atoi(number); ok && err == nil && n > version {
			version, path = n, filepath.Join(s.keyDir(owner, id), e.Name())
		}
		if e.Name() == oldRemoval && path == "" {
			path = filepath.Join(s.keyDir(owner, id), e.Name())
		}
	}
	if path == "" {
		return r, nil
	}
	raw, err := os.ReadFile(path)
	if err == nil && json.Unmarshal(raw, &r) != nil {
		r = removal{Version: writtenVersion(raw)}
	}
	r.Version = max(r.Version, version)
	return r, err
}

// oldRemoval is the name of notes before they had their number in it.
const oldRemoval = "removed"

var versionField = regexp.MustCompile(`"version":\s*(\d{1,9})`)

// writtenVersion finds the number in a note that is no JSON any more.
func writtenVersion(raw []byte) int {
	m := versionField.FindSubmatch(raw)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
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
	if r.At.IsZero() {
		return fault.New(fault.NotFound, "the artifact %s was removed; the note that says when and why is damaged", id).
			Suggest("Ask for it again in its thread: it is made anew, as version %d.", r.Version+1)
	}
	return fault.New(fault.NotFound, "the artifact %s (%s) was removed on %s: %s", id, r.Name, r.At.Format("2006-01-02"), r.Reason).
		Suggest("Ask for it again in its thread: it is made anew, as version %d.", r.Version+1)
}
