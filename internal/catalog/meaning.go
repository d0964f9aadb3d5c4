package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// A MeaningFile is the semantic model of a dataset as it is stored. Its text is nil where
// there is none.
type MeaningFile struct {
	Path    string // where it is, or would be
	Text    []byte
	Version string // of the text; "" where there is none
}

// MeaningFiles are the names that a semantic model may have beside the files of a dataset;
// the first is that of a new one.
var MeaningFiles = []string{"meaning.yaml", "meaning.yml", "meaning.json"}

// Meaning reads the semantic model of a dataset: the file beside its files, or of a database
// the one beside its registration in the state.
func (c *Catalog) Meaning(ctx context.Context, id string) (MeaningFile, error) {
	d, err := c.find(ctx, id)
	if err != nil {
		return MeaningFile{}, err
	}
	return c.readMeaning(d)
}

// WarnOnce logs what is wrong with a version of a dataset's semantic model, the first time.
func (c *Catalog) WarnOnce(id, version string, p schema.Problem) {
	if _, known := c.warned.LoadOrStore(id+" "+version+" "+p.Message, true); !known {
		c.config.Log.Warn("a semantic model has errors", "dataset", id, "file", p.Path, "problem", p.Message)
	}
}

func (c *Catalog) readMeaning(d *dataset) (MeaningFile, error) {
	found := MeaningFile{Path: c.ownMeaning(d)}
	read := func(path string) ([]byte, error) { return readRegular(path, maxRegistry) }
	paths := []string{found.Path}
	if d.dir != "" {
		read = func(path string) ([]byte, error) { return c.private.readInside(d.dir, path) }
		paths = nil
		for _, name := range MeaningFiles {
			paths = append(paths, filepath.Join(d.dir, name))
		}
	}
	for _, path := range paths {
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		text, err := read(path)
		if err != nil {
			return found, fault.Wrap(err, fault.SourceUnreadable, "%s of dataset %q cannot be read: %v", filepath.Base(path), truncate(d.id, 80), err)
		}
		if text == nil {
			text = []byte{}
		}
		sum := sha256.Sum256(text)
		return MeaningFile{path, text, hex.EncodeToString(sum[:8])}, nil
	}
	return found, nil
}

// ownMeaning is where a new semantic model of a dataset is written.
func (c *Catalog) ownMeaning(d *dataset) string {
	if d.dir != "" {
		return filepath.Join(d.dir, MeaningFiles[0])
	}
	return filepath.Join(c.config.State, "meaning", url.PathEscape(d.id)+".yaml")
}

// isMeaning reports whether a file of this name is a semantic model, on disks that do not tell
// small letters from capitals too.
func isMeaning(name string) bool {
	return slices.ContainsFunc(MeaningFiles, func(n string) bool { return strings.EqualFold(n, name) })
}

// CheckMeaningChange refuses who may not replace the semantic model of a dataset, or has not
// seen the one that is there; ReplaceMeaning asks the same again.
func (c *Catalog) CheckMeaningChange(ctx context.Context, id, version, user string) error {
	d, err := c.find(ctx, id)
	if err != nil {
		return err
	}
	_, err = c.replaceable(d, version, user)
	return err
}

// replaceable gives the semantic model that a user wants to replace, if they may.
func (c *Catalog) replaceable(d *dataset, version, user string) (MeaningFile, error) {
	if d.dir != "" {
		if err := c.owners.check(d.dir, MeaningFiles[0], d.id, user); err != nil {
			return MeaningFile{}, err
		}
	} else if user != "" {
		return MeaningFile{}, fault.New(fault.Forbidden, "the meaning of dataset %q belongs to the operator", truncate(d.id, 80)).Suggest("Ask an admin.")
	}
	old, err := c.readMeaning(d)
	if err == nil && old.Version != version {
		err = fault.New(fault.Conflict, "the semantic model of %q was changed meanwhile: it is of version %q, not %q", truncate(d.id, 80), old.Version, truncate(version, 40)).
			Suggest("Read it again, put your change into it and send it with its version.")
	}
	return old, err
}

// ReplaceMeaning writes the semantic model of a dataset in the place of the one of that
// version; "" is where there is none. Who wrote meanwhile is not overwritten.
func (c *Catalog) ReplaceMeaning(ctx context.Context, id, version, user string, text []byte) (MeaningFile, error) {
	d, err := c.find(ctx, id)
	if err != nil {
		return MeaningFile{}, err
	}
	c.placing.Lock()
	defer c.placing.Unlock()
	old, err := c.replaceable(d, version, user)
	if err != nil {
		return old, err
	}
	if d.dir == "" {
		if err := os.MkdirAll(filepath.Dir(old.Path), 0o700); err != nil {
			return old, fmt.Errorf("making the folder of semantic models: %w", err)
		}
	}
	if err := writeFile(old.Path, text, 0o644); errors.Is(err, fs.ErrPermission) {
		return old, notWritable(id, err)
	} else if err != nil {
		return old, fmt.Errorf("writing %s: %w", old.Path, err)
	}
	return c.readMeaning(d)
}
