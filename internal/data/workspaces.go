package data

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"interlock/internal/artifact"
	"interlock/internal/catalog"
	"interlock/internal/event"
	"interlock/internal/query"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// Workspaces open the rows of sources in workspaces of the engine. They implement
// toolbox.Workspaces. Dir holds files on their way to becoming artifacts.
type Workspaces struct {
	Catalog   *catalog.Catalog
	Query     *query.Engine
	Artifacts *artifact.Store
	Dir       string
}

// OpenWorkspace implements toolbox.Workspaces.
func (w Workspaces) OpenWorkspace(ctx context.Context, sides []toolbox.SideRows) (toolbox.Workspace, error) {
	parts := make([]catalog.Part, len(sides))
	for i, s := range sides {
		parts[i] = catalog.Part{Table: fmt.Sprintf("side_%d", i), Alias: s.Alias, Conditions: s.Conditions, Columns: s.Columns, Rows: s.Rows}
	}
	inputs, selects, err := w.Catalog.WorkspaceInputs(ctx, parts)
	if err != nil {
		return nil, err
	}
	space, err := w.Query.OpenWorkspace(ctx, query.WorkspaceConfig{Inputs: inputs, User: tool.In(ctx).Owner})
	if err != nil {
		return nil, err
	}
	out := &workspace{Workspace: space, artifacts: w.Artifacts, dir: w.Dir}
	for _, s := range selects {
		if s.SQL != "" {
			if err := space.Create(ctx, s.Table, s.SQL, s.Args...); err != nil {
				_ = space.Close()
				return nil, err
			}
		}
		out.tables = append(out.tables, s.Table)
	}
	return out, nil
}

// A workspace is one of the engine with the tables of its sides.
type workspace struct {
	*query.Workspace
	tables    []string
	artifacts *artifact.Store
	dir       string
}

// Tables implements toolbox.Workspace.
func (w *workspace) Tables() []string { return w.tables }

// Keep implements toolbox.Workspace.
func (w *workspace) Keep(ctx context.Context, k toolbox.Keeping) (event.ArtifactMade, error) {
	call := tool.In(ctx)
	var content io.Reader = bytes.NewReader(k.Content)
	if k.SQL != "" {
		path := filepath.Join(w.dir, "export-"+rand.Text())
		defer os.Remove(path)
		if _, err := w.Export(ctx, query.Format(k.Format), path, k.SQL); err != nil {
			return event.ArtifactMade{}, err
		}
		f, err := os.Open(path)
		if err != nil {
			return event.ArtifactMade{}, fmt.Errorf("reading an export: %w", err)
		}
		defer f.Close()
		content = f
	}
	return w.artifacts.Put(ctx, artifact.Put{
		Name: k.Name + "." + k.Format, Type: k.Format, Producer: "reconciliation", Owner: call.Owner, Thread: call.Thread, Call: call.ID,
		LogicalKey: event.Hash([]byte(k.Key))[:16],
	}, content)
}
