package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/machine"
)

// exprMachine is a machine whose history holds expressions to be evaluated.
func exprMachine(t testing.TB, sources ...string) *machine.Machine {
	t.Helper()
	var b strings.Builder
	b.WriteString(`name: bench
settings: {limit: {type: int, default: 3, min: 1}, on: {type: bool, default: true}}
facts:
  n: int
  s: string
  j: json
  list: {type: list(json), default: []}
  twice: {type: json, is: n * 2}
  big: {type: bool, is: twice >= 10}
start: a
states:
  a:
    kind: agent
    terminal: true
history:
  beside:
`)
	for i, s := range sources {
		fmt.Fprintf(&b, "    x%d: %q\n", i, s)
	}
	m, err := machine.Parse(map[string]string{machine.File: b.String()})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEval(t *testing.T) {
	facts := map[string]any{
		"n": 7, "s": "text", "j": map[string]any{"a": map[string]any{"b": int64(2)}, "xs": []any{1, "two", nil}},
		"list": []any{map[string]any{"k": "x", "v": 1.5}, map[string]any{"k": "y", "v": 2}},
	}
	scope := &machine.Scope{
		Facts: facts, Settings: map[string]any{"limit": 3, "on": true}, Event: map[string]any{"name": "returned", "args": map[string]any{"a": 1}},
		Turn: map[string]any{"text": "hello", "elapsed_ms": 12}, State: map[string]any{"name": "a"}, Visits: map[string]int{"a": 2},
	}
	for source, want := range map[string]any{
		`n`:                         7.0,
		`n + 1`:                     8.0,
		`n / 0`:                     nil,
		`n % 4`:                     3.0,
		`s + "!"`:                   "text!",
		`s + j.missing`:             nil,
		`twice`:                     14.0,
		`big`:                       true,
		`big && !settings.on`:       false,
		`j.a.b`:                     2.0,
		`j.a.b.c.d`:                 nil,
		`j["a"]["b"]`:               2.0,
		`j?.none?.deeper`:           nil,
		`j.xs[-1]`:                  nil,
		`j.xs[0]`:                   1.0,
		`j.xs[1:]`:                  []any{"two", nil},
		`len(j.none)`:               0.0,
		`len(list)`:                 2.0,
		`j.none < 3`:                false,
		`j.none >= 0`:               false,
		`j.none == nil`:             true,
		`j.none != nil`:             false,
		`j.none == false`:           false,
		`!j.none`:                   true,
		`j.none || j.none`:          false,
		`j.none in ["a"]`:           false,
		`nil in [nil]`:              false,
		`"two" in j.xs`:             true,
		`"a" in j`:                  true,
		`s in j.none`:               false,
		`j.none ?? "else"`:          "else",
		`n > 5 ? "many" : "few"`:    "many",
		`any(list, .k == "y")`:      true,
		`all(j.none, # > 1)`:        true,
		`none(list, .v > 2)`:        true,
		`count(list, .v >= 1.5)`:    2.0,
		`map(list, .k)`:             []any{"x", "y"},
		`filter(list, .v > 1.5)`:    []any{map[string]any{"k": "y", "v": 2.0}},
		`find(list, .k == "x").v`:   1.5,
		`sum(list, .v)`:             3.5,
		`concat(j.xs, j.none, [1])`: []any{1.0, "two", nil, 1.0},
		`{a: n, b: [s]}`:            map[string]any{"a": 7.0, "b": []any{"text"}},
		`visits("a")`:               2.0,
		`join(map(list, .k), "-")`:  "x-y",
		`upper(trim(" a "))`:        "A",
		`json("Here:\n` + "```json" + `\n{\"a\": 1.10}\n` + "```" + `\n")`: `{"a": 1.10}`,
		`json("` + "```json" + `\r\n{\"a\": 1}\r\n` + "```" + `")`:         `{"a": 1}`,
		`json(" [1, 2] ")`:                          "[1, 2]",
		`json("12") == nil`:                         true,
		`json("{\"a\": }") == nil`:                  true,
		`json(nil) == nil`:                          true,
		`table(["a", "b|c"], [[1, "x\ny"], [nil]])`: "| a | b\\|c |\n| --- | --- |\n| 1 | x y |\n|  |  |",
		`table(nil, nil) == nil`:                    true,
		`min(3, n)`:                                 3.0,
		`max([1, 9, 4])`:                            9.0,
		`round(2.5)`:                                3.0,
		`int("12")`:                                 12.0,
		`string(n)`:                                 "7",
		`s contains "ex"`:                           true,
		`s matches "^t.*t$"`:                        true,
		`s not in ["text"]`:                         false,
		`1 < n < 10`:                                true,
		`any(list, any(j.xs, # == "two") && .k == "x")`:            true,
		`turn.elapsed_ms > 10 && state.name == "a"`:                true,
		`event.name == "returned"`:                                 true,
		`hash(1, "a", {y: 2, x: 1}) == hash(1, "a", {x: 1, y: 2})`: true,
		`len(hash(n))`:           16.0,
		`keys({b: 1, a: 2})`:     []any{"a", "b"},
		`-n`:                     -7.0,
		`list | map(.v) | len()`: 2.0,
	} {
		t.Run(source, func(t *testing.T) {
			m := exprMachine(t, source)
			got, err := m.Eval(m.History.Beside[0].Expr, scope)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEvalIsBounded(t *testing.T) {
	m := exprMachine(t, `count(list, any(list, any(list, # == 1)))`, `len(map(list, map(list, map(list, 1))))`)
	items := make([]any, 2000)
	scope := &machine.Scope{Facts: map[string]any{"list": items}}
	for _, a := range m.History.Beside {
		if _, err := m.Eval(a.Expr, scope); err == nil {
			t.Errorf("%s: no error although it looks at eight billion items", a.Expr.Source)
		}
		if m.Holds(a.Expr, scope) {
			t.Errorf("%s holds", a.Expr.Source)
		}
	}
}

func TestRefusedExpressions(t *testing.T) {
	for _, source := range []string{
		`now()`, `let x = 1; x`, `1; 2`, `repeat("a", 9)`, `1..1000000`, `s matches s`, `#`, `n.foo()`, `a(`, ``,
		`n ** 9`, `date("2020-01-01")`, `reduce(list, #acc + #, 0)`, `toJSON(j)`, strings.Repeat("n + ", 3000) + "n",
	} {
		_, err := machine.Parse(map[string]string{machine.File: fmt.Sprintf("name: x\nfacts: {n: int, s: string, j: json, list: list(json)}\nstart: a\nstates: {a: {kind: agent, terminal: true}}\nreply: {x: %q}\n", source)})
		if err == nil {
			t.Errorf("%.40s: accepted", source)
		}
	}
}

func TestSaw(t *testing.T) {
	m := exprMachine(t, `big && settings.limit > 2 && len(list) >= 1 && visits("a") < 3 && j.a.b == 2`)
	long := make([]any, 12)
	scope := &machine.Scope{
		Facts:    map[string]any{"n": 4, "list": long, "j": map[string]any{"a": map[string]any{"b": 2}}},
		Settings: map[string]any{"limit": 3}, Visits: map[string]int{"a": 1},
	}
	want := map[string]any{"big": false, "twice": 8.0, "n": 4.0, "settings.limit": 3.0, "list": "list of 12", `visits("a")`: 1.0, "j.a.b": 2.0}
	if diff := cmp.Diff(want, m.GuardValues(m.History.Beside[0].Expr, scope)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRender(t *testing.T) {
	files := map[string]string{
		machine.File: "name: x\nfacts: {n: int, list: list(json)}\nstart: a\nstates: {a: {kind: agent, terminal: true, prompt: a.md}}\n",
		"a.md":       "N is {{ n }}, list {{list}}{{ n == nil ? \"gone\" : \"\" }}.\n",
	}
	m, err := machine.Parse(files)
	if err != nil {
		t.Fatal(err)
	}
	for want, facts := range map[string]map[string]any{
		"N is 3, list [\"<a>\",{\"b\":1}].\n": {"n": 3, "list": []any{"<a>", map[string]any{"b": 1}}},
		"N is , list gone.\n":                 {},
	} {
		got, err := m.Render(m.State("a").Prompt[0].Text, &machine.Scope{Facts: facts})
		if err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

func BenchmarkGuard(b *testing.B) {
	m := exprMachine(b, `big && settings.on && len(list) >= settings.limit && event.name == "returned"`)
	scope := &machine.Scope{Facts: map[string]any{"n": 7.0, "list": []any{1.0, 2.0, 3.0}}, Settings: map[string]any{"limit": 3.0, "on": true}, Event: map[string]any{"name": "returned"}}
	for b.Loop() {
		if !m.Holds(m.History.Beside[0].Expr, scope) {
			b.Fatal("does not hold")
		}
	}
}

func FuzzExpr(f *testing.F) {
	for _, s := range []string{`n > 1 && s == "x"`, `any(list, .a in j.b)`, `j.a[0]["b"] ?? {x: [1, 2]}`, `map(filter(list, # != nil), #.k)`, `s[1:-1] + join(list, s)`, `visits("a") % 0`, `((((n))))`, "a\x00b", `list[9e300]`} {
		f.Add(s)
	}
	scope := &machine.Scope{Facts: map[string]any{"n": 3, "s": "text", "j": map[string]any{"a": []any{1, nil}}, "list": []any{1, "b", map[string]any{"k": nil}, []any{}}}}
	f.Fuzz(func(t *testing.T, source string) {
		files := map[string]string{
			machine.File: "name: x\nfacts: {n: int, s: string, j: json, list: list(json)}\nstart: a\nstates: {a: {kind: agent, terminal: true, prompt: a.md}}\n",
			"a.md":       "{{" + source + "}}",
		}
		m, err := machine.Parse(files)
		if err != nil {
			return
		}
		one, err1 := m.Render(m.State("a").Prompt[0].Text, scope)
		two, err2 := m.Render(m.State("a").Prompt[0].Text, scope)
		if one != two || (err1 == nil) != (err2 == nil) {
			t.Errorf("%q gave %q, then %q", source, one, two)
		}
	})
}
