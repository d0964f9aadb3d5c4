package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// A workshop is the whole system in this process, with a real sandbox, whose tools
// tests call as the engine does.
type workshop struct {
	*world
	s *system

	mu   sync.Mutex
	said map[string]string // what was printed while a call ran, by stream
	hear func(stream, text string)
}

func newWorkshop(t *testing.T, settings map[string]string) *workshop {
	t.Helper()
	w := &workshop{world: newWorld(t)}
	a := &app{in: strings.NewReader(""), out: io.Discard, errw: io.Discard, getenv: func(string) string { return "" }}
	flags := a.root().PersistentFlags()
	all := map[string]string{"data": w.path("data"), "state": w.path("state"), "provider": "offline"}
	for name, value := range settings {
		all[name] = value
	}
	for name, value := range all {
		if err := flags.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.cfg.load(flags, a.getenv); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.s, err = a.openSystem(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.s.close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// call runs a tool in the thread "t" of ann, over the dataset shop.
func (w *workshop) call(ctx context.Context, t *testing.T, name string, args map[string]any, into any) error {
	t.Helper()
	entry, err := w.s.tools.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	w.said = map[string]string{}
	res, err := entry.Call(tool.With(ctx, tool.Call{Owner: "ann", Thread: "t", ID: "c1", Dataset: "shop", Output: func(stream, text string) {
		w.mu.Lock()
		w.said[stream] += text
		w.mu.Unlock()
		if w.hear != nil {
			w.hear(stream, text)
		}
	}}), raw)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(res.JSON, into); err != nil {
		t.Fatal(err)
	}
	return nil
}

// python runs code with execute_python.
func (w *workshop) python(t *testing.T, code string) (out toolbox.PythonOut, err error) {
	t.Helper()
	err = w.call(t.Context(), t, "execute_python", map[string]any{"dataset_id": "shop", "python_code": code, "max_rows": 5, "seconds": 20}, &out)
	return out, err
}

func TestPythonInAndOut(t *testing.T) {
	w := newWorkshop(t, nil)
	for _, c := range []struct{ name, code, columns, rows, value string }{
		{"a table by its name", "result_df = orders.merge(customers, left_on='customer_id', right_on='id').groupby('city').amount.sum()", `["city","amount"]`, `[["Basel",7.0],["Bern",130.75]]`, ""},
		{"a table by text", "result_df = tables['orders'][['id', 'status']].head(1)", `["id","status"]`, `[[1,"paid"]]`, ""},
		{"a list", "result_df = [1, 2**60, None]", `["value"]`, `[[1],["1152921504606846976"],[null]]`, `[1,"1152921504606846976",null]`},
		{"records", "result_df = [{'n': 1, 'at': None}, {'n': None, 'at': pd.Timestamp('2024-01-02', tz='UTC')}]", `["n","at"]`, `[[1,null],[null,"2024-01-02 00:00:00+00"]]`, `[{"n":1,"at":null},{"n":null,"at":"2024-01-02 00:00:00+00"}]`},
		{"a dict", "result_df = {'n': len(orders), 'ok': True}", `["n","ok"]`, `[[5,true]]`, `{"n":5,"ok":true}`},
		{"a plain value", "result_df = float(orders.amount.max())", `["value"]`, `[[99.99]]`, `99.99`},
		{"the last expression", "orders.id.sum()", `["value"]`, `[[15]]`, `15`},
		{"nothing", "x = 1", `[]`, `[]`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := w.python(t, c.code)
			if err != nil {
				t.Fatal(err)
			}
			columns, _ := json.Marshal(out.Columns)
			if d := cmp.Diff([]string{c.columns, c.rows, c.value}, []string{string(columns), string(out.Rows), string(out.Value)}); d != "" || out.Status != "success" {
				t.Errorf("status %s: %s", out.Status, d)
			}
		})
	}
	t.Run("more rows than asked for", func(t *testing.T) {
		out, err := w.python(t, "result_df = range(100)")
		if err == nil {
			t.Fatalf("a range is no table, but gave %s", out.Rows)
		}
		if out, err = w.python(t, "result_df = list(range(100))"); err != nil || !out.Limited || out.RowCount != 5 || out.TotalRows != 100 || string(out.Rows) != "[[0],[1],[2],[3],[4]]" {
			t.Errorf("%+v %v", out, err)
		}
	})
	t.Run("figures and files", func(t *testing.T) {
		out, err := w.python(t, "plt.plot([1, 2])\norders.to_csv('orders.csv', index=False)\nopen('x.exe', 'w').write('x')")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, id := range out.Artifacts {
			f, meta, err := w.s.artifacts.Open(t.Context(), "ann", id)
			if err != nil {
				t.Fatal(err)
			}
			head := make([]byte, 4)
			_, _ = io.ReadFull(f, head)
			f.Close()
			got = append(got, fmt.Sprintf("%s %s %s %q", meta.Name, meta.Producer, meta.MIME, head))
		}
		if d := cmp.Diff([]string{`figure_1.png python image/png "\x89PNG"`, `orders.csv python text/csv; charset=utf-8 "id,c"`}, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"x.exe: not a kind of file that is kept"}, out.Skipped); d != "" {
			t.Error(d)
		}
	})
	t.Run("both streams, apart, as they come", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		w.hear = func(stream, _ string) {
			if stream == "stderr" {
				stop() // it runs for a minute more, if this did not reach us
			}
		}
		defer func() { w.hear = nil }()
		begun := time.Now()
		err := w.call(ctx, t, "execute_python", map[string]any{
			"dataset_id": "shop", "max_rows": 5, "seconds": 120,
			"python_code": "import time, warnings\nprint('Grüße ' * 1000)\nwarnings.warn('careful')\ntime.sleep(60)",
		}, &toolbox.PythonOut{})
		if !fault.Is(err, fault.Stopped) || time.Since(begun) > 50*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		if d := cmp.Diff(strings.Repeat("Grüße ", 1000)+"\n", w.said["stdout"]); d != "" || !strings.Contains(w.said["stderr"], "UserWarning: careful") {
			t.Errorf("%s stderr %q", d, w.said["stderr"])
		}
	})
}

func TestPythonFailures(t *testing.T) {
	w := newWorkshop(t, map[string]string{"python-memory-mb": "256"})
	for _, c := range []struct {
		name, code string
		want       fault.Code
		message    string
	}{
		{"an exception", "print('so far')\ndef f():\n    return orders.nothing\nf()", fault.PyUserError, "AttributeError in line 3"},
		{"a forbidden import", "import socket", fault.PyPolicy, "line 1: import of 'socket' is not allowed"},
		{"too much memory", "print('so far')\nx = np.ones(1 << 30, dtype='u1')", fault.PyMemory, ""},
		{"a busy loop", "print('so far')\nwhile True: pass", fault.PyCPUTime, ""},
		{"a long wait", "print('so far')\nimport time\ntime.sleep(60)", fault.PyWallTime, ""},
		{"a flood", "while True: print('x' * 1000)", fault.PyOutputLimit, ""},
		{"no result", "result_df = object()", fault.PyResultError, "result_df is a object"},
		{"a death", "print('so far')\npd.io.common.os._exit(3)", fault.PyDied, "exit code 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func() error {
				return w.call(t.Context(), t, "execute_python", map[string]any{"dataset_id": "shop", "python_code": c.code, "max_rows": 5, "seconds": 3}, &toolbox.PythonOut{})
			}
			err := run()
			for try := 0; try < 5 && c.want == fault.PyCPUTime && fault.Is(err, fault.PyWallTime); try++ { // other programs took the processor
				err = run()
			}
			if c.want == fault.PyCPUTime && fault.Is(err, fault.PyWallTime) {
				t.Log("other programs took the processor: the loop ended by the wall clock")
				c.want = fault.PyWallTime
			}
			f := fault.From(err)
			if f == nil || f.Code != c.want || !strings.Contains(f.Message, c.message) {
				t.Fatalf("got %v, want %s %q", err, c.want, c.message)
			}
			trouble, ok := f.Details.(toolbox.PythonTrouble)
			if !ok || strings.HasPrefix(c.code, "print('so far')") && trouble.Stdout != "so far\n" {
				t.Errorf("details %+v", f.Details)
			}
			if c.want == fault.PyUserError {
				want := []toolbox.PythonFrame{{Line: 4, Function: "<module>", Text: "f()"}, {Line: 3, Function: "f", Text: "return orders.nothing"}}
				if d := cmp.Diff(want, trouble.Frames); d != "" || trouble.Line != 3 {
					t.Errorf("line %d %s", trouble.Line, d)
				}
			}
		})
	}
}

// oddTypes are columns of every type that the engine hands over, with a null each.
const oddTypes = `SELECT * FROM (
	SELECT 1 AS n, true AS b, 5::TINYINT AS i8, 200::UTINYINT AS u8, 60000::USMALLINT AS u16, 4000000000::UINTEGER AS u32, 18446744073709551615::UBIGINT AS u64,
		9223372036854775807 AS i64, 1.5::FLOAT AS f4, 0.1::DOUBLE AS f8, 12.30::DECIMAL(10,2) AS d, 123456789012345678901234567.89::DECIMAL(38,2) AS wide,
		DATE '2024-02-29' AS day, TIME '01:02:03.5' AS clock, TIMESTAMP '2024-01-02 03:04:05.678' AS at, TIMESTAMPTZ '2024-01-02 03:04:05+02' AS zoned,
		'2024-01-02 03:04:05'::TIMESTAMP_S AS s, '2024-01-02 03:04:05.123'::TIMESTAMP_MS AS ms, '2024-01-02 03:04:05.123456789'::TIMESTAMP_NS AS ns,
		'\xFF\x00a'::BLOB AS raw, 170141183460469231731687303715884105727::HUGEINT AS huge, '12345678-1234-1234-1234-123456789abc'::UUID AS id, [1, 2] AS list, 'ü' AS text,
		'infinity'::TIMESTAMP AS never, 'infinity'::DATE AS noday
	UNION ALL BY NAME SELECT 2 AS n
	UNION ALL BY NAME SELECT 3 AS n, 'b' AS text) ORDER BY n`

func TestPythonExecution(t *testing.T) {
	w := newWorkshop(t, nil)
	var out toolbox.PythonExecutionOut
	run := func(code string) error {
		out = toolbox.PythonExecutionOut{}
		return w.call(t.Context(), t, "python_execution", map[string]any{"code": code, "seconds": 20}, &out)
	}
	if err := run("print(len(orders))"); err != nil || out.Stdout != "5\n" || out.Stderr != "" {
		t.Errorf("%+v %v", out, err)
	}
	if err := run("print('before')\nx = 1 / 0"); err != nil || out.Stdout != "before\n" || !strings.Contains(out.Stderr, "line 2") || !strings.Contains(out.Stderr, "x = 1 / 0") || !strings.Contains(out.Stderr, "ZeroDivisionError") {
		t.Errorf("%+v %v", out, err)
	}
	err := run("print('before')\nimport importlib\n")
	if trouble, ok := fault.From(err).Details.(toolbox.PythonTrouble); !fault.Is(err, fault.PyPolicy) || !ok || trouble.Stdout != "" {
		t.Errorf("%v %+v", err, trouble)
	}
}

// TestPythonShortcut runs Python through the server without any model.
func TestPythonShortcut(t *testing.T) {
	w := newWorld(t)
	w.flags = append(w.flags, "--provider", "offline")
	p := w.serve()
	all := p.say(`{"message":"python: import time, warnings\nprint('one')\ntime.sleep(0.2)\nwarnings.warn('two')\nplt.plot([1])\nresult_df = customers[['name']]","dataset_id":"shop"}`)
	var names []string
	for _, ev := range all {
		if ev.name != "state" && ev.name != "progress" {
			names = append(names, ev.name)
		}
	}
	if !slices.Equal(names, []string{"tool_call", "artifact", "tool_result", "result", "done"}) {
		t.Errorf("told %q", names)
	}
	streams := map[string]string{}
	for _, x := range pick[struct{ Note, Stream string }](t, all, "progress") {
		streams[x.Stream] += x.Note
	}
	if streams["stdout"] != "one\n" || !strings.Contains(streams["stderr"], "two") {
		t.Errorf("streams %q", streams)
	}
	chat := the[chatResponse](t, all, "result")
	if d := cmp.Diff([][]any{{"Ada"}, {"Ben"}, {"Cleo"}}, chat.Result.Rows); d != "" || chat.Status != "succeeded" || chat.Details["query_mode"] != "python" {
		t.Errorf("%+v %s", chat, d)
	}
	printed := the[struct {
		Result    struct{ Stdout, Stderr string }
		Artifacts []struct{ Name, MIME, URL string }
	}](t, all, "result")
	if printed.Result.Stdout != "one\n" || !strings.Contains(printed.Result.Stderr, "two") {
		t.Errorf("what was printed is not in the reply: %+v", printed)
	}
	if len(printed.Artifacts) != 1 || printed.Artifacts[0].MIME != "image/png" || !strings.HasPrefix(printed.Artifacts[0].URL, "/api/artifacts/") {
		t.Errorf("the picture is not in the reply: %+v", printed.Artifacts)
	}
	p.call("POST", "/runs", `{"dataset_id":"shop","query_type":"python","python_code":"result_df = orders.amount.sum()"}`, http.StatusOK, &chat)
	if d := cmp.Diff([][]any{{137.75}}, chat.Result.Rows); d != "" || chat.Status != "succeeded" || chat.Details["python_code"] == nil {
		t.Errorf("%+v %s", chat, d)
	}
	p.call("POST", "/runs", `{"dataset_id":"shop","query_type":"python","python_code":"import subprocess"}`, http.StatusOK, &chat)
	if chat.Status != "rejected" || chat.Result.Error == nil || chat.Result.Error.Type != "policy" {
		t.Errorf("%+v", chat)
	}
	for _, machine := range []string{"analyst", "workbench"} {
		all := p.say(toJSON(map[string]string{"message": "PYTHON: print('as far as here')\n1/0", "dataset_id": "shop", "machine": machine}))
		failed := the[struct {
			Outcome string
			Result  struct {
				Stdout string
				Error  struct{ Message string }
			}
		}](t, all, "result")
		if failed.Outcome != "failed" || failed.Result.Stdout != "as far as here\n" || !strings.Contains(failed.Result.Error.Message, "ZeroDivisionError") {
			t.Errorf("%s: %+v", machine, failed)
		}
	}
	p.call("POST", "/runs", `{"dataset_id":"shop","query_type":"python","python_code":"x = 1\nx.y"}`, http.StatusOK, &chat)
	if chat.Status != "failed" || chat.Result.Error == nil || chat.Result.Error.Type != "user_error" || !strings.Contains(chat.Result.Error.Message, "line 2") {
		t.Errorf("%+v", chat)
	}
}

// TestPythonMissing refuses, with the reason, where Python is off or cannot be walled
// in as the settings demand.
func TestPythonMissing(t *testing.T) {
	for _, c := range []struct{ flag, code, message, doctor string }{
		{"--python=false", "FEATURE_DISABLED", "switched off", "off"},
		{"--python-min-level=machine", "sandbox_unavailable", "demand machine", "only to the level namespaces, but the settings demand machine"},
		{"--python-path=/bin/false", "sandbox_unavailable", "no Python with pandas", "apt-get install python3-pandas"},
	} {
		t.Run(c.flag, func(t *testing.T) {
			w := newWorld(t)
			w.flags = append(w.flags, "--provider", "offline", c.flag)
			out, errs, code := w.run("chat", "--dataset", "shop", "--json", "PYTHON: 1")
			var said struct{ Reply chatResponse }
			if err := json.Unmarshal([]byte(out), &said); err != nil {
				t.Fatalf("%v in %s%s", err, out, errs)
			}
			if chat := said.Reply; chat.Status != "failed" || chat.Result.Error == nil || chat.Result.Error.Type != c.code || !strings.Contains(chat.Result.Error.Message, c.message) || code == 0 {
				t.Errorf("exit %d: %s", code, out)
			}
			if out, errs, _ := w.run("doctor"); !strings.Contains(out, c.doctor) {
				t.Errorf("doctor does not say %q: %s%s", c.doctor, out, errs)
			}
		})
	}
}

// TestTwoChannels takes Python through the assistant: what is printed is the person's
// and ends the turn; errors are the model's, who tries again.
func TestTwoChannels(t *testing.T) {
	w := newWorld(t)
	a := newActor(t, func(user string, results int) line {
		switch {
		case strings.Contains(user, "good"):
			return line{calls: []lineCall{{"python_execution", `{"code":"print(6 * 7)"}`}}}
		case results == 0:
			return line{calls: []lineCall{{"python_execution", `{"code":"print('half')\nprint(1 / 0)"}`}}}
		}
		return line{text: "It cannot be divided."}
	})
	w.flags, w.env = append(w.flags, a.flags()...), append(w.env, "OPENAI_API_KEY=sk-test")
	p := w.serve()
	settings := `"machine":"assistant","settings":{"primary_capability":"python","documents":false,"sql":false,"mcp":false}`
	all := p.say(`{"message":"good code",` + settings + `}`)
	got := pick[toldResult](t, all, "tool_result")
	if n, _ := a.counts(); len(got) != 1 || n != 1 || !strings.Contains(string(got[0].Output), `42`) || strings.Contains(string(got[0].Output), "stderr") {
		t.Errorf("%d model calls, results %+v", n, got)
	}
	a.forget()
	all = p.say(`{"message":"bad code",` + settings + `}`)
	got = pick[toldResult](t, all, "tool_result")
	if n, _ := a.counts(); len(got) != 1 || n != 2 || got[0].Status != "ok" || !strings.Contains(string(got[0].Output), "half") {
		t.Errorf("%d model calls, results %+v", n, got)
	}
	told := false
	a.mu.Lock()
	for request := range a.asked {
		told = told || strings.Contains(request, "ZeroDivisionError in line 2")
	}
	a.mu.Unlock()
	var states []string
	for _, s := range pick[struct{ State string }](t, all, "state") {
		states = append(states, s.State)
	}
	if !told || !slices.Contains(states, "code_execution_handoff") {
		t.Errorf("the model was told of the line: %v; states %q", told, states)
	}
}

// TestArtifactsOfAnEarlierTurn: the address of an output leads to what that turn made, also
// after the same code made another.
func TestArtifactsOfAnEarlierTurn(t *testing.T) {
	w := newWorld(t)
	w.flags = append(w.flags, "--provider", "offline")
	p := w.serve()
	type reply struct {
		Thread    string `json:"thread_id"`
		Artifacts []struct {
			URL     string
			Version int
		}
	}
	var first, second reply
	said := map[string]string{"message": "PYTHON: import time\nopen('when.txt', 'w').write(str(time.time_ns()))", "dataset_id": "shop"}
	p.call("POST", "/chat", toJSON(said), http.StatusOK, &first)
	said["thread_id"] = first.Thread
	p.call("POST", "/chat", toJSON(said), http.StatusOK, &second)
	if len(first.Artifacts) != 1 || len(second.Artifacts) != 1 || second.Artifacts[0].Version != 2 {
		t.Fatalf("%+v, %+v", first, second)
	}
	var made [2]int64
	for i, r := range []reply{first, second} {
		p.call("GET", r.Artifacts[0].URL, "", http.StatusOK, &made[i])
	}
	if made[0] >= made[1] {
		t.Errorf("the first turn made %d, the second %d", made[0], made[1])
	}
}
