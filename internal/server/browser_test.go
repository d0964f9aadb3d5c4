package server_test

import (
	"testing"
	"time"

	"interlock/web/e2e"
)

// TestPageInBrowser drives the page in Chromium, on the scripted engine.
func TestPageInBrowser(t *testing.T) {
	r := start(t, nil)
	r.fake.mu.Lock()
	r.fake.pace = 30 * time.Millisecond
	r.fake.mu.Unlock()
	e2e.Run(t, r.url, "page.test.js")
}
