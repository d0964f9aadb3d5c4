package server_test

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"os/exec"
	"testing"
	"time"

	"interlock/web/e2e"
)

//go:embed testdata/openai
var openAIFiles embed.FS

// TestOpenAIClient lets the official client use the machines.
func TestOpenAIClient(t *testing.T) {
	if testing.Short() {
		t.Skip("the client is installed first")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	files, err := fs.Sub(openAIFiles, "testdata/openai")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() // the source tree stays as it is
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	e2e.Install(ctx, t, dir)
	r := start(t, withUsers)
	run := exec.CommandContext(ctx, "node", "--test", "--test-reporter=spec", "client.test.js")
	run.Dir = dir
	run.Env = append(os.Environ(), "INTERLOCK_URL="+r.url, "INTERLOCK_TOKEN="+aliceToken)
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
