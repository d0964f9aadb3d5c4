// Package e2e runs the page in a browser, for tests of whoever serves it: each file
// *.test.js holds what a person does there.
package e2e

import (
	"bytes"
	"context"
	"embed"
	"io/fs"
	"os"
	"os/exec"
	"testing"
	"time"

	"interlock/web"
)

//go:embed *.js *.json
var files embed.FS

// Run plays a script against the server at url, with env beside the environment. It
// skips where there is no browser or its library cannot be had.
func Run(t *testing.T, url, script string, env ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes some seconds")
	}
	if _, err := fs.Stat(web.Files(), "index.html"); err != nil {
		t.Skip("the page is not built: run make page (package npm)")
	}
	chromium := find("chromium", "chromium-browser", "google-chrome")
	if chromium == "" {
		t.Skip("Chromium is not installed (package chromium)")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	// The source tree stays as it is: the library is installed into a copy.
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	Install(ctx, t, dir)
	args := []string{"--test", "--test-reporter=spec"}
	if only := os.Getenv("BROWSER_TESTS"); only != "" { // a pattern of names, while one of them is worked on
		args = append(args, "--test-name-pattern="+only)
	}
	run := exec.CommandContext(ctx, "node", append(args, script)...)
	run.Dir = dir
	run.Env = append(os.Environ(), append(env, "INTERLOCK_URL="+url, "CHROMIUM="+chromium, "HOME="+t.TempDir())...)
	run.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	if err := run.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log(out.String())
}

// Install gets the packages that the lock file in a folder names. It skips the test
// where Node is missing or they cannot be had.
func Install(ctx context.Context, t *testing.T, dir string) {
	t.Helper()
	if find("node") == "" || find("npm") == "" {
		t.Skip("Node is not installed (package npm)")
	}
	install := exec.CommandContext(ctx, "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("the packages of %s cannot be installed here (package npm): %v\n%s", dir, err, out)
	}
}

// find gives the path of the first program that is installed.
func find(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
