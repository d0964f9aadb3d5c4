package store

import (
	"os"
	"os/exec"
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
