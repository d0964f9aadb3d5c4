package mcpbridge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/mcpbridge"
)

// A server that died between two turns is started anew for the next one.
func TestServerThatDiedIsStartedAnew(t *testing.T) {
	t.Parallel()
	b := forAnn(t, "home", stdio(t, "mortal"))
	tools, err := b.Tools(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	process := find(t, tools, "home__process")
	told, err := call(t, b, "ann", process, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(told.Text)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitForEnd(t, pid)
	if tools, err = b.Tools(t.Context(), "ann"); err != nil || len(tools) != 1 {
		t.Fatalf("after its death the server has %v, %v", names(tools), err)
	}
	again, err := call(t, b, "ann", process, `{}`)
	if err != nil || again.Text == told.Text {
		t.Errorf("after its death process %s says %q, %v", told.Text, again.Text, err)
	}
}

// waitForEnd waits until a process has ended, though nobody has asked how.
func waitForEnd(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Fatalf("process %d has not ended", pid)
}

// A server that cannot be reached is not tried by every turn, but at once when its configuration changes or
// somebody asks how it stands.
func TestFailedServerRests(t *testing.T) {
	t.Parallel()
	tries := filepath.Join(t.TempDir(), "tries")
	broken := mcpbridge.Server{Type: "stdio", Command: "sh", Args: []string{"-c", "echo try >> " + tries}}
	servers := map[string]mcpbridge.Server{"home": broken}
	b := open(t, map[string]map[string]mcpbridge.Server{"ann": servers})
	tried := func() int {
		text, err := os.ReadFile(tries)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "try")
	}
	for range 3 {
		if tools, err := b.Tools(t.Context(), "ann"); err != nil || len(tools) != 0 {
			t.Fatalf("%v, %v", names(tools), err)
		}
	}
	if tried() != 1 {
		t.Errorf("three turns tried it %d times", tried())
	}
	if list, err := b.Status(t.Context(), "ann"); err != nil || len(list) != 1 || list[0].Error.Code != fault.Unavailable || tried() != 2 {
		t.Errorf("how it stands: %+v, %v, tried %d times", list, err, tried())
	}
	servers["home"] = stdio(t, "mortal")
	if tools, err := b.Tools(t.Context(), "ann"); err != nil || len(tools) != 1 {
		t.Errorf("after the configuration changed: %v, %v", names(tools), err)
	}
}
