package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
	"interlock/internal/sandbox"
	"interlock/internal/schema"
)

// TestExecutors is the one suite that every executor must pass; what depends on the
// runner alone is tried with one of them.
func TestExecutors(t *testing.T) {
	for _, w := range walls {
		t.Run(w.name, func(t *testing.T) {
			e := w.open(t, nil)
			if got := e.Status(t.Context()).Level; got != w.level {
				t.Errorf("level %v, want %v", got, w.level)
			}
			suite(t, e, w.name == "native")
		})
	}
}

type jobCase struct {
	name    string
	code    string
	timeout time.Duration
	rows    int
	fault   fault.Code
	message string // part of the fault's message
	table   string // columns and rows as JSON
	check   func(t *testing.T, o *sandbox.Outcome, err error)
	wall    bool // depends on the wall, and not only on the runner that all have in common
}

// unlocked gets at os past the import policy, as hostile code would.
const unlocked = "os = pd.io.common.os\n"

var jobCases = []jobCase{
	{name: "a data frame", wall: true, code: "result_df = pd.DataFrame({'a': [1, 2], 'b': ['x', None]})", table: `[{"name":"a","type":"BIGINT"},{"name":"b","type":"VARCHAR"}] [[1,"x"],[2,null]]`},
	{name: "an index that says something", code: "result_df = pd.DataFrame({'k': ['x', 'y', 'x'], 'v': [1, 2, 3]}).groupby('k').v.sum()", table: `[{"name":"k","type":"VARCHAR"},{"name":"v","type":"BIGINT"}] [["x",4],["y",2]]`},
	{name: "a list of records", code: "result_df = [{'a': 1, 'b': 2.5}, {'a': 2, 'b': None}]", table: `[{"name":"a","type":"BIGINT"},{"name":"b","type":"DOUBLE"}] [[1,2.5],[2,null]]`},
	{name: "a dict", code: "result_df = {'mean': 2.5, 'n': 4}", table: `[{"name":"mean","type":"DOUBLE"},{"name":"n","type":"BIGINT"}] [[2.5,4]]`},
	{name: "a plain value", code: "result_df = 6 * 7", table: `[{"name":"value","type":"BIGINT"}] [[42]]`, check: func(t *testing.T, o *sandbox.Outcome, _ error) {
		if string(o.Value) != "42" {
			t.Errorf("value %s", o.Value)
		}
	}},
	{name: "the last expression", code: "x = 20\nx + 1", table: `[{"name":"value","type":"BIGINT"}] [[21]]`},
	{name: "no result", code: "x = 1", table: "null null"},
	{name: "rows beyond the limit", code: "result_df = pd.DataFrame({'a': range(10)})", rows: 3, table: `[{"name":"a","type":"BIGINT"}] [[0],[1],[2]]`, check: func(t *testing.T, o *sandbox.Outcome, _ error) {
		if !o.Limited || o.RowCount != 10 {
			t.Errorf("limited %v, %d rows", o.Limited, o.RowCount)
		}
	}},
	{
		name: "types", code: "import decimal, datetime\nresult_df = pd.DataFrame({'i': pd.array([1, None], dtype='Int64'), 'big': [2**60, 1], 'd': [decimal.Decimal('1.10'), decimal.Decimal('12345678901234567890.12')], 't': pd.to_datetime(['2024-01-02 03:04:05.5', None]), 'z': pd.to_datetime(['2024-01-02 03:04', '2024-07-02']).tz_localize('Europe/Berlin'), 'b': [True, False], 'day': [datetime.date(2024, 1, 2), None], 'f': [float('nan'), float('inf')]})",
		table: `[{"name":"i","type":"BIGINT"},{"name":"big","type":"BIGINT"},{"name":"d","type":"DECIMAL(38,2)"},{"name":"t","type":"TIMESTAMP"},{"name":"z","type":"TIMESTAMP WITH TIME ZONE"},{"name":"b","type":"BOOLEAN"},{"name":"day","type":"DATE"},{"name":"f","type":"DOUBLE"}] [[1,"1152921504606846976",1.1,"2024-01-02 03:04:05.5","2024-01-02 02:04:00+00",true,"2024-01-02",null],[null,1,"12345678901234567890.12",null,"2024-07-01 22:00:00+00",false,null,"Infinity"]]`,
	},
	{name: "an exception", wall: true, code: "def f(x):\n    return 1 / x\n\nf(0)", fault: fault.PyUserError, message: "ZeroDivisionError in line 2: division by zero", check: func(t *testing.T, _ *sandbox.Outcome, err error) {
		details := fault.From(err).Details.(sandbox.UserError)
		want := sandbox.UserError{Type: "ZeroDivisionError", Line: 2, Frames: []sandbox.UserFrame{{4, "<module>", "f(0)"}, {2, "f", "return 1 / x"}}}
		if d := cmp.Diff(want, details); d != "" {
			t.Error(d)
		}
	}},
	{name: "an exception in a library", code: "df = pd.DataFrame({'a': [1]})\nx = df['b']", fault: fault.PyUserError, message: "KeyError in line 2: 'b'"},
	{name: "a syntax error", code: "x = 1\ny = (", fault: fault.PyUserError, message: "SyntaxError in line 2"},
	{name: "a forbidden import", wall: true, code: "x = 1\n\nimport socket", fault: fault.PyPolicy, message: "line 3: import of 'socket' is not allowed in the sandbox; allowed: pandas"},
	{name: "too much memory", wall: true, code: "x = np.ones(3 << 30, dtype='u1')", fault: fault.PyMemory},
	{name: "too much memory in small pieces", code: "x = []\nwhile True:\n    x.append('x' * 1000 + str(len(x)))", fault: fault.PyMemory},
	{name: "a busy loop", wall: true, code: "while True: pass", timeout: 2 * time.Second, fault: fault.PyCPUTime},
	{name: "a long sleep", wall: true, code: "import time\ntime.sleep(60)", timeout: time.Second, fault: fault.PyWallTime},
	{name: "a flood", wall: true, code: "while True: print('x' * 1000)", fault: fault.PyOutputLimit},
	{name: "a long output", code: "print('x' * 100_000)", check: func(t *testing.T, o *sandbox.Outcome, _ error) {
		if !o.Truncated || len(o.Stdout) != 64<<10 {
			t.Errorf("truncated %v, %d bytes", o.Truncated, len(o.Stdout))
		}
	}},
	{name: "a result that is none", code: "result_df = object()", fault: fault.PyResultError, message: "result_df is a object"},
	{name: "a text that cannot be had", code: "class Bad:\n    def __str__(self): raise ValueError('no')\nresult_df = pd.DataFrame({'a': [Bad()]})", fault: fault.PyResultError, message: "Bad"},
	{name: "an exit", code: "print('before')\nexit()", check: func(t *testing.T, o *sandbox.Outcome, _ error) {
		if o.Stdout != "before\n" {
			t.Errorf("stdout %q", o.Stdout)
		}
	}},
	{name: "a sudden exit", wall: true, code: unlocked + "os._exit(7)", fault: fault.PyDied, message: "exit code 7"},
	{name: "a crash", code: unlocked + "os.sys.modules['__main__'].arm(False)\nos.sys.modules['ctypes'].string_at(0)", fault: fault.PyDied, message: "segmentation fault"},
	{name: "both outputs", wall: true, code: "import warnings\nprint('out')\nwarnings.warn('err')", check: func(t *testing.T, o *sandbox.Outcome, _ error) {
		if o.Stdout != "out\n" || !strings.Contains(o.Stderr, "UserWarning: err") {
			t.Errorf("stdout %q, stderr %q", o.Stdout, o.Stderr)
		}
	}},
	{name: "a figure and files", wall: true, code: "plt.plot([1, 2])\npd.DataFrame({'a': [1]}).to_csv('t.csv', index=False)\nopen('x.bin', 'wb').write(b'1')\nopen('page.html', 'w').write('<p>x')", check: func(t *testing.T, o *sandbox.Outcome, _ error) {
		if len(o.Figures) != 1 || o.Figures[0].Type != "image/png" || o.Figures[0].Name != "figure_1.png" {
			t.Errorf("figures %+v", names(o.Figures))
		}
		if d := cmp.Diff([]string{"page.html text/html 4", "t.csv text/csv 4"}, names(o.Files)); d != "" {
			t.Error(d)
		}
		if len(o.Skipped) != 1 || o.Skipped[0].Name != "x.bin" {
			t.Errorf("skipped %v", o.Skipped)
		}
	}},
	{name: "files of every kind", code: "df = pd.DataFrame({'a': [1]})\ndf.to_excel('x.xlsx')\ndf.to_json('x.json')\nplt.plot([1, 2]); plt.savefig('x.pdf'); plt.close()", check: func(t *testing.T, o *sandbox.Outcome, _ error) {
		var types []string
		for _, f := range o.Files {
			types = append(types, f.Name+" "+f.Type)
		}
		if d := cmp.Diff([]string{"x.json application/json", "x.pdf application/pdf", "x.xlsx application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}, types); d != "" {
			t.Error(d)
		}
	}},
	{name: "a figure that was saved", code: "plt.plot([1, 2])\nplt.savefig('mine.png')", check: func(t *testing.T, o *sandbox.Outcome, _ error) {
		if len(o.Figures) != 0 || len(o.Files) != 1 || o.Files[0].Type != "image/png" {
			t.Errorf("figures %v, files %v", names(o.Figures), names(o.Files))
		}
	}},
}

func names(files []sandbox.File) (out []string) {
	for _, f := range files {
		out = append(out, fmt.Sprintf("%s %s %d", f.Name, f.Type, len(f.Data)))
	}
	return out
}

func suite(t *testing.T, e sandbox.Executor, whole bool) {
	abreast(jobCases, func(c jobCase) {
		if !whole && !c.wall {
			return
		}
		t.Run(c.name, func(t *testing.T) {
			o, err := e.Run(t.Context(), sandbox.Job{Code: c.code, Timeout: c.timeout, Rows: c.rows})
			for try := 0; try < 5 && c.fault == fault.PyCPUTime && fault.Is(err, fault.PyWallTime); try++ { // other programs took the processor
				o, err = e.Run(t.Context(), sandbox.Job{Code: c.code, Timeout: c.timeout})
			}
			if c.fault == fault.PyCPUTime && fault.Is(err, fault.PyWallTime) {
				t.Log("other programs took the processor: the loop ended by the wall clock")
				c.fault = fault.PyWallTime
			}
			verify(t, c, o, err)
		})
	})
	t.Run("nothing of another job", func(t *testing.T) { leavesNothing(t, e) })
	t.Run("tables", func(t *testing.T) { tables(t, e) })
	t.Run("streams output", func(t *testing.T) { streams(t, e) })
	t.Run("stops at once", func(t *testing.T) { stops(t, e) })
	t.Run("many at once", func(t *testing.T) { manyAtOnce(t, e) })
}

func verify(t *testing.T, c jobCase, o *sandbox.Outcome, err error) {
	t.Helper()
	switch {
	case c.fault == "" && err != nil:
		t.Fatalf("%v\nstdout %q\nstderr %q", err, o.Stdout, o.Stderr)
	case c.fault != "" && !fault.Is(err, c.fault):
		t.Fatalf("got %v, want %s", err, c.fault)
	case c.message != "" && !strings.Contains(fault.From(err).Message, c.message):
		t.Errorf("message %q, want %q in it", fault.From(err).Message, c.message)
	}
	if c.table != "" {
		columns, _ := json.Marshal(o.Columns)
		rows := o.Rows
		if rows == nil {
			rows = json.RawMessage("null")
		}
		if d := cmp.Diff(c.table, fmt.Sprintf("%s %s", columns, rows)); d != "" {
			t.Error(d)
		}
	}
	if c.check != nil {
		c.check(t, o, err)
	}
}

// leavesNothing: what one job left in its modules and folders no later one finds.
func leavesNothing(t *testing.T, e sandbox.Executor) {
	for _, code := range []string{
		"pd.leftover = 1\nopen('secret.txt', 'w').write('x')\nopen(os.environ['TMPDIR'] + '/secret', 'w').write('x')",
		"assert not hasattr(pd, 'leftover')\nassert not os.path.exists('secret.txt')\nassert not os.path.exists(os.environ['TMPDIR'] + '/secret')",
	} {
		if _, err := e.Run(t.Context(), sandbox.Job{Code: unlocked + code}); err != nil {
			t.Error(err)
		}
	}
}

// tables come as files, by a maker that is asked only when needed, and as earlier results.
func tables(t *testing.T, e sandbox.Executor) {
	path := filepath.Join(t.TempDir(), "orders.bundle")
	w, err := sandbox.Create(path, []sandbox.Field{{Name: "id", Kind: sandbox.Int64}, {Name: "city", Kind: sandbox.Text}})
	if err != nil {
		t.Fatal(err)
	}
	sandbox.Append(w, 0, []int64{1, 2, 3}, []uint64{0b101})
	w.Strings(1, []string{"Ulm", "Köln", "Ulm"}, nil)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var made sync.Map
	maker := func(name string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { made.Store(name, true); return path, nil }
	}
	o, err := e.Run(t.Context(), sandbox.Job{
		Code: "result_df = pd.DataFrame({'orders': [str(orders.id.dtype)], 'lazy': [len(lazy)], 'odd': [tables['odd name'].city[1]], 'earlier': [earlier.total.sum()]})",
		Tables: []sandbox.Table{
			{Name: "orders", Bundle: path},
			{Name: "lazy", Make: maker("lazy")},
			{Name: "odd name", Make: maker("odd")},
			{Name: "unused", Make: maker("unused")},
			{Name: "earlier", Result: &sandbox.Result{Columns: []schema.Column{{Name: "total", Type: schema.ParseType("DECIMAL(10,2)")}}, Rows: json.RawMessage(`[[1.10],["2.20"],[null]]`)}},
		},
	})
	if err != nil {
		t.Fatalf("%v %s", err, o.Stderr)
	}
	if d := cmp.Diff(`[["Int64",3,"Köln",3.3]]`, string(o.Rows)); d != "" {
		t.Error(d)
	}
	if _, ok := made.Load("unused"); ok {
		t.Error("a table that the code does not name was made")
	}
}

func streams(t *testing.T, e sandbox.Executor) {
	var got []string
	o, err := e.Run(t.Context(), sandbox.Job{Code: "import time\nprint('one')\ntime.sleep(0.3)\nprint('two')", Stdout: func(b []byte) { got = append(got, string(b)) }})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"one\n", "two\n"}, got); d != "" || o.Stdout != "one\ntwo\n" {
		t.Errorf("%s stdout %q", d, o.Stdout)
	}
}

func stops(t *testing.T, e sandbox.Executor) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := time.Now()
	time.AfterFunc(300*time.Millisecond, cancel)
	_, err := e.Run(ctx, sandbox.Job{Code: "import time\ntime.sleep(60)"})
	if !fault.Is(err, fault.Stopped) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %v to stop", took)
	}
}

func manyAtOnce(t *testing.T, e sandbox.Executor) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			o, err := e.Run(t.Context(), sandbox.Job{Code: fmt.Sprintf("result_df = %d", i)})
			if err != nil || string(o.Rows) != fmt.Sprintf("[[%d]]", i) {
				t.Errorf("job %d: %s %v", i, o.Rows, err)
			}
		})
	}
	wg.Wait()
}

func TestLimitsOfAJob(t *testing.T) {
	e := walls[0].open(t, nil)
	for _, c := range []struct {
		name string
		code string
		want fault.Code
	}{
		{"empty", " \n", fault.EmptyPayload},
		{"too long", "#" + strings.Repeat("x", 300<<10), fault.TooLarge},
		{"no text", "x = '\xff'", fault.PyPolicy},
		{"with NUL", "x = 1\x00", fault.PyPolicy},
	} {
		if _, err := e.Run(t.Context(), sandbox.Job{Code: c.code}); !fault.Is(err, c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []sandbox.Config{
		{Executor: "chroot"}, {Executor: "docker"}, {Launcher: "ssh"}, {MemoryMB: 1}, {Timeout: 2 * time.Hour},
	} {
		c.Dir = t.TempDir()
		if e, err := sandbox.Open(c); !fault.Is(err, fault.BadSetting) {
			t.Errorf("%+v: got %v, %v", c, e, err)
		}
	}
}

func TestUnavailable(t *testing.T) {
	for _, c := range []struct {
		name   string
		config sandbox.Config
		want   string
	}{
		{"a level that is not reached", sandbox.Config{MinLevel: sandbox.LevelMachine}, "demand machine"},
		{"a degraded launcher without leave", sandbox.Config{Launcher: "landlock"}, "only to the level"},
		{"no engine", sandbox.Config{Executor: "docker", Image: "x", ServerURL: "unix:///nonexistent/docker.sock"}, "no docker engine at /nonexistent/docker.sock"},
		{"no server", sandbox.Config{Executor: "microsandbox", Image: "x", ServerURL: "http://127.0.0.1:1"}, "no microsandbox server"},
		{"a Python that is none", sandbox.Config{Python: "/bin/false"}, "no Python with pandas"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.Dir = t.TempDir()
			e, err := sandbox.Open(c.config)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			_, err = e.Run(t.Context(), sandbox.Job{Code: "1"})
			if !fault.Is(err, fault.PyUnavailable) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
			if s := e.Status(t.Context()); s.State != "unavailable" || s.Why == "" || s.Level != sandbox.LevelNone {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// Many a process never runs Python: nothing is started before the first job or Warm.
func TestNothingIsStartedUnasked(t *testing.T) {
	e, err := sandbox.Open(sandbox.Config{Python: "/bin/false", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if s := e.Status(t.Context()); s.State != "idle" {
		t.Errorf("before the first job: %+v", s)
	}
	e.Warm()
	if s := e.Status(t.Context()); s.State != "unavailable" {
		t.Errorf("after Warm: %+v", s)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	unused, err := sandbox.Open(sandbox.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := unused.Close(); err != nil {
		t.Error(err)
	}
}

func TestDisabled(t *testing.T) {
	e, err := sandbox.Open(sandbox.Config{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), sandbox.Job{Code: "1"}); !fault.Is(err, fault.FeatureDisabled) {
		t.Errorf("got %v", err)
	}
}

func TestImportsCanBeAllowed(t *testing.T) {
	e := walls[0].open(t, func(c *sandbox.Config) { c.AllowImports = []string{"sqlite3"} })
	if _, err := e.Run(t.Context(), sandbox.Job{Code: "import sqlite3\nresult_df = sqlite3.connect(':memory:').execute('select 1').fetchall()"}); err != nil {
		t.Error(err)
	}
}
