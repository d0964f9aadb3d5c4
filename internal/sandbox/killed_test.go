package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/sandbox"
)

// serveUntilKilled is a server with a warm pool and a job under way.
func serveUntilKilled(launcher, dir string) {
	e, err := sandbox.Open(sandbox.Config{Launcher: launcher, AllowDegraded: true, Dir: dir, Timeout: time.Hour})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, err = e.Run(context.Background(), sandbox.Job{
		Code: "import time\nprint('running')\ntime.sleep(3000)", Stdout: func(b []byte) { os.Stdout.Write(b) },
	})
	fmt.Println("ended:", err)
	os.Exit(1)
}

func TestKilledServerLeavesNothing(t *testing.T) {
	for _, launcher := range []string{"native", "bubblewrap", "landlock"} {
		t.Run(launcher, func(t *testing.T) {
			if launcher == "bubblewrap" {
				need(t, "bwrap")
			}
			dir := t.TempDir()
			server := exec.Command("/proc/self/exe", "server", launcher, dir)
			out, err := server.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			defer server.Process.Kill()
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "running\n" {
				t.Fatalf("the job did not begin: %q %v", line, err)
			}
			children := descendants(server.Process.Pid)
			if len(children) < 2 {
				t.Fatalf("only %v below the server", children)
			}
			if err := server.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			server.Wait()
			waitUntil(t, func() bool { return !slices.ContainsFunc(children, process.lives) })
			// Only the degraded launcher has a folder; the next server sweeps it.
			e, err := sandbox.Open(sandbox.Config{Dir: dir, Launcher: launcher, AllowDegraded: true})
			if err != nil {
				t.Fatal(err)
			}
			e.Warm()
			e.Status(t.Context())
			defer e.Close()
			for _, parent := range []string{dir, os.TempDir()} {
				if left, _ := filepath.Glob(filepath.Join(parent, fmt.Sprintf("interlock-box-%d-*", server.Process.Pid))); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			}
		})
	}
}

// Closed while the next interpreters are on their way, at whatever stage, an executor
// ends at once and leaves nothing.
func TestClosedAtOnce(t *testing.T) {
	for launcher, times := range map[string]int{"native": 8, "bubblewrap": 3, "landlock": 3} { // each takes a cold start
		t.Run(launcher, func(t *testing.T) {
			if launcher == "bubblewrap" {
				need(t, "bwrap")
			}
			for range times {
				e, err := sandbox.Open(sandbox.Config{Dir: t.TempDir(), Launcher: launcher, AllowDegraded: true, Pool: 3})
				if err != nil {
					t.Fatal(err)
				}
				e.Warm()
				e.Status(t.Context())
				sandbox.Refill(e) // the first is warm, the second begins
				closed := make(chan error, 1)
				go func() { closed <- e.Close() }()
				select {
				case err := <-closed:
					if err != nil {
						t.Fatal(err)
					}
				case <-time.After(time.Minute):
					t.Fatal("it does not end")
				}
				waitUntil(t, func() bool { return len(descendants(os.Getpid())) == 0 })
			}
		})
	}
}

// process is a process that is not confused with a later one of its number.
type process struct {
	pid, parent int
	name        string
	started     string
}

func readProcess(pid int) (p process, ok bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	open, end := strings.IndexByte(string(raw), '('), strings.LastIndexByte(string(raw), ')')
	fields := strings.Fields(string(raw[end+1:]))
	p = process{pid: pid, name: string(raw[open+1 : end]), started: fields[19]}
	fmt.Sscan(fields[1], &p.parent)
	return p, fields[0] != "Z" && fields[0] != "X"
}

func (p process) lives() bool {
	now, ok := readProcess(p.pid)
	return ok && now.started == p.started
}

func descendants(root int) (out []process) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	byParent := map[int][]process{}
	for _, e := range entries {
		var pid int
		fmt.Sscan(filepath.Base(e), &pid)
		if p, ok := readProcess(pid); ok {
			byParent[p.parent] = append(byParent[p.parent], p)
		}
	}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for _, p := range byParent[queue[0]] {
			out = append(out, p)
			queue = append(queue, p.pid)
		}
	}
	return out
}
