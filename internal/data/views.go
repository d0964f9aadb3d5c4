package data

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"interlock/internal/catalog"
	"interlock/internal/schema"
	"interlock/internal/server"
	"interlock/internal/toolbox"
)

// Sources are the single tables of a deployment as the tools see them. They implement
// toolbox.Sources.
type Sources struct{ Catalog *catalog.Catalog }

func (s Sources) List(ctx context.Context) ([]toolbox.SourceRow, error) {
	list, err := s.Catalog.Sources(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]toolbox.SourceRow, len(list))
	for i, x := range list {
		out[i] = toolbox.SourceRow{Alias: x.Alias, Kind: x.Kind, Columns: []string{}, RowCount: int(x.Rows)}
		for _, c := range x.Columns {
			out[i].Columns = append(out[i].Columns, c.Name)
		}
	}
	return out, nil
}

func (s Sources) Load(ctx context.Context, w toolbox.Loading) (toolbox.Loaded, error) {
	got, err := s.Catalog.Preview(ctx, w.Alias, w.Conditions, w.Offset, w.Limit)
	return toolbox.Loaded{Alias: got.Alias, Columns: got.Columns, Rows: got.Rows, TotalRows: got.TotalRows}, err
}

// ServedDatasets are the datasets as the server shows them. They implement
// server.Datasets.
type ServedDatasets struct {
	Catalog  *catalog.Catalog
	Starters *Starters // nil: the questions that the datasets declare, untried
}

func (d ServedDatasets) Datasets(ctx context.Context) ([]server.Dataset, error) {
	list, err := d.Catalog.List(ctx)
	if err != nil {
		return nil, err
	}
	d.Starters.fill(ctx, list, waitForStarters)
	out := make([]server.Dataset, len(list))
	for i, x := range list {
		out[i] = server.Dataset{ID: x.ID, Name: x.Name, Description: x.Description, Prompts: append([]string{}, x.Prompts...), VersionHash: x.Version}
	}
	return out, nil
}

// Overview lists the datasets with their tables, what is wrong with them, and the files that the user may change.
func (d ServedDatasets) Overview(ctx context.Context, user string) (any, error) {
	list, err := d.Catalog.Overview(ctx, user)
	if err != nil {
		return nil, err
	}
	all := make([]schema.Dataset, len(list))
	for i := range list {
		all[i] = list[i].Dataset
	}
	d.Starters.fill(ctx, all, 0) // the page looks again, and shows its datasets without waiting
	for i := range list {
		Meanings{d.Catalog}.AddProblems(ctx, &list[i].Dataset)
		list[i].Prompts = all[i].Prompts
	}
	return list, nil
}

// A servedSchema is a schema.Dataset under the names that the API promises.
type servedSchema struct {
	DatasetID   string           `json:"dataset_id"`
	VersionHash string           `json:"version_hash"`
	Dialect     string           `json:"dialect,omitempty"`
	Tables      []servedTable    `json:"tables"`
	Problems    []schema.Problem `json:"problems,omitempty"`
	Meaning     *schema.Meaning  `json:"meaning,omitempty"`
	CopiedAt    time.Time        `json:"copied_at,omitzero"`
}

type servedTable struct {
	File        string          `json:"file"`
	Name        string          `json:"table_name"`
	Description string          `json:"description,omitempty"`
	Columns     []schema.Column `json:"columns"`
	Rows        int64           `json:"row_count"`
	Sample      json.RawMessage `json:"sample_rows"`
	Notes       []schema.Note   `json:"notes,omitempty"`
}

func (d ServedDatasets) Schema(ctx context.Context, id string) (any, error) {
	s, err := d.Catalog.Schema(ctx, id)
	if err != nil {
		return nil, err
	}
	if s, err = (Meanings{d.Catalog}).apply(ctx, s); err != nil {
		return nil, err
	}
	out := servedSchema{DatasetID: s.ID, VersionHash: s.Version, Dialect: s.Dialect, Problems: s.Problems, Meaning: s.Meaning, CopiedAt: s.CopiedAt}
	for _, t := range s.Tables {
		out.Tables = append(out.Tables, servedTable{File: t.File, Name: t.Name, Description: t.Description, Columns: t.Columns, Rows: t.Rows, Sample: t.Sample, Notes: t.Notes})
	}
	return out, nil
}

// ServedSources are the sources as the server shows, adds and removes them. They
// implement server.Sources.
type ServedSources struct{ Catalog *catalog.Catalog }

func (s ServedSources) Sources(ctx context.Context) (any, error) {
	return s.Catalog.Sources(ctx)
}

func (s ServedSources) Add(ctx context.Context, spec server.SourceSpec) (any, error) {
	conn, secret, err := catalog.ParseConnection(spec.URL, spec.Alias)
	if err != nil {
		return nil, err
	}
	if err := s.Catalog.CheckServed(conn.URL); err != nil {
		return nil, err
	}
	conn.Schema, conn.Tables, conn.Remote, conn.AllowOwner = spec.Schema, spec.Tables, spec.Remote, spec.AllowOwner
	if err := s.Catalog.Add(ctx, conn, secret); err != nil {
		return nil, err
	}
	return conn, nil
}

func (s ServedSources) Preview(ctx context.Context, alias string, offset, limit int) (any, error) {
	return s.Catalog.Preview(ctx, alias, nil, offset, limit)
}

func (s ServedSources) LoadScoped(ctx context.Context, alias string, conditions []schema.Condition, limit int) (any, error) {
	return s.Catalog.LoadScoped(ctx, alias, conditions, limit)
}

// Remove removes a connected database.
func (s ServedSources) Remove(ctx context.Context, alias string) error {
	return s.Catalog.Remove(ctx, alias)
}

// ServedFiles are the files of datasets as the server stores and deletes them. They
// implement server.Files.
type ServedFiles struct{ Catalog *catalog.Catalog }

func (f ServedFiles) Store(ctx context.Context, file server.File, content io.Reader) (any, error) {
	return f.Catalog.Upload(ctx, catalog.Upload{Dataset: file.Dataset, Name: file.Name, Replace: file.Replace, Create: file.Create, User: file.User}, content)
}

func (f ServedFiles) Delete(ctx context.Context, file server.File) error {
	return f.Catalog.Discard(ctx, file.Dataset, file.Name, file.User)
}

// Problems lists what is wrong with the files of a dataset.
func (f ServedFiles) Problems(ctx context.Context, dataset string) ([]server.FileProblem, error) {
	problems, err := f.Catalog.Problems(ctx, dataset)
	out := make([]server.FileProblem, len(problems))
	for i, p := range problems {
		out[i] = server.FileProblem{File: p.Path, Message: p.Message}
	}
	return out, err
}
