package artifact

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// A Put says what a new content is.
type Put struct {
	Name     string // for people; made safe as a file name
	Type     string // csv, png ...; decides the MIME type
	Producer string // sql, python ...
	// LogicalKey is what it is about: producer, normalised query or code, data version,
	// kind. Contents of one key are versions of one artifact. "" for none.
	LogicalKey string
	Call       string
	Thread     string
	Owner      string
	Lineage    *Lineage
	// Known are the artifacts that the thread has from elsewhere: a fork knows those of
	// its parents, and an equal content is not stored again for it.
	Known []event.ArtifactMade
	// CheckOwner fails if the writer has lost the thread to another process: a version that
	// it stores then is withdrawn, unless the new owner uses it by then. nil for a content
	// that belongs to no thread.
	CheckOwner func(context.Context) error
}

// Put stores a content. One that the thread has already is not stored again: the
// existing artifact is given, marked as reused.
func (s *Store) Put(ctx context.Context, p Put, content io.Reader) (event.ArtifactMade, error) {
	typ, err := checkType(p.Type)
	if err != nil {
		return event.ArtifactMade{}, err
	}
	p.Type = typ
	temp, hash, size, err := s.writeTemp(ctx, content)
	if err != nil {
		return event.ArtifactMade{}, err
	}
	defer os.Remove(temp)
	made, err := s.putVersion(ctx, p, temp, hash, size)
	if _, refused := errors.AsType[*fault.Fault](err); err != nil && !refused {
		err = s.wrapError(err, "store one of")
	}
	return made, err
}

// putVersion stores a content as a version of its thread, and withdraws it if the writer
// turns out to have lost the thread. The process may be suspended at any point and another
// one own the thread when it goes on; it holds no lock while it asks who owns the thread, so
// that the new owner never waits for it.
func (s *Store) putVersion(ctx context.Context, p Put, temp, hash string, size int64) (event.ArtifactMade, error) {
	if err := p.checkOwner(ctx); err != nil {
		return event.ArtifactMade{}, err
	}
	id, writer := newIdentity(p, hash), rand.Text()
	m, err := s.commitVersion(ctx, p, id, writer, temp, hash, size)
	if err != nil || m.Reused {
		return m.ArtifactMade, err
	}
	if err := p.checkOwner(ctx); err != nil {
		return event.ArtifactMade{}, errors.Join(err, s.withdraw(ctx, id, m, writer))
	}
	return m.ArtifactMade, s.confirm(id, m)
}

// writeTemp writes the content to a temporary file and hashes it on the way.
func (s *Store) writeTemp(ctx context.Context, content io.Reader) (path, hash string, size int64, err error) {
	f, err := os.CreateTemp(filepath.Join(s.dir, "tmp"), "put-*")
	if err != nil {
		return "", "", 0, s.wrapError(err, "write to")
	}
	defer func() {
		if e := f.Close(); err == nil && e != nil {
			err = s.wrapError(e, "write to")
		}
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	sum := sha256.New()
	in := &contextReader{ctx: ctx, from: io.LimitReader(content, s.maxBytes+1)}
	size, err = io.Copy(io.MultiWriter(f, sum), in)
	switch {
	case err != nil && in.err != nil:
		return "", "", 0, in.err // the producer's trouble, not ours
	case err != nil:
		return "", "", 0, s.wrapError(err, "write to")
	case size > s.maxBytes:
		return "", "", 0, fault.New(fault.TooLarge, "the artifact is larger than %d MiB", s.maxBytes>>20)
	}
	if err := f.Sync(); err != nil {
		return "", "", 0, s.wrapError(err, "write to")
	}
	return f.Name(), hex.EncodeToString(sum.Sum(nil)), size, nil
}

// A contextReader stops when its context ends and remembers its own errors.
type contextReader struct {
	ctx  context.Context // of the one Put that reads
	from io.Reader
	err  error
}

func (r *contextReader) Read(p []byte) (int, error) {
	if r.err = r.ctx.Err(); r.err != nil {
		return 0, r.err
	}
	n, err := r.from.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// commitVersion decides whether the content is new, equal or a new version, and
// gives it its final name.
func (s *Store) commitVersion(ctx context.Context, p Put, id identity, writer, temp, hash string, size int64) (Meta, error) {
	unlock, err := s.lockThread(ctx, id.thread)
	if err != nil {
		return Meta{}, err
	}
	defer unlock()
	switch m, found, err := s.findContent(p.Owner, id.thread, p.Type, hash); {
	case err != nil:
		return Meta{}, err
	case found:
		return s.reuse(m, temp)
	}
	if equal, ok, err := s.findKnown(p, id, hash); err != nil || ok {
		return equal, errors.Join(err, s.linkObject(temp, hash))
	}
	version, err := s.nextVersion(p.Owner, id)
	if err != nil {
		return Meta{}, err
	}
	m := Meta{
		ArtifactMade: event.ArtifactMade{
			ID: id.String(), Name: safeName(p.Name, p.Type), Type: p.Type, MIME: mimeType(p.Type), Bytes: size, Call: p.Call,
			Producer: p.Producer, LogicalKey: p.LogicalKey, Version: version, CreatedAt: time.Now().UTC(),
		},
		Hash: hash, Owner: p.Owner, Thread: p.Thread, Lineage: p.Lineage,
	}
	if err := s.linkObject(temp, hash); err != nil {
		return Meta{}, err
	}
	if err := s.writeMeta(id, m, writer); err != nil {
		return Meta{}, err
	}
	// A sweep may have removed an equal content that was there before the document.
	return m, s.linkObject(temp, hash)
}

// confirm marks a version as one that stays.
func (s *Store) confirm(id identity, m Meta) error {
	if err := os.Remove(s.unconfirmedPath(id, m)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// withdraw removes the version of a writer that has lost its thread. If the version is
// confirmed, the new owner uses it: then it stays.
func (s *Store) withdraw(ctx context.Context, id identity, m Meta, writer string) error {
	unlock, err := s.lockThread(ctx, id.thread)
	if err != nil {
		return err
	}
	defer unlock()
	raw, err := os.ReadFile(s.unconfirmedPath(id, m))
	if errors.Is(err, fs.ErrNotExist) || err == nil && string(raw) != writer {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(s.markUnused(m.Hash), os.Remove(s.metaPath(id, m)), s.unlinkHash(m.Owner, id.thread, m.Type, m.Hash), s.confirm(id, m))
}

func (p Put) checkOwner(ctx context.Context) error {
	if p.CheckOwner == nil {
		return nil
	}
	return p.CheckOwner(ctx)
}

// reuse returns the version that a content equals, marked as reused. It stays from now on,
// even if its writer has lost the thread, and has its content.
func (s *Store) reuse(m Meta, temp string) (Meta, error) {
	id, _, ok := parseID(m.ID)
	if !ok {
		return Meta{}, fmt.Errorf("%q is no id of an artifact", m.ID)
	}
	m.Reused, m.Reason = true, fault.DuplicateArtifact
	return m, errors.Join(s.confirm(id, m), s.linkObject(temp, m.Hash))
}

// findKnown looks for an equal content among the artifacts that the thread has from
// other threads of its owner.
func (s *Store) findKnown(p Put, own identity, hash string) (equal Meta, found bool, err error) {
	asked := map[string]bool{} // threads whose links were asked
	for _, a := range p.Known {
		id, _, ok := parseID(a.ID)
		if !ok || id.thread == own.thread || a.Type != p.Type {
			continue
		}
		if _, err := os.Stat(filepath.Join(s.ownerDir(p.Owner), id.thread, hashesDir)); err == nil {
			if asked[id.thread] {
				continue
			}
			asked[id.thread] = true
			m, found, err := s.lookupHash(p.Owner, id.thread, p.Type, hash)
			if err != nil {
				return equal, false, err
			}
			if found && slices.ContainsFunc(p.Known, func(k event.ArtifactMade) bool { return k.ID == m.ID && m.Version <= k.Version }) {
				m.Reused, m.Reason = true, fault.DuplicateArtifact
				return m, true, nil
			}
			continue
		}
		known, err := readAll(s.keyDir(p.Owner, id), "*.json")
		if err != nil {
			return equal, false, err
		}
		for _, m := range known.versions {
			if m.Hash == hash && m.Version <= a.Version {
				m.Reused, m.Reason = true, fault.DuplicateArtifact
				return m, true, nil
			}
		}
	}
	return equal, false, nil
}

// writeMeta stores the document of a version, unconfirmed.
func (s *Store) writeMeta(id identity, m Meta, writer string) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	place := s.metaPath(id, m)
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(s.unconfirmedPath(id, m), []byte(writer), 0o600); err != nil {
		return err
	}
	return s.writeLinked(place, raw, func(temp string) error { return s.linkHash(temp, m.Owner, id.thread, m.Type, m.Hash) })
}

// writeWhole writes a file that has its name only once it is whole and on the disk.
func (s *Store) writeWhole(place string, content []byte) error {
	return s.writeLinked(place, content, func(string) error { return nil })
}

// writeLinked is writeWhole with further names for the file, which it gets first.
func (s *Store) writeLinked(place string, content []byte, link func(temp string) error) error {
	f, err := os.CreateTemp(filepath.Join(s.dir, "tmp"), "meta-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := link(f.Name()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), place); err != nil {
		return err
	}
	return syncDir(filepath.Dir(place))
}

// syncDir makes the names in a folder survive a crash of the machine.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (s *Store) keyDir(owner string, id identity) string {
	return filepath.Join(s.ownerDir(owner), id.thread, id.key)
}

// metaPath is where the document of a version is.
func (s *Store) metaPath(id identity, m Meta) string {
	return filepath.Join(s.keyDir(m.Owner, id), strconv.Itoa(m.Version)+".json")
}

// unconfirmedPath is the file that holds the name of the writer until a version is confirmed.
func (s *Store) unconfirmedPath(id identity, m Meta) string {
	return filepath.Join(s.keyDir(m.Owner, id), strconv.Itoa(m.Version)+".unconfirmed")
}
