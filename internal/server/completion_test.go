package server_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/llm"
	"interlock/internal/server"
)

// completed is what clients of /v1 read of an answer.
type completed struct {
	ID      string
	Object  string
	Model   string
	Choices []struct {
		Message struct{ Role, Content string }
		Finish  string `json:"finish_reason"`
	}
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
}

// talk builds a request of the messages: the person's and the answers in turn.
func talk(t *testing.T, model string, messages ...string) string {
	t.Helper()
	list := []map[string]string{{"role": "system", "content": "You are a pirate."}}
	for i, text := range messages {
		list = append(list, map[string]string{"role": []string{"user", "assistant"}[i%2], "content": text})
	}
	return toJSON(t, map[string]any{"model": model, "messages": list, "temperature": 0.2, "max_tokens": nil})
}

// complete sends messages and gives the answer with the thread and run that it came from.
func complete(t *testing.T, r *rig, body string, headers ...string) (text, thread, run string) {
	t.Helper()
	res, raw := r.do(t, "POST", "/v1/chat/completions", body, headers...)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, raw)
	}
	c := decode[completed](t, raw)
	return c.Choices[0].Message.Content, res.Header.Get("X-Thread-Id"), res.Header.Get("X-Run-Id")
}

func countRuns(t *testing.T, r *rig) int {
	t.Helper()
	return len(get[map[string][]any](t, r, "GET", "/runs?limit=200", "")["runs"])
}

func TestModels(t *testing.T) {
	r := start(t, nil)
	for _, sc := range []scenario{
		{name: "list", url: "/v1/models", has: []string{`{"object":"list","data":[{"id":"`, `{"id":"desk","object":"model","created":0,"owned_by":"interlock"}`, `"id":"desk/shop"`}, hasNot: []string{`"id":"mine`}},
		{name: "one", url: "/v1/models/desk", has: []string{`{"id":"desk","object":"model"`}},
		{name: "with dataset", url: "/v1/models/desk/shop", has: []string{`{"id":"desk/shop",`}},
		{name: "escaped", url: "/v1/models/desk%2Fshop", has: []string{`{"id":"desk/shop",`}},
		{name: "none", url: "/v1/models/gpt-9", status: 404, has: []string{`"code":"machine_not_found"`, `"type":"invalid_request_error"`, "GET /v1/models lists them"}},
		{name: "no dataset", url: "/v1/models/desk/none", status: 404, has: []string{`"code":"dataset_not_found"`}},
		{name: "no route", url: "/v1/embeddings", status: 404, has: []string{`"code":"not_found"`}},
		{name: "method", url: "/v1/chat/completions", status: 405, has: []string{`"code":"bad_request"`}},
	} {
		t.Run(sc.name, func(t *testing.T) { sc.run(t, r) })
	}
}

// The exact lines that a client reads. There is no id, name or retry: clients take any of
// them for an event of its own.
func TestCompletionStream(t *testing.T) {
	r := start(t, nil)
	for name, tt := range map[string]struct{ say, options, want string }{
		"a call of the person": {"SQL: select 1", `,"stream_options":{"include_usage":true}`, `data: {HEAD"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}
data: {HEAD"choices":[{"index":0,"delta":{"reasoning_content":"[execute_sql]\n"},"finish_reason":null}]}
data: {HEAD"choices":[{"index":0,"delta":{"content":"| region | revenue | orders |\n| --- | --- | --- |\n| North | 1204300.5 | 812 |\n| South | 98221 | 77 |\n| East |  | 3 |\n| West | 455000.25 | 390 |\n\n(4 rows)\n\n` + "```sql\\nselect 1\\n```" + `"},"finish_reason":null}]}
data: {HEAD"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
data: {HEAD"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}
data: [DONE]
`},
		"a model": {"echo Four rows.", "", `data: {HEAD"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}
data: {HEAD"choices":[{"index":0,"delta":{"reasoning_content":"..."},"finish_reason":null}]}
data: {HEAD"choices":[{"index":0,"delta":{"content":"Four rows."},"finish_reason":null}]}
data: {HEAD"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
data: [DONE]
`},
	} {
		t.Run(name, func(t *testing.T) {
			body := fmt.Sprintf(`{"model":"desk/shop","messages":[{"role":"user","content":%q}],"stream":true%s}`, tt.say, tt.options)
			res, text := r.do(t, "POST", "/v1/chat/completions", body)
			if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
				t.Fatalf("%s %v: %s", res.Status, res.Header, text)
			}
			var got strings.Builder
			drafts := false
			for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
				line := lines.Text()
				if at := strings.Index(line, `"choices"`); at > 0 {
					for _, part := range []string{`{"id":"chatcmpl-r_`, `"object":"chat.completion.chunk"`, `"model":"desk/shop"`} {
						if !strings.Contains(line[:at], part) {
							t.Errorf("the chunk lacks %s: %s", part, line)
						}
					}
					line = "data: {HEAD" + line[at:]
				}
				// Words come one by one, or as many as there are.
				if draft := strings.Contains(line, "reasoning_content") && name == "a model"; draft && drafts {
					continue
				} else if draft {
					drafts, line = true, `data: {HEAD"choices":[{"index":0,"delta":{"reasoning_content":"..."},"finish_reason":null}]}`
				}
				if line != "" {
					got.WriteString(line + "\n")
				}
			}
			if diff := cmp.Diff(tt.want, got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A list of messages goes on with the thread in which the messages before the last one were
// said; the same list says nothing again, and another way from an earlier point is a fork.
func TestConversation(t *testing.T) {
	r := start(t, nil)
	const model = "desk/shop"
	a1, thread, run1 := complete(t, r, talk(t, model, "echo one"))
	if a1 != "one" {
		t.Errorf("answer %q", a1)
	}
	a2, same, run2 := complete(t, r, talk(t, model, "echo one", a1, "echo two"))
	if a2 != "two" || same != thread || run2 == run1 {
		t.Errorf("%q in %s %s, began in %s %s", a2, same, run2, thread, run1)
	}
	for i, body := range []string{
		talk(t, model, "echo one", a1, "echo two"),                      // sent again
		talk(t, model, "echo one", "as the program cut it", "echo two"), // it keeps answers as it likes
		strings.Replace(talk(t, model, "echo one", a1, "echo two"), `"content":"echo two"`, `"content":[{"type":"text","text":"echo two "}]`, 1),
	} {
		if text, at, run := complete(t, r, body); text != a2 || at != thread || run != run2 {
			t.Errorf("resend %d: %q in %s %s", i, text, at, run)
		}
	}
	if n := countRuns(t, r); n != 2 {
		t.Errorf("%d runs", n)
	}
	edited, fork, _ := complete(t, r, talk(t, model, "echo one", a1, "echo three"))
	if edited != "three" || fork == thread {
		t.Errorf("%q in %s", edited, fork)
	}
	if said := messagesOf(t, r, fork); said != "echo one|one|echo three|three" {
		t.Errorf("the fork has %s", said)
	}
	if said := messagesOf(t, r, thread); said != "echo one|one|echo two|two" {
		t.Errorf("the thread has %s", said)
	}
	if _, at, _ := complete(t, r, talk(t, model, "echo one", a1, "echo three", edited, "echo four")); at != fork {
		t.Errorf("the fork goes on in %s", at)
	}
	t.Run("of another model", func(t *testing.T) {
		text, at, _ := complete(t, r, talk(t, "sessions", "echo one", a1, "echo two"))
		if at == thread || text != "_Not part of this thread and left out: 1 of the earlier messages of this conversation._\n\ntwo" {
			t.Errorf("%q in %s", text, at)
		}
	})
	t.Run("with a message that was refused", func(t *testing.T) {
		if text, at, _ := complete(t, r, talk(t, model, "echo one", a1, "echo two", a2, "never taken", "", "echo five")); at != thread || !strings.HasSuffix(text, "five") || !strings.Contains(text, "1 of the earlier") {
			t.Errorf("%q in %s", text, at)
		}
	})
}

func messagesOf(t *testing.T, r *rig, thread string) string {
	t.Helper()
	var said []string
	for _, m := range get[struct{ Messages []struct{ Content string } }](t, r, "GET", "/threads/"+thread+"/messages", "").Messages {
		said = append(said, m.Content)
	}
	return strings.Join(said, "|")
}

// What is sent many times at once is said once.
func TestCompletionRivals(t *testing.T) {
	r := start(t, nil)
	body := talk(t, "desk", "echo once")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if res, text := r.do(t, "POST", "/v1/chat/completions", body); res.StatusCode != http.StatusOK || !strings.Contains(text, `"content":"once"`) {
				t.Errorf("%d %s", res.StatusCode, text)
			}
		})
	}
	wg.Wait()
	if n := countRuns(t, r); n != 1 {
		t.Errorf("%d runs", n)
	}
}

// A card is a question with numbered choices, and the next message answers it.
func TestCompletionCard(t *testing.T) {
	r := start(t, nil)
	asked, thread, run := complete(t, r, talk(t, "desk", "card please"))
	want := "**Is this a match?**\n\nleft:\n\n- amount: 1190\n- customer: Müller GmbH\n- date: 2026-03-04\n- invoice: INV-1003\n\n" +
		"> Same amount; the reference holds the invoice number.\n\nright:\n\n- amount: 1190\n- date: 2026-03-06\n- payer: MUELLER GMBH\n- reference: RE INV 1003\n\n" +
		"1. Confirm\n2. Reject\n3. Choose another period (only on the page: it has fields)\n\nReply with a number; a note may follow it."
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	for range 2 { // the second is a resend
		text, at, same := complete(t, r, talk(t, "desk", "card please", asked, "1 it is the same"))
		if text != "Noted. That makes **3 confirmed pairs**." || at != thread || same != run {
			t.Errorf("%q in %s %s", text, at, same)
		}
	}
	scenario{
		method: "POST", url: "/v1/chat/completions", body: talk(t, "desk", "card please", asked, "2"), status: 409,
		has: []string{`"code":"card_closed"`, "was answered before", "Go on from the last answer"},
	}.run(t, r)
	if said, at, _ := complete(t, r, talk(t, "desk", "card please", asked, "echo never mind")); said != "never mind" || at == thread {
		t.Errorf("%q in %s", said, at) // no answer to the card: another way from there
	}
	if n := countRuns(t, r); n != 2 {
		t.Errorf("%d runs", n)
	}
}

// A client that leaves does not end the turn: it may send the same again and gets the answer.
// One that says something else instead has stopped it.
func TestCompletionLeft(t *testing.T) {
	c := &clerk{resume: make(chan struct{})}
	r := serve(t, newEngine(t, library(), c, c.query), nil)
	leave := func(say string) {
		listen(t, r, "POST", "/v1/chat/completions", fmt.Sprintf(`{"model":"desk","stream":true,"messages":[{"role":"user","content":%q}]}`, say), "", func(ev received) bool {
			return !strings.Contains(ev.data, "reasoning_content")
		})
	}
	leave("pause and go on")
	go func() { c.resume <- struct{}{} }()
	text, paused, _ := complete(t, r, talk(t, "desk", "pause and go on"))
	if !strings.HasPrefix(text, "Revenue is highest in **North**") || !strings.Contains(text, "/api/artifacts/a_1@1") {
		t.Errorf("%q", text)
	}
	if strings.Contains(text, "![pixel](") {
		t.Errorf("a program would load the picture of a model: %q", text)
	}
	leave("wait for ever")
	said, thread, _ := complete(t, r, talk(t, "desk", "wait for ever", "Thinking ", "echo enough"))
	if said != "enough" || thread == paused || messagesOf(t, r, thread) != "wait for ever|echo enough|enough" {
		t.Errorf("%q after %q", said, messagesOf(t, r, thread))
	}
	if n := countRuns(t, r); n != 3 {
		t.Errorf("%d runs", n)
	}
}

func TestCompletionErrors(t *testing.T) {
	r := start(t, func(cfg *server.Config) {
		withUsers(cfg)
	})
	alice, bob, vic := "Authorization: Bearer "+aliceToken, "Authorization: Bearer "+bobToken, "Authorization: Bearer "+vicToken
	ask := func(messages string) string { return `{"model":"desk","messages":` + messages + `}` }
	_, hers, _ := complete(t, r, talk(t, "desk", "echo secret"), alice)
	if text, his, _ := complete(t, r, talk(t, "desk", "echo secret"), bob); his == hers || text != "secret" {
		t.Errorf("bob is in the thread of alice: %s", text)
	}
	const url = "/v1/chat/completions"
	for _, sc := range []scenario{
		{name: "no token", status: 401, has: []string{`"type":"authentication_error"`, `"code":"unauthorized"`, "Www-Authenticate: Bearer"}},
		{name: "wrong token", headers: []string{"Authorization: Bearer nope"}, status: 401},
		{name: "viewer", body: ask(`[{"role":"user","content":"x"}]`), headers: []string{vic}, status: 403, has: []string{`"type":"permission_error"`, `"code":"forbidden"`}},
		{name: "no model", body: `{"model":"gpt-4","messages":[{"role":"user","content":"x"}]}`, headers: []string{alice}, status: 404, has: []string{`"code":"machine_not_found"`}},
		{name: "no dataset", body: `{"model":"desk/none","messages":[{"role":"user","content":"x"}]}`, headers: []string{alice}, status: 404, has: []string{`"code":"dataset_not_found"`, "Use one of: shop."}},
		{name: "no messages", body: ask(`[]`), headers: []string{alice}, status: 400, has: []string{`"param":"body.messages"`}},
		{name: "no content", body: ask(`[{"role":"user","content":null}]`), headers: []string{alice}, status: 400, has: []string{"is empty"}},
		{name: "blank", body: ask(`[{"role":"user","content":"x"},{"role":"user","content":" "}]`), headers: []string{alice}, status: 400, has: []string{"is empty"}},
		{name: "picture", body: ask(`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]`), headers: []string{alice}, status: 400, has: []string{`messages[0].content holds a part of the type`}},
		{name: "number", body: ask(`[{"role":"user","content":7}]`), headers: []string{alice}, status: 400},
		{name: "last is the assistant's", body: ask(`[{"role":"assistant","content":"x"}]`), headers: []string{alice}, status: 400, has: []string{"role user"}},
		{name: "two answers", body: `{"model":"desk","n":2,"messages":[{"role":"user","content":"x"}]}`, headers: []string{alice}, status: 400},
		{name: "JSON mode", body: `{"model":"desk","response_format":{"type":"json_object"},"messages":[{"role":"user","content":"x"}]}`, headers: []string{alice}, status: 400},
		{name: "no JSON", body: `{"model":`, headers: []string{alice}, status: 400, has: []string{"it is no JSON"}},
		{name: "too large", body: ask(`[{"role":"user","content":"` + strings.Repeat("x", 9<<20) + `"}]`), headers: []string{alice}, status: 413, has: []string{`"code":"too_large"`}},
		{name: "too long", body: ask(`[{"role":"user","content":"` + strings.Repeat("x", 300<<10) + `"}]`), headers: []string{alice}, status: 413, has: []string{`"code":"too_large"`}},
		{name: "foreign page", body: ask(`[{"role":"user","content":"x"}]`), headers: []string{alice, "Origin: https://evil.example"}, status: 403, has: []string{`"code":"foreign_origin"`}},
		{name: "a turn that failed says so", body: ask(`[{"role":"user","content":"fail"}]`), headers: []string{alice}, has: []string{`"finish_reason":"stop"`, "overloaded. Try again"}},
		{name: "policy", body: ask(`[{"role":"user","content":"SQL: drop table orders"}]`), headers: []string{alice}, has: []string{"SQL_POLICY_VIOLATION: DROP may not run here"}},
	} {
		t.Run(sc.name, func(t *testing.T) {
			sc.method, sc.url = "POST", url
			sc.run(t, r)
		})
	}
	t.Run("a long history is read", func(t *testing.T) {
		if text, _, _ := complete(t, r, talk(t, "desk", "echo a", strings.Repeat("x", 2<<20), "echo b"), alice); !strings.HasSuffix(text, "b") {
			t.Error(text)
		}
	})
	t.Run("a turn that failed is tried again", func(t *testing.T) {
		_, first, _ := complete(t, r, talk(t, "desk", "fail"), bob)
		if _, second, _ := complete(t, r, talk(t, "desk", "fail"), bob); second == first {
			t.Error("the failure was told again")
		}
	})
}

// The shipped machines: rows beyond the bound are counted, and an answer that a card does not
// take leaves it open.
func TestRealCompletion(t *testing.T) {
	r := startReal(t, llm.Say("North leads."))
	text, _, _ := complete(t, r, talk(t, "analyst/shop", "SQL: SELECT 1"))
	if !strings.Contains(text, "| North | 12.5 |") || !strings.Contains(text, "(the first 50 of 201 rows)") || strings.Count(text, "\n| South") != 49 {
		t.Errorf("%s", text)
	}
	if text, _, _ := complete(t, r, talk(t, "analyst", "Who leads?")); text != "North leads." {
		t.Errorf("%s", text)
	}
}
