package toolbox_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

type args = map[string]any

func TestListDatasets(t *testing.T) {
	out := must[toolbox.ListDatasetsOut](t, newFake(), "list_datasets", args{})
	want := []toolbox.DatasetShown{{ID: "shop", Name: "Shop", Prompts: []string{"a", "b", "c"}}}
	if diff := cmp.Diff(want, out.Datasets); diff != "" {
		t.Errorf("three prompts are enough (-want +got):\n%s", diff)
	}
}

func TestGetDatasetSchema(t *testing.T) {
	f := newFake()
	out := must[toolbox.SchemaOut](t, f, "get_dataset_schema", args{"dataset_id": "shop"})
	if len(out.Tables) != 2 || out.Tables[0].TableName != "orders" || out.Tables[0].RowCount != 5 {
		t.Errorf("got %+v", out)
	}
	if _, err := call[toolbox.SchemaOut](t, f, "get_dataset_schema", args{"dataset_id": "nowhere"}); code(err) != fault.NotFound {
		t.Errorf("a dataset that is not there gave %v", err)
	}
}

func TestExecuteSQL(t *testing.T) {
	f := newFake()
	out := must[toolbox.QueryOut](t, f, "execute_sql", args{"dataset_id": "shop", "sql": "SELECT DISTINCT status FROM orders", "max_rows": 2})
	if out.Status != "success" || out.RowCount != 2 || !out.Limited || out.ExecTimeMS != 7 || !slices.Equal(out.Columns, []string{"c"}) {
		t.Errorf("got %+v", out)
	}
	if q := f.asked[0]; q.User != "ann" || q.Dataset != "shop" || q.MaxRows != 2 {
		t.Errorf("asked %+v", q)
	}
	f.fails = fault.New(fault.SQLError, "no such column")
	if _, err := call[toolbox.QueryOut](t, f, "execute_sql", args{"dataset_id": "shop", "sql": "SELECT x", "max_rows": 2}); code(err) != fault.SQLError {
		t.Errorf("the fault is lost: %v", err)
	}
}

func TestExecuteQueryPlan(t *testing.T) {
	f := newFake()
	plan := args{"table": "orders", "select": []any{args{"function": "count"}}, "filters": []any{args{"column": "status", "operator": "=", "value": "paid"}}}
	out := must[toolbox.QueryOut](t, f, "execute_query_plan", args{"dataset_id": "shop", "plan": plan, "max_rows": 10})
	if out.CompiledSQL != f.asked[0].SQL || len(out.Plan) == 0 || string(out.Rows) != "[[3]]" {
		t.Errorf("got %+v after %q", out, f.asked[0].SQL)
	}
	for name, c := range map[string]struct {
		plan any
		want fault.Code
	}{
		"unknown column":  {args{"table": "orders", "select": []any{args{"column": "nope"}}}, fault.PlanInvalid},
		"no plan":         {args{"colour": "blue"}, fault.PlanInvalid},
		"another dataset": {args{"dataset_id": "other", "table": "orders", "select": []any{args{"function": "count"}}}, fault.PlanInvalid},
	} {
		n := len(f.asked)
		if _, err := call[toolbox.QueryOut](t, f, "execute_query_plan", args{"dataset_id": "shop", "plan": c.plan, "max_rows": 10}); code(err) != c.want || len(f.asked) > n {
			t.Errorf("%s gave %v", name, err)
		}
	}
}

func TestExecutePythonWithoutSandbox(t *testing.T) {
	_, err := call[toolbox.PythonOut](t, newFake(), "execute_python", args{"dataset_id": "shop", "python_code": "1", "max_rows": 1, "seconds": 1})
	if code(err) != fault.FeatureDisabled {
		t.Errorf("got %v", err)
	}
}

// TestSchemas holds that every declared tool says what it takes and gives.
func TestSchemas(t *testing.T) {
	all := tools(newFake())
	for name, t2 := range all {
		s := t2.Spec()
		var in struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(s.Input, &in); err != nil || in.Type != "object" {
			t.Errorf("%s takes %s: %v", name, s.Input, err)
		}
		if !json.Valid(s.Output) || s.Description == "" || s.Effect == "" {
			t.Errorf("%s is not declared in full: %+v", name, s)
		}
		if s.Main != "" && in.Properties[s.Main] == nil {
			t.Errorf("%s has no argument %q", name, s.Main)
		}
	}
	if shown := all["execute_query_plan"].Spec().Shown; !json.Valid(shown) || len(shown) < 500 {
		t.Errorf("models do not see what a plan is: %s", shown)
	}
	for _, name := range []string{"judge_result", "check_sql", "write_answer"} {
		if e := all[name].Spec().Effect; e == tool.Writes {
			t.Errorf("%s may not be run again: %s", name, e)
		}
	}
}
