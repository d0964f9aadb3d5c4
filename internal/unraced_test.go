package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestUnracedTestsRun: a test that racetest.Skip keeps from the race detector is one that the other
// command of `make test` runs.
func TestUnracedTestsRun(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	variable := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + ` *:= *(.*)$`).FindStringSubmatch(string(makefile))
		if m == nil {
			t.Fatalf("the Makefile has no %s", name)
		}
		return strings.ReplaceAll(m[1], "$$", "$")
	}
	runs := regexp.MustCompile(variable("UNRACED"))
	packages := strings.Fields(variable("UNRACED_IN"))
	found := 0
	for _, root := range []string{"../cmd", "../internal", "../machines"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "unraced_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(source), "racetest.Skip(") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
			if err != nil {
				return err
			}
			dir := "./" + filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), "../"))
			for _, decl := range file.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || !strings.Contains(string(source[fn.Pos()-1:fn.End()-1]), "racetest.Skip(") {
					continue
				}
				found++
				if !runs.MatchString(fn.Name.Name) || !slices.Contains(packages, dir) {
					t.Errorf("%s of %s never runs: name it in UNRACED and UNRACED_IN of the Makefile", fn.Name.Name, dir)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("no test keeps away from the race detector: delete UNRACED")
	}
}
