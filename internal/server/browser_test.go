package server_test

import (
	"io/fs"
	"testing"
	"time"

	"interlock/internal/server"
	"interlock/web"
	"interlock/web/e2e"
)

// TestAppInBrowser drives the page that make builds in Chromium, with a scripted model.
func TestAppInBrowser(t *testing.T) {
	if _, err := fs.Stat(web.App(), "index.html"); err != nil {
		t.Skip("the page is not built: run make page (package npm)")
	}
	e2e.Run(t, serve(t, newDesk(t, 30*time.Millisecond), func(c *server.Config) { c.App = web.App() }).url, "app.test.js")
}

// TestPageInBrowser drives the page in Chromium, with a scripted model.
func TestPageInBrowser(t *testing.T) {
	e2e.Run(t, serve(t, newDesk(t, 30*time.Millisecond), nil).url, "page.test.js")
}
