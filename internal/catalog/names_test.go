package catalog

import (
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"interlock/internal/schema"
)

func TestPlainName(t *testing.T) {
	for name, want := range map[string]string{
		"Orders": "orders", "Order Items (2024)": "order_items_2024", "2024-sales": "t_2024_sales", "Größe": "grosse", "select": "select_table",
		"naïve café": "naive_cafe", "__x__": "x", "a--b": "a_b", "ＦＵＬＬ": "full_table",
	} {
		if got := plainName(name); got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
	}
	if a, b := plainName("日本語"), plainName("中文"); a == b {
		t.Errorf("two names without a letter of the alphabet are both %q", a)
	}
}

var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func TestPlainNameIsAlwaysAName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		got := plainName(name)
		if !identifier.MatchString(got) || len(got) > maxName+20 || slices.Contains(reserved, got) {
			t.Fatalf("%q became %q", name, got)
		}
		if again := plainName(got); again != got {
			t.Fatalf("%q became %q and then %q", name, got, again)
		}
		if id := datasetID(name); id == "" || id[0] == '.' || regexp.MustCompile(`[/\\\x00]`).MatchString(id) {
			t.Fatalf("%q became the id %q", name, id)
		}
	})
}

// FuzzDictionary: no document breaks the loader, and nothing is described that is not there.
func FuzzDictionary(f *testing.F) {
	f.Add([]byte(`{"tables": {"orders": "x"}, "glossary": {"a": "b"}}`))
	f.Add([]byte(`{"tables": [{"name": "orders", "columns": [{"name": "id", "description": "d"}]}]}`))
	tables := []schema.Table{{Name: "orders", File: "orders.csv"}}
	f.Fuzz(func(t *testing.T, text []byte) {
		dict := newDictionary()
		dict.parse(text, tables)
		for name := range dict.Tables {
			if name != "orders" {
				t.Errorf("a table %q", name)
			}
		}
	})
}
