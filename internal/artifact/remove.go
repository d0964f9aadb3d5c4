package artifact

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Names of files in tmp that a removal leaves until it is finished, each with a hash behind.
const (
	unusedPrefix  = "unused-"  // empty: a version with this content was removed
	removedPrefix = "removed-" // a content on its way out
)

// Remove removes versions, and notes for whoever looks for one when and why. Their contents
// go with the next Sweep.
func (s *Store) Remove(ctx context.Context, versions []Meta, reason string) error {
	unlock, err := s.lock(ctx, removalLock)
	if err != nil {
		return err
	}
	defer unlock()
	for _, m := range versions {
		id, _, ok := parseID(m.ID)
		if !ok {
			continue
		}
		if err := s.removeVersion(ctx, id, m, reason); err != nil {
			return s.wrapError(err, "remove one of")
		}
	}
	return nil
}

func (s *Store) removeVersion(ctx context.Context, id identity, m Meta, reason string) error {
	unlock, err := s.lockThread(ctx, id.thread)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.noteRemoval(id, m, reason); err != nil {
		return err
	}
	if err := s.markUnused(m.Hash); err != nil {
		return err
	}
	if err := os.Remove(s.metaPath(id, m)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(s.unlinkHash(m.Owner, id.thread, m.Type, m.Hash), s.confirm(id, m))
}

// RemoveThread removes all versions of a thread that is gone for good, but those of the
// artifacts in keep, which other threads use. Nothing is noted: no log names them any more.
func (s *Store) RemoveThread(ctx context.Context, owner, thread string, keep func(id string) bool) error {
	unlock, err := s.lock(ctx, removalLock)
	if err != nil {
		return err
	}
	defer unlock()
	part := threadPart(owner, thread)
	unlockThread, err := s.lockThread(ctx, part)
	if err != nil {
		return err
	}
	defer unlockThread()
	known, err := s.readThread(owner, part)
	if err != nil {
		return s.wrapError(err, "remove some of")
	}
	for _, m := range known.versions {
		if keep(m.ID) {
			continue
		}
		if err := s.markUnused(m.Hash); err != nil {
			return s.wrapError(err, "remove one of")
		}
	}
	dir := filepath.Join(s.ownerDir(owner), part)
	keys, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.wrapError(err, "remove some of")
	}
	for _, key := range keys {
		if key.Name() != hashesDir && keep(identity{part, key.Name()}.String()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, key.Name())); err != nil {
			return s.wrapError(err, "remove one of")
		}
	}
	_ = os.Remove(dir) // stays while it holds an artifact that is kept
	return nil
}

// markUnused notes, before a document goes, that its content may be unused then.
func (s *Store) markUnused(hash string) error {
	return os.WriteFile(filepath.Join(s.dir, "tmp", unusedPrefix+hash), nil, 0o600)
}

// Sweep removes the contents of removed versions that no other version has, and those that a
// writer stored which died before it wrote their document. It returns how many bytes are gone.
func (s *Store) Sweep(ctx context.Context) (freed int64, err error) {
	unlock, err := s.lock(ctx, removalLock)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if err := s.markLeaked(ctx); err != nil {
		return 0, s.wrapError(err, "look through the contents of")
	}
	if freed, err = s.sweep(ctx); err != nil {
		return freed, s.wrapError(err, "remove the contents of")
	}
	return freed, nil
}

// markLeaked marks contents that no document names and that are older than anything takes to
// store. The caller holds removalLock.
func (s *Store) markLeaked(ctx context.Context) error {
	paths, err := matchFiles(filepath.Join(s.dir, "objects"), []string{"*", "*"})
	if err != nil {
		return err
	}
	var old []string
	for _, path := range paths {
		hash := filepath.Base(filepath.Dir(path)) + filepath.Base(path)
		info, err := os.Stat(path)
		if err == nil && contentHash.MatchString(hash) && time.Since(info.ModTime()) > leftoverAge {
			old = append(old, hash)
		}
	}
	if len(old) == 0 {
		return nil
	}
	needed, err := s.referredTo(ctx, old)
	if err != nil {
		return err
	}
	for _, hash := range old {
		if !needed[hash] {
			if err := s.markUnused(hash); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweep removes unused contents; the caller holds removalLock. Another process may be
// storing an equal content: it writes its document first and looks for the content then. So
// each content is moved away, and back if a document refers to it by then.
func (s *Store) sweep(ctx context.Context) (freed int64, err error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "tmp"))
	if err != nil {
		return 0, err
	}
	var marked, moved []string
	for _, e := range entries {
		if hash, ok := strings.CutPrefix(e.Name(), removedPrefix); ok {
			moved = append(moved, hash)
		} else if hash, ok := strings.CutPrefix(e.Name(), unusedPrefix); ok && len(hash) == 64 {
			marked = append(marked, hash)
		}
	}
	if len(marked)+len(moved) == 0 {
		return 0, nil
	}
	needed, err := s.referredTo(ctx, marked)
	if err != nil {
		return 0, err
	}
	for _, hash := range marked {
		if needed[hash] {
			continue
		}
		switch err := os.Rename(s.objectPath(hash), s.removedPath(hash)); {
		case err == nil:
			moved = append(moved, hash)
		case !errors.Is(err, fs.ErrNotExist):
			return 0, err
		}
	}
	if freed, err = s.removeMoved(ctx, moved); err != nil {
		return freed, err
	}
	for _, hash := range marked {
		if err := os.Remove(filepath.Join(s.dir, "tmp", unusedPrefix+hash)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return freed, err
		}
	}
	return freed, nil
}

// removeMoved removes contents that were moved away, or moves them back if a document
// refers to them.
func (s *Store) removeMoved(ctx context.Context, hashes []string) (freed int64, err error) {
	slices.Sort(hashes)
	if hashes = slices.Compact(hashes); len(hashes) == 0 { // one may be left of a sweep that was cut off
		return 0, nil
	}
	needed, err := s.referredTo(ctx, hashes)
	if err != nil {
		return 0, err
	}
	for _, hash := range hashes {
		away := s.removedPath(hash)
		if needed[hash] {
			if err := os.Rename(away, s.objectPath(hash)); err != nil {
				return freed, err
			}
			continue
		}
		info, err := os.Stat(away)
		if err != nil {
			return freed, err
		}
		if err := os.Remove(away); err != nil {
			return freed, err
		}
		freed += info.Size()
	}
	return freed, nil
}

func (s *Store) removedPath(hash string) string {
	return filepath.Join(s.dir, "tmp", removedPrefix+hash)
}

// referredTo returns which of the hashes a document contains; one that is damaged counts,
// too, so that it can be mended.
func (s *Store) referredTo(ctx context.Context, hashes []string) (map[string]bool, error) {
	versions, damaged, err := s.All(ctx)
	if err != nil {
		return nil, err
	}
	needed := make(map[string]bool, len(versions))
	for _, m := range versions {
		needed[m.Hash] = true
	}
	for _, d := range damaged {
		for _, hash := range hashes {
			if bytes.Contains(d.raw, []byte(hash)) {
				needed[hash] = true
			}
		}
	}
	return needed, nil
}
