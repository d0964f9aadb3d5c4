package llm

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

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
		"reconcile invoces and paymnets":                 "invoices payments",
		"invoices with the bnak statment":                "invoices bank_statement",
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
	s := &scopedSide{alias: "invoices", columns: []sideColumn{{"issued", "DATE"}, {"total", "DECIMAL(9,2)"}, {"state", "VARCHAR"}}}
	s.addWritten(`Match invoices.issued >= 2025-10-01, bank.total > 5 and total<=100.50 with state = 'part paid'; nothing != 3`)
	raw, err := json.Marshal(s.conditions)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"column":"issued","op":"gte","value":"2025-10-01"},{"column":"total","op":"lte","value":100.50},{"column":"state","op":"eq","value":"part paid"}]`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Error(diff)
	}
}

// Days that a request names become conditions of the side that they are about, or a
// question; they are never passed over.
func TestScopeOfRequest(t *testing.T) {
	t.Parallel()
	const system = "Load.\n\n## Left source\n" + `{"alias":"invoices","columns":[{"name":"id","type":"VARCHAR"},{"name":"invoice_date","type":"DATE"},{"name":"due_date","type":"DATE"},{"name":"total","type":"DECIMAL(9,2)"}]}` +
		"\n\n## Right source\n" + `{"alias":"bank_statement","columns":[{"name":"booking_date","type":"DATE"},{"name":"value_date","type":"TIMESTAMP"},{"name":"amount","type":"DECIMAL(9,2)"}]}` + "\n\n"
	const october = `[{"column":"%s","op":"gte","value":"2025-10-01"},{"column":"%[1]s","op":"lt","value":"2025-11-01"}]`
	cond := func(column string) string {
		return strings.ReplaceAll(strings.ReplaceAll(october, "%s", column), "%[1]s", column)
	}
	question := func(text string) Message { return Message{Role: Assistant, Text: askScope + text} }
	user := func(text string) Message { return Message{Role: User, Text: text} }
	for name, c := range map[string]struct {
		history     []Message
		text        string
		left, right string // conditions
		asks        string
	}{
		"of one side":      {text: "Match the invoices of October 2025 with the bank statement", asks: "about invoices only, or about both"},
		"one was asked":    {history: []Message{user("Match the invoices of October 2025 with the bank statement"), question("which?")}, text: "invoices", left: cond("invoice_date")},
		"and which column": {history: []Message{user("Match the bank statement of October 2025 with the invoices"), question("only?"), user("both"), question("which?")}, text: "value_date", left: cond("invoice_date"), right: cond("value_date")},
		"by its column":    {text: "Match the invoices with a due date in October 2025 with the bank statement", left: cond("due_date")},
		"of both":          {text: "For October 2025, match invoices and bank statement by value date", left: cond("invoice_date"), right: cond("value_date")},
		"joined":           {text: "invoices and bank statement of October 2025, booking_date", left: cond("invoice_date"), right: cond("booking_date")},
		"of which":         {text: "match invoices with the bank statement of October 2025", asks: "about bank_statement only, or about both"},
		"several dates":    {text: "match bank statement and invoices of October 2025", asks: "has the dates booking_date, value_date"},
		"which was asked":  {history: []Message{user("match the bank statement of October 2025 with invoices"), question("which?")}, text: "value_date", right: cond("value_date")},
		"both was asked":   {history: []Message{user("hello"), {Role: Assistant, Text: askSources}, user("invoices with the bank statement of October 2025, booking_date"), question("which?")}, text: "both", left: cond("invoice_date"), right: cond("booking_date")},
		"before sources":   {history: []Message{user("reconcile October 2025 please"), {Role: Assistant, Text: askSources}}, text: "invoices and bank statement by booking_date", left: cond("invoice_date"), right: cond("booking_date")},
		"all after all":    {history: []Message{user("invoices and the bank statement of October 2025"), question("which?")}, text: "all rows"},
		"by the command":   {text: "Choose another scope", asks: "which ones are meant now?"},
		"after it":         {history: []Message{user("Choose another scope"), question("which?")}, text: "October 2025 by value_date", left: cond("invoice_date"), right: cond("value_date")},
		"another turn":     {history: []Message{user("invoices of October 2025"), {Role: Assistant, Text: "Done."}}, text: "invoices with the bank statement"},
		"a number":         {text: "invoices over 500 euros with the bank statement", asks: "what does 500 limit"},
		"a written number": {text: "invoices with the bank statement, total > 500", left: `[{"column":"total","op":"gt","value":500}]`},
	} {
		req := Request{System: system, History: c.history, Messages: []Message{user(c.text)}, Tools: []Tool{
			{Name: sourcesCall}, {Name: previewCall}, {Name: scopeCall, Schema: json.RawMessage(`{"properties":{"alias":{"enum":["invoices","bank_statement"]}}}`)},
		}}
		r := reconcileStep(req, time.Date(2026, 2, 10, 0, 0, 0, 0, time.UTC))
		if c.asks != "" {
			if len(r.Calls) != 0 || !strings.Contains(r.Text, c.asks) || r.Stop != StopQuestion {
				t.Errorf("%s: %q %v", name, r.Text, r.Calls)
			}
			continue
		}
		if len(r.Calls) != 2 {
			t.Errorf("%s: %q", name, r.Text)
			continue
		}
		for i, want := range []string{c.left, c.right} {
			var args struct{ Conditions json.RawMessage }
			if err := json.Unmarshal([]byte(r.Calls[i].Args), &args); err != nil {
				t.Fatal(err)
			}
			if want == "" {
				want = "[]"
			}
			if string(args.Conditions) != want {
				t.Errorf("%s: %s, want %s", name, args.Conditions, want)
			}
		}
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
		"asks after /other": {Request{History: []Message{result(proposeCall, `{}`), rules}, Messages: []Message{said}, Tools: tools(inferCall, proposeCall)}, `propose_match {}`},
		"infers other rows": {Request{History: []Message{result(proposeCall, `{}`), rules}, Messages: []Message{said, result(scopeCall, `{}`)}, Tools: tools(inferCall, proposeCall)}, `infer_rules {}`},
		"infers with more":  {Request{History: []Message{rules, result(proposeCall, `{}`)}, Messages: []Message{said}, Tools: tools(inferCall, proposeCall)}, `infer_rules {}`},
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
		r := reconcileStep(c.req, time.Date(2026, 2, 10, 0, 0, 0, 0, time.UTC))
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
