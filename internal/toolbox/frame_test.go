package toolbox

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

func TestFrameName(t *testing.T) {
	for text, want := range map[string]string{
		"sales": "sales", "Sales by City": "sales_by_city", "  2024 revenue!": "revenue", "q1-2024": "q1_2024", "Umsätze": "umsätze", "ﬁx": "fix",
		"class": "class_", "result_df": "result_df_", "pd": "pd_", "": "", "!!": "", "a--b": "a_b", "os;import": "os_import",
	} {
		if got := frameName(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// Whatever a model writes, the name is one that Python can read and cannot mean more.
func TestFrameNameProperty(t *testing.T) {
	name := regexp.MustCompile(`^\p{L}[\p{L}\p{Nd}_]*$`)
	rapid.Check(t, func(t *rapid.T) {
		got := frameName(rapid.String().Draw(t, "text"))
		if got != "" && (!name.MatchString(got) || notNames[got] || len([]rune(got)) > maxName+1) {
			t.Fatalf("%q is no name", got)
		}
		if again := frameName(got); got != "" && !notNames[again] && again != got && got != again+"_" {
			t.Fatalf("%q became %q", got, again)
		}
	})
}

func TestStepName(t *testing.T) {
	for want, names := range map[string][]string{"step_1": {"sales"}, "step_4": {"step_3", "step_x", "step_1"}} {
		var frames []Frame
		for _, n := range names {
			frames = append(frames, Frame{Name: n})
		}
		if got := stepName(frames); got != want {
			t.Errorf("after %q comes %q, want %q", names, got, want)
		}
	}
}

func TestIntent(t *testing.T) {
	r := Rows{
		Columns:  []schema.Column{{Name: "day", Type: schema.ParseType("DATE")}, {Name: "city", Type: schema.ParseType("VARCHAR")}, {Name: "customer_id", Type: schema.ParseType("BIGINT")}, {Name: "total", Type: schema.ParseType("DECIMAL(10,2)")}, {Name: "tags", Type: schema.ParseType("VARCHAR[]")}, {Name: "shipped", Type: schema.ParseType("TIMESTAMP")}},
		Rows:     json.RawMessage(`[["2024-03-01","Ulm",1,2.5,["a"],null],["2024-01-15","Bern",2,"12345678901234567.89",[],null]]`),
		RowCount: 2, Decision: sqlpolicy.Decision{Touches: []sqlpolicy.Touch{{Table: "Order Lines"}}},
	}
	want := Intent{
		Name: "x", Fetched: "SELECT * FROM t", Dimensions: []string{"day", "city", "customer_id", "shipped"}, Measures: []string{"total"}, RowCount: 2, Span: "day 2024-01-15 to 2024-03-01",
	}
	if d := cmp.Diff(want, intentOf("x", "SELECT *\n  FROM t", r)); d != "" {
		t.Error(d)
	}
	if a, b := queryName(r, "SELECT 1"), queryName(r, "SELECT 2"); a == b || a[:12] != "order_lines_" {
		t.Errorf("names %q and %q", a, b)
	}
	empty := intentOf("x", "SELECT", Rows{Columns: r.Columns, Rows: json.RawMessage("[]")})
	if empty.Span != "" || empty.RowCount != 0 {
		t.Errorf("%+v", empty)
	}
}

func TestTraceback(t *testing.T) {
	trouble := PythonTrouble{Stderr: "a warning\n", Line: 2, Frames: []PythonFrame{{4, "<module>", "f(0)"}, {2, "f", "return 1 / x"}}}
	want := "a warning\nTraceback (most recent call last):\n  line 4, in <module>\n    f(0)\n  line 2, in f\n    return 1 / x\nZeroDivisionError in line 2: division by zero\n"
	if d := cmp.Diff(want, trouble.traceback("ZeroDivisionError in line 2: division by zero")); d != "" {
		t.Error(d)
	}
}

// Only what stands where a statement names tables is an earlier result; of one name,
// the newest.
func TestNamedFrames(t *testing.T) {
	frames := []Frame{{Name: "sales", ResultID: "r1"}, {Name: "top_cities", ResultID: "r2"}, {Name: "Sales", ResultID: "r3"}, {Name: "größe", ResultID: "r4"}}
	for sql, want := range map[string]string{
		"SELECT sum(sales) FROM orders":                                       "",
		"SELECT a, sales FROM orders WHERE b IN (1, sales)":                   "",
		"SELECT * FROM SALES":                                                 "r3",
		`SELECT * FROM orders o, "top_cities" t WHERE o.city = t.city`:        "r2",
		"SELECT * FROM (SELECT sales, x FROM a) q JOIN top_cities ON q.x = 1": "r2",
		"WITH x AS (SELECT * FROM sales) SELECT * FROM x, größe":              "r3 r4",
		"SELECT 'FROM sales' AS t -- FROM sales\nFROM orders":                 "",
		"SELECT extract(year FROM d) FROM orders":                             "",
	} {
		var got []string
		for _, f := range namedFrames(sql, frames) {
			got = append(got, f.ResultID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", sql, got, want)
		}
	}
}

// A result of another dataset under the same name keeps its name: the new one is called
// after its dataset.
func TestNameInThread(t *testing.T) {
	frames := []Frame{{Name: "sales", ResultID: "r1", Dataset: "north"}, {Name: "step_1", ResultID: "r2"}}
	for _, tt := range []struct{ name, dataset, want string }{
		{"sales", "north", "sales"}, {"sales", "south", "south_sales"}, {"Sales", "south-2", "south_2_sales"}, {"orders", "south", "orders"}, {"step_1", "south", "step_1"},
	} {
		if got := nameInThread(tt.name, tt.dataset, frames); got != tt.want {
			t.Errorf("%s of %s is called %q, want %q", tt.name, tt.dataset, got, tt.want)
		}
	}
}

// A result of Python has the name that was asked for, and hides no rows that were fetched.
func TestComputedName(t *testing.T) {
	frames := []Frame{{Name: "sales", ResultID: "r1", Dataset: "north"}, {Name: "step_1", ResultID: "r2"}, {Name: "medians", ResultID: "r3"}}
	for asked, want := range map[string]string{"": "step_2", "Median per month": "median_per_month", "Sales": "computed_sales", "medians": "medians"} {
		if got := computedName(asked, frames); got != want {
			t.Errorf("%q is named %s, want %s", asked, got, want)
		}
	}
}
