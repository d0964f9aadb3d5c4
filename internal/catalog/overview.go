package catalog

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"interlock/internal/fault"
	"interlock/internal/query"
)

// An Overview is a dataset with what a person may do to it.
type Overview struct {
	Dataset
	Accepts bool     `json:"accepts_files"` // Upload may put files into its folder
	Files   []string `json:"files"`         // that Discard may delete
	Added   bool     `json:"added"`         // by Add: Remove takes it out
}

// Overview gives every dataset, sorted by id. Nothing is imported for it: columns and
// rows are there once somebody asked for the dataset.
func (c *Catalog) Overview(ctx context.Context) ([]Overview, error) {
	list, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	added, _ := c.connections() // what is wrong with them is a problem of the list
	all := make([]Overview, len(list))
	for i, d := range list {
		all[i] = Overview{Dataset: d, Files: []string{}}
		all[i].Added = slices.ContainsFunc(added, func(conn Connection) bool { return conn.Alias == d.ID })
		dir, err := c.folderOf(ctx, d.ID, false)
		if err != nil {
			continue
		}
		all[i].Accepts = true
		entries, _ := os.ReadDir(dir) // who deletes one hears what is wrong
		for _, e := range entries {
			if name, err := uploadName(e.Name()); err == nil && name == e.Name() && !e.IsDir() {
				all[i].Files = append(all[i].Files, name)
			}
		}
	}
	return all, nil
}

// Past gives a dataset in the version with this hash: that of today, or one that is
// still kept.
func (c *Catalog) Past(ctx context.Context, id, hash string) (query.Database, Dataset, error) {
	today, err := c.Get(ctx, id)
	if err != nil && !fault.Is(err, fault.DatasetNotFound) {
		return query.Database{}, Dataset{}, err
	}
	if err == nil && today.VersionHash == hash {
		db, d, err := c.Database(ctx, id)
		if err != nil || d.VersionHash == hash {
			return db, d, err
		}
	}
	paths, _ := filepath.Glob(filepath.Join(c.config.Dir, datasetID(id)+"-*.duckdb"))
	for _, path := range paths {
		m, ok := c.manifest(path)
		if !ok || m.Dataset != id || m.Version != hash {
			continue
		}
		c.touch(path)
		return databaseOf(path, id, m.Tables), Dataset{ID: id, Name: id, VersionHash: hash, Tables: m.Tables, Problems: m.Problems}, nil
	}
	gone := fault.New(fault.Conflict, "the data of %q have changed since, and version %s is no longer kept", clip(id, 80), clip(hash, 12))
	if today.VersionHash == "" {
		return query.Database{}, Dataset{}, gone.Suggest("Ask the question again.")
	}
	return query.Database{}, Dataset{}, gone.Suggest("Use today's data, version %s, or ask the question again.", clip(today.VersionHash, 12)).
		With(map[string]string{"recorded": hash, "today": today.VersionHash})
}
