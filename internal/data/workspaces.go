package data

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/artifact"
	"interlock/internal/catalog"
	"interlock/internal/event"
	"interlock/internal/query"
	"interlock/internal/recon"
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
	inputs, selects, err := w.Catalog.WorkspaceInputs(ctx, partsOf(sides))
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

func partsOf(sides []toolbox.SideRows) []catalog.Part {
	parts := make([]catalog.Part, len(sides))
	for i, s := range sides {
		parts[i] = catalog.Part{Table: fmt.Sprintf("side_%d", i), Alias: s.Alias, Conditions: s.Conditions, Columns: s.Columns, Rows: s.Rows}
	}
	return parts
}

// Version implements toolbox.Workspaces: the files that hold the rows, and when they were
// written.
func (w Workspaces) Version(ctx context.Context, sides []toolbox.SideRows) (string, error) {
	inputs, _, err := w.Catalog.WorkspaceInputs(ctx, partsOf(sides))
	if err != nil {
		return "", err
	}
	var version strings.Builder
	for _, in := range inputs {
		if in.Path == "" {
			continue
		}
		info, err := os.Stat(in.Path)
		if err != nil {
			return "", fmt.Errorf("looking at the rows of %s: %w", in.Name, err)
		}
		fmt.Fprintf(&version, "%s %d\n", in.Path, info.ModTime().UnixNano())
	}
	return version.String(), nil
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

// KeepFiles implements toolbox.Workspace.
func (w *workspace) KeepFiles(ctx context.Context, key string, write func(dir string) ([]string, error)) ([]event.ArtifactMade, error) {
	dir, err := os.MkdirTemp(w.dir, "export-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for files: %w", err)
	}
	defer os.RemoveAll(dir)
	files, err := write(dir)
	if err != nil {
		return nil, err
	}
	made := make([]event.ArtifactMade, len(files))
	for i, name := range files {
		if made[i], err = w.keepFile(ctx, key, filepath.Join(dir, filepath.Base(name))); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func (w *workspace) keepFile(ctx context.Context, key, path string) (event.ArtifactMade, error) {
	f, err := os.Open(path)
	if err != nil {
		return event.ArtifactMade{}, fmt.Errorf("reading a file: %w", err)
	}
	defer f.Close()
	p, name := putOfCall(ctx), filepath.Base(path)
	p.Name, p.Type, p.Producer = name, strings.TrimPrefix(filepath.Ext(name), "."), recon.Producer
	p.LogicalKey = event.Hash([]byte(key + " " + name))[:16]
	return w.artifacts.Put(ctx, p, f)
}
