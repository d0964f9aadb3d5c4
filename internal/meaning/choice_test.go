package meaning_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/meaning"
	"interlock/internal/schema"
)

// TestAddChoice adds a line to files of every form that is read, keeps all else, and takes it out again.
func TestAddChoice(t *testing.T) {
	orders := schema.Dataset{ID: "shop", Tables: []schema.Table{{Name: "orders", Columns: []schema.Column{{Name: "id"}, {Name: "order_date"}, {Name: "ship_date"}}}}}
	const head = "version: 0.2.0.dev0\nsemantic_model:\n"
	for name, text := range map[string]string{
		"none":            "",
		"block":           head + "  - name: shop\n    # the tables\n    datasets:\n      - {name: orders, source: orders} # all\n",
		"other model":     head + "  - name: other\n    datasets:\n      - {name: orders, source: orders}\n  - name: shop\n    description: |\n      two\n      lines\n    datasets:\n      - {name: orders, source: orders}\n",
		"other vendor":    head + "  - name: shop\n    custom_extensions:\n      - vendor_name: COMMON\n        data: '{}'\n    datasets: [{name: orders, source: orders}]\n",
		"ours":            head + "  - name: shop\n    datasets:\n      - {name: orders, source: orders}\n    custom_extensions:\n      - vendor_name: INTERLOCK # ours\n        data: '{\"today\": \"2026-01-31\"}' # an extract\n",
		"ours, in a line": head + "  - name: shop\n    datasets:\n      - {name: orders, source: orders}\n    custom_extensions: [{vendor_name: INTERLOCK, data: \"{\\\"today\\\": \\\"2026-01-31\\\"}\"}]\n",
		"JSON":            `{"version": "0.2.0.dev0", "semantic_model": [{"name": "Größe", "datasets": [{"name": "orders", "source": "orders"}]}]}`,
		"JSON, lines":     "{\"version\": \"0.2.0.dev0\",\n \"semantic_model\": [\n  {\n   \"name\": \"shop\", \"datasets\": [{\"name\": \"orders\", \"source\": \"orders\"}], \"custom_extensions\": [{\"vendor_name\": \"COMMON\", \"data\": \"{}\"}]}]}",
	} {
		t.Run(name, func(t *testing.T) {
			choices := func(text []byte) []schema.Choice {
				doc, found := meaning.Read(meaning.File, text)
				if doc == nil {
					t.Fatalf("%v\n%s", found, text)
				}
				checked, found := meaning.Check(doc, orders)
				if len(found.Errors()) > 0 {
					t.Fatalf("%v\n%s", found, text)
				}
				if strings.Contains(name, "ours") && checked.Meaning.Today == "" {
					t.Errorf("the day went away:\n%s", text)
				}
				return checked.Meaning.Chosen
			}
			when := schema.Choice{Term: "when", Reading: "the order date of orders"}
			one, err := meaning.AddChoice(meaning.File, []byte(text), orders, when)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(text) {
				if strings.Contains(line, "#") && !strings.Contains(string(one), line[strings.Index(line, "#"):]) {
					t.Errorf("a comment went away: %s", line)
				}
			}
			two, err := meaning.AddChoice(meaning.File, one, orders, schema.Choice{Term: "it's", Reading: "the id of orders"})
			if err != nil || len(choices(two)) != 2 || choices(two)[0] != when {
				t.Fatalf("%v\n%s", err, two)
			}
			other, err := meaning.AddChoice(meaning.File, two, orders, schema.Choice{Term: "When", Reading: "the ship date of orders"})
			if list := choices(other); err != nil || len(list) != 2 || list[1].Reading != "the ship date of orders" {
				t.Fatalf("another date did not take the place of the first: %v\n%s", err, other)
			}
			less, err := meaning.RemoveChoice(meaning.File, two, orders, meaning.ChoiceID(when))
			if list := choices(less); err != nil || len(list) != 1 || list[0].Term != "it's" {
				t.Fatalf("%v\n%s", err, less)
			}
			if _, err := meaning.RemoveChoice(meaning.File, less, orders, meaning.ChoiceID(when)); !fault.Is(err, fault.NotFound) {
				t.Errorf("forgotten twice: %v", err)
			}
		})
	}
}

// TestAddChoiceRefuses changes nothing where it cannot do so safely.
func TestAddChoiceRefuses(t *testing.T) {
	shop := schema.Dataset{ID: "shop", Tables: []schema.Table{{Name: "orders"}}}
	for name, tt := range map[string]struct {
		text string
		c    schema.Choice
	}{
		"empty":        {"", schema.Choice{Term: " ", Reading: "x"}},
		"control":      {"", schema.Choice{Term: "x\x00", Reading: "x"}},
		"unreadable":   {"version: [", schema.Choice{Term: "x", Reading: "orders"}},
		"literal data": {"version: 0.2.0.dev0\nsemantic_model:\n  - name: shop\n    datasets: [{name: orders, source: orders}]\n    custom_extensions:\n      - vendor_name: INTERLOCK\n        data: |\n          {\"today\": \"2026-01-31\"}\n", schema.Choice{Term: "x", Reading: "orders"}},
	} {
		if out, err := meaning.AddChoice(meaning.File, []byte(tt.text), shop, tt.c); err == nil {
			t.Errorf("%s: written as\n%s", name, out)
		} else if fault.From(err).Suggestion == "" {
			t.Errorf("%s: no repair in %v", name, err)
		}
	}
}

// TestAddVerified keeps questions with their plans, the same question once, and takes them out again;
// the rest of the text stays.
func TestAddVerified(t *testing.T) {
	before := []byte("version: 0.2.0.dev0\nsemantic_model:\n  - name: shop # ours\n    datasets:\n      - {name: orders, source: orders}\n    custom_extensions:\n      - vendor_name: INTERLOCK\n        data: '{\"today\": \"2026-01-31\"}'\n")
	keep := func(text []byte, question, plan string) []byte {
		t.Helper()
		out, err := meaning.AddVerified(meaning.File, text, shop(), schema.VerifiedQuestion{Question: question, Plan: json.RawMessage(plan)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	verified := func(text []byte) (out []string) {
		t.Helper()
		doc, _ := meaning.Read(meaning.File, text)
		checked, found := meaning.Check(doc, shop())
		if len(found.Errors()) > 0 || checked.Meaning.Today != "2026-01-31" {
			t.Fatalf("%v\n%s", found, text)
		}
		for _, v := range checked.Meaning.Verified {
			out = append(out, v.Question+" "+string(v.Plan))
		}
		return out
	}
	text := keep(before, "How many orders? It's \"all\"", `{"table":"orders","select":[{"function":"count"}]}`)
	text = keep(text, "Who buys?", `{"table":"customers","select":[{"column":"name"}]}`)
	text = keep(text, "who  buys?", `{"table":"customers","select":[{"column":"city"}]}`)
	want := []string{`How many orders? It's "all" {"table":"orders","select":[{"function":"count"}]}`, `who buys? {"table":"customers","select":[{"column":"city"}]}`}
	if got := verified(text); !slices.Equal(got, want) || !strings.Contains(string(text), "- name: shop # ours\n") {
		t.Errorf("%q\n%s", got, text)
	}
	text, err := meaning.RemoveVerified(meaning.File, text, shop(), meaning.VerifiedID("Who buys?"))
	if err != nil || len(verified(text)) != 1 {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := meaning.RemoveVerified(meaning.File, text, shop(), "v1"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown id: %v", err)
	}
	for _, bad := range []string{"", "a\x00b", strings.Repeat("x", 600)} {
		if _, err := meaning.AddVerified(meaning.File, nil, shop(), schema.VerifiedQuestion{Question: bad, Plan: json.RawMessage(`{}`)}); !fault.Is(err, fault.BadRequest) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
