package query_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"interlock/internal/query"
	"interlock/internal/sqlpolicy"
)

const orphanArg = "test-orphan"

// orphanMain is a program that will be killed while a statement runs.
func orphanMain() {
	if len(os.Args) != 4 || os.Args[1] != orphanArg {
		return
	}
	e, err := query.New(query.Config{Dir: os.Args[2]})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	db := query.Database{Path: os.Args[3], Tables: []sqlpolicy.Table{{Name: "items"}}}
	if _, err := e.Run(context.Background(), query.Request{Database: db, SQL: "SELECT 1"}); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	space, err := e.OpenWorkspace(context.Background(), query.WorkspaceConfig{Inputs: []query.Input{{Name: "items", Path: os.Args[3]}, {Name: "two", Write: writeTwoRows}}})
	if err == nil {
		err = space.Create(context.Background(), "x", "SELECT * FROM two")
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("ready", os.Getpid())
	_, _ = e.Run(context.Background(), query.Request{Database: db, SQL: bombs["cross join"], Timeout: time.Hour})
	os.Exit(1)
}

// childrenOf lists the processes that a process started, by the kernel's word.
func childrenOf(pid int) (out []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range lists {
		text, _ := os.ReadFile(path)
		for _, f := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(f); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// When the program is killed its workers end too, and the next engine takes away
// what they left.
func TestOrphans(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("needs /proc")
	}
	db, dir := shop(t), t.TempDir()
	cmd := exec.Command("/proc/self/exe", orphanArg, dir, db.Path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "ready") {
		t.Fatal(line, err)
	}
	workers := childrenOf(cmd.Process.Pid)
	if len(workers) < 2 {
		t.Fatal("the program has no worker for statements and one for its workspace")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	eventually(t, func() bool {
		return !slices.ContainsFunc(workers, func(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) })
	}, "workers outlive the program")
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Fatalf("the killed program left %v", left)
	}
	e, err := query.New(query.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("the next engine left %v", left)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func zombie(pid int) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(rest, "Z")
}
