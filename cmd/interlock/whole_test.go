package main

import (
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/toolbox"
)

// TestFramesAreWhole keeps every row of a statement, however few are shown.
func TestFramesAreWhole(t *testing.T) {
	w := newWorkshop(t, nil)
	fetch := func(name, sql string, frames ...toolbox.Frame) (toolbox.RunSQLOut, error) {
		var out toolbox.RunSQLOut
		err := w.call(t.Context(), t, "run_sql", map[string]any{"dataset_id": "shop", "name": name, "max_rows": 1000, "frames": frames, "sql": sql}, &out)
		return out, err
	}
	out, err := fetch("many", "SELECT i, 'x' || i AS t FROM range(3000) r(i) ORDER BY i")
	if err != nil {
		t.Fatal(err)
	}
	if out.RowCount != 3000 || !out.Limited || out.Intent.RowCount != 3000 || strings.Count(string(out.Rows), "[")-1 != 1000 || out.Note != "many holds all 3000 rows, the first 1000 are shown." {
		t.Errorf("%d rows, limited %v, intent %d, note %q", out.RowCount, out.Limited, out.Intent.RowCount, out.Note)
	}
	frame := toolbox.Frame{Name: out.Name, ResultID: out.ResultID}
	if out, err = fetch("n", "SELECT count(*) AS n, max(i) AS last FROM many", frame); err != nil || string(out.Rows) != "[[3000,2999]]" {
		t.Errorf("%s %v", out.Rows, err)
	}
	var step toolbox.RunPythonOut
	if err := w.call(t.Context(), t, "run_python", map[string]any{"code": "result_df = [len(many), int(many.i.sum())]", "frames": []toolbox.Frame{frame}, "seconds": 20}, &step); err != nil || string(step.Rows) != "[[3000],[4498500]]" {
		t.Errorf("%s %v", step.Rows, err)
	}
	if _, err := fetch("huge", "SELECT repeat('x', 100000) AS t FROM range(1000)"); !fault.Is(err, fault.TooLarge) {
		t.Errorf("a result beyond the bound: %v", err)
	}
	if err := w.call(t.Context(), t, "run_python", map[string]any{"code": "result_df = pd.DataFrame({'n': range(5)})", "seconds": 20}, &step); err != nil || step.Limited || step.RowCount != 5 {
		t.Errorf("%+v %v", step, err)
	}
}

// TestTotals says of a result that was cut off how many rows there are.
func TestTotals(t *testing.T) {
	w := newWorkshop(t, nil)
	var out toolbox.QueryOut
	if err := w.call(t.Context(), t, "execute_sql", map[string]any{"dataset_id": "shop", "max_rows": 2, "sql": "SELECT id, amount FROM orders"}, &out); err != nil {
		t.Fatal(err)
	}
	if out.RowCount != 2 || !out.Limited || out.TotalRows != 5 || out.AtLeast || strings.Join(out.ColumnTypes, " ") == "" || len(out.ColumnTypes) != 2 {
		t.Errorf("%+v", out)
	}
	plan := map[string]any{"table": "orders", "select": []any{map[string]any{"column": "id"}}}
	run := func() toolbox.QueryOut {
		t.Helper()
		out := toolbox.QueryOut{}
		if err := w.call(t.Context(), t, "execute_query_plan", map[string]any{"dataset_id": "shop", "max_rows": 10000, "plan": plan}, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	var lines strings.Builder
	lines.WriteString("id,customer_id,amount,status\n")
	for range 300 {
		lines.WriteString("1,1,1,paid\n")
	}
	w.write("data/shop/orders.csv", lines.String())
	eventually(t, "the new file is seen", func() bool { return run().RowCount != 5 })
	if out := run(); out.RowCount != 200 || !out.Limited || out.TotalRows != 300 {
		t.Errorf("a plan without a limit: %d of %d rows, limited %v", out.RowCount, out.TotalRows, out.Limited)
	}
	plan["limit"] = -1
	if out := run(); out.RowCount != 300 || out.Limited {
		t.Errorf("a plan for all rows: %d rows, limited %v", out.RowCount, out.Limited)
	}
	plan["limit"] = 250
	if out := run(); out.RowCount != 250 || out.Limited {
		t.Errorf("a plan for 250 rows: %d rows, limited %v", out.RowCount, out.Limited)
	}
	var py toolbox.PythonOut
	if err := w.call(t.Context(), t, "execute_python", map[string]any{"dataset_id": "shop", "max_rows": 200, "seconds": 20, "python_code": "result_df = orders"}, &py); err != nil {
		t.Fatal(err)
	}
	if py.RowCount != 200 || py.TotalRows != 300 || !py.Limited || len(py.ColumnTypes) != 4 {
		t.Errorf("Python: %d of %d rows, limited %v", py.RowCount, py.TotalRows, py.Limited)
	}
}

// TestBigSums carries integers that no float holds through every later step.
func TestBigSums(t *testing.T) {
	w := newWorkshop(t, nil)
	const big, huge = "9007199254740995", "170141183460469231731687303715884105727"
	sql := "SELECT sum(x) AS total, max(h) AS most FROM (SELECT 9007199254740990 AS x, " + huge + "::HUGEINT AS h UNION ALL SELECT 5, 1)"
	var out, again toolbox.RunSQLOut
	if err := w.call(t.Context(), t, "run_sql", map[string]any{"dataset_id": "shop", "name": "sums", "max_rows": 10, "sql": sql}, &out); err != nil {
		t.Fatal(err)
	}
	frames := []toolbox.Frame{{Name: out.Name, ResultID: out.ResultID}}
	if err := w.call(t.Context(), t, "run_sql", map[string]any{"dataset_id": "shop", "max_rows": 10, "frames": frames, "sql": "SELECT * FROM sums"}, &again); err != nil {
		t.Fatal(err)
	}
	if want := `[["` + big + `","` + huge + `"]]`; string(again.Rows) != want || strings.Join(again.ColumnTypes, " ") != "HUGEINT HUGEINT" {
		t.Errorf("a later statement reads %s as %s, want %s", again.Rows, again.ColumnTypes, want)
	}
	var step toolbox.RunPythonOut
	code := "print(type(sums.total[0]).__name__, sums.total[0] + 1, sums.most[0])\nresult_df = sums"
	if err := w.call(t.Context(), t, "run_python", map[string]any{"code": code, "frames": frames, "seconds": 20}, &step); err != nil {
		t.Fatal(err)
	}
	if step.Stdout != "int 9007199254740996 "+huge+"\n" || string(step.Rows) != `[["`+big+`","`+huge+`"]]` {
		t.Errorf("Python: %s %s", step.Stdout, step.Rows)
	}
}
