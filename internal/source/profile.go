package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// A Profiler is what profiles need of the embedded engine.
type Profiler interface {
	Profile(ctx context.Context, db query.Database, table string) (*query.Profile, error)
	Forget(path string)
}

// Profile looks at the columns of a source. A table that the engine has is looked at
// where it is; any other is copied into a database below dir, which is gone
// afterwards. progress, if not nil, hears how many rows are copied.
func Profile(ctx context.Context, engine Profiler, s Source, name, dir string, progress func(rows int64)) (*query.Profile, error) {
	if t, ok := s.(*Table); ok {
		return engine.Profile(ctx, t.database, t.name)
	}
	columns, err := s.Describe(ctx)
	if err != nil {
		return nil, err
	}
	dir, err = os.MkdirTemp(dir, ".profile-*")
	if err != nil {
		return nil, fmt.Errorf("making a folder for a profile: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "copy.duckdb")
	w, err := query.Create(path)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if _, err = Load(ctx, s, schema.Filter{}, w, name, progress); err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	defer engine.Forget(path)
	return engine.Profile(ctx, query.Database{Path: path, Tables: []sqlpolicy.Table{{Name: name, Columns: schema.Names(columns)}}}, name)
}
