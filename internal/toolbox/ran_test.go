package toolbox_test

import (
	"testing"

	"interlock/internal/tool"
)

// The log names the version that a statement read, also if the data change while it runs.
func TestRanNamesTheVersionThatWasRead(t *testing.T) {
	for name, args := range map[string]string{
		"execute_sql": `{"dataset_id":"shop","sql":"SELECT 1","max_rows":10}`,
		"run_query":   `{"dataset_id":"shop","sql":"SELECT 1","max_rows":10}`,
	} {
		f := newFake()
		f.moves = true
		res, err := tools(f)[name].Call(tool.With(t.Context(), tool.Call{Owner: "ann", Dataset: "shop"}), []byte(args))
		if err != nil {
			t.Fatal(err)
		}
		if res.Ran == nil || res.Ran.Version != "v1" {
			t.Errorf("%s ran %+v, and read v1", name, res.Ran)
		}
	}
}
