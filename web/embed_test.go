package web_test

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"interlock/web"
)

// TestPageSource holds the source of the page to its promises: no HTML or code from text,
// nothing from another host, no token that outlives the window.
func TestPageSource(t *testing.T) {
	forbidden := map[string]*regexp.Regexp{
		"builds HTML from text":      regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\{@html`),
		"runs text":                  regexp.MustCompile(`\beval\(|new Function|setTimeout\(["'` + "`" + `]`),
		"loads from another host":    regexp.MustCompile(`(?:src|href|import|url\(|from)\s*[=(]?\s*["']?(?:https?:)?//`),
		"keeps the token for longer": regexp.MustCompile(`localStorage\.[a-zA-Z]+\(["']token`),
	}
	source := os.DirFS("app/src")
	files := 0
	err := fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".test.ts") {
			return err
		}
		files++
		b, err := fs.ReadFile(source, name)
		for why, pattern := range forbidden {
			if found := pattern.Find(b); found != nil {
				t.Errorf("%s %s: %q", name, why, found)
			}
		}
		return err
	})
	if err != nil || files < 30 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// TestBuiltPage holds what was built to its promises: nothing inline, nothing from another host. What a browser loads before the first view is less than 200 KB.
func TestBuiltPage(t *testing.T) {
	index, err := fs.ReadFile(web.Files(), "index.html")
	if err != nil {
		t.Skip("the page is not built: run make page (package npm)")
	}
	for _, pattern := range []string{`<script(?:\s[^>]*)?>\s*[^<\s]`, `<style|\sstyle=`, `\son[a-z]+=`, `(?:src|href)="(?:https?:)?//`} {
		if found := regexp.MustCompile(pattern).Find(index); found != nil {
			t.Errorf("index.html has %q", found)
		}
	}
	loaded := regexp.MustCompile(`(?:src|href)="/(assets/[^"]+)"`).FindAllSubmatch(index, -1)
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	for _, m := range loaded {
		b, err := fs.ReadFile(web.Files(), string(m[1]))
		if err != nil {
			t.Error(err)
		}
		if found := regexp.MustCompile(`<[a-z][^<>]* style=\\?"`).Find(b); found != nil {
			t.Errorf("%s has an inline style, which the content security policy forbids: %q", m[1], found)
		}
		_, _ = zip.Write(b) // into memory
	}
	_ = zip.Close()
	if len(loaded) < 2 || packed.Len() > 200<<10 {
		t.Errorf("the first load is %d files of %d bytes; it should be below 200 KB", len(loaded), packed.Len())
	}
}
