package server_test

import (
	"testing"
	"time"

	"interlock/web/e2e"
)

// TestPageInBrowser drives the page in Chromium, with a scripted model.
func TestPageInBrowser(t *testing.T) {
	e2e.Run(t, serve(t, newDesk(t, 30*time.Millisecond), nil).url, "page.test.js")
}
