package machine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"interlock/internal/machine"
)

// TestDefects seeds one defect into a copy of a shipped machine, or into a machine
// of its own, and wants it found with its number. A seed is a txtar file: the
// comment names the machine; `old` and `new` are replaced in machine.yaml, other
// files are put beside it, `want` are the findings.
func TestDefects(t *testing.T) {
	seeds, err := filepath.Glob("testdata/defects/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[int]bool)
	for _, file := range seeds {
		number, err := strconv.Atoi(strings.SplitN(filepath.Base(file), "-", 2)[0])
		if err != nil {
			t.Fatalf("%s: the name must begin with the number of the defect", file)
		}
		seen[number] = true
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { seeded(t, file, number) })
	}
	for _, f := range machine.Flaws() {
		if !seen[f.Number] {
			t.Errorf("no seed for %d %s", f.Number, f.Code)
		}
	}
	if len(seeds) < 60 {
		t.Errorf("%d seeds, want 60 or more", len(seeds))
	}
}

func seeded(t *testing.T, file string, number int) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := copyOf(t, strings.TrimSpace(strings.TrimPrefix(string(ar.Comment), "machine:")))
	want, old := "", ""
	for _, f := range ar.Files {
		data := strings.TrimSuffix(string(f.Data), "\n")
		switch f.Name {
		case "old":
			old = data
		case "new":
			if n := strings.Count(files[machine.File], old); n != 1 {
				t.Fatalf("the text to replace occurs %d times:\n%s", n, old)
			}
			files[machine.File] = strings.Replace(files[machine.File], old, data, 1)
		case "want":
			want = string(f.Data)
		case "remove":
			delete(files, data)
		default:
			files[f.Name] = string(f.Data)
		}
	}
	_, found := machine.Examine(files, toolTypes(t))
	if !slices.ContainsFunc(found, func(f machine.Finding) bool { return f.Number == number }) {
		t.Errorf("no finding %d in:\n%v", number, found)
	}
	for _, f := range found {
		if f.Severity == machine.Error && f.Repair == "" && f.Number < 56 {
			t.Errorf("no repair: %v", f)
		}
		if f.Number >= 25 && f.Number <= 32 && len(f.Path) == 0 {
			t.Errorf("no path: %v", f)
		}
	}
	got := ""
	if len(found) > 0 {
		got = found.Error() + "\n"
	}
	if *machine.Update {
		ar.Files = slices.DeleteFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" })
		ar.Files = append(ar.Files, txtar.File{Name: "want", Data: []byte(got)})
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// copyOf gives the files of a copy of a shipped machine, which stays as it is while
// the machines go on; an empty name gives none.
func copyOf(t testing.TB, name string) map[string]string {
	files := make(map[string]string)
	if name == "" {
		return files
	}
	ar, err := txtar.ParseFile(filepath.Join("testdata", "machines", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range ar.Files {
		files[f.Name] = string(f.Data)
	}
	return files
}

// toolTypes reads the tools of the shipped machines from their table: name, demanded
// arguments, others after ?, and the parts of the result.
func toolTypes(t testing.TB) machine.ToolTypes {
	raw, err := os.ReadFile("testdata/tools.txt")
	if err != nil {
		t.Fatal(err)
	}
	tools := make(machine.ToolTypes)
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cols := strings.Split(line, "|")
		if len(cols) != 3 {
			t.Fatalf("testdata/tools.txt: %q", line)
		}
		in, out := schemaOf(cols[1]), schemaOf(cols[2])
		var tt machine.ToolType
		var err1, err2 error
		tt.In, tt.Required, err1 = machine.TypeOfSchema([]byte(in))
		tt.Out, tt.Always, err2 = machine.TypeOfSchema([]byte(out))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		tools[strings.TrimSpace(cols[0])] = tt
	}
	return tools
}

// schemaOf makes a JSON Schema of "name:type name?:type ...".
func schemaOf(spec string) string {
	var props, required []string
	for word := range strings.FieldsSeq(spec) {
		name, typ, ok := strings.Cut(word, ":")
		if !ok {
			typ = "any"
		}
		if n, optional := strings.CutSuffix(name, "?"); optional {
			name = n
		} else {
			required = append(required, fmt.Sprintf("%q", name))
		}
		schema := map[string]string{
			"any": `true`, "string": `{"type":"string"}`, "int": `{"type":"integer"}`, "float": `{"type":"number"}`, "bool": `{"type":"boolean"}`,
			"list": `{"type":"array"}`, "texts": `{"type":"array","items":{"type":"string"}}`, "record": `{"type":"object"}`,
		}[typ]
		props = append(props, fmt.Sprintf("%q:%s", name, schema))
	}
	return fmt.Sprintf(`{"type":"object","additionalProperties":false,"properties":{%s},"required":[%s]}`, strings.Join(props, ","), strings.Join(required, ","))
}
