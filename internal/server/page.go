package server

import (
	"bytes"
	"io/fs"
	"net/http"
	"time"

	"interlock/internal/fault"
)

// pageFiles serves the flat folder of the page.
func pageFiles(page fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pageFile(page, r.PathValue("file")).ServeHTTP(w, r)
	})
}

// pageFile serves one file; the browser asks each time whether it has changed.
func pageFile(page fs.FS, name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := fs.ReadFile(page, name)
		if err != nil {
			writeProblem(w, r, fault.New(fault.NotFound, "the page has no such file"))
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", `"`+shortHash(b)+`"`)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
	})
}
