package catalog

import (
	"context"
	"path/filepath"
	"time"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// Refresh copies a database anew, with the tables that it has now. If that fails, the
// copy that there is stays in use. Files need none: their changes are noticed.
func (c *Catalog) Refresh(ctx context.Context, id string) (schema.Dataset, error) {
	d, err := c.find(ctx, id)
	if err != nil {
		return schema.Dataset{}, err
	}
	if d.connection == nil || d.remote() {
		return schema.Dataset{}, fault.New(fault.BadRequest, "%q is no copy of a database: what it shows is always today's", d.id)
	}
	before := c.renewedAt(d.id)
	c.renew(d.id, time.Now())
	_, shown, err := c.database(ctx, d)
	if err != nil {
		c.renew(d.id, before)
	}
	return shown, err
}

func (c *Catalog) renewedAt(id string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renewed[id]
}

func (c *Catalog) renew(id string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.renewed == nil {
		c.renewed = map[string]time.Time{}
	}
	c.renewed[id] = at
}

// dropCopies removes every copy of a database that was added under an alias.
func (c *Catalog) dropCopies(alias string) {
	paths, _ := filepath.Glob(filepath.Join(c.config.Dir, alias+"-*.duckdb"))
	for _, path := range paths {
		if m, ok := c.manifest(path); ok && m.Dataset == alias && m.Origin != "" {
			c.drop(path)
		}
	}
}

// copyAge is how old a copy may be before it is made anew.
func (c *Catalog) copyAge(d *dataset) time.Duration {
	age, err := d.connection.parseMaxAge(c.config.Snapshot)
	if err != nil {
		return c.config.Snapshot
	}
	return age
}

// parseMaxAge reads MaxAge.
func (conn *Connection) parseMaxAge(def time.Duration) (time.Duration, error) {
	if conn == nil || conn.MaxAge == "" {
		return def, nil
	}
	age, err := time.ParseDuration(conn.MaxAge)
	if err != nil || age < time.Second {
		return def, fault.New(fault.BadRequest, "the age %.40q is not one", conn.MaxAge).Suggest("Write it as 30s, 15m or 24h, at least 1s.")
	}
	return age, nil
}

// copiedAt is when the rows of a database were copied; zero where they were not.
func (c *Catalog) copiedAt(d *dataset, path string) time.Time {
	if d.connection == nil || d.remote() || source.Scheme(d.connection.URL) == "file" {
		return time.Time{}
	}
	m, _ := c.manifest(path)
	return m.Made
}
