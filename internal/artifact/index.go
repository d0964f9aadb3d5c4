package artifact

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// The documents of a thread by their contents: hard links to them, named by type and hash, so
// that storing a content asks for one name instead of reading all documents. The folder is
// made of the documents under the lock of the thread when it is missing, and an entry counts
// only if the document that it names is there: losing either costs nothing but time.

// hashesDir is the folder beside the artifacts of a thread; no key has this name.
const hashesDir = "hashes"

func (s *Store) hashPath(owner, thread, typ, hash string) string {
	return filepath.Join(s.ownerDir(owner), thread, hashesDir, typ+"-"+hash)
}

// findContent returns the version of a thread that has a content. The caller holds the lock
// of the thread.
func (s *Store) findContent(owner, thread, typ, hash string) (Meta, bool, error) {
	if err := s.buildHashes(owner, thread); err != nil {
		return Meta{}, false, err
	}
	return s.lookupHash(owner, thread, typ, hash)
}

// lookupHash asks the links of a thread for a content.
func (s *Store) lookupHash(owner, thread, typ, hash string) (Meta, bool, error) {
	entry := s.hashPath(owner, thread, typ, hash)
	raw, err := os.ReadFile(entry)
	if errors.Is(err, fs.ErrNotExist) {
		return Meta{}, false, nil
	}
	if err != nil {
		return Meta{}, false, err
	}
	named, err := unmarshalMeta(raw)
	if err != nil {
		return Meta{}, false, nil // damaged, and so is the document
	}
	id, _, ok := parseID(named.ID)
	if !ok {
		return Meta{}, false, nil
	}
	place := s.metaPath(id, named)
	if raw, err = os.ReadFile(place); errors.Is(err, fs.ErrNotExist) {
		return Meta{}, false, nil // the version was removed
	}
	if err != nil {
		return Meta{}, false, err
	}
	m, err := decodeMeta(raw, place)
	if err != nil || m.Hash != hash || m.Type != typ {
		return Meta{}, false, nil
	}
	return m, true, nil
}

// buildHashes makes the links of a thread that has none yet.
func (s *Store) buildHashes(owner, thread string) error {
	dir := filepath.Join(s.ownerDir(owner), thread)
	if _, err := os.Stat(filepath.Join(dir, hashesDir)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known, err := s.readThread(owner, thread)
	if err != nil {
		return err
	}
	temp := filepath.Join(s.dir, "tmp", "hashes-"+rand.Text())
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	for _, m := range known.versions { // newest first: of equal contents the newest counts
		id, _, ok := parseID(m.ID)
		if !ok {
			continue
		}
		err := os.Link(s.metaPath(id, m), filepath.Join(temp, m.Type+"-"+m.Hash))
		if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(dir, hashesDir))
}

// linkHash adds a document to the links of its thread, before or after it has its own name.
func (s *Store) linkHash(document, owner, thread, typ, hash string) error {
	entry := s.hashPath(owner, thread, typ, hash)
	if err := os.Remove(entry); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a version that was removed
		return err
	}
	return os.Link(document, entry)
}

// unlinkHash removes the link of a version that is gone, unless it names another one by now.
func (s *Store) unlinkHash(owner, thread, typ, hash string) error {
	if _, found, err := s.lookupHash(owner, thread, typ, hash); err != nil || found {
		return err
	}
	if err := os.Remove(s.hashPath(owner, thread, typ, hash)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
