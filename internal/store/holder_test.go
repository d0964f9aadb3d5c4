package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestHolderDied(t *testing.T) {
	here := NewHolder()
	parts := strings.Split(here, "/")
	with := func(i int, text string) string {
		changed := append([]string{}, parts...)
		changed[i] = text
		return strings.Join(changed, "/")
	}
	dead := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	unreadable := t.TempDir() // its files are there and cannot be read
	for _, file := range []string{"sys/kernel/random/boot_id", parts[3] + "/stat"} {
		if err := os.MkdirAll(filepath.Join(unreadable, file), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	partly := t.TempDir() // only the state of the process cannot be read
	for _, entry := range []string{"sys", "self"} {
		if err := os.Symlink("/proc/"+entry, filepath.Join(partly, entry)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(partly, parts[3], "stat"), 0o700); err != nil {
		t.Fatal(err)
	}
	hidden := t.TempDir() // as with hidepid: no process of another user is shown
	for _, entry := range []string{"sys", "self"} {
		if err := os.Symlink("/proc/"+entry, filepath.Join(hidden, entry)); err != nil {
			t.Fatal(err)
		}
	}
	for name, proc := range map[string]string{"nothing": unreadable, "no state of a process": partly, "no process": hidden} {
		if holderDiedBy(proc, here) {
			t.Errorf("a live process counts as dead where %s can be read", name)
		}
	}
	for name, tt := range map[string]struct {
		holder string
		died   bool
	}{
		"this process":                       {here, false},
		"an id that another process has now": {with(4, "1"), true},
		"a process that ended":               {with(3, strconv.Itoa(dead.ProcessState.Pid())), true},
		"before this machine was restarted":  {with(1, "other boot"), true},
		"another machine":                    {with(0, "other host"), false},
		"another space of process ids":       {with(2, "pid:[1]"), false},
		"a name of somebody else":            {"tester", false},
	} {
		if got := holderDied(tt.holder); got != tt.died {
			t.Errorf("%s: died %v, want %v", name, got, tt.died)
		}
	}
}
