package server_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestPageInBrowser runs web/e2e: the page in Chromium, on the scripted engine.
func TestPageInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes some seconds")
	}
	chromium := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
			break
		}
	}
	for _, need := range []string{"node", "npm"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skip(need + " is not installed")
		}
	}
	if chromium == "" {
		t.Skip("Chromium is not installed")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	// The source tree stays as it is: the library is installed into a copy.
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "web", "e2e"))); err != nil {
		t.Fatal(err)
	}
	install := exec.CommandContext(ctx, "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("playwright-core cannot be installed here: %v\n%s", err, out)
	}
	r := start(t, nil)
	r.fake.mu.Lock()
	r.fake.pace = 30 * time.Millisecond
	r.fake.mu.Unlock()
	run := exec.CommandContext(ctx, "npm", "test", "--silent")
	run.Dir = dir
	run.Env = append(os.Environ(), "INTERLOCK_URL="+r.url, "CHROMIUM="+chromium, "HOME="+t.TempDir())
	run.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	if err := run.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log(out.String())
}
