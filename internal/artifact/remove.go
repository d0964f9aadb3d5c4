package artifact

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// removedPrefix begins the names of contents in tmp that are being removed.
const removedPrefix = "removed-"

// All returns every version of every artifact of all owners, newest first.
func (s *Store) All(ctx context.Context) ([]Meta, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all, err := readAll(filepath.Join(s.dir, "meta"), "*/*/*/*.json")
	if err != nil {
		return nil, s.wrapError(err, "list")
	}
	return all, nil
}

// Remove removes versions, and the contents that no other version has. It returns how many
// bytes of contents are gone.
func (s *Store) Remove(ctx context.Context, versions []Meta) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hashes := map[string]int64{}
	for _, m := range versions {
		id, _, ok := parseID(m.ID)
		if !ok {
			continue
		}
		place := s.metaPath(id, m)
		if err := os.Remove(place); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, s.wrapError(err, "remove one of")
		}
		_ = os.Remove(filepath.Dir(place)) // stays while it holds another version
		hashes[m.Hash] = m.Bytes
	}
	return s.removeContents(ctx, hashes)
}

// removeContents removes the contents to which no document refers. Another process may be
// storing an equal content: it writes its document first and looks for the content then.
// So each content is moved away, and back if a document refers to it by then.
func (s *Store) removeContents(ctx context.Context, hashes map[string]int64) (freed int64, err error) {
	var moved []string
	for hash := range hashes {
		away := filepath.Join(s.dir, "tmp", removedPrefix+hash)
		switch err := os.Rename(s.objectPath(hash), away); {
		case err == nil:
			moved = append(moved, hash)
		case !errors.Is(err, fs.ErrNotExist):
			return 0, s.wrapError(err, "remove one of")
		}
	}
	if err := s.finishRemoval(ctx, moved); err != nil {
		return 0, s.wrapError(err, "remove one of")
	}
	for _, hash := range moved {
		if _, err := os.Stat(s.objectPath(hash)); err != nil {
			freed += hashes[hash]
		}
	}
	return freed, nil
}

// finishRemoval removes contents that were moved away, or moves them back if a document
// refers to them. Two processes may do so at the same time.
func (s *Store) finishRemoval(ctx context.Context, hashes []string) error {
	left, err := s.All(ctx)
	if err != nil {
		return err
	}
	needed := make(map[string]bool, len(left))
	for _, m := range left {
		needed[m.Hash] = true
	}
	for _, hash := range hashes {
		away := filepath.Join(s.dir, "tmp", removedPrefix+hash)
		if needed[hash] {
			err = os.Rename(away, s.objectPath(hash))
		} else {
			err = os.Remove(away)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
