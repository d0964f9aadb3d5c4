package main

import (
	"bytes"
	"strings"
	"testing"
)

// A wrong use is told in words of ours, with what is wanted, not in those of a library.
func TestWrongUse(t *testing.T) {
	for args, want := range map[string]string{
		"thread show":                  "it is used as: interlock thread show THREAD",
		"thread show a b":              "wrong number of arguments (2)",
		"ask":                          "it is used as: interlock ask QUESTION",
		"thread list more":             `interlock thread list takes no argument, and "more" was given`,
		"thread fork t --at x":         `--at wants a whole number, not "x"`,
		"thread list --limit 1.5":      `--limit wants a whole number, not "1.5"`,
		"thread show t --events=maybe": `--events wants true or false, not "maybe"`,
		"thread lits":                  "did you mean list?",
	} {
		var out, errs bytes.Buffer
		code := runMain(t.Context(), strings.Fields(args), strings.NewReader(""), &out, &errs)
		if said := errs.String(); code != exitUsage || !strings.Contains(said, want) || strings.Contains(said, "arg(s)") || strings.Contains(said, "strconv") {
			t.Errorf("interlock %s: %d %s", args, code, said)
		}
	}
}

// The folder that was probably meant is one with a name like it, and never the state folder.
func TestNearestDataFolder(t *testing.T) {
	dir := t.TempDir()
	w := &world{t: t, dir: dir}
	w.write("state/x", "")
	w.write("sales/x", "")
	c := config{State: w.path("state")}
	for missing, want := range map[string]string{"sale": "sales", "stat": "", "nodata": "", "state2": ""} {
		got := c.nearestFolder(w.path(missing))
		if want != "" {
			want = w.path(want)
		}
		if got != want {
			t.Errorf("for %s: %q, want %q", missing, got, want)
		}
	}
}
