package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/sandbox"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

func TestPythonTypes(t *testing.T) {
	w := newWorkshop(t, nil)
	db, _, err := w.s.catalog.Database(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	run := func(sql, code string) *sandbox.Outcome {
		t.Helper()
		arrow, bundle := filepath.Join(t.TempDir(), "t.arrow"), filepath.Join(t.TempDir(), "t.bundle")
		if _, err := w.s.query.Export(t.Context(), query.Request{Database: db, SQL: sql}, query.Arrow, arrow); err != nil {
			t.Fatal(err)
		}
		if err := sandbox.FromArrow(arrow, bundle); err != nil {
			t.Fatal(err)
		}
		o, err := w.s.sandbox.Run(t.Context(), sandbox.Job{Code: code, Tables: []sandbox.Table{{Name: "t", Bundle: bundle}}})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := run(oddTypes, "for c in t: print(c, t[c].dtype, repr(t[c][0]), t[c].isna().sum())\nresult_df = t.head(1)")
	want := `n int32 1 0
b boolean True 2
i8 Int8 5 2
u8 UInt8 200 2
u16 UInt16 60000 2
u32 UInt32 4000000000 2
u64 UInt64 18446744073709551615 2
i64 Int64 9223372036854775807 2
f4 float32 1.5 2
f8 float64 0.1 2
d object Decimal('12.30') 2
wide object Decimal('123456789012345678901234567.89') 2
day datetime64[ns] Timestamp('2024-02-29 00:00:00') 2
clock object datetime.time(1, 2, 3, 500000) 2
at datetime64[ns] Timestamp('2024-01-02 03:04:05.678000') 2
zoned datetime64[ns, UTC] Timestamp('2024-01-02 01:04:05+0000', tz='UTC') 2
s datetime64[ns] Timestamp('2024-01-02 03:04:05') 2
ms datetime64[ns] Timestamp('2024-01-02 03:04:05.123000') 2
ns datetime64[ns] Timestamp('2024-01-02 03:04:05.123456') 2
raw object b'\xff\x00a' 2
huge object '170141183460469231731687303715884105727' 2
id object '12345678-1234-1234-1234-123456789abc' 2
list object '[1,2]' 2
text object 'ü' 1
never object 'infinity' 2
noday object 'infinity' 2
`
	if d := cmp.Diff(want, o.Stdout); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(`[[1,true,5,200,60000,4000000000,"18446744073709551615","9223372036854775807",1.5,0.1,12.3,"123456789012345678901234567.89",`+
		`"2024-02-29","01:02:03.5","2024-01-02 03:04:05.678","2024-01-02 01:04:05+00","2024-01-02 03:04:05","2024-01-02 03:04:05.123","2024-01-02 03:04:05.123456",`+
		`"\\xFF\\x00a","170141183460469231731687303715884105727","12345678-1234-1234-1234-123456789abc","[1,2]","ü","infinity","infinity"]]`, string(o.Rows)); d != "" {
		t.Error(d)
	}
	if o := run("SELECT id, status, amount FROM orders WHERE false", "result_df = [len(t), list(t.columns), str(t.id.dtype)]"); string(o.Value) != `[0, ["id", "status", "amount"], "int64"]` {
		t.Errorf("an empty table: %s", o.Value)
	}
	if o := run("SELECT a.id, b.id FROM orders a JOIN orders b USING (customer_id) LIMIT 1", "result_df = list(t.columns)"); len(o.Value) == 0 {
		t.Errorf("columns of one name: %s", o.Value)
	}
}

func TestFrames(t *testing.T) {
	w := newWorkshop(t, nil)
	var sql toolbox.RunSQLOut
	err := w.call(t.Context(), t, "run_sql", map[string]any{
		"dataset_id": "shop", "name": "Sales by Status!", "max_rows": 100,
		"sql": "SELECT status, customer_id, DATE '2024-01-01' + id::INT AS day, amount::DECIMAL(10,2) AS amount FROM orders ORDER BY id",
	}, &sql)
	if err != nil {
		t.Fatal(err)
	}
	if sql.Name != "sales_by_status" || sql.RowCount != 5 || sql.ResultID == "" || !strings.HasPrefix(sql.ResultID, sql.Artifact) {
		t.Errorf("%+v", sql)
	}
	if d := cmp.Diff(toolbox.Intent{
		Name: "sales_by_status", Fetched: "SELECT status, customer_id, DATE '2024-01-01' + id::INT AS day, amount::DECIMAL(10,2) AS amount FROM orders ORDER BY id",
		Dimensions: []string{"status", "customer_id", "day"}, Measures: []string{"amount"}, RowCount: 5, Span: sql.Intent.Span,
	}, sql.Intent); d != "" || !strings.HasPrefix(sql.Intent.Span, "day 2024-01-02") || !strings.Contains(sql.Intent.Span, " to 2024-01-06") {
		t.Errorf("span %q %s", sql.Intent.Span, d)
	}
	frames := []toolbox.Frame{{Name: sql.Name, ResultID: sql.ResultID}}

	// A later statement has it as a table, with its types, beside the dataset's own.
	var again toolbox.RunSQLOut
	err = w.call(t.Context(), t, "run_sql", map[string]any{
		"dataset_id": "shop", "max_rows": 100, "frames": frames,
		"sql": "SELECT c.name, sum(s.amount) AS total, max(s.day) AS last FROM sales_by_status s JOIN customers c ON c.id = s.customer_id GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
	}, &again)
	if err != nil || string(again.Rows) != `[["Cleo",100.00,"2024-01-06"]]` {
		t.Errorf("%s, %v", again.Rows, err)
	}
	if err := w.call(t.Context(), t, "run_sql", map[string]any{"dataset_id": "shop", "max_rows": 100, "sql": "SELECT * FROM sales_by_status"}, &again); !fault.Is(err, fault.SQLError) {
		t.Errorf("a result that the thread does not have: %v", err)
	}

	// The data changes; the result is what was fetched, and not asked for again.
	w.write("data/shop/orders.csv", "id,customer_id,amount,status\n9,9,9,gone\n")
	var step toolbox.RunPythonOut
	run := func(code string) error {
		step = toolbox.RunPythonOut{}
		return w.call(t.Context(), t, "run_python", map[string]any{"code": code, "frames": frames, "seconds": 20}, &step)
	}
	if err := run("result_df = sales_by_status.groupby('status', as_index=False).amount.sum()\nprint(sales_by_status.amount[0], sales_by_status.day.dtype)"); err != nil {
		t.Fatal(err)
	}
	if step.Name != "step_1" || string(step.Rows) != `[["open",0.01],["paid",130.74],["returned",7.0]]` || step.Stdout != "10.50 datetime64[ns]\n" {
		t.Errorf("%+v", step)
	}
	frames = append(frames, toolbox.Frame{Name: step.Name, ResultID: step.ResultID})
	if err := run("result_df = step_1.copy()"); err != nil || step.Name != "step_1" || step.ResultID != frames[1].ResultID {
		t.Errorf("rows that are there already have another name: %+v %v", step, err)
	}
	if err := run("result_df = step_1[step_1.status == 'paid'].amount.iloc[0]"); err != nil || step.Name != "step_2" || string(step.Rows) != "[[130.74]]" {
		t.Errorf("%+v %v", step, err)
	}
	if err := run("result_df = pd.DataFrame({'n': range(3000)})"); err != nil || step.RowCount != 3000 || step.Note == "" {
		t.Errorf("%d rows, note %q, %v", step.RowCount, step.Note, err)
	}
	frames = append(frames, toolbox.Frame{Name: "many", ResultID: step.ResultID})
	if err := run("result_df = int(many.n.sum())"); err != nil || string(step.Rows) != "[[4498500]]" {
		t.Errorf("%s %v", step.Rows, err)
	}
	if err := run("x = 1"); err != nil || step.Name != "" || step.ResultID != "" {
		t.Errorf("no result made a frame: %+v %v", step, err)
	}
	// Somebody else's result does not exist.
	entry, err := w.s.tools.Get("run_python")
	if err != nil {
		t.Fatal(err)
	}
	args, _ := json.Marshal(map[string]any{"code": "result_df = step_1", "frames": frames, "seconds": 20})
	if _, err := entry.Call(tool.With(t.Context(), tool.Call{Owner: "eve", Thread: "t"}), args); !fault.Is(err, fault.NotFound) {
		t.Errorf("eve got %v", err)
	}
	// Without a name, the statement gives one; two statements give two.
	names := map[string]bool{}
	for _, q := range []string{"SELECT count(*) FROM customers", "SELECT max(id) FROM customers", "SELECT  count(*)\nFROM customers"} {
		if err := w.call(t.Context(), t, "run_sql", map[string]any{"dataset_id": "shop", "sql": q, "max_rows": 1}, &sql); err != nil || !strings.HasPrefix(sql.Name, "customers_") {
			t.Errorf("%+v %v", sql, err)
		}
		names[sql.Name] = true
	}
	if len(names) != 2 {
		t.Errorf("names %v", names)
	}
}

// TestBundles makes each table once a version, and throws the oldest away.
func TestBundles(t *testing.T) {
	w := newWorkshop(t, nil)
	count := func() int {
		found, err := filepath.Glob(w.path("state/frames/*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	for range 2 {
		if _, err := w.python(t, "result_df = len(orders)"); err != nil || count() != 1 {
			t.Fatalf("%d bundles, %v", count(), err)
		}
	}
	w.write("data/shop/orders.csv", "id,customer_id,amount,status\n9,9,9,gone\n")
	var rows string
	eventually(t, "the new version is seen", func() bool {
		out, err := w.python(t, "result_df = len(orders)")
		rows = string(out.Rows)
		return err == nil && rows == "[[1]]"
	})
	if count() != 2 {
		t.Errorf("%d bundles of two versions", count())
	}
}

// TestWorkbenchSteps takes a fetched result from SQL to Python through the machine.
func TestWorkbenchSteps(t *testing.T) {
	w := newWorld(t)
	a := newActor(t, func(_ string, results int) line {
		switch results {
		case 0:
			return line{text: "I fetch the paid orders.", calls: []lineCall{{"run_sql", `{"dataset_id":"shop","name":"paid","sql":"SELECT customer_id, amount FROM orders WHERE status = 'paid'"}`}}}
		case 1:
			return line{calls: []lineCall{{"run_python", `{"code":"result_df = paid.groupby('customer_id', as_index=False).amount.sum()\nprint(len(paid))"}`}}}
		case 2:
			return line{calls: []lineCall{{"run_python", `{"code":"result_df = float(step_1.amount.max())"}`}}}
		}
		return line{text: "The best customer paid 99.99."}
	})
	w.flags, w.env = append(w.flags, a.flags()...), append(w.env, "OPENAI_API_KEY=sk-test")
	p := w.serve()
	all := p.say(`{"message":"Who paid most?","dataset_id":"shop","machine":"workbench"}`)
	var states []string
	for _, s := range pick[struct{ State string }](t, all, "state") {
		states = append(states, s.State)
	}
	got := pick[toldResult](t, all, "tool_result")
	if len(got) != 4 || got[0].Name != "describe_dataset" {
		t.Fatalf("%d results in %+v", len(got), all)
	}
	got = got[1:] // without the machine's own
	var step toolbox.RunPythonOut
	for i, want := range []string{`[[1,30.75],[3,99.99]]`, `[[99.99]]`} {
		if err := json.Unmarshal(got[i+1].Output, &step); err != nil || got[i+1].Status != "ok" || string(step.Rows) != want {
			t.Errorf("step %d: %s %s %v", i+1, got[i+1].Status, got[i+1].Output, err)
		}
	}
	if want := []string{"", "planning", "data_fetching", "analyzing", "presenting", "completed"}; !slices.Equal(slices.Compact(states), want) {
		t.Errorf("states %q", states)
	}
}
