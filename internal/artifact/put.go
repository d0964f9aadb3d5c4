package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	// it stores then is withdrawn. nil for a content that belongs to no thread.
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

	s.mu.Lock()
	defer s.mu.Unlock()
	made, err := s.commitVersion(ctx, p, temp, hash, size)
	if _, refused := errors.AsType[*fault.Fault](err); err != nil && !refused {
		err = s.wrapError(err, "store one of")
	}
	return made, err
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
// gives it its final name. Another process may do the same at the same time:
// whoever links a version first has it.
func (s *Store) commitVersion(ctx context.Context, p Put, temp, hash string, size int64) (event.ArtifactMade, error) {
	id := newIdentity(p, hash)
	for {
		known, err := s.readThread(p.Owner, id.thread)
		if err != nil {
			return event.ArtifactMade{}, err
		}
		version := 1
		for _, m := range known {
			if m.Hash == hash && m.Type == p.Type {
				return reused(m), nil
			}
			if m.ID == id.String() {
				version = max(version, m.Version+1)
			}
		}
		if equal, ok, err := s.findKnown(p, id, hash); err != nil || ok {
			return equal, err
		}
		if err := p.checkOwner(ctx); err != nil {
			return event.ArtifactMade{}, err
		}
		if err := s.linkObject(temp, hash); err != nil {
			return event.ArtifactMade{}, err
		}
		m := Meta{
			ArtifactMade: event.ArtifactMade{
				ID: id.String(), Name: safeName(p.Name, p.Type), Type: p.Type, MIME: mimeType(p.Type), Bytes: size, Call: p.Call,
				Producer: p.Producer, LogicalKey: p.LogicalKey, Version: version, CreatedAt: time.Now().UTC(),
			},
			Hash: hash, Owner: p.Owner, Thread: p.Thread, Lineage: p.Lineage,
		}
		switch err := s.writeMeta(id, m); {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return event.ArtifactMade{}, err
		}
		// Another process may have removed the equal content that was there before.
		if err := s.linkObject(temp, hash); err != nil {
			return event.ArtifactMade{}, err
		}
		// The process may have been suspended since it was asked: then the version goes again.
		if err := p.checkOwner(ctx); err != nil {
			return event.ArtifactMade{}, errors.Join(err, os.Remove(s.metaPath(id, m)))
		}
		return m.ArtifactMade, nil
	}
}

func (p Put) checkOwner(ctx context.Context) error {
	if p.CheckOwner == nil {
		return nil
	}
	return p.CheckOwner(ctx)
}

// reused marks the artifact that a content equals.
func reused(m Meta) event.ArtifactMade {
	m.Reused, m.Reason = true, fault.DuplicateArtifact
	return m.ArtifactMade
}

// findKnown looks for an equal content among the artifacts that the thread has from
// other threads of its owner.
func (s *Store) findKnown(p Put, own identity, hash string) (made event.ArtifactMade, found bool, err error) {
	for _, a := range p.Known {
		id, _, ok := parseID(a.ID)
		if !ok || id.thread == own.thread || a.Type != p.Type {
			continue
		}
		versions, err := readAll(filepath.Join(s.ownerDir(p.Owner), id.thread, id.key), "*.json")
		if err != nil {
			return made, false, err
		}
		for _, m := range versions {
			if m.Hash == hash && m.Version <= a.Version {
				return reused(m), true, nil
			}
		}
	}
	return made, false, nil
}

// linkObject gives the content its place, unless an equal one is there.
func (s *Store) linkObject(temp, hash string) error {
	place := s.objectPath(hash)
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	if err := os.Link(temp, place); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// writeMeta stores the document of a version whole, or fails with fs.ErrExist.
func (s *Store) writeMeta(id identity, m Meta) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	place := s.metaPath(id, m)
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Join(s.dir, "tmp"), "meta-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(raw); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Link(f.Name(), place)
}

// metaPath is where the document of a version is.
func (s *Store) metaPath(id identity, m Meta) string {
	return filepath.Join(s.ownerDir(m.Owner), id.thread, id.key, strconv.Itoa(m.Version)+".json")
}
