package server

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
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

// A builtPage serves the page that make builds. Files under assets/ have a hash of their
// content in their names, so browsers keep them for ever; of the others they ask each time.
type builtPage struct {
	files fs.FS

	mu     sync.Mutex
	packed map[string][]byte // by name, compressed
}

func (p *builtPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := cmp.Or(r.PathValue("file"), "index.html")
	b, err := fs.ReadFile(p.files, name)
	switch {
	case err != nil && name == "index.html":
		writeProblem(w, r, fault.New(fault.NotFound, "this build has no page").Suggest("Build it with `make build`, which needs Node."))
		return
	case err != nil:
		writeProblem(w, r, fault.New(fault.NotFound, "the page has no such file"))
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, "assets/") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("Content-Type", cmp.Or(mime.TypeByExtension(path.Ext(name)), "application/octet-stream"))
	h.Set("Vary", "Accept-Encoding")
	tag := shortHash(b)
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		if b, err = p.pack(name, b); err != nil {
			writeProblem(w, r, err)
			return
		}
		tag += "z"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
}

// pack compresses a file, once in the life of the server.
func (p *builtPage) pack(name string, b []byte) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if packed, ok := p.packed[name]; ok {
		return packed, nil
	}
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = zip.Write(b)
	}
	if err == nil {
		err = zip.Close()
	}
	if err != nil {
		return nil, err
	}
	if p.packed == nil {
		p.packed = map[string][]byte{}
	}
	p.packed[name] = out.Bytes()
	return out.Bytes(), nil
}
