package internal_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	featuresFile     = "../docs/features.md"
	featureTestsFile = "../docs/features-tests.txt"
	maxFeatureLine   = 120
	fewestFeatures   = 100 // a change of the table's form must not pass as a short table
)

var featureStates = []string{"done", "partly", "engine", "declared", "not yet"}

// TestDocumentedFeatures holds docs/features.md and docs/features-tests.txt equal:
// every row that works has a test, every test exists in the package named, and a row
// that is partly done says what is missing.
func TestDocumentedFeatures(t *testing.T) {
	states, remarks := readFeatures(t)
	tests := readFeatureTests(t)
	if len(states) < fewestFeatures {
		t.Errorf("only %d rows were found in %s", len(states), featuresFile)
	}
	for _, id := range sorted(states) {
		switch named := len(tests[id]) > 0; {
		case !slices.Contains(featureStates, states[id]):
			t.Errorf("%s: the state %q is none of %q", id, states[id], featureStates)
		case states[id] == "not yet" && named:
			t.Errorf("%s is called not yet, but %s names tests", id, featureTestsFile)
		case states[id] != "not yet" && !named:
			t.Errorf("%s is called %s, but %s names no test", id, states[id], featureTestsFile)
		case states[id] == "partly" && !remarks[id]:
			t.Errorf("%s is called partly, but no line \"- %s: ...\" says what is missing", id, id)
		}
	}
	for id := range remarks {
		if states[id] == "" {
			t.Errorf("there is a remark on %s, which is no row", id)
		}
	}
	packages := testPackages(t)
	for _, id := range sorted(tests) {
		if states[id] == "" {
			t.Errorf("%s names tests of %s, which is no row of %s", featureTestsFile, id, featuresFile)
		}
		for _, named := range tests[id] {
			if in := packages[named.test]; !slices.Contains(in, named.pkg) {
				t.Errorf("%s: there is no test %s in %s; packages that have one: %q", id, named.test, named.pkg, in)
			}
		}
	}
}

// readFeatures returns the state of each row of features.md and the rows that have a
// remark.
func readFeatures(t *testing.T) (states map[string]string, remarks map[string]bool) {
	t.Helper()
	row, remark := regexp.MustCompile(`^\| ([A-Z]\d+) \|`), regexp.MustCompile(`^- ([A-Z]\d+): `)
	states, remarks = map[string]string{}, map[string]bool{}
	for line := range strings.Lines(readText(t, featuresFile)) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > maxFeatureLine {
			t.Errorf("a line has %d characters, at most %d are allowed:\n%s", n, maxFeatureLine, line)
		}
		if m := remark.FindStringSubmatch(line); m != nil {
			remarks[m[1]] = true
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 3 {
			t.Errorf("%s has %d cells, want id, what and state", m[1], len(cells))
			continue
		}
		if states[m[1]] != "" {
			t.Errorf("%s stands twice in %s", m[1], featuresFile)
		}
		states[m[1]] = cells[2]
	}
	return states, remarks
}

// A featureTest is a test function and its package, without a leading internal/.
type featureTest struct{ pkg, test string }

// readFeatureTests returns the tests of each row. A line is a row, a package and
// tests; of a subtest only the function is kept.
func readFeatureTests(t *testing.T) map[string][]featureTest {
	t.Helper()
	tests := map[string][]featureTest{}
	for line := range strings.Lines(readText(t, featureTestsFile)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(fields) < 3 {
			t.Errorf("a line of %s is not a row, a package and tests: %s", featureTestsFile, line)
			continue
		}
		for _, name := range fields[2:] {
			function, _, _ := strings.Cut(name, "/")
			tests[fields[0]] = append(tests[fields[0]], featureTest{fields[1], function})
		}
	}
	return tests
}

// testPackages returns the packages that have a test, fuzz target or benchmark of
// each name, without a leading internal/.
func testPackages(t *testing.T) map[string][]string {
	t.Helper()
	decl := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z]\w*)\(`)
	packages := map[string][]string{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		pkg := strings.TrimPrefix(path.Dir(filepath.ToSlash(name)), "../")
		pkg = strings.TrimPrefix(pkg, "internal/")
		for _, m := range decl.FindAllStringSubmatch(readText(t, name), -1) {
			packages[m[1]] = append(packages[m[1]], pkg)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
