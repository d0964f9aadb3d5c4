package server_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"interlock/internal/server"
)

// TestBuiltPageIsServed covers the built page: compressed, its hashed files kept for ever,
// and where it was not built, an answer that says how to build it.
func TestBuiltPageIsServed(t *testing.T) {
	t.Parallel()
	desk := serve(t, newDesk(t, time.Millisecond), nil)
	bare := serve(t, newDesk(t, time.Millisecond), func(c *server.Config) { c.Page = fstest.MapFS{".keep": {}} })
	for _, c := range []struct {
		name, url    string
		status       int
		cache, holds string
		packed       bool
	}{
		{name: "index", url: desk.url + "/", status: 200, cache: "no-cache", holds: "<title>Interlock", packed: true},
		{name: "hashed file", url: desk.url + "/assets/main-1.js", status: 200, cache: "public, max-age=31536000, immutable", holds: "let x", packed: true},
		{name: "no such file", url: desk.url + "/assets/main-2.js", status: 404, holds: "no such file"},
		{name: "outside", url: desk.url + "/assets/..%2f..%2fembed.go", status: 404, holds: "no such file"},
		{name: "not built", url: bare.url + "/", status: 404, holds: "make build"},
	} {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept-Encoding", "gzip")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			var body io.Reader = res.Body
			if packed := res.Header.Get("Content-Encoding") == "gzip"; packed != c.packed {
				t.Errorf("compressed: %v", packed)
			} else if packed {
				if body, err = gzip.NewReader(res.Body); err != nil {
					t.Fatal(err)
				}
			}
			b, err := io.ReadAll(body)
			if err != nil || res.StatusCode != c.status || !strings.Contains(string(b), c.holds) {
				t.Errorf("%d %q, %v", res.StatusCode, b, err)
			}
			if c.cache != "" && res.Header.Get("Cache-Control") != c.cache {
				t.Errorf("Cache-Control is %q", res.Header.Get("Cache-Control"))
			}
			if !strings.Contains(res.Header.Get("Content-Security-Policy"), "script-src 'self';") {
				t.Error("the content security policy is missing")
			}
		})
	}
}

// TestFrameIsAnIsland covers the frame for documents that nobody trusts: only the page holds it,
// it has no origin, runs its own script alone and loads nothing.
func TestFrameIsAnIsland(t *testing.T) {
	t.Parallel()
	res, err := http.Get(serve(t, newDesk(t, time.Millisecond), nil).url + "/frame")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatal(res.StatusCode, err)
	}
	_, rest, _ := strings.Cut(string(body), "<script>")
	script, _, _ := strings.Cut(rest, "</script>")
	sum := sha256.Sum256([]byte(script))
	policy := res.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'", "sandbox allow-scripts", "frame-ancestors 'self'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s: %s", part, policy)
		}
	}
	if strings.Contains(policy, "allow-same-origin") || res.Header.Get("X-Frame-Options") != "SAMEORIGIN" {
		t.Errorf("%s, X-Frame-Options %s", policy, res.Header.Get("X-Frame-Options"))
	}
}
