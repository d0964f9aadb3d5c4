package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
)

// artifact downloads an output. It is always a download and never a page of this
// origin, whatever its type says.
func (s *Server) artifact(ctx context.Context, in *struct {
	ID string `path:"id" maxLength:"200"`
},
) (func(request), error) {
	content, a, err := s.cfg.Artifacts.Open(ctx, noteOf(ctx).user.Name, in.ID)
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
		h.Set("ETag", `"`+shortHash([]byte(a.Hash))+`"`)
		http.ServeContent(q.w, q.r, "", a.CreatedAt, content)
	}, nil
}

// safeType lets through what cannot carry script.
func safeType(given string) string {
	t, _, err := mime.ParseMediaType(given)
	switch {
	case err != nil:
	case t == "image/png", t == "image/jpeg", t == "application/pdf", t == "application/json", t == "text/csv", t == "text/plain":
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
