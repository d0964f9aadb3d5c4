package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock/internal/schema"
)

var decimalType = regexp.MustCompile(`^(decimal|numeric)\(\d{1,2},\s*\d{1,2}\)$`)

// A version is a dataset with content that does not change.
type version struct {
	hash     string // of names and content; of a connection, "" until it was imported
	path     string // of its database
	tables   []table
	problems []schema.Problem
}

// importer is part of every version: raise it when imports come out differently.
const importer = "3"

// version finds out the present version. Content is read only if a file's size or
// time is new.
func (c *Catalog) version(ctx context.Context, d *dataset) (version, error) {
	if d.connection != nil {
		return c.snapshot(d), nil
	}
	var v version
	all := sha256.New()
	fmt.Fprintf(all, "importer %s\n", importer)
	for _, t := range d.tables {
		options, err := json.Marshal(t.options)
		if err != nil {
			return v, fmt.Errorf("encoding import options: %w", err)
		}
		part := fmt.Sprintf("%q %q %s %s", t.name, t.inner, t.kind, options)
		readable := true
		for _, f := range t.withLogs() {
			sum, err := c.hashes.hashOnce(ctx, f)
			if ctx.Err() != nil {
				return v, ctx.Err()
			}
			if err != nil {
				v.problems = append(v.problems, schema.Problem{Path: t.file, Message: "The file cannot be read: " + errorReason(err) + "."})
				readable = false
				break
			}
			part += " " + sum
		}
		if readable {
			fmt.Fprintln(all, part)
			sum := sha256.Sum256([]byte(importer + part))
			t.sum = hex.EncodeToString(sum[:])
			v.tables = append(v.tables, t)
		}
	}
	v.hash = hex.EncodeToString(all.Sum(nil))
	v.path = filepath.Join(c.config.Dir, d.id+"-"+v.hash[:12]+".duckdb")
	if claimed := strings.TrimPrefix(d.claimed, "sha256:"); claimed != "" && !strings.HasPrefix(v.hash, claimed) {
		v.problems = append(v.problems, schema.Problem{Path: "registry", Message: fmt.Sprintf("The registry says version %s, the files are version %s.", truncate(claimed, 64), v.hash[:12])})
	}
	return v, nil
}

// withLogs are the files of a table; the write-ahead log of an SQLite file, which has
// what was committed last, is one of them.
func (t table) withLogs() []file {
	if t.inner == "" {
		return t.files
	}
	all := slices.Clone(t.files)
	for _, f := range t.files {
		if info, err := os.Stat(f.path + "-wal"); err == nil && info.Size() > 0 {
			all = append(all, file{path: f.path + "-wal", size: info.Size(), time: info.ModTime(), state: f.state})
		}
	}
	return all
}

// A hashCache remembers the hashes of contents by path, size and time.
type hashCache struct {
	path string // fixed at creation

	mu    sync.Mutex
	known map[string]string
}

func loadHashes(dir string) *hashCache {
	h := &hashCache{path: filepath.Join(dir, "hashes.json"), known: map[string]string{}}
	if text, err := os.ReadFile(h.path); err == nil {
		_ = json.Unmarshal(text, &h.known) // a lost cache costs time only
	}
	return h
}

func (h *hashCache) hashOnce(ctx context.Context, f file) (string, error) {
	key := fmt.Sprintf("%s|%d|%d%s", f.path, f.size, f.time.UnixNano(), f.state)
	h.mu.Lock()
	sum := h.known[key]
	h.mu.Unlock()
	if sum != "" {
		return sum, nil
	}
	sum, err := hashFile(ctx, f.path)
	if err != nil {
		return "", err
	}
	// A file written a moment ago may be written again within the same tick of its clock.
	if time.Since(f.time) < 2*time.Second {
		return sum, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[key] = sum
	if len(h.known) > 20_000 {
		keys := slices.Sorted(maps.Keys(h.known))
		for _, k := range keys[:len(keys)/2] {
			delete(h.known, k)
		}
	}
	if f.size < 1<<20 {
		return sum, nil // quicker hashed again than kept
	}
	if text, err := json.Marshal(h.known); err == nil {
		_ = writeFile(h.path, text, 0o600)
	}
	return sum, nil
}

func hashFile(ctx context.Context, path string) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	buf := make([]byte, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := f.Read(buf)
		sum.Write(buf[:n])
		if err == io.EOF {
			return hex.EncodeToString(sum.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// writeFile replaces a file in one step.
func writeFile(path string, text []byte, mode os.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(text)
	if err == nil {
		err = temp.Chmod(mode)
	}
	if err == nil {
		err = temp.Sync()
	}
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
