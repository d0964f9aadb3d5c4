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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"interlock/internal/fault"
)

// Open returns the content of an owner's artifact: the newest version, or that of
// "ID@N". Somebody else's artifact does not exist.
func (s *Store) Open(ctx context.Context, owner, id string) (io.ReadSeekCloser, Meta, error) {
	if err := ctx.Err(); err != nil {
		return nil, Meta{}, err
	}
	which, version, ok := parseID(id)
	if !ok {
		return nil, Meta{}, fault.New(fault.NotFound, "there is no artifact %.80q", id)
	}
	known, err := readAll(s.keyDir(owner, which), "*.json")
	if err != nil {
		return nil, Meta{}, s.wrapError(err, "read")
	}
	slices.SortFunc(known.versions, func(a, b Meta) int { return cmp.Compare(b.Version, a.Version) }) // whatever the clock said
	newest := 0
	if len(known.versions) > 0 {
		newest = known.versions[0].Version
	}
	for _, d := range known.damaged {
		if n := d.version(); version == n || version == 0 && n > newest {
			return nil, Meta{}, s.wrapError(errors.New(d.Problem), "read the document "+d.Path+" of").Suggest("Restore the file from a backup, or remove it and make the artifact again.")
		}
	}
	for _, m := range known.versions {
		if version != 0 && m.Version != version {
			continue
		}
		f, err := os.Open(s.objectPath(m.Hash))
		if err != nil {
			return nil, Meta{}, s.wrapError(err, "read the content of "+id+" of")
		}
		if info, err := f.Stat(); err != nil || info.Size() != m.Bytes {
			damaged := fmt.Errorf("the content has not the %d bytes that were stored", m.Bytes)
			return nil, Meta{}, s.wrapError(errors.Join(cmp.Or(err, damaged), f.Close()), "read the content of "+id+" of").
				Suggest("Make it again: an equal content replaces the damaged one.")
		}
		return f, m, nil
	}
	return nil, Meta{}, s.missing(owner, which, id, version)
}

// Newest returns the newest content under the logical key of p.
func (s *Store) Newest(ctx context.Context, p Put) (io.ReadSeekCloser, Meta, error) {
	typ, err := checkType(p.Type)
	if err != nil {
		return nil, Meta{}, err
	}
	p.Type = typ
	return s.Open(ctx, p.Owner, newIdentity(p, "").String())
}

// List returns an owner's artifacts of a thread, or of all threads for "", newest
// first, every version.
func (s *Store) List(ctx context.Context, owner, thread string) ([]Meta, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	part := "*"
	if thread != "" {
		part = threadPart(owner, thread)
	}
	known, err := s.readThread(owner, part)
	if err != nil {
		return nil, s.wrapError(err, "list")
	}
	return known.versions, nil
}

// A Damaged is a document that cannot be read, so that its version is not known.
type Damaged struct {
	Path    string `json:"path"`
	Problem string `json:"problem"`

	raw []byte
}

// version is the version that the document would describe, 0 if its name is none.
func (d Damaged) version() int {
	n, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(d.Path), ".json"))
	return n
}

// All returns every version of every artifact of all owners, newest first, and the
// documents that are damaged.
func (s *Store) All(ctx context.Context) ([]Meta, []Damaged, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	all, err := readAll(filepath.Join(s.dir, "meta"), "*/*/*/*.json")
	if err != nil {
		return nil, nil, s.wrapError(err, "list")
	}
	return all.versions, all.damaged, nil
}

// documents are those of a folder.
type documents struct {
	versions []Meta // newest first
	damaged  []Damaged
}

// readThread returns the documents of a thread; "*" means all threads.
func (s *Store) readThread(owner, part string) (documents, error) {
	return readAll(s.ownerDir(owner), part+"/*/*.json")
}

// readAll reads the documents of a folder that match a pattern.
func readAll(root, pattern string) (documents, error) {
	paths, err := matchFiles(root, strings.Split(pattern, "/"))
	if err != nil {
		return documents{}, err
	}
	out := documents{versions: make([]Meta, 0, len(paths))}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if errors.Is(err, syscall.EISDIR) {
			out.damaged = append(out.damaged, Damaged{path, "it is a folder", nil})
			continue
		}
		if err != nil {
			return documents{}, err
		}
		m, err := decodeMeta(raw, path)
		if err != nil {
			out.damaged = append(out.damaged, Damaged{path, err.Error(), raw})
			continue
		}
		out.versions = append(out.versions, m)
	}
	slices.SortFunc(out.versions, func(a, b Meta) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.Version, a.Version), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// matchFiles lists the paths below a folder whose parts match the patterns. Unlike fs.Glob it
// fails where a folder cannot be listed: what is not seen would count as not needed.
func matchFiles(root string, patterns []string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if ok, err := filepath.Match(patterns[0], e.Name()); err != nil || !ok {
			continue
		}
		path := filepath.Join(root, e.Name())
		if len(patterns) == 1 {
			out = append(out, path)
			continue
		}
		below, err := matchFiles(path, patterns[1:])
		if err != nil {
			return nil, err
		}
		out = append(out, below...)
	}
	return out, nil
}

var contentHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

func unmarshalMeta(raw []byte) (m Meta, err error) {
	err = json.Unmarshal(raw, &m)
	return m, err
}

// decodeMeta reads the document of a version, whose name says which one it is.
func decodeMeta(raw []byte, path string) (m Meta, err error) {
	if m, err = unmarshalMeta(raw); err != nil {
		return m, err
	}
	if _, version, ok := parseID(m.ID); !ok || version != 0 || !contentHash.MatchString(m.Hash) || filepath.Base(path) != strconv.Itoa(m.Version)+".json" {
		return m, fmt.Errorf("the document does not describe %s", filepath.Base(path))
	}
	return m, nil
}
