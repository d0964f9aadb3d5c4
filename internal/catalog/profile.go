package catalog

import (
	"context"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/source"
)

// Profile looks at the columns of a source. One that is imported is looked at where
// it is, once for each version; a table of a database is copied alone, not the
// database with it.
func (c *Catalog) Profile(ctx context.Context, alias string) (*query.Profile, error) {
	found, err := c.Source(ctx, alias)
	if err != nil {
		return nil, err
	}
	if !found.live {
		db, d, err := c.Database(ctx, found.Dataset)
		if err != nil {
			return nil, err
		}
		return remembered(c, "profile of "+found.Table+" in", db.Path, func() (*query.Profile, error) {
			p, err := c.config.Engine.Profile(ctx, db, found.Table)
			if err != nil {
				return nil, err
			}
			for _, t := range d.Tables {
				if t.Name == found.Table {
					p.Notes = t.Notes
				}
			}
			return p, nil
		})
	}
	if found.Rows > c.config.MaxRows {
		return nil, fault.New(fault.TooLarge, "The table has %d rows, more than the %d that are copied.", found.Rows, c.config.MaxRows).
			Suggest("Load a part of it under conditions.")
	}
	s, err := c.open(ctx, found)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return source.Profile(ctx, c.config.Engine, s, found.Table, c.config.Dir, func(rows int64) { c.progress(found.Dataset, found.Table, rows) })
}
