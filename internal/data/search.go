package data

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"interlock/internal/catalog"
	"interlock/internal/retrieve"
	"interlock/internal/schema"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// SearchConfig says what is searched.
type SearchConfig struct {
	Catalog *catalog.Catalog // required
	Index   *retrieve.Index  // required
	// Wait is how long a question waits for tables that are new or have changed to be indexed; those
	// that are not done by then are found later. Default 20 seconds.
	Wait time.Duration
	Log  *slog.Logger // default: none
}

// Search finds passages of documents and tables of datasets for the tools. The index of tables follows the
// catalog: every search looks for datasets whose version has changed. It implements toolbox.Documents and
// toolbox.Tables, and may be used by several goroutines at once.
type Search struct {
	cfg     SearchConfig  // fixed at creation
	syncing chan struct{} // holds the one who brings the index up to date
	// unreadable has the version of each dataset that could not be described. Guarded by syncing.
	unreadable map[string]string
}

// NewSearch makes a Search.
func NewSearch(c SearchConfig) *Search {
	if c.Wait == 0 {
		c.Wait = 20 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Search{cfg: c, syncing: make(chan struct{}, 1), unreadable: map[string]string{}}
}

// SearchDocuments implements toolbox.Documents.
func (s *Search) SearchDocuments(ctx context.Context, q toolbox.DocumentQuery) ([]toolbox.Chunk, error) {
	found, err := s.cfg.Index.Search(ctx, retrieve.Query{Scope: retrieve.Scope{Owner: q.Owner, Thread: q.Thread}, Text: q.Text, Limit: q.Limit})
	out := make([]toolbox.Chunk, len(found))
	for i, c := range found {
		out[i] = toolbox.Chunk{Content: c.Content, SourceFile: c.SourceFile, Place: c.Place, Relevancy: c.Relevancy, Document: c.Document, ReadAs: c.ReadAs}
	}
	return out, err
}

// DocumentsVersion implements toolbox.Documents.
func (s *Search) DocumentsVersion(ctx context.Context) string {
	version, err := s.cfg.Index.DocumentsVersion(ctx)
	if err != nil {
		return "" // the search itself says what is wrong
	}
	return version
}

// SearchTables implements toolbox.Tables.
func (s *Search) SearchTables(ctx context.Context, q toolbox.TableQuery) ([]toolbox.FoundTable, error) {
	if err := s.waitForSync(ctx); err != nil {
		return nil, err
	}
	query := retrieve.TableQuery{Owner: q.Owner, Text: q.Text, Limit: q.Limit}
	if q.Dataset != "" {
		query.Sources = []string{q.Dataset}
	}
	found, err := s.cfg.Index.SearchTables(ctx, query)
	if err != nil {
		return nil, err
	}
	out := make([]toolbox.FoundTable, len(found))
	for i, t := range found {
		columns, err := toolbox.ColumnsOf(t.Columns)
		if err != nil {
			return nil, err
		}
		out[i] = toolbox.FoundTable{FullyQualifiedName: t.Name, SourceID: t.Source, SQLDialect: t.Dialect, Relevancy: t.Relevancy, Columns: columns, Notes: s.importNotes(ctx, t)}
	}
	return out, nil
}

// importNotes are the decisions of a found table's import; none where it cannot be read.
func (s *Search) importNotes(ctx context.Context, found retrieve.Table) []string {
	d, err := s.cfg.Catalog.Describe(ctx, found.Source)
	if err != nil {
		return nil
	}
	t, ok := d.Table(found.Name)
	if !ok {
		return nil
	}
	return toolbox.NotesOf(*t)
}

// waitForSync brings the index of tables up to date, for as long as a question may wait.
func (s *Search) waitForSync(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.cfg.Wait)
	defer cancel()
	err := s.SyncTables(limited)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil // what is there is searched
	}
	return err
}

// SyncTables indexes the tables of all datasets that are new or have changed, and forgets those of
// datasets that are gone. A dataset that cannot be read keeps the tables that it had.
func (s *Search) SyncTables(ctx context.Context) error {
	select {
	case s.syncing <- struct{}{}:
		defer func() { <-s.syncing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	list, err := s.cfg.Catalog.List(ctx)
	if err != nil {
		return err
	}
	known, err := s.cfg.Index.TableVersions(ctx, "")
	if err != nil {
		return err
	}
	for _, d := range list {
		version, there := known[d.ID]
		delete(known, d.ID)
		if there && version == d.Version || s.unreadable[d.ID] == d.Version {
			continue
		}
		tool.In(ctx).Progress("reading the tables of " + d.ID)
		if err := s.storeTables(ctx, d.ID); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.unreadable[d.ID] = d.Version
			s.cfg.Log.Warn("the tables of a dataset cannot be searched", "dataset", d.ID, "err", err)
		}
	}
	for _, gone := range slices.Sorted(maps.Keys(known)) {
		if err := s.cfg.Index.RemoveTables(ctx, "", gone); err != nil {
			return err
		}
	}
	return s.cfg.Index.EmbedTables(ctx)
}

// storeTables indexes the tables of one dataset.
func (s *Search) storeTables(ctx context.Context, id string) error {
	d, err := s.cfg.Catalog.Schema(ctx, id)
	if err != nil {
		return err
	}
	dictionary, err := s.cfg.Catalog.Dictionary(ctx, id, "")
	if err != nil {
		return err
	}
	set := retrieve.TableSet{Source: d.ID, Dialect: d.Dialect, Version: d.Version}
	if set.Dialect == "" {
		set.Dialect = embeddedDialect
	}
	for _, t := range d.Tables {
		set.Tables = append(set.Tables, tableText(t, dictionary))
	}
	return s.cfg.Index.StoreTables(ctx, set)
}

// embeddedDialect is the SQL of datasets that are queried here.
const embeddedDialect = "duckdb"

// tableText is what the index learns of a table: its own description and that of the dictionary, terms of
// the glossary whose definitions name it, and the texts in its sample rows.
func tableText(t schema.Table, dictionary schema.Dictionary) retrieve.TableText {
	described := dictionary.Tables[t.Name]
	out := retrieve.TableText{
		Name: t.Name, Description: strings.TrimSpace(described.Text + " " + t.Description), Columns: t.Columns, ColumnTexts: described.Columns,
	}
	for _, term := range slices.Sorted(maps.Keys(dictionary.Glossary)) {
		if definition := dictionary.Glossary[term]; namesTable(definition, t) {
			out.Terms = append(out.Terms, term+": "+definition)
		}
	}
	var rows [][]any
	if json.Unmarshal(t.Sample, &rows) == nil { // a table without rows has no sample
		for _, row := range rows {
			for _, cell := range row {
				if text, ok := cell.(string); ok {
					out.Samples = append(out.Samples, text)
				}
			}
		}
	}
	return out
}

// namesTable reports whether a definition has the name of the table, or of one of its columns that
// is long enough to mean it.
func namesTable(definition string, t schema.Table) bool {
	const telling = 5
	definition = strings.ToLower(definition)
	return strings.Contains(definition, strings.ToLower(t.Name)) || slices.ContainsFunc(t.Columns, func(c schema.Column) bool {
		return len(c.Name) >= telling && strings.Contains(definition, strings.ToLower(c.Name))
	})
}
