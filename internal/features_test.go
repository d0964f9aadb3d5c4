package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedFeatures fails when docs/features.md names a test that does not
// exist, or calls a row done that no test shows.
func TestDocumentedFeatures(t *testing.T) {
	doc, err := os.ReadFile("../docs/features.md")
	if err != nil {
		t.Fatal(err)
	}
	known := testNames(t)
	name := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)`")
	row := regexp.MustCompile(`^\| ([A-Z]\d+) \|`)
	rows := 0
	for line := range strings.Lines(string(doc)) {
		named := name.FindAllStringSubmatch(line, -1)
		for _, m := range named {
			if !known[m[1]] {
				t.Errorf("there is no test %s:\n%s", m[1], line)
			}
		}
		id := row.FindStringSubmatch(line)
		if id == nil {
			continue
		}
		rows++
		if cells := strings.Split(strings.TrimSpace(line), " | "); len(cells) != 5 {
			t.Errorf("%s has %d cells, want 5", id[1], len(cells))
		} else if strings.HasPrefix(cells[4], "done") && len(named) == 0 {
			t.Errorf("%s is called done, but no test is named", id[1])
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows were found", rows)
	}
}

// testNames lists the tests, fuzz targets and benchmarks of the module.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	decl := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z]\w*)\(`)
	names := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range decl.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
