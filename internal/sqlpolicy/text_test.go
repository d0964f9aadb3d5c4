package sqlpolicy

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTrim(t *testing.T) {
	for in, want := range map[string]string{
		"SELECT 1":                            "SELECT 1",
		"SELECT 1;":                           "SELECT 1",
		"SELECT 1 ; ; -- x ;\n /* ; */ ;":     "SELECT 1 ",
		"SELECT ';'; ":                        "SELECT ';'",
		"SELECT \";\" ;":                      "SELECT \";\" ",
		"SELECT 'it''s;' ;":                   "SELECT 'it''s;' ",
		"SELECT e'\\';' ;":                    "SELECT e'\\';' ",
		"SELECT $$;$$ ;":                      "SELECT $$;$$ ",
		"SELECT $a$;$$;$a$ ;":                 "SELECT $a$;$$;$a$ ",
		"SELECT 1 -- ;\n":                     "SELECT 1 -- ;\n",
		"SELECT 1 /* a /* b */ ; */ ;":        "SELECT 1 /* a /* b */ ; */ ",
		"SELECT 1; SELECT 2":                  "SELECT 1; SELECT 2",
		"; SELECT 1;":                         "; SELECT 1",
		";":                                   ";",
		"SELECT 1; -- then\nDROP TABLE x":     "SELECT 1; -- then\nDROP TABLE x",
		"SELECT 'unfinished ;":                "SELECT 'unfinished ;",
		"SELECT a$b;":                         "SELECT a$b",
		"SELECT 1; /* unfinished DROP TABLE ": "SELECT 1",
	} {
		if got := cutSemicolon(in); got != want {
			t.Errorf("trim(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestApply(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM @shop.orders", "SELECT * FROM orders"},
		{`SELECT * FROM @"shop" . orders`, "SELECT * FROM orders"},
		{"SELECT * FROM @SHOP /* a */ . -- b\n orders, @shop.items", "SELECT * FROM orders, items"},
		{`FROM @"Shop"."my ""odd"" table"`, `FROM "my ""odd"" table"`},
		{"FROM @other.orders", ""},
		{"FROM @shop", ""},
		{"FROM @shop orders", ""},
		{"FROM @shop..orders", "FROM .orders"},
	} {
		var edits []edit
		sql := c.sql
		for at := strings.IndexByte(sql, '@'); at >= 0; at = strings.IndexByte(sql, '@') {
			edits = append(edits, edit{at: at})
			sql = sql[:at] + sql[at+1:]
		}
		got, ok := applyEdits(sql, "shop", edits)
		if ok != (c.want != "") || got != c.want {
			t.Errorf("%s: %q %v", c.sql, got, ok)
		}
	}
	if got, ok := applyEdits("FROM shop.orders", "shop", []edit{{5, "main."}}); !ok || got != "FROM main.orders" {
		t.Error(got)
	}
	if _, ok := applyEdits("x", "shop", []edit{{7, ""}}); ok {
		t.Error("an edit beyond the text")
	}
}

// Names differ unless they are equal but for the case of ASCII letters, as in the engine.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		f := fold(s)
		if len(f) != len(s) || fold(f) != f {
			t.Fatalf("fold(%q) = %q", s, f)
		}
		for i := range len(s) {
			if s[i] != f[i] && (s[i] < 'A' || s[i] > 'Z' || f[i] != s[i]+32) {
				t.Fatalf("fold(%q) = %q", s, f)
			}
		}
	})
}

// plainValue is a node as encoding/json would give it.
func plainValue(n *node) any {
	switch n.kind {
	case 't', 'f':
		return n.kind == 't'
	case '"':
		return n.text
	case '0':
		f, _ := strconv.ParseFloat(n.text, 64)
		return f
	case '[':
		out := make([]any, len(n.kids))
		for i := range n.kids {
			out[i] = plainValue(&n.kids[i].value)
		}
		return out
	case '{':
		out := map[string]any{}
		for i := range n.kids {
			out[n.kids[i].key] = plainValue(&n.kids[i].value)
		}
		return out
	}
	return nil
}

// FuzzTree: the decoder reads what the general one reads, and no tree makes the
// walk panic.
func FuzzTree(f *testing.F) {
	for _, s := range []string{
		`{}`, `[1,2.5e-3,"a\u00e9\ud83d\ude00\n",null,true,false,{}]`, `{"a":{"a":[[]]}}`, ` { "a" : 1 } `, `"\ud800"`, `{"a":1,"a":2}`, `-`, `1e999`,
		`{"error":false,"statements":[{"node":{"type":"SELECT_NODE","select_list":[{"class":"STAR"}]},"named_param_map":[]}]}`,
		`{"error":false,"plans":[{"type":"LOGICAL_GET","name":"seq_scan","function_data":{"table":"t"}}]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		scope := Scope{Alias: "d", Tables: []Table{{Name: "t", Columns: []string{"a"}}}}
		r, err := checkTree(text, "SELECT 1", scope, Limits{}.orDefault())
		if err == nil && r == nil {
			t.Fatal("neither a reading nor a refusal")
		}
		_, _ = checkPlan(text, "SELECT 1", scope, &reading{})
		n, err := decode(text)
		if err != nil {
			return
		}
		var want any
		if json.Unmarshal([]byte(text), &want) != nil {
			return // Infinity, numbers too large, and other things that the engine writes
		}
		if got := plainValue(n); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %#v, want %#v", text, got, want)
		}
	})
}

func BenchmarkWalk(b *testing.B) {
	tree := `{"error":false,"statements":[{"node":{"type":"SELECT_NODE","modifiers":[],"cte_map":{"map":[]},"select_list":[` +
		strings.TrimSuffix(strings.Repeat(`{"class":"COLUMN_REF","type":"COLUMN_REF","alias":"","query_location":1,"column_names":["a"]},`, 100), ",") +
		`],"from_table":{"type":"BASE_TABLE","table_name":"t"}},"named_param_map":[]}]}`
	scope := Scope{Tables: []Table{{Name: "t"}}}
	for b.Loop() {
		if _, err := checkTree(tree, "SELECT 1", scope, Limits{}.orDefault()); err != nil {
			b.Fatal(err)
		}
	}
}
