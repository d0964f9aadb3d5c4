package machine_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"interlock/internal/machine"
)

// A pipe or a device as a definition or a prompt is reported, and does not hang who
// loads the folder.
func TestPipesAndDevices(t *testing.T) {
	for _, name := range []string{"machine.yaml", "work.md"} {
		for kind, place := range map[string]func(path string) error{
			"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o644) },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "mine")
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if name != machine.File {
					if err := os.WriteFile(filepath.Join(dir, machine.File), []byte("name: mine\n"), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if err := place(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
				done := loadBroken(dir)
				select {
				case broken := <-done:
					if len(broken) != 1 || len(broken[0].Findings) != 1 || broken[0].Findings[0].Pos.File != name {
						t.Errorf("%+v", broken)
					}
				case <-time.After(20 * time.Second):
					t.Fatal("the folder was not read in 20 s")
				}
			})
		}
	}
}

func loadBroken(dir string) chan []machine.Report {
	done := make(chan []machine.Report, 1)
	go func() { done <- machine.Open(machine.LibraryConfig{Folders: []string{filepath.Dir(dir)}}).Broken() }()
	return done
}
