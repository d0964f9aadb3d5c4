// Package types_test checks the TypeScript that clients of the event stream use.
package types_test

import (
	"context"
	"embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"interlock/web/e2e"
)

//go:embed *.ts *.json
var files embed.FS

// TestTypesCompile type-checks the generated types with a reader of all kinds.
func TestTypesCompile(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	dir := t.TempDir() // the source tree stays as it is
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	e2e.Install(ctx, t, dir)
	check := exec.CommandContext(ctx, filepath.Join(dir, "node_modules", ".bin", "tsc"), "--project", dir)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
