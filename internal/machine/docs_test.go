package machine_test

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"interlock/internal/machine"
)

var docExample = regexp.MustCompile("(?s)<!-- example: (\\S+) -->\n```[a-z]+\n(.*?)```")

func TestDocumentedExampleLoads(t *testing.T) {
	doc, err := os.ReadFile("../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, ex := range docExample.FindAllStringSubmatch(string(doc), -1) {
		files[path.Base(ex[1])] = ex[2]
	}
	m, found := machine.Examine(files, toolTypes(t))
	if m == nil || len(found) > 0 {
		t.Fatalf("the example has findings:\n%v", found)
	}
	if n := strings.Count(files[machine.File], "\n"); n > 40 {
		t.Errorf("the example has %d lines", n)
	}
	// What the text says about it.
	files[machine.File] = strings.Replace(files[machine.File], "{on: final, when: found != nil, to: asking}", "{on: final, to: asking}", 1)
	if _, found = machine.Examine(files, nil); !strings.Contains(found.Error(), "state asking requires found") {
		t.Errorf("without its guard:\n%v", found)
	}
}

func TestDocumentedFindings(t *testing.T) {
	doc, err := os.ReadFile("../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range machine.Flaws() {
		row := fmt.Sprintf("| %d | `%s` | %s | %s |", f.Number, f.Code, f.Severity, f.Meaning)
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/machines.md lacks the row\n%s", row)
		}
	}
}
