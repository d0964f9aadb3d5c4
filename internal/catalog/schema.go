package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"interlock/internal/query"
	"interlock/internal/schema"
)

// A Schema is what a model or a person needs to know before they ask a dataset.
type Schema struct {
	DatasetID   string        `json:"dataset_id"`
	VersionHash string        `json:"version_hash"`
	Dialect     string        `json:"dialect,omitempty"` // of the SQL, if the rows stay in their database
	Tables      []TableSchema `json:"tables"`
	Problems    []Problem     `json:"problems,omitempty"`
	CopiedAt    time.Time     `json:"copied_at,omitzero"` // when the rows of a database were copied
}

// A TableSchema is a table with a few of its rows.
type TableSchema struct {
	File        string          `json:"file"`
	Name        string          `json:"table_name"`
	Description string          `json:"description,omitempty"`
	Columns     []schema.Column `json:"columns"`
	Rows        int64           `json:"row_count"`
	Sample      json.RawMessage `json:"sample_rows"` // arrays in the order of the columns
	// Notes are the decisions of the import.
	Notes []schema.Note `json:"notes,omitempty"`
}

// sampleRows of each table are shown.
const sampleRows = 3

// Schema describes the tables of a dataset, importing it if need be.
func (c *Catalog) Schema(ctx context.Context, id string) (Schema, error) {
	found, err := c.find(ctx, id)
	if err != nil {
		return Schema{}, err
	}
	db, d, err := c.database(ctx, found)
	if err != nil {
		return Schema{}, err
	}
	s := Schema{DatasetID: d.ID, VersionHash: d.VersionHash, Dialect: d.Dialect, Problems: d.Problems, CopiedAt: d.CopiedAt}
	samples, err := remembered(c, "samples", db.Path, func() (map[string]json.RawMessage, error) {
		samples := map[string]json.RawMessage{}
		for _, t := range d.Tables {
			rows, err := c.sample(ctx, found, db, t)
			if err != nil {
				return nil, fmt.Errorf("reading rows of %s: %w", t.Name, err)
			}
			samples[t.Name] = rows
		}
		return samples, nil
	})
	if err != nil {
		return Schema{}, err
	}
	for _, t := range d.Tables {
		s.Tables = append(s.Tables, TableSchema{File: t.File, Name: t.Name, Description: t.Description, Columns: t.Columns, Rows: t.Rows, Sample: samples[t.Name], Notes: t.Notes})
	}
	return s, nil
}

// sample reads a few rows of a table, wherever they are.
func (c *Catalog) sample(ctx context.Context, d *dataset, db query.Database, t Table) (json.RawMessage, error) {
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
