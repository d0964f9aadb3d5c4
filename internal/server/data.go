package server

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

type datasetList struct {
	Datasets []Dataset `json:"datasets"`
}

func (s *Server) datasets(ctx context.Context, _ *none) (datasetList, error) {
	ds, err := s.cfg.Datasets.Datasets(ctx)
	for i := range ds {
		ds[i].Prompts = orEmpty(ds[i].Prompts)
	}
	return datasetList{orEmpty(ds)}, err
}

// overview shows the datasets. Who has seen them and asks again hears at once that
// nothing changed.
func (s *Server) overview(ctx context.Context, in *struct {
	Seen string `header:"If-None-Match"`
},
) (func(request), error) {
	list, err := s.cfg.Overview(ctx, uploader(ctx))
	if err != nil {
		return nil, err
	}
	body := encode(map[string]any{"datasets": list})
	tag := `"` + shortHash(body) + `"`
	return func(q request) {
		h := q.w.Header()
		h.Set("ETag", tag)
		h.Set("Cache-Control", "private, no-cache")
		if in.Seen == tag {
			q.w.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Content-Type", "application/json")
		_, _ = q.w.Write(body)
	}, nil
}

func (s *Server) datasetSchema(ctx context.Context, in *struct {
	ID string `path:"id" maxLength:"200"`
},
) (any, error) {
	return s.cfg.Datasets.Schema(ctx, in.ID)
}

// maxNamed bounds the datasets that a refusal names.
const maxNamed = 10

// knowsDataset refuses the id of a dataset that does not exist; none is fine.
func (s *Server) knowsDataset(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	ds, err := s.cfg.Datasets.Datasets(ctx)
	if err != nil {
		return err
	}
	ids := make([]string, len(ds))
	for i, d := range ds {
		ids[i] = d.ID
	}
	if slices.Contains(ids, id) {
		return nil
	}
	f := fault.New(fault.DatasetNotFound, "there is no dataset %q", truncate(id, 60))
	if len(ids) == 0 {
		return f.Suggest("There are no datasets: put files into a data folder.")
	}
	near := fault.Nearest(id, ids)
	return f.With(near).Suggest("Use one of: %s.", strings.Join(near[:min(maxNamed, len(near))], ", "))
}

func (s *Server) sources(ctx context.Context, _ *none) (any, error) {
	list, err := s.cfg.Sources.Sources(ctx)
	return map[string]any{"sources": list}, err
}

func (s *Server) addSource(ctx context.Context, in *struct{ Body SourceSpec }) (any, error) {
	return s.cfg.Sources.Add(ctx, in.Body)
}

type sourcePath struct {
	Alias string `path:"alias" maxLength:"200"`
}

type removed struct {
	Alias   string `json:"alias"`
	Removed bool   `json:"removed"`
}

func (s *Server) removeSource(ctx context.Context, in *sourcePath) (removed, error) {
	if err := s.cfg.Sources.Remove(ctx, in.Alias); err != nil {
		return removed{}, err
	}
	return removed{in.Alias, true}, nil
}

func (s *Server) previewSource(ctx context.Context, in *struct {
	Alias  string `path:"alias" maxLength:"200"`
	Offset int    `query:"offset" default:"0" minimum:"0"`
	Limit  int    `query:"limit" default:"50" doc:"Clamped to 1..200"`
},
) (any, error) {
	return s.cfg.Sources.Preview(ctx, in.Alias, in.Offset, clamp(in.Limit))
}

func (s *Server) refreshSource(ctx context.Context, in *sourcePath) (any, error) {
	return s.cfg.Refresh(ctx, in.Alias)
}

func (s *Server) profile(ctx context.Context, in *sourcePath) (any, error) {
	return s.cfg.Profile(ctx, in.Alias)
}

// A scope says which rows of a source are wanted.
type scope struct {
	Conditions []schema.Condition `json:"conditions,omitempty" doc:"They hold together; none: all rows"`
	Limit      int                `json:"limit,omitempty" default:"200" minimum:"1" maximum:"10000" doc:"Rows of the preview"`
	Thread     string             `json:"thread_id,omitempty" maxLength:"200"`
}

func (s *Server) loadScoped(ctx context.Context, in *struct {
	Alias string `path:"alias" maxLength:"200"`
	Body  scope
},
) (any, error) {
	if in.Body.Thread != "" {
		if _, err := s.ownThread(ctx, in.Body.Thread); err != nil {
			return nil, err
		}
	}
	return s.cfg.Sources.LoadScoped(ctx, in.Alias, in.Body.Conditions, in.Body.Limit)
}
