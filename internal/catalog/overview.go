package catalog

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interlock/internal/query"
	"interlock/internal/schema"
)

// An Overview is a dataset with what a person may do to it.
type Overview struct {
	schema.Dataset
	Accepts bool     `json:"accepts_files"` // Upload may put files into its folder
	Files   []string `json:"files"`         // that Discard may delete
	Added   bool     `json:"added"`         // by Add: Remove takes it out
}

// Overview gives every dataset, sorted by id, with the files that the user may change;
// "" is the operator. Nothing is imported for it: columns and
// rows are there once somebody asked for the dataset.
func (c *Catalog) Overview(ctx context.Context, user string) ([]Overview, error) {
	list, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	added, _ := c.connections() // what is wrong with them is a problem of the list
	all := make([]Overview, len(list))
	for i, d := range list {
		all[i] = Overview{Dataset: d, Files: []string{}}
		all[i].Added = slices.ContainsFunc(added, func(conn Connection) bool { return conn.Alias == d.ID })
		dir, err := c.folderOf(ctx, d.ID, false, user)
		if err != nil || c.owners.check(dir, ".", d.ID, user) != nil {
			continue
		}
		all[i].Accepts = true
		entries, _ := os.ReadDir(dir) // who deletes one hears what is wrong
		for _, e := range entries {
			if name, err := uploadName(e.Name()); err == nil && name == e.Name() && !e.IsDir() && c.owners.check(dir, name, d.ID, user) == nil {
				all[i].Files = append(all[i].Files, name)
			}
		}
	}
	return all, nil
}

// Past gives the database of a version that is kept, be it today's or an older one; not
// ok says that there is none. Rows that stay in their database have no past.
func (c *Catalog) Past(id, hash string) (query.Database, bool) {
	paths, _ := filepath.Glob(filepath.Join(c.config.Dir, datasetID(id)+"-*.duckdb"))
	for _, path := range paths {
		m, ok := c.manifest(path)
		if ok && m.Dataset == id && m.Version == hash && !strings.HasPrefix(hash, livePrefix) {
			c.touch(path)
			return databaseOf(path, schema.Dataset{ID: id, Version: hash, Tables: m.Tables}), true
		}
	}
	return query.Database{}, false
}
