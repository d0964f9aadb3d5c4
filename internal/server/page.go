package server

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"interlock/internal/fault"
)

// pageMissing answers for a page that was not built. It is for people, who open it in a browser.
const pageMissing = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Interlock: the page is not built</title>
<h1>The page is not built</h1>
<p>This binary was built without it, because Node was missing. The command line and the API work all the same.</p>
<p>Build it with <code>make build</code>, which needs Node 20.19 or later; <code>scripts/setup.sh</code> gets it.</p>
</html>
`

// A builtPage serves the page that make builds. Files under assets/ have a hash of their
// content in their names, so browsers keep them for ever; of the others they ask each time.
type builtPage struct {
	files fs.FS

	mu     sync.Mutex
	packed map[string][]byte // by name, compressed
}

// routes serves the page at /.
func (p *builtPage) routes(t *table) {
	t.handle(nobody, "GET /{$}", p.file("index.html"))
	t.handle(nobody, "GET /icon.svg", p.file("icon.svg"))
	t.handle(nobody, "GET /frame", http.HandlerFunc(serveFrame))
	t.handle(nobody, "GET /assets/{file}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.serve(w, r, "assets/"+r.PathValue("file"))
	}))
}

func (p *builtPage) file(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, name) })
}

func (p *builtPage) serve(w http.ResponseWriter, r *http.Request, name string) {
	b, err := fs.ReadFile(p.files, name)
	switch {
	case err != nil && name == "index.html":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, pageMissing) // the caller may be gone
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
