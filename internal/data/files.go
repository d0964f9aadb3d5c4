package data

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/artifact"
	"interlock/internal/catalog"
	"interlock/internal/dialect"
	"interlock/internal/event"
	"interlock/internal/query"
	"interlock/internal/sqlpolicy"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// Files stores what threads hand over as artifacts. It implements toolbox.Files.
type Files struct {
	Artifacts *artifact.Store
	Results   toolbox.Results
	Catalog   *catalog.Catalog
	Query     *query.Engine
	Dir       string // of files on their way
}

// Save implements toolbox.Files.
func (f Files) Save(ctx context.Context, file toolbox.File, content []byte) (event.ArtifactMade, error) {
	return f.storeFile(ctx, file, bytes.NewReader(content))
}

func (f Files) storeFile(ctx context.Context, file toolbox.File, content io.Reader) (event.ArtifactMade, error) {
	key := strings.Join(append([]string{"file", file.Producer, file.Format}, file.About...), "\x00")
	p := putOfCall(ctx)
	p.Name, p.Type, p.Producer, p.LogicalKey = file.Name, file.Format, file.Producer, event.Hash([]byte(key))[:16]
	return f.Artifacts.Put(ctx, p, content)
}

// putOfCall is a content that the call of ctx stores in its thread.
func putOfCall(ctx context.Context) artifact.Put {
	call := tool.In(ctx)
	return artifact.Put{Owner: call.Owner, Thread: call.Thread, Call: call.ID, Known: call.Artifacts, CheckOwner: call.CheckOwner}
}

// SaveRows implements toolbox.Files.
func (f Files) SaveRows(ctx context.Context, file toolbox.File, result string) (event.ArtifactMade, []string, error) {
	database, table, err := resultTable(ctx, f.Catalog, f.Results, toolbox.Frame{Name: "result", ResultID: result})
	if err != nil {
		return event.ArtifactMade{}, nil, err
	}
	path := filepath.Join(f.Dir, "export-"+rand.Text())
	defer os.Remove(path)
	r := query.Request{
		Database: query.Database{Path: database, Tables: []sqlpolicy.Table{table}}, SQL: "SELECT * FROM " + dialect.DuckDB.Ident(table.Name), User: tool.In(ctx).Owner,
	}
	written, err := f.Query.Export(ctx, r, query.Format(file.Format), path)
	if err != nil {
		return event.ArtifactMade{}, nil, err
	}
	content, err := os.Open(path)
	if err != nil {
		return event.ArtifactMade{}, nil, fmt.Errorf("reading an export: %w", err)
	}
	defer content.Close()
	made, err := f.storeFile(ctx, file, content)
	return made, written.Notes, err
}

// Read implements toolbox.Files.
func (f Files) Read(ctx context.Context, id string) ([]byte, error) {
	content, _, err := f.Artifacts.Open(ctx, tool.In(ctx).Owner, id)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	raw, err := io.ReadAll(content)
	if err != nil {
		return nil, fmt.Errorf("reading artifact %s: %w", id, err)
	}
	return raw, nil
}
