package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamedSources(t *testing.T) {
	sources := []namedSource{{Alias: "bank_statement"}, {Alias: "customers"}, {Alias: "invoices"}, {Alias: "payments"}, {Alias: "shop.orders"}, {Alias: "web.orders"}, {Alias: "web.visits"}}
	for text, want := range map[string]string{
		"reconcile invoices with the bank statement":     "invoices bank_statement",
		"Match the bank statement to my payments":        "bank_statement payments",
		"does every invoice have a payment?":             "invoices payments",
		"invoices, bank statement and payments":          "invoices bank_statement payments",
		"compare shop.orders with web.orders":            "shop.orders web.orders",
		"orders against payments":                        "payments", // nobody knows which orders
		"hello":                                          "",
		"Bitte BANK_STATEMENT mit INVOICES vergleichen.": "bank_statement invoices",
	} {
		if got := strings.Join(namedIn(text, sources), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := namedIn("do they agree?", sources[:2]); len(got) != 2 {
		t.Errorf("two sources are all there is: %q", got)
	}
}

func TestWrittenConditions(t *testing.T) {
	schema := []string{`{"alias":"invoices","columns":[{"name":"issued","type":"DATE"},{"name":"total","type":"DECIMAL(9,2)"},{"name":"state","type":"VARCHAR"}]}`}
	got := writtenConditions(`Match invoices.issued >= 2025-10-01, bank.total > 5 and total<=100.50 with state = 'part paid'; nothing != 3`, "invoices", schema)
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"column":"issued","op":"gte","value":"2025-10-01"},{"column":"total","op":"lte","value":100.50},{"column":"state","op":"eq","value":"part paid"}]`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Error(diff)
	}
}

// The tools that a state offers say what the offline model does next.
func TestOfflineLeads(t *testing.T) {
	tools := func(names ...string) (list []Tool) {
		for _, n := range names {
			list = append(list, Tool{Name: n, Schema: json.RawMessage(`{"properties":{"alias":{"enum":["a","b"]}}}`)})
		}
		return list
	}
	said := Message{Role: User, Text: "match invoices with payments"}
	result := func(name, text string) Message { return Message{Role: ToolRole, Name: name, Text: text} }
	const sources = "Settle it.\n\n## Sources\n{\"alias\":\"invoices\",\"row_count\":3}\n{\"alias\":\"payments\",\"row_count\":-1}\n{\"alias\":\"other\",\"row_count\":1}\n\n## More\nx"
	rules := result(inferCall, `{"rules":[{"id":"r1","sentence":"Same number","precision":0.99},{"id":"r2","sentence":"Same day","precision":0.4}],"problems":["two pairs contradict"]}`)
	for name, c := range map[string]struct {
		req  Request
		want string // calls, or part of the text
	}{
		"greets":            {Request{Messages: []Message{said}, Tools: tools(sourcesCall)}, `list_sources {}`},
		"chooses":           {Request{System: sources, Messages: []Message{said}, Tools: tools(sourcesCall, previewCall)}, `get_source_preview {"alias":"invoices","side":"left"} get_source_preview {"alias":"payments","side":"right"}`},
		"asks":              {Request{System: sources, Messages: []Message{{Role: User, Text: "hello"}}, Tools: tools(sourcesCall, previewCall)}, "payments (not counted)"},
		"loads":             {Request{Messages: []Message{said}, Tools: tools(sourcesCall, previewCall, scopeCall)}, `load_scoped {"alias":"a","conditions":[]} load_scoped {"alias":"b","conditions":[]}`},
		"says empty":        {Request{Messages: []Message{said, result(scopeCall, `{"alias":"a","total_rows":0}`)}, Tools: tools(sourcesCall, previewCall, scopeCall)}, "a has no rows"},
		"proposes":          {Request{Messages: []Message{said}, Tools: tools(previewCall, proposeCall)}, `propose_match {}`},
		"infers":            {Request{Messages: []Message{said, result(proposeCall, `{}`)}, Tools: tools(inferCall, proposeCall)}, `infer_rules {}`},
		"builds":            {Request{Messages: []Message{said, rules}, Tools: tools(inferCall, buildCall, proposeCall)}, `build_recipe {"rules":["r1"]}`},
		"asks once more":    {Request{Messages: []Message{said, rules, result(sampleCall, `{"answer":"other_rules"}`)}, Tools: tools(inferCall, proposeCall)}, `propose_match {}`},
		"infers again":      {Request{Messages: []Message{said, rules, result(proposeCall, `{}`)}, Tools: tools(inferCall, proposeCall)}, `infer_rules {}`},
		"validates":         {Request{Messages: []Message{said, result(buildCall, `{}`)}, Tools: tools(validateCall, sampleCall, previewCall)}, `validate_recipe {}`},
		"names findings":    {Request{Messages: []Message{said, result(buildCall, `{}`), result(validateCall, `{"findings":{"ok":false,"problems":[{"pointer":"/rules/0","message":"no column"}]}}`)}, Tools: tools(validateCall, sampleCall)}, "/rules/0: no column"},
		"samples":           {Request{Messages: []Message{said, result(buildCall, `{}`), result(validateCall, `{"findings":{"ok":true}}`)}, Tools: tools(validateCall, sampleCall)}, `run_sample {}`},
		"waits":             {Request{Messages: []Message{said, result(validateCall, `{}`), result(sampleCall, `{"answer":"not_yet"}`)}, Tools: tools(validateCall, sampleCall)}, "until you decide"},
		"runs":              {Request{Messages: []Message{said}, Tools: tools(fullCall, validateCall)}, `run_full {}`},
		"sums up":           {Request{Messages: []Message{said, result(fullCall, `{"note":"8 pairs match.","outcome":{"amount_matched":80,"amount_open":5}}`)}, Tools: tools(fullCall, validateCall)}, "80.00 are matched"},
		"runs once":         {Request{History: []Message{result(fullCall, `{}`)}, Messages: []Message{said}, Tools: tools(fullCall, validateCall)}, "The run is done"},
		"stops at failures": {Request{Messages: []Message{said, {Role: ToolRole, Name: fullCall, Failed: true, Text: `{"error":"too_large","message":"too many rows","suggestion":"Choose fewer."}`}}, Tools: tools(fullCall)}, "I cannot go on: too many rows. Choose fewer."},
	} {
		r := reconcileStep(c.req)
		got := r.Text
		if len(r.Calls) > 0 {
			var calls []string
			for _, call := range r.Calls {
				calls = append(calls, call.Name+" "+call.Args)
			}
			if got = strings.Join(calls, " "); got != c.want {
				t.Errorf("%s: %s", name, got)
			}
		} else if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
