package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"interlock/internal/catalog"
	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// looked lists the datasets, and fails if that takes long.
func (w *world) looked(t *testing.T) []schema.Dataset {
	t.Helper()
	type answer struct {
		list []schema.Dataset
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		list, err := w.List(t.Context())
		done <- answer{list, err}
	}()
	select {
	case a := <-done:
		if a.err != nil {
			t.Fatal(a.err)
		}
		return a.list
	case <-time.After(20 * time.Second):
		t.Fatal("the folders were not read in 20 s")
	}
	return nil
}

// A registry that costs more than its length is refused, with the reason; the others
// are read.
func TestRegistryBombs(t *testing.T) {
	aliases := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		aliases += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i, i, i, i, i, i)
	}
	var stairs strings.Builder
	for i := range 2000 {
		stairs.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for name, text := range map[string]string{
		"keys": strings.Repeat("k: v\n", 200_000), "quotes": strings.Repeat("\"", 900_000), "list": "a: [" + strings.Repeat("b,", 400_000) + "]",
		"brackets": strings.Repeat("[", 400_000), "braces": "a: " + strings.Repeat("{a: ", 100_000), "dashes": strings.Repeat("- ", 200_000),
		"maps": strings.Repeat("? ", 200_000), "aliases": aliases, "merge": "a: &a {id: x}\nb: {<<: *a}\n", "stairs": stairs.String()[:1<<20-1],
		"large": "description: " + strings.Repeat("x", 2<<20), "tags": strings.Repeat("!a ", 200_000),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"bad/registry.yaml": text, "bad/a.csv": "a\n1\n", "good/a.csv": "a\n1\n"})
			list := w.looked(t)
			if len(list) != 2 || len(list[0].Problems) == 0 || len(list[0].Tables) > 0 || len(list[1].Tables) != 1 {
				t.Fatalf("%.2000v", list)
			}
			if p := list[0].Problems[0]; p.Path != "registry.yaml" || len(p.Message) > 600 {
				t.Errorf("%s: %s", p.Path, p.Message)
			}
		})
	}
}

// Only files are opened: a pipe or a device under a file's name does not hang a scan.
func TestPipesAndDevices(t *testing.T) {
	for _, name := range []string{"bad/registry.yaml", "bad/registry.json", "bad/data_dictionary.json", "bad/a.csv", "bad/a.db", "bad/a.sqlite", "bad/a.parquet", "bad/parts/b.csv", "loose.csv"} {
		for kind, place := range map[string]func(path string) error{
			"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o644) },
			"socket": func(path string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o644, 0) },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
			"link": func(path string) error {
				pipe := filepath.Join(filepath.Dir(path), ".pipe")
				if err := syscall.Mkfifo(pipe, 0o644); err != nil {
					return err
				}
				return os.Symlink(".pipe", path)
			},
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				w := newWorld(t, map[string]string{"good/a.csv": "a\n1\n", "bad/fine.csv": "a\n1\n", "bad/parts/a.csv": "a\n1\n"})
				if err := place(filepath.Join(w.root, name)); err != nil {
					t.Fatal(err)
				}
				list := w.looked(t)
				if len(list) < 2 {
					t.Errorf("%+v", list)
				}
				for _, d := range list {
					if _, err := w.Dictionary(t.Context(), d.ID, ""); err != nil {
						t.Error(err)
					}
				}
				path := filepath.Join(w.root, name)
				wantCode(t, w.Add(t.Context(), catalog.Connection{Alias: "added", URL: path}, source.Secret{}), fault.SourceUnreadable)
				wantCode(t, w.Add(t.Context(), catalog.Connection{Alias: "added", URL: "sqlite:" + path}, source.Secret{}), fault.SourceUnreadable)
			})
		}
	}
}
