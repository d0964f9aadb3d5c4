// Package catalog knows which datasets and sources exist, their versions, their
// dictionary and how their tables hang together. It looks at the data folders
// again whenever it is asked, imports a version once, and keeps what it found out.
//
// Goroutines: one for each import in progress; it ends when the import does or when
// nobody waits for it any more.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/sqlpolicy"
)

// An Engine is what the catalog needs of the embedded engine.
type Engine interface {
	Run(ctx context.Context, r query.Request) (*query.Result, error)
	Build(ctx context.Context, path string, imports []query.Import, progress query.Progress) (query.Report, error)
	Export(ctx context.Context, r query.Request, format query.Format, path string) (query.Exported, error)
	Profile(ctx context.Context, db query.Database, table string) (*query.Profile, error)
	Forget(path string)
}

// A Policy decides whether a statement may run.
type Policy interface {
	Check(ctx context.Context, db query.Database, sql string) (sqlpolicy.Decision, error)
}

// Config of a Catalog.
type Config struct {
	// Roots are the data folders: each folder in one is a dataset, loose files are the
	// dataset `default`. A root may also be a file.
	Roots []string
	// Dir holds the imported databases. Required.
	Dir string
	// State holds sources.yaml and the passwords of its connections; Dir by default.
	// Nothing in it or in Dir is ever read as data.
	State string
	// SourceFolders are folders beside Roots from which people who call over the
	// network may add sources.
	SourceFolders []string
	// Engine reads and imports. Required.
	Engine Engine
	// Policy decides about statements for databases that stay where they are; without
	// it there are none.
	Policy Policy
	// Progress hears of imports; nil is nobody. It is called from the goroutine of the import.
	Progress func(dataset, table string, rows int64)
	// MaxFile is the largest file that is imported; 32 GB by default.
	MaxFile int64
	// MaxDisk bounds the imported database of one dataset, MaxTotalDisk those of all;
	// 20 GB and 50 GB by default. The engine keeps the first of them for files.
	MaxDisk, MaxTotalDisk int64
	// MaxRows is the largest table of a database that is imported whole; 50 million by default.
	MaxRows int64
	// Rescan is how long a look at the folders is good for; 500 ms by default.
	Rescan time.Duration
	// Snapshot is how long an imported copy of a database is good for; 15 minutes by default.
	Snapshot time.Duration
	// Keep is how long a version that is no longer current stays after its last use; 15 minutes by default.
	Keep time.Duration
	Log  *slog.Logger
}

// A Catalog is safe for concurrent use.
type Catalog struct {
	// fixed at creation
	config  Config
	private private
	owners  *owners
	hashes  *hashCache
	sqlite  *source.SQLitePool

	scanning   sync.Mutex // one look at a time
	inner      map[file][]source.TableName
	registries map[file]readResult

	warned sync.Map // versions of semantic models whose errors were logged

	placing sync.Mutex // held while an upload gets its name and its owner

	mu       sync.Mutex
	scanned  time.Time
	datasets []*dataset // by id
	flights  map[string]*flight
	used     map[string]time.Time       // database files, when last handed out
	known    map[string]manifest        // imported versions by path
	derived  map[string]any             // what was found out about a version, by kind and path
	live     map[string]liveDescription // tables of databases, described not long ago
	lines    map[string]*remoteLink     // open connections to databases that stay where they are
	renewed  map[string]time.Time       // datasets whose copies from before are not used any more
}

// New makes a catalog. It looks at nothing before it is asked.
func New(c Config) (*Catalog, error) {
	if c.Dir == "" || c.Engine == nil {
		return nil, errors.New("a catalog needs a folder and an engine")
	}
	if c.State == "" {
		c.State = c.Dir
	}
	if c.MaxFile == 0 {
		c.MaxFile = 32 << 30
	}
	if c.MaxDisk == 0 {
		c.MaxDisk = 20 << 30
	}
	if c.MaxTotalDisk == 0 {
		c.MaxTotalDisk = 50 << 30
	}
	if c.MaxRows == 0 {
		c.MaxRows = 50_000_000
	}
	if c.Rescan == 0 {
		c.Rescan = 500 * time.Millisecond
	}
	if c.Snapshot == 0 {
		c.Snapshot = 15 * time.Minute
	}
	if c.Keep == 0 {
		c.Keep = 15 * time.Minute
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	for _, dir := range []string{c.Dir, c.State} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("making the catalog's folder: %w", err)
		}
	}
	return &Catalog{
		config: c, private: private{dirs: []string{c.State, c.Dir}}, owners: &owners{path: filepath.Join(c.State, "uploads.json")}, hashes: loadHashes(c.Dir), sqlite: source.NewSQLitePool(c.Dir), flights: map[string]*flight{}, used: map[string]time.Time{},
		known: map[string]manifest{}, derived: map[string]any{}, inner: map[file][]source.TableName{}, registries: map[file]readResult{}, live: map[string]liveDescription{},
		lines: map[string]*remoteLink{},
	}, nil
}

// List gives every dataset, sorted by id.
func (c *Catalog) List(ctx context.Context) ([]schema.Dataset, error) {
	found, err := c.scan(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]schema.Dataset, 0, len(found))
	for _, d := range found {
		shown, err := c.describe(ctx, d)
		if err != nil {
			return nil, err
		}
		list = append(list, shown)
	}
	return list, nil
}

// Get gives a dataset by its id.
func (c *Catalog) Get(ctx context.Context, id string) (schema.Dataset, error) {
	d, err := c.find(ctx, id)
	if err != nil {
		return schema.Dataset{}, err
	}
	return c.describe(ctx, d)
}

func (c *Catalog) find(ctx context.Context, id string) (*dataset, error) {
	found, err := c.scan(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(found))
	for i, d := range found {
		if d.id == id {
			return d, nil
		}
		ids[i] = d.id
	}
	near := fault.Nearest(id, ids)
	f := fault.New(fault.DatasetNotFound, "there is no dataset %q", truncate(id, 80)).With(near)
	switch len(near) {
	case 0:
		return nil, f.Suggest("There are no datasets: put files into a data folder.")
	case 1:
		return nil, f.Suggest("The only dataset is %q.", near[0])
	}
	return nil, f.Suggest("Use one of: %s.", quoted(near[:min(10, len(near))]))
}

// describe returns a dataset as others see it, with what is known of its present version.
func (c *Catalog) describe(ctx context.Context, d *dataset) (schema.Dataset, error) {
	v, err := c.version(ctx, d)
	if err != nil {
		return schema.Dataset{}, err
	}
	return c.showVersion(d, v), nil
}

// showVersion is a dataset for others, with what is known of one of its versions.
func (c *Catalog) showVersion(d *dataset, v version) schema.Dataset {
	shown := schema.Dataset{
		ID: d.id, Name: d.name, Description: d.description, Prompts: slices.Clone(d.prompts),
		Version: v.hash, Kind: d.kind, Problems: slices.Clone(d.problems),
	}
	if d.remote() {
		shown.Dialect = d.kind
	}
	shown.Problems = append(shown.Problems, v.problems...)
	m, imported := c.manifest(v.path)
	for _, t := range v.tables {
		shown.Tables = append(shown.Tables, schema.Table{Name: t.name, File: t.file, Kind: t.kind, Description: t.description})
	}
	if imported {
		shown.Tables = m.Tables
		shown.Problems = append(shown.Problems, m.Problems...)
		if d.connection != nil {
			shown.Version = m.Version
			shown.CopiedAt = c.copiedAt(d, v.path)
		}
	}
	return shown
}

func (c *Catalog) progress(dataset, table string, rows int64) {
	if c.config.Progress != nil {
		c.config.Progress(dataset, table, rows)
	}
}
