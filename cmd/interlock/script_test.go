package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScript plays testdata/script/*.txtar: the command line as people use it. A
// script runs in a folder of its own; `code N command...` wants that exit code, `keep
// NAME PATTERN` takes the first match of a pattern in the last output into a variable.
func TestScript(t *testing.T) {
	actor := newActor(t, deskLines)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			if plain := os.Getenv("INTERLOCK_PLAIN_PROGRAM"); plain != "" {
				e.Setenv("PATH", filepath.Dir(plain)+string(os.PathListSeparator)+e.Getenv("PATH"))
			}
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("ACTOR", actor.url)
			e.Setenv("INTERLOCK_STATE", filepath.Join(e.WorkDir, "state"))
			for name, text := range shop {
				path := filepath.Join(e.WorkDir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": wantCode,
			"keep": keep,
			"sqlite": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(exec.Command("python3", "-c", "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2])", ts.MkAbs(args[0]), args[1]).Run())
			},
		},
	})
}

// wantCode runs a command and wants its exit code.
func wantCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if exit := regexp.MustCompile(`exit status (\d+)`); err != nil {
		m := exit.FindStringSubmatch(err.Error())
		if m == nil {
			ts.Fatalf("%v", err)
		}
		got = m[1]
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s\nstdout:\n%s\nstderr:\n%s", got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// keep takes a part of the last output into a variable.
func keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: keep NAME PATTERN")
	}
	out := ts.ReadFile("stdout")
	m := regexp.MustCompile(args[1]).FindString(out)
	if m == "" {
		ts.Fatalf("no %s in %s", args[1], out)
	}
	ts.Setenv(args[0], m)
}

// deskLines make one call and answer.
func deskLines(_ string, results int) line {
	if results == 0 {
		return line{"", []lineCall{{"execute_sql", `{"dataset_id":"shop","sql":"SELECT count(*) AS n FROM orders"}`}}}
	}
	return line{text: "There are 5 orders."}
}
