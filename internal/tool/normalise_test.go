package tool_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
	"interlock/internal/tool"
)

type sqlIn struct {
	DatasetID string `json:"dataset_id,omitempty"`
	SQL       string `json:"sql"`
	Timeout   int    `json:"timeout,omitempty"`
	Dry       bool   `json:"dry,omitempty"`
	Tags      []int  `json:"tags,omitempty"`
}

func entry(t testing.TB, main string) *tool.Entry {
	t.Helper()
	set := tool.NewSet(nil, tool.New(tool.Spec{Name: "run", Effect: tool.Reads, Main: main}, func(context.Context, sqlIn) (struct{}, error) { return struct{}{}, nil }))
	e, err := set.Get("run")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestNormalise(t *testing.T) {
	plain := map[string]any{"sql": "SELECT 1"}
	tests := []struct {
		name, sent string
		want       map[string]any
		rescued    []string
	}{
		{"as it should be", `{"sql":"SELECT 1"}`, plain, nil},
		{"alias", `{"query":"SELECT 1"}`, plain, []string{"alias"}},
		{"another alias", `{"statement":"SELECT 1"}`, plain, []string{"alias"}},
		{"two aliases are not guessed", `{"query":"SELECT 1","statement":"SELECT 2"}`, map[string]any{"query": "SELECT 1", "statement": "SELECT 2"}, nil},
		{"alias beside the real one stays", `{"query":"x","sql":"SELECT 1"}`, map[string]any{"query": "x", "sql": "SELECT 1"}, nil},
		{"nested", `{"arguments":{"sql":"SELECT 1"}}`, plain, []string{"nested"}},
		{"nested twice", `{"input":{"parameters":{"sql":"SELECT 1"}}}`, plain, []string{"nested"}},
		{"nested with the tool's name beside", `{"name":"run","arguments":{"sql":"SELECT 1"}}`, plain, []string{"nested"}},
		{"nested as text", `{"arguments":"{\"sql\":\"SELECT 1\"}"}`, plain, []string{"nested", "json_string"}},
		{"as a JSON string", `"{\"sql\":\"SELECT 1\"}"`, plain, []string{"json_string"}},
		{"in a list", `[{"sql":"SELECT 1"}]`, plain, []string{"nested"}},
		{"main in itself", `{"sql":{"sql":"SELECT 1"}}`, plain, []string{"nested"}},
		{"fenced", "{\"sql\":\"```sql\\nSELECT 1\\n```\"}", plain, []string{"fence"}},
		{"fenced JSON", "```json\n{\"sql\":\"SELECT 1\"}\n```", plain, []string{"fence"}},
		{"bare text", "SELECT 1", plain, []string{"raw_text"}},
		{"bare fenced text", "```sql\nSELECT 1\n```", plain, []string{"fence", "raw_text"}},
		{"camel case", `{"datasetId":"d","SQL":"SELECT 1"}`, map[string]any{"dataset_id": "d", "sql": "SELECT 1"}, []string{"name"}},
		{"number as text", `{"sql":"SELECT 1","timeout":"30"}`, map[string]any{"sql": "SELECT 1", "timeout": 30.0}, []string{"number"}},
		{"seconds", `{"sql":"SELECT 1","timeout":"30s"}`, map[string]any{"sql": "SELECT 1", "timeout": 30.0}, []string{"unit"}},
		{"minutes", `{"sql":"SELECT 1","timeout":"2 min"}`, map[string]any{"sql": "SELECT 1", "timeout": 120.0}, []string{"unit"}},
		{"half a second is no whole number", `{"sql":"SELECT 1","timeout":"500ms"}`, map[string]any{"sql": "SELECT 1", "timeout": "500ms"}, nil},
		{"truth as text", `{"sql":"SELECT 1","dry":"true"}`, map[string]any{"sql": "SELECT 1", "dry": true}, []string{"number"}},
		{"list as text", `{"sql":"SELECT 1","tags":"[1,2]"}`, map[string]any{"sql": "SELECT 1", "tags": []any{1.0, 2.0}}, []string{"json_string"}},
		{"null of an optional one", `{"sql":"SELECT 1","dataset_id":null}`, plain, nil},
		{"text stays text", `{"sql":"42","dataset_id":"7"}`, map[string]any{"sql": "42", "dataset_id": "7"}, nil},
		{"a mark of the byte order", "\uFEFF{\"sql\":\"SELECT 1\"}", plain, nil},
		{"a JSON string in a JSON string", `"\"{\\\"sql\\\":\\\"SELECT 1\\\"}\""`, plain, []string{"json_string"}},
		{"a comma too many", `{"sql":"SELECT 1","tags":[1,2,],}`, map[string]any{"sql": "SELECT 1", "tags": []any{1.0, 2.0}}, []string{"json"}},
		{"a dict of Python", `{'sql': 'SELECT \'a"b\'', 'dry': True, 'dataset_id': None}`, map[string]any{"sql": `SELECT 'a"b'`, "dry": true}, []string{"json"}},
		{"line breaks and tabs in a string", "{\"sql\":\"SELECT 1,\n\t2\"}", map[string]any{"sql": "SELECT 1,\n\t2"}, []string{"json"}},
		{"comments", "{ // the count\n\"sql\": /* one */ \"SELECT 1 -- a // b # c\" # end\n}", map[string]any{"sql": "SELECT 1 -- a // b # c"}, []string{"json"}},
		{"the same object twice", `{"sql":"SELECT 1"}{"sql":"SELECT 1"}`, plain, []string{"json"}},
		{"a brace too many", `{"sql":"SELECT 1"}}`, plain, []string{"json"}},
		{"nothing", ``, map[string]any{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, rescued, err := entry(t, "sql").Normalise(tt.sent, true)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !slices.Equal(rescued, tt.rescued) {
				t.Errorf("rescued %v, want %v", rescued, tt.rescued)
			}
		})
	}
}

func TestNormaliseRefusesWhatHasNoMeaning(t *testing.T) {
	for _, sent := range []string{
		`[1,2]`, `42`, `true`, `{"sql":`, `[{"sql":"a"},{"sql":"b"}]`, `{sql: "a"}`, `{"sql":"a","timeout":NaN}`,
		`{"sql":"a"}{"sql":"b"}`, `{"sql":"a","sql":"b",}`, `{'sql':'a`, `{"sql":"a" "b"}`, `{"sql":"a",,}`, `{"sql":"\x41"}`, strings.Repeat(`{"sql":`, 200),
	} {
		if got, _, err := entry(t, "sql").Normalise(sent, true); err == nil {
			t.Errorf("%s became %v", sent, got)
		}
	}
	if _, _, err := entry(t, "").Normalise("SELECT 1", true); err == nil {
		t.Error("bare text became arguments of a tool without a main one")
	}
	if _, _, err := entry(t, "sql").Normalise(`"{\"sql\":\"x\"}"`, false); err == nil {
		t.Error("arguments were repaired although repair is off")
	}
}

func TestValidateListsEveryProblem(t *testing.T) {
	err := entry(t, "sql").Validate(map[string]any{"timeout": "x", "extra": 1.0})
	if err == nil || err.Code != fault.InvalidArguments {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"sql", "timeout", "extra"} {
		if !strings.Contains(err.Message, want) {
			t.Errorf("the message does not name %s: %s", want, err.Message)
		}
	}
}

func TestOfferedHidesAndNarrows(t *testing.T) {
	raw := entry(t, "sql").Offered(tool.Narrowing{Hidden: []string{"timeout"}, Enum: map[string][]any{"dataset_id": {"a", "b"}}, Default: map[string]any{"sql": "SELECT 1"}})
	var got struct {
		Properties map[string]map[string]any `json:"properties"`
		Required   []string                  `json:"required"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if _, there := got.Properties["timeout"]; there {
		t.Error("a bound argument is shown")
	}
	if diff := cmp.Diff([]any{"a", "b"}, got.Properties["dataset_id"]["enum"]); diff != "" {
		t.Errorf("enum (-want +got):\n%s", diff)
	}
	if len(got.Required) != 0 {
		t.Errorf("an argument with a default is demanded: %v", got.Required)
	}
}

func TestSetPanicsOnTwoToolsOfOneName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two tools of one name were accepted")
		}
	}()
	one := tool.New(tool.Spec{Name: "a", Effect: tool.Reads}, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
	tool.NewSet(nil, one, one)
}

// FuzzNormalise: repair never panics, and what it gives is stable: repairing it again
// changes nothing.
func FuzzNormalise(f *testing.F) {
	for _, seed := range []string{`{"sql":"SELECT 1"}`, `{"arguments":{"query":"x"}}`, "```sql\nx\n```", `"\"{}\""`, `{"timeout":"3 min"}`, `[[{}]]`, `{"sql":{"sql":{"sql":1}}}`, `{'sql': 'a', 'dry': True,} # x`} {
		f.Add(seed)
	}
	e := entry(f, "sql")
	f.Fuzz(func(t *testing.T, sent string) {
		got, _, err := e.Normalise(sent, true)
		if err != nil {
			return
		}
		if text, ok := got["sql"].(string); !ok || strings.Contains(text, "```") {
			return // a fence inside a fence may be undone once more
		}
		raw, merr := json.Marshal(got)
		if merr != nil {
			t.Fatal(merr)
		}
		again, _, err := e.Normalise(string(raw), true)
		if err != nil {
			t.Fatalf("%q became %s, which is refused: %v", sent, raw, err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatalf("%q is not stable:\n%s", sent, diff)
		}
	})
}
