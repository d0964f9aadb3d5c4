package catalog

import (
	"context"
	"encoding/json"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// A Scoped load is some rows of a source under conditions, and how many there are.
type Scoped struct {
	Alias       string          `json:"alias"`
	Columns     []schema.Column `json:"columns"`
	Rows        json.RawMessage `json:"rows"`
	TotalRows   int64           `json:"total_rows"` // under the conditions
	PreviewRows int             `json:"preview_rows"`
}

// maxPreview rows are given at once.
const maxPreview = 10_000

// LoadScoped gives up to limit rows (200 if 0) of a source under conditions. The
// conditions run where the source is.
func (c *Catalog) LoadScoped(ctx context.Context, alias string, conditions []schema.Condition, limit int) (Scoped, error) {
	return c.Preview(ctx, alias, conditions, 0, limit)
}

// Preview is LoadScoped from an offset.
func (c *Catalog) Preview(ctx context.Context, alias string, conditions []schema.Condition, offset, limit int) (Scoped, error) {
	if limit == 0 {
		limit = 200
	}
	if limit < 0 || limit > maxPreview || offset < 0 {
		return Scoped{}, fault.New(fault.BadRequest, "a page has 1 to %d rows and begins at 0 or later", maxPreview)
	}
	found, err := c.Source(ctx, alias)
	if err != nil {
		return Scoped{}, err
	}
	s, err := c.open(ctx, found)
	if err != nil {
		return Scoped{}, err
	}
	defer s.Close()
	filter := schema.Filter{Conditions: conditions}
	total, err := s.Count(ctx, filter)
	if err != nil {
		return Scoped{}, err
	}
	page, err := s.Preview(ctx, filter, offset, limit)
	if err != nil {
		return Scoped{}, err
	}
	return Scoped{Alias: found.Alias, Columns: found.Columns, Rows: page.Rows, TotalRows: total, PreviewRows: page.Count}, nil
}
