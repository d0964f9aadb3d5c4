package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"interlock/internal/jail"
	"interlock/internal/sandbox"
)

func TestMain(m *testing.M) {
	jail.Main()
	os.Setenv("SECRET_KEY", "hunter2") // no job may see it
	if filepath.Base(os.Args[0]) == "msb" {
		os.Exit(fakeMSB(os.Args[1:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "server" {
		serveUntilKilled(os.Args[2], os.Args[3])
	}
	os.Exit(m.Run())
}

// A wall under test: how to open an executor behind it.
type wall struct {
	name   string
	level  sandbox.Level
	config func(t *testing.T) sandbox.Config
}

// walls are all executors and launchers. Docker and microsandbox are played by
// servers that keep to their protocols and start real runners.
var walls = []wall{
	{"native", sandbox.LevelNamespaces, func(*testing.T) sandbox.Config { return sandbox.Config{Launcher: "native"} }},
	{"bubblewrap", sandbox.LevelNamespaces, func(t *testing.T) sandbox.Config {
		need(t, "bwrap")
		return sandbox.Config{Launcher: "bubblewrap"}
	}},
	{"landlock", sandbox.LevelSyscalls, func(*testing.T) sandbox.Config {
		return sandbox.Config{Launcher: "landlock", AllowDegraded: true}
	}},
	{"docker", sandbox.LevelNamespaces, func(t *testing.T) sandbox.Config {
		return sandbox.Config{Executor: "docker", Image: "python-box:1", ServerURL: "unix://" + startFakeDocker(t)}
	}},
	{"microsandbox-cli", sandbox.LevelMachine, func(t *testing.T) sandbox.Config {
		installFakeMSB(t)
		return sandbox.Config{Executor: "microsandbox", Image: "python-box:1"}
	}},
	{"microsandbox-rpc", sandbox.LevelMachine, func(t *testing.T) sandbox.Config {
		need(t, "bwrap")
		return sandbox.Config{Executor: "microsandbox", Image: "python-box:1", Key: "msb_secret", ServerURL: startFakeMicro(t, "msb_secret")}
	}},
}

func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed on this machine (package %s)", program, map[string]string{"bwrap": "bubblewrap"}[program])
	}
}

// open opens the wall's executor for the time of the test, and fails if it leaves anything.
func (w wall) open(t *testing.T, tweak func(*sandbox.Config)) sandbox.Executor {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("there is no /usr/bin/python3 on this machine (package python3)")
	}
	c := w.config(t)
	c.Dir, c.Timeout, c.Pool, c.Lean = openFolder(t), 30*time.Second, 2, w.name != "native"
	if tweak != nil {
		tweak(&c)
	}
	e, err := sandbox.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		left, _ := filepath.Glob(filepath.Join(c.Dir, "interlock-box-*"))
		if len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e.Warm()
	if s := e.Status(ctx); s.State != "ready" {
		t.Fatalf("not ready: %+v", s)
	}
	return e
}

// openFolder is a temporary folder that other users may enter, unlike t.TempDir:
// the fake containers belong to nobody.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "interlock-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// abreast does something with every item, three at a time: a job spends most of its
// time on the start of the next interpreter.
func abreast[T any](items []T, do func(T)) {
	queue := make(chan T)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for item := range queue {
				do(item)
			}
		})
	}
	for _, item := range items {
		queue <- item
	}
	close(queue)
	wg.Wait()
}

// waitUntil looks again and again, for at most half a minute.
func waitUntil(t testing.TB, done func() bool) {
	t.Helper()
	tick, end := time.NewTicker(5*time.Millisecond), time.After(30*time.Second)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("waited in vain")
		}
	}
}
