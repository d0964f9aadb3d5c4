package sqlpolicy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/dialect"
	"interlock/internal/fault"
	"interlock/internal/sqlpolicy"
)

// A recording is a statement with the engine's own tree and plan of it. It stands
// in for the engine: package query records them and checks that they still hold.
type recording struct {
	sql   string
	tree  json.RawMessage
	plan  json.RawMessage
	asked int
}

// Tree implements sqlpolicy.Parser. A text without the dataset's name has the same
// tree, but for the name.
func (r *recording) Tree(_ context.Context, sql string) ([]byte, error) {
	r.asked++
	if !strings.Contains(sql, "shop.") {
		return []byte(strings.ReplaceAll(string(r.tree), `"schema_name":"shop"`, `"schema_name":""`)), nil
	}
	return r.tree, nil
}

// Plan implements sqlpolicy.Parser.
func (r *recording) Plan(context.Context, string) ([]byte, error) { return r.plan, nil }

func recordings(tb testing.TB) map[string]*recording {
	tb.Helper()
	files, err := filepath.Glob("testdata/recorded/*.json")
	if err != nil || len(files) == 0 {
		tb.Fatal("no recordings", err)
	}
	out := map[string]*recording{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		var file struct {
			SQL        string
			Tree, Plan json.RawMessage
		}
		if err := json.Unmarshal(text, &file); err != nil {
			tb.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(path), ".json")] = &recording{sql: file.SQL, tree: file.Tree, plan: file.Plan}
	}
	return out
}

var scope = sqlpolicy.Scope{Version: "1", Alias: "shop", Tables: []sqlpolicy.Table{{Name: "customers"}, {Name: "Orders"}, {Name: "items"}}}

// scopeFor is the scope of a recording: one of them has three parameters.
func scopeFor(name string) sqlpolicy.Scope {
	s := scope
	if name == "params" {
		s.Params = 3
	}
	return s
}

func TestDecisions(t *testing.T) {
	want := map[string]sqlpolicy.Decision{
		"join": {
			SQL:     "SELECT c.name, sum(o.amount) AS total FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.day > DATE '2023-01-01' AND o.status IN ('paid', 'open') GROUP BY 1 HAVING count(*) > 2 ORDER BY 2 DESC LIMIT 10",
			Touches: []sqlpolicy.Touch{{"Orders", []string{"amount", "customer_id", "day", "status"}}, {"customers", []string{"id", "name"}}}, Functions: []string{"count_star", "sum"}, HasLimit: true, Limit: 10, HasOrder: true,
		},
		"with":   {Touches: []sqlpolicy.Touch{{"Orders", []string{"id"}}, {"items", []string{"order_id"}}}, Functions: []string{"+"}},
		"window": {Touches: []sqlpolicy.Touch{{"Orders", []string{"amount", "id", "note", "status"}}}, Functions: []string{"row_number", "sum", "upper"}},
		"lists":  {Touches: []sqlpolicy.Touch{{"Orders", []string{"amount", "customer_id", "day", "id", "note", "placed", "status"}}}, Functions: []string{"+", "-", "list_transform", "list_value", "map", "struct_pack"}, Volatile: true},
		"pivot":  {Touches: []sqlpolicy.Touch{{"Orders", []string{"amount", "customer_id", "status"}}}, Functions: []string{"sum"}, HasOrder: true},
		"ranges": {Touches: []sqlpolicy.Touch{{"customers", []string{"meta"}}}, Functions: []string{"json_each", "range"}, HasLimit: true, Limit: 3},
		"params": {
			SQL:     "SELECT id, note FROM orders WHERE amount > CAST($2 AS DECIMAL(12,2)) AND status IN (CAST($1 AS VARCHAR), CAST($3 AS VARCHAR)) AND note <> CAST($1 AS VARCHAR) LIMIT 5",
			Touches: []sqlpolicy.Touch{{"Orders", []string{"amount", "id", "note", "status"}}}, Functions: []string{}, HasLimit: true, Limit: 5,
		},
		"summary": {Touches: []sqlpolicy.Touch{{"Orders", []string{"amount", "customer_id", "day", "id", "note", "placed", "status"}}}, Functions: []string{}},
	}
	for name, r := range recordings(t) {
		got, err := sqlpolicy.New(sqlpolicy.Config{}).Check(t.Context(), r, scopeFor(name), r.sql)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		w := want[name]
		if w.SQL == "" {
			w.SQL = r.sql
		}
		if got.Form == "" || len(got.Lineage) == 0 {
			t.Errorf("%s has no form or no lineage", name)
		}
		w.Form, w.Lineage = got.Form, got.Lineage // see TestLineage of package query
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What the tree does not know it refuses: a field added to any object, an
// expression in the place of any value, a new kind of node.
func TestFailClosed(t *testing.T) {
	const smuggled = `{"class":"FUNCTION","type":"FUNCTION","function_name":"read_text","children":[]}`
	for name, r := range recordings(t) {
		var root any
		if err := json.Unmarshal(r.tree, &root); err != nil {
			t.Fatal(err)
		}
		var expression any
		if err := json.Unmarshal([]byte(smuggled), &expression); err != nil {
			t.Fatal(err)
		}
		refused := func(what, path string) {
			t.Helper()
			tree, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			mutant := &recording{sql: r.sql, tree: tree, plan: r.plan}
			if _, err := sqlpolicy.New(sqlpolicy.Config{}).Check(t.Context(), mutant, scopeFor(name), r.sql); err == nil {
				t.Errorf("%s: %s at %s was allowed", name, what, path)
			}
		}
		eachObject(root, "", func(path string, o map[string]any) {
			o["brand_new"] = expression
			refused("an added field", path)
			delete(o, "brand_new")
			for key, old := range o {
				if _, isList := old.([]any); isList || key == "alias" {
					continue
				}
				if s, ok := old.(string); ok && (key == "class" || key == "type" && o["class"] == nil) {
					o[key] = s + "_NEW"
					refused("a new kind", path+"/"+key)
				}
				if _, isObject := old.(map[string]any); !isObject && key != "query_location" {
					o[key] = expression
					refused("an expression", path+"/"+key)
				}
				o[key] = old
			}
		})
	}
}

// eachObject visits every object of a tree.
func eachObject(v any, path string, visit func(path string, o map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(path, v)
		for k, w := range v {
			eachObject(w, path+"/"+k, visit)
		}
	case []any:
		for i, w := range v {
			eachObject(w, fmt.Sprintf("%s/%d", path, i), visit)
		}
	}
}

// Exactly the parameters are admitted for which values come along.
func TestParameters(t *testing.T) {
	r := recordings(t)["params"]
	tree := string(r.tree)
	for _, c := range []struct {
		why    string
		params int
		tree   string
	}{
		{"no values come along", 0, tree},
		{"too few values", 2, tree},
		{"too many values", 4, tree},
		{"a name", 3, strings.ReplaceAll(strings.ReplaceAll(tree, `"identifier":"1"`, `"identifier":"day"`), `"key":"1"`, `"key":"day"`)},
		{"a number with a zero in front", 3, strings.ReplaceAll(strings.ReplaceAll(tree, `"identifier":"1"`, `"identifier":"01"`), `"key":"1"`, `"key":"01"`)},
		{"the parameter 1 takes value 3", 3, strings.ReplaceAll(tree, `"key":"1","value":1`, `"key":"1","value":3`)},
		{"a parameter that the list does not know", 3, strings.Replace(tree, `"identifier":"3"`, `"identifier":"4"`, 1)},
		{"a value that nothing takes", 3, strings.Replace(tree, `"identifier":"3"`, `"identifier":"2"`, 1)},
	} {
		s := scope
		s.Params = c.params
		_, err := sqlpolicy.New(sqlpolicy.Config{}).Check(t.Context(), &recording{sql: r.sql, tree: json.RawMessage(c.tree), plan: r.plan}, s, r.sql)
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok || f.Code != fault.SQLPolicy {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		if got := f.Details.(sqlpolicy.Refusal).Rule; got != sqlpolicy.RuleParameter {
			t.Errorf("%s: refused by the rule %s", c.why, got)
		}
	}
}

// A plan that reads something else than the tree said is refused.
func TestPlanDecidesAlone(t *testing.T) {
	r := recordings(t)["join"]
	for _, c := range []struct{ from, to, rule string }{
		{`"table":"orders"`, `"table":"hidden"`, "table"},
		{`"schema":"main","table":"orders"`, `"schema":"other","table":"orders"`, "table"},
		{`"catalog":"shop-1"`, `"catalog":"system"`, "table"},
		{`"name":"seq_scan"`, `"name":"read_text"`, "table_function"},
		{`"LOGICAL_FILTER"`, `"LOGICAL_COPY_TO_FILE"`, "unknown_syntax"},
		{`"name":"sum"`, `"name":"getvariable"`, "function"},
		{`"plans":[`, `"plans":[{},`, "unknown_syntax"},
		{`"column_indexes":[{"index":`, `"column_indexes":[{"which":`, "unknown_syntax"},
	} {
		if !strings.Contains(string(r.plan), c.from) {
			t.Errorf("the plan has no %s", c.from)
		}
		mutant := &recording{sql: r.sql, tree: r.tree, plan: json.RawMessage(strings.Replace(string(r.plan), c.from, c.to, 1))}
		_, err := sqlpolicy.New(sqlpolicy.Config{}).Check(t.Context(), mutant, scope, r.sql)
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok {
			t.Errorf("%s was allowed", c.to)
			continue
		}
		if got := f.Details.(sqlpolicy.Refusal).Rule; got != c.rule {
			t.Errorf("%s: rule %s, want %s", c.to, got, c.rule)
		}
	}
}

// unusedParser is a parser that must not be asked.
type unusedParser struct{}

func (unusedParser) Tree(context.Context, string) ([]byte, error) { return nil, errors.New("asked") }

func (unusedParser) Plan(context.Context, string) ([]byte, error) { return nil, errors.New("asked") }

// Some texts are refused before any parser sees them.
func TestBeforeParsing(t *testing.T) {
	p := sqlpolicy.New(sqlpolicy.Config{})
	for _, c := range []struct{ sql, rule string }{
		{"SELECT 1\x00; DROP TABLE x", sqlpolicy.RuleEncoding},
		{"SELECT '\x1b[31m'", sqlpolicy.RuleEncoding},
		{"SELECT 1\x7f", sqlpolicy.RuleEncoding},
		{"SELECT '\xff'", sqlpolicy.RuleEncoding},
		{"SELECT '" + strings.Repeat("x", 70_000) + "'", sqlpolicy.RuleTooLong},
		{"SELECT " + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300), sqlpolicy.RuleTooDeep},
		{"SELECT " + strings.Repeat("[", 300), sqlpolicy.RuleTooDeep},
	} {
		_, err := p.Check(t.Context(), unusedParser{}, scope, c.sql)
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok || f.Code != fault.SQLPolicy || f.Details.(sqlpolicy.Refusal).Rule != c.rule {
			t.Errorf("%.40q: %v", c.sql, err)
		}
	}
}

// A decision is remembered for the text, the data and the tables it was made for.
func TestCache(t *testing.T) {
	r := recordings(t)["window"]
	p := sqlpolicy.New(sqlpolicy.Config{Cache: 2})
	check := func(s sqlpolicy.Scope, sql string) {
		t.Helper()
		if _, err := p.Check(t.Context(), r, s, sql); err != nil {
			t.Fatal(err)
		}
	}
	asked := func(want int, why string) {
		t.Helper()
		if r.asked != want {
			t.Errorf("asked %d times, want %d: %s", r.asked, want, why)
		}
	}
	check(scope, r.sql)
	check(scope, r.sql)
	asked(1, "the second time is remembered")
	if _, ok, _ := p.Seen(scope, r.sql); !ok {
		t.Error("not seen")
	}
	newer := scope
	newer.Version = "2"
	check(newer, r.sql)
	asked(2, "other data")
	fewer := scope
	fewer.Tables = []sqlpolicy.Table{{Name: "orders"}}
	check(fewer, r.sql)
	asked(3, "other tables")
	if _, ok, _ := p.Seen(scope, r.sql); ok {
		t.Error("the cache keeps more than it should")
	}
	check(scope, r.sql)
	asked(4, "the oldest was forgotten")
	valued := scope
	valued.Params = 1
	if _, ok, _ := p.Seen(valued, r.sql); ok {
		t.Error("another number of values is taken for the same")
	}
	if _, err := p.Check(t.Context(), unusedParser{}, newer, r.sql); err == nil {
		t.Error("a failure of the parser was taken for a decision")
	}
	if _, ok, _ := p.Seen(newer, r.sql); ok {
		t.Error("a failure of the parser was remembered")
	}
}

func TestLists(t *testing.T) {
	for name, want := range map[string]sqlpolicy.Verdict{"SUM": sqlpolicy.Allowed, "current_setting": sqlpolicy.Denied, "no_such": sqlpolicy.Unknown} {
		if got := sqlpolicy.Function(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if sqlpolicy.TableFunction("range") != sqlpolicy.Allowed || sqlpolicy.TableFunction("read_csv") != sqlpolicy.Denied {
		t.Error("table functions are mixed up")
	}
}

// Statements for an engine without rules never run.
func TestEngineWithoutRules(t *testing.T) {
	if _, ok := sqlpolicy.RulesFor(dialect.BigQuery); ok {
		t.Fatal("BigQuery, which no connector reaches, has rules")
	}
	s := scope
	s.Dialect = dialect.BigQuery
	if d, err := sqlpolicy.New(sqlpolicy.Config{}).Check(t.Context(), unusedParser{}, s, "SELECT 1"); !fault.Is(err, fault.Internal) {
		t.Errorf("%+v, %v", d, err)
	}
}
