package catalog

import (
	"context"
	"slices"
	"strings"
	"time"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// A Source is one table somewhere, known by its alias.
type Source struct {
	Alias   string          `json:"alias"`
	Dataset string          `json:"dataset"`
	Table   string          `json:"table"`
	Kind    string          `json:"kind"` // csv, json, parquet, xlsx, sqlite, postgres …
	Columns []schema.Column `json:"columns"`
	Rows    int64           `json:"row_count"`

	schema string // of a table in a database
	live   bool   // read where it is, not from a copy
}

// A liveDescription of a database's tables is good for a minute.
type liveDescription struct {
	at      time.Time
	sources []Source
}

const liveFor = time.Minute

// Sources gives every table of every dataset. The alias is the table's name, or
// dataset.table where two datasets have one of that name. What cannot be read is
// left out; its dataset's problems say why.
func (c *Catalog) Sources(ctx context.Context) ([]Source, error) {
	named, err := c.sourcesByName(ctx)
	if err != nil {
		return nil, err
	}
	var all []Source
	for _, s := range named {
		filled, err := c.fill(ctx, s)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			c.config.Log.Warn("A source cannot be read.", "source", s.Alias, "err", err)
			continue
		}
		all = append(all, filled)
	}
	return all, nil
}

// sourcesByName gives the sources by name, without importing anything.
func (c *Catalog) sourcesByName(ctx context.Context) ([]Source, error) {
	found, err := c.scan(ctx)
	if err != nil {
		return nil, err
	}
	var all []Source
	for _, d := range found {
		if d.connection == nil {
			for _, t := range d.tables {
				all = append(all, Source{Dataset: d.id, Table: t.name, Kind: t.kind})
			}
			continue
		}
		live, err := c.liveSources(ctx, d)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			c.config.Log.Warn("The tables of a database cannot be listed.", "dataset", d.id, "err", err)
			continue
		}
		all = append(all, live...)
	}
	count := map[string]int{}
	for _, s := range all {
		count[strings.ToLower(s.Table)]++
	}
	for i, s := range all {
		all[i].Alias = s.Table
		if count[strings.ToLower(s.Table)] > 1 {
			all[i].Alias = s.Dataset + "." + s.Table
		}
	}
	slices.SortFunc(all, func(a, b Source) int { return strings.Compare(a.Alias, b.Alias) })
	return all, nil
}

// fill adds columns and number of rows, importing the dataset if need be.
func (c *Catalog) fill(ctx context.Context, s Source) (Source, error) {
	if s.live {
		return s, nil
	}
	_, d, err := c.Database(ctx, s.Dataset)
	if err != nil {
		return s, err
	}
	i := slices.IndexFunc(d.Tables, func(t schema.Table) bool { return t.Name == s.Table })
	if i < 0 {
		return s, fault.New(fault.SourceUnreadable, "the source %s could not be imported", s.Alias).With(d.Problems)
	}
	s.Columns, s.Rows = d.Tables[i].Columns, d.Tables[i].Rows
	return s, nil
}

// liveSources describes the tables of a database where they are.
func (c *Catalog) liveSources(ctx context.Context, d *dataset) ([]Source, error) {
	c.mu.Lock()
	known, ok := c.live[d.id]
	c.mu.Unlock()
	if ok && time.Since(known.at) < liveFor {
		return slices.Clone(known.sources), nil
	}
	conf, tables, err := c.tablesOf(ctx, d)
	if err != nil {
		return nil, err
	}
	var all []Source
	for _, t := range tables[:min(len(tables), maxTables)] {
		conf.Schema, conf.Table = t.Schema, t.Name
		s, err := describeLive(ctx, conf, d.remote())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			c.config.Log.Warn("A table cannot be described.", "dataset", d.id, "table", t.Name, "err", err)
			continue
		}
		s.Dataset, s.Kind = d.id, d.kind
		all = append(all, s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live[d.id] = liveDescription{time.Now(), all}
	return slices.Clone(all), nil
}

// describeLive describes a table where it is. One that stays there may be too large to
// be counted: then it has -1 rows.
func describeLive(ctx context.Context, conf source.Config, large bool) (Source, error) {
	s, err := source.Open(ctx, conf)
	if err != nil {
		return Source{}, err
	}
	defer s.Close()
	columns, err := s.Describe(ctx)
	if err != nil {
		return Source{}, err
	}
	found := Source{Table: conf.Table, schema: conf.Schema, live: true, Columns: engineColumns(columns)}
	if large {
		found.Rows = countQuickly(ctx, s)
		return found, nil
	}
	found.Rows, err = s.Count(ctx, schema.Filter{})
	return found, err
}

// engineColumns gives columns with the types that the embedded engine stores them in.
func engineColumns(columns []schema.Column) []schema.Column {
	stored := make([]schema.Column, len(columns))
	for i, c := range columns {
		stored[i] = schema.Column{Name: c.Name, Type: query.StoredType(c.Type)}
	}
	return stored
}

// Source gives a source by its alias, or by dataset.table.
func (c *Catalog) Source(ctx context.Context, alias string) (Source, error) {
	all, err := c.sourcesByName(ctx)
	if err != nil {
		return Source{}, err
	}
	aliases := make([]string, len(all))
	for i, s := range all {
		if strings.EqualFold(s.Alias, alias) || strings.EqualFold(s.Dataset+"."+s.Table, alias) {
			return c.fill(ctx, s)
		}
		aliases[i] = s.Alias
	}
	near := fault.Nearest(alias, aliases)
	f := fault.New(fault.SourceNotRegistered, "no source has the alias %q", truncate(alias, 80)).With(near)
	if len(near) > 0 {
		f = f.Suggest("List the sources; the nearest are %s.", quoted(near[:min(5, len(near))]))
	}
	return Source{}, f
}

// open opens a source for reading: a table of a database where it is, any other in its import.
func (c *Catalog) open(ctx context.Context, s Source) (source.Source, error) {
	if !s.live {
		db, _, err := c.Database(ctx, s.Dataset)
		if err != nil {
			return nil, err
		}
		return source.NewTable(c.config.Engine, db, s.Table, s.Columns), nil
	}
	d, err := c.find(ctx, s.Dataset)
	if err != nil {
		return nil, err
	}
	conf, err := c.configOf(d.connection)
	if err != nil {
		return nil, err
	}
	conf.Schema, conf.Table = s.schema, s.Table
	return source.Open(ctx, conf)
}
