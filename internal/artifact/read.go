package artifact

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"interlock/internal/fault"
)

// Open returns the content of an owner's artifact: the newest version, or that of
// "ID@N". Somebody else's artifact does not exist.
func (s *Store) Open(ctx context.Context, owner, id string) (io.ReadSeekCloser, Meta, error) {
	if err := ctx.Err(); err != nil {
		return nil, Meta{}, err
	}
	missing := fault.New(fault.NotFound, "there is no artifact %.80q", id)
	which, version, ok := parseID(id)
	if !ok {
		return nil, Meta{}, missing
	}
	dir := filepath.Join(s.ownerDir(owner), which.thread, which.key)
	versions, err := readAll(dir, "*.json")
	if err != nil {
		return nil, Meta{}, s.wrapError(err, "read")
	}
	for _, m := range versions { // newest first
		if version != 0 && m.Version != version {
			continue
		}
		f, err := os.Open(s.objectPath(m.Hash))
		if err != nil {
			return nil, Meta{}, s.wrapError(err, "read the content of "+id+" of")
		}
		return f, m, nil
	}
	return nil, Meta{}, missing
}

// List returns an owner's artifacts of a thread, or of all threads for "", newest
// first, every version.
func (s *Store) List(ctx context.Context, owner, thread string) ([]Meta, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	part := "*"
	if thread != "" {
		part = digest(owner, thread)[:threadDigits]
	}
	all, err := s.readThread(owner, part)
	if err != nil {
		return nil, s.wrapError(err, "list")
	}
	return all, nil
}

// readThread returns the versions of a thread, newest first; "*" means all threads.
func (s *Store) readThread(owner, part string) ([]Meta, error) {
	return readAll(s.ownerDir(owner), part+"/*/*.json")
}

// readAll reads the documents of a folder that match a pattern, newest first.
func readAll(root, pattern string) ([]Meta, error) {
	paths, err := fs.Glob(os.DirFS(root), pattern)
	if err != nil {
		return nil, err
	}
	out := make([]Meta, 0, len(paths))
	for _, p := range paths {
		raw, err := os.ReadFile(filepath.Join(root, p))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var m Meta
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		if len(m.Hash) != 64 || filepath.Base(p) != strconv.Itoa(m.Version)+".json" {
			return nil, fmt.Errorf("%s: the document is damaged", p)
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Meta) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.Version, a.Version), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}
