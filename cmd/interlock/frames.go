package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock/internal/artifact"
	"interlock/internal/event"
	"interlock/internal/query"
	"interlock/internal/queryplan"
	"interlock/internal/sandbox"
	"interlock/internal/schema"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// keptResults keeps the rows of steps as artifacts, so that they live, are shared with
// forks and are swept like everything else that a thread made.
type keptResults struct{ artifacts *artifact.Store }

// keptRows is the content of such an artifact. Only what the rows are is in it, so
// that equal rows are one artifact.
type keptRows struct {
	Columns []schema.Column `json:"columns"`
	Rows    json.RawMessage `json:"rows"`
}

// Keep implements toolbox.Results. An id names the version of the artifact, too: it
// stands for these rows for ever.
func (r keptResults) Keep(ctx context.Context, x toolbox.Result) (string, event.ArtifactMade, error) {
	raw, err := json.Marshal(keptRows{x.Columns, x.Rows})
	if err != nil {
		return "", event.ArtifactMade{}, fmt.Errorf("keeping a result: %w", err)
	}
	call := tool.In(ctx)
	made, err := r.artifacts.Put(ctx, artifact.Put{
		Name: x.Name + ".json", Type: "json", Producer: x.Producer, Owner: call.Owner, Thread: call.Thread, Call: call.ID,
		LogicalKey: event.Hash([]byte(strings.Join([]string{"rows", x.Producer, x.Source, x.Version}, "\x00")))[:16],
	}, bytes.NewReader(raw))
	return fmt.Sprintf("%s@%d", made.ID, made.Version), made, err
}

// Load implements toolbox.Results.
func (r keptResults) Load(ctx context.Context, id string) (toolbox.Result, error) {
	f, _, err := r.artifacts.Open(ctx, tool.In(ctx).Owner, id)
	if err != nil {
		return toolbox.Result{}, err
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return toolbox.Result{}, fmt.Errorf("reading result %s: %w", id, err)
	}
	var kept keptRows
	if err := json.Unmarshal(raw, &kept); err != nil {
		return toolbox.Result{}, fmt.Errorf("reading result %s: %w", id, err)
	}
	return toolbox.Result{Columns: kept.Columns, Rows: kept.Rows}, nil
}

// table makes the bundle of a table, once a version of the data.
func (p *python) table(ctx context.Context, db query.Database, version, table string) (string, error) {
	return p.bundles.get([]string{"table", db.Path, version, table}, func(path string) error {
		arrow := path + ".arrow"
		defer os.Remove(arrow)
		r := query.Request{Database: db, SQL: "SELECT * FROM " + queryplan.Ident(table), User: tool.In(ctx).Owner}
		if _, err := p.query.Export(ctx, r, query.Arrow, arrow); err != nil {
			return err
		}
		return sandbox.FromArrow(arrow, path)
	})
}

// frame makes the bundle of an earlier result, once.
func (p *python) frame(ctx context.Context, f toolbox.Frame) (string, error) {
	r, err := p.results.Load(ctx, f.ResultID) // first, because only the owner may
	if err != nil {
		return "", err
	}
	return p.bundles.get([]string{"frame", tool.In(ctx).Owner, f.ResultID}, func(path string) error {
		return sandbox.FromResult(sandbox.Result{Columns: r.Columns, Rows: r.Rows}, path)
	})
}

// Bounds of the folder of bundles.
const (
	maxBundles  = 8 << 30
	freshBundle = 10 * time.Minute // used so lately that a job may be about to open it
)

// bundles is a folder of tables in the form in which Python loads them: each is made
// once, and the ones that nobody used for longest go when the folder is full.
type bundles struct {
	dir    string
	limit  int64
	making [64]sync.Mutex // held while a bundle is made, by its hash
}

// openBundles sweeps what a killed process left half made.
func openBundles(dir string) (*bundles, error) {
	b := &bundles{dir: dir, limit: maxBundles}
	return b, b.sweep(time.Now())
}

// get gives the file of a bundle, and makes it where it is missing.
func (b *bundles) get(key []string, fill func(path string) error) (string, error) {
	hash := event.Hash([]byte(strings.Join(key, "\x00")))
	path := filepath.Join(b.dir, hash[:32]+".bundle")
	making := &b.making[int(hash[0])%len(b.making)]
	making.Lock()
	defer making.Unlock()
	now := time.Now()
	if err := os.Chtimes(path, now, now); err == nil {
		return path, nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("using a bundle: %w", err)
	}
	if err := fill(path); err != nil {
		return "", err
	}
	return path, b.sweep(now)
}

// sweep removes what was used longest ago until the rest fits, and what is no
// finished bundle and old.
func (b *bundles) sweep(now time.Time) error {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return fmt.Errorf("sweeping bundles: %w", err)
	}
	type file struct {
		path string
		used time.Time
		size int64
	}
	var files []file
	var sum int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // gone meanwhile
		}
		path := filepath.Join(b.dir, e.Name())
		if filepath.Ext(path) != ".bundle" || strings.HasPrefix(e.Name(), ".") {
			if now.Sub(info.ModTime()) > time.Hour {
				_ = os.Remove(path) // whoever needs the room hears of it
			}
			continue
		}
		files = append(files, file{path, info.ModTime(), info.Size()})
		sum += info.Size()
	}
	slices.SortFunc(files, func(x, y file) int { return cmp.Or(x.used.Compare(y.used), cmp.Compare(x.path, y.path)) })
	for _, f := range files {
		if sum <= b.limit || now.Sub(f.used) < freshBundle {
			break
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("sweeping bundles: %w", err)
		}
		sum -= f.size
	}
	return nil
}
