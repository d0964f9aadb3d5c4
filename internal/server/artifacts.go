package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"interlock/internal/artifact"
)

type artifactPath struct {
	ID string `path:"id" maxLength:"200"`
}

type artifactList struct {
	Artifacts []artifact.Meta `json:"artifacts"`
	Total     int             `json:"total" doc:"How many there are; the list is cut at the limit"`
}

// artifacts lists the outputs of the calling user.
func (s *Server) artifacts(ctx context.Context, in *struct {
	Thread string `query:"thread" maxLength:"200" doc:"Only those of this thread"`
	Text   string `query:"q" maxLength:"200" doc:"Part of the name"`
	Limit  int    `query:"limit" default:"200" minimum:"1" maximum:"2000"`
},
) (artifactList, error) {
	all, err := s.cfg.Artifacts.List(ctx, noteOf(ctx).user.Name, in.Thread)
	if err != nil {
		return artifactList{}, err
	}
	if text := strings.ToLower(in.Text); text != "" {
		all = slices.DeleteFunc(all, func(a artifact.Meta) bool { return !strings.Contains(strings.ToLower(a.Name), text) })
	}
	return artifactList{orEmpty(all[:min(in.Limit, len(all))]), len(all)}, nil
}

// artifact downloads an output.
func (s *Server) artifact(ctx context.Context, in *artifactPath) (func(request), error) {
	return s.sendArtifact(ctx, in.ID)
}

// artifactMeta tells what is known of an output, with the query and the data it was
// made of.
func (s *Server) artifactMeta(ctx context.Context, in *artifactPath) (artifact.Meta, error) {
	content, a, err := s.cfg.Artifacts.Open(ctx, noteOf(ctx).user.Name, in.ID)
	if err == nil {
		err = content.Close()
	}
	return a, err
}

// artifactRows gives a page of an output that is a table.
func (s *Server) artifactRows(ctx context.Context, in *struct {
	ID     string `path:"id" maxLength:"200"`
	Offset int    `query:"offset" default:"0" minimum:"0"`
	Limit  int    `query:"limit" default:"50" doc:"Clamped to 1..200"`
	Sort   string `query:"sort" maxLength:"200" doc:"A column; absent: as stored"`
	Down   bool   `query:"down" doc:"The largest first"`
	Find   string `query:"find" maxLength:"200" doc:"Only rows with this text in some column"`
},
) (any, error) {
	return s.cfg.Results.Rows(ctx, noteOf(ctx).user.Name, in.ID, Page{in.Offset, clamp(in.Limit), in.Sort, in.Down, in.Find})
}

// repeat stores all rows of a result that a run showed in part, and says what was stored.
func (s *Server) repeat(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"200"`
	Call string `path:"call" maxLength:"200"`
	Body struct {
		Format string `json:"format,omitempty" enum:"csv,ndjson,json,parquet,arrow,xlsx" default:"parquet"`
		Today  bool   `json:"today,omitempty" doc:"Use today's data where those of the run are gone"`
	}
},
) (artifact.Meta, error) {
	if _, err := s.ownRun(ctx, in.ID); err != nil {
		return artifact.Meta{}, err
	}
	id, err := s.cfg.Results.Repeat(ctx, noteOf(ctx).user.Name, Repeat{in.ID, in.Call, in.Body.Format, in.Body.Today})
	if err != nil {
		return artifact.Meta{}, err
	}
	return s.artifactMeta(ctx, &artifactPath{id})
}

// export stores all rows of a statement and sends them. A client that is slow or
// comes back later reads the stored file; no query waits for it.
func (s *Server) export(ctx context.Context, in *struct{ Body Export }) (func(request), error) {
	if err := s.knowsDataset(ctx, in.Body.Dataset); err != nil {
		return nil, err
	}
	id, err := s.cfg.Results.Export(ctx, noteOf(ctx).user.Name, in.Body)
	if err != nil {
		return nil, err
	}
	return s.sendArtifact(ctx, id)
}

// sendArtifact sends an output. It is always a download and never a page of this
// origin, whatever its type says.
func (s *Server) sendArtifact(ctx context.Context, id string) (func(request), error) {
	content, a, err := s.cfg.Artifacts.Open(ctx, noteOf(ctx).user.Name, id)
	if err != nil {
		return nil, err
	}
	return func(q request) {
		defer func() { _ = content.Close() }()
		h := q.w.Header()
		h.Set("Content-Type", safeType(a.MIME))
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": safeName(a.Name)}))
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		h.Set("Cache-Control", "private, no-cache")
		h.Set("X-Artifact-Id", a.ID)
		if a.Lineage != nil {
			for _, note := range a.Lineage.Notes[:min(20, len(a.Lineage.Notes))] {
				h.Add("X-Export-Note", mime.QEncoding.Encode("utf-8", note))
			}
		}
		h.Set("ETag", `"`+shortHash([]byte(a.Hash))+`"`)
		http.ServeContent(q.w, q.r, "", a.CreatedAt, content)
	}, nil
}

// safeType lets through what cannot carry script, and SVG, whose script the sandbox of
// its answer stops.
func safeType(given string) string {
	t, _, err := mime.ParseMediaType(given)
	switch {
	case err != nil:
	case t == "image/png", t == "image/jpeg", t == "image/svg+xml", t == "application/pdf", t == "application/json", t == "text/csv", t == "text/plain":
		return t
	}
	return "application/octet-stream"
}

// safeName is the last part of a name without anything a file system minds.
func safeName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`<>:"|?*/`, r) {
			return '_'
		}
		return r
	}, name)
	if name = strings.Trim(name, ". "); name == "" {
		return "artifact"
	}
	return name
}

func shortHash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}
