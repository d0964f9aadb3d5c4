package server_test

import (
	"net/http"
	"testing"

	"interlock/internal/server"
	"interlock/web"
	"interlock/web/e2e"
)

// TestPageInBrowser drives the page in Chromium, with a scripted model. A request to /resume
// lets the model go on with an answer in whose middle it waits.
func TestPageInBrowser(t *testing.T) {
	c := &clerk{resume: make(chan struct{})}
	resume := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case c.resume <- struct{}{}:
		case <-r.Context().Done():
		}
	})
	r := serve(t, newEngine(t, library(), c, c.query), func(cfg *server.Config) {
		cfg.Page, cfg.Extra = web.Files(), map[string]http.Handler{"/resume": resume}
	})
	e2e.Run(t, r.url, "page.test.js")
}
