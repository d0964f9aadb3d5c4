// Package demo makes the three datasets that a fresh Interlock shows: a shop, a
// support desk with documents, and a month-by-month ledger of invoices and payments
// to reconcile. They look real, relations and flaws included, and come from a seed:
// the same seed gives the same bytes on every machine, so all amounts are integers
// of cents and no choice is made with floating point.
//
// Beside its tables a dataset folder holds
//
//	registry.json         id, name, description, prompts, files (path, table_name, format,
//	                      description, options, rows, schema), relations, documents
//	data_dictionary.json  {"tables": {T: {"description", "columns": {C: text}}}, "glossary": {term: text}}
//	meaning.yaml          of the shop: its semantic model, in the format of Apache Ossie
//	golden.json           questions with SQL and what a right answer looks like
//	README.md             what the data is, and every flaw in it with its count
//
// Only files that registry.json lists are tables. The truth of the reconciliation
// lies outside of the datasets, in .truth/finance: the dot keeps it from being taken
// for a dataset.
package demo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"

	"interlock/internal/fault"
)

// Options choose what is made.
type Options struct {
	Seed  uint64  // 0 = 1
	Scale float64 // how many rows, relative to the usual number; 0 = 1, at most 100
}

// maxScale keeps a slip of the finger from filling the disk.
const maxScale = 100

// A Summary lists what Write left behind.
type Summary struct {
	Seed    uint64  `json:"seed"`
	Scale   float64 `json:"scale"`
	Files   []File  `json:"files"`
	Bytes   int64   `json:"bytes"`
	Changed int     `json:"changed"` // files that were not there before with these bytes
}

// A File is one written file.
type File struct {
	Path   string `json:"path"` // inside the folder, with slashes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Table  string `json:"table,omitempty"` // "" for a file that is not a table
	Rows   int    `json:"rows,omitempty"`
}

// Write makes the datasets in dir, which is created. A file that already has the
// right bytes is not touched, so that nothing has to be read again because of it.
func Write(dir string, opts Options) (Summary, error) {
	if opts.Seed == 0 {
		opts.Seed = 1
	}
	if opts.Scale == 0 {
		opts.Scale = 1
	}
	if math.IsNaN(opts.Scale) || opts.Scale < 0 || opts.Scale > maxScale {
		return Summary{}, fault.New(fault.BadRequest, "The scale of the demo data is %v; it must be above 0 and at most %d.", opts.Scale, maxScale)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Summary{}, fmt.Errorf("making the folder of the demo data: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Summary{}, fmt.Errorf("opening the folder of the demo data: %w", err)
	}
	defer root.Close()
	s := Summary{Seed: opts.Seed, Scale: opts.Scale}
	for _, make := range []func(Options) dataset{ecommerce, support, finance} {
		files, err := make(opts).files(opts)
		if err != nil {
			return s, err
		}
		for _, f := range files {
			changed, err := writeFileIfChanged(root, f.path, f.content)
			if err != nil {
				return s, fmt.Errorf("writing %s: %w", f.path, err)
			}
			if changed {
				s.Changed++
			}
			s.Bytes += int64(len(f.content))
			s.Files = append(s.Files, File{Path: f.path, Bytes: int64(len(f.content)), SHA256: hashBytes(f.content), Table: f.table, Rows: f.rows})
		}
	}
	return s, nil
}

// A file is one that is still to be written.
type file struct {
	path    string
	content []byte
	table   string
	rows    int
}

// writeFileIfChanged writes a file atomically, and reports whether its content had changed.
func writeFileIfChanged(root *os.Root, name string, content []byte) (bool, error) {
	old, err := root.ReadFile(name)
	if err == nil && bytes.Equal(old, content) {
		return false, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return false, err
	}
	part := path.Join(path.Dir(name), "."+path.Base(name)+".part")
	if err := root.WriteFile(part, content, 0o644); err != nil {
		return false, errors.Join(err, root.Remove(part))
	}
	return true, root.Rename(part, name)
}

func hashBytes(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
