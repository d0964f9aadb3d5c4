package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// generatedKeys are the mappings whose keys are described in Go alone.
var generatedKeys = map[string][]formatKey{"card": cardKeys, "answer": answerKeys}

// TestGeneratedSchema holds the properties of cards and answers in machine.schema.json equal
// to their keys in card.go.
func TestGeneratedSchema(t *testing.T) {
	const path = "machine.schema.json"
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(source)
	for name, keys := range generatedKeys {
		begin := fmt.Sprintf("\n    %q: {\n", name)
		head, rest, found := strings.Cut(want, begin)
		_, tail, closed := strings.Cut(rest, "\n    }")
		if !found || !closed {
			t.Fatalf("%s has no $defs/%s", path, name)
		}
		want = head + begin + strings.TrimPrefix(indented(t, schemaOf(keys)), "{\n") + tail
	}
	checkGenerated(t, path, source, want)
}

// schemaOf writes the JSON Schema of a mapping with these keys.
func schemaOf(keys []formatKey) string {
	properties := make([]string, len(keys))
	for i, k := range keys {
		properties[i] = fmt.Sprintf("%q: {%q: %q, %s", k.name, "description", k.meaning, strings.TrimPrefix(k.form, "{"))
	}
	return `{"type": ["object", "null"], "additionalProperties": false, "properties": {` + strings.Join(properties, ",") + `}}`
}

// indented lays JSON out as a member of $defs.
func indented(t *testing.T, source string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(source), "    ", "  "); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestGeneratedKeys holds the tables of keys in docs/machines.md equal to those in card.go.
func TestGeneratedKeys(t *testing.T) {
	const path = "../../docs/machines.md"
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(source)
	for name, keys := range generatedKeys {
		begin := fmt.Sprintf("<!-- keys of %s: go generate ./internal/machine -->\n", name)
		head, rest, found := strings.Cut(want, begin)
		_, tail, closed := strings.Cut(rest, "\n\n")
		if !found || !closed {
			t.Fatalf("%s has no place %q", path, begin)
		}
		table := []string{"| key of " + name + " | meaning |", "|---|---|"}
		for _, k := range keys {
			table = append(table, fmt.Sprintf("| `%s` | %s |", k.name, k.meaning))
		}
		want = head + begin + strings.Join(table, "\n") + "\n\n" + tail
	}
	checkGenerated(t, path, source, want)
}

// checkGenerated fails where a file is old; with -update it is written.
func checkGenerated(t *testing.T, path string, source []byte, want string) {
	t.Helper()
	if string(source) == want {
		return
	}
	if !*Update {
		t.Fatalf("%s is old: run go generate ./internal/machine", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
