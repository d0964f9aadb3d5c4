package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"interlock/internal/query"
	"interlock/internal/schema"
)

// sampleRows of each table are shown. They are kept beside the database.
const (
	sampleRows    = 3
	samplesSuffix = ".samples.json"
)

// MaxSampled is how many tables a dataset may have for rows of each to be shown: reading
// them takes a statement a table.
const MaxSampled = 300

// Schema gives a dataset with its columns and a few rows of each table, importing it if
// need be. A dataset of more than MaxSampled tables has no rows in it.
func (c *Catalog) Schema(ctx context.Context, id string) (schema.Dataset, error) {
	found, err := c.find(ctx, id)
	if err != nil {
		return schema.Dataset{}, err
	}
	db, d, err := c.database(ctx, found)
	if err != nil {
		return schema.Dataset{}, err
	}
	if len(d.Tables) > MaxSampled {
		return d, nil
	}
	samples, err := remembered(c, "samples", db.Path, func() (map[string]json.RawMessage, error) {
		samples := map[string]json.RawMessage{}
		if text, err := os.ReadFile(db.Path + samplesSuffix); !found.remote() && err == nil && json.Unmarshal(text, &samples) == nil && len(samples) == len(d.Tables) {
			return samples, nil // of a version that does not change
		}
		for _, t := range d.Tables {
			rows, err := c.sample(ctx, found, db, t)
			if err != nil {
				return nil, fmt.Errorf("reading rows of %s: %w", t.Name, err)
			}
			samples[t.Name] = rows
		}
		if text, err := json.Marshal(samples); err == nil && !found.remote() {
			_ = writeFile(db.Path+samplesSuffix, text, 0o600) // a lost file costs time only
		}
		return samples, nil
	})
	if err != nil {
		return schema.Dataset{}, err
	}
	d.Tables = slices.Clone(d.Tables)
	for i, t := range d.Tables {
		d.Tables[i].Sample = samples[t.Name]
	}
	return d, nil
}

// sample reads a few rows of a table, wherever they are.
func (c *Catalog) sample(ctx context.Context, d *dataset, db query.Database, t schema.Table) (json.RawMessage, error) {
	if !d.remote() {
		result, err := c.config.Engine.Run(ctx, query.Request{
			Database: db, MaxRows: sampleRows,
			SQL: fmt.Sprintf("SELECT * FROM %s LIMIT %d", quoteName(t.Name), sampleRows),
		})
		if err != nil {
			return nil, err
		}
		return result.Rows, nil
	}
	s, err := c.open(ctx, Source{Dataset: d.id, Table: t.Name, schema: d.connection.schema(), live: true})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	page, err := s.Preview(ctx, schema.Filter{}, 0, sampleRows)
	return page.Rows, err
}

// remembered works something out once per database. Two who ask at once may both
// do the work.
func remembered[T any](c *Catalog, kind, path string, work func() (T, error)) (T, error) {
	key := kind + " " + path
	c.mu.Lock()
	known, ok := c.derived[key].(T)
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	made, err := work()
	if err != nil {
		return made, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.derived[key] = made
	return made, nil
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
