package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// A scenario is one request and what must be true of its answer.
type scenario struct {
	name    string
	method  string // GET
	url     string
	headers []string
	body    string
	status  int      // 200
	has     []string // parts of the answer, or "Header: value"
	hasNot  []string
}

func (sc scenario) run(t *testing.T, r *rig) {
	t.Helper()
	if sc.method == "" {
		sc.method = http.MethodGet
	}
	if sc.status == 0 {
		sc.status = http.StatusOK
	}
	res, text := r.do(t, sc.method, sc.url, sc.body, sc.headers...)
	var head strings.Builder
	_ = res.Header.Write(&head)
	whole := strings.ReplaceAll(head.String(), "\r\n", "\n") + text
	if res.StatusCode != sc.status {
		t.Errorf("status %d, want %d\n%s", res.StatusCode, sc.status, whole)
	}
	for _, part := range sc.has {
		if !strings.Contains(whole, part) {
			t.Errorf("answer lacks %q:\n%s", part, whole)
		}
	}
	for _, part := range sc.hasNot {
		if strings.Contains(whole, part) {
			t.Errorf("answer has %q:\n%s", part, whole)
		}
	}
	if res.StatusCode >= 400 {
		parts := []string{"Content-Type: application/problem+json", `"code":"`, `"detail":"`, `"request_id":"`}
		if strings.HasPrefix(sc.url, "/v1/") {
			parts = []string{"Content-Type: application/json", `{"error":{"message":"`, `"code":"`, `"type":"`, `"request_id":"`}
		}
		for _, part := range parts {
			if !strings.Contains(whole, part) {
				t.Errorf("a problem lacks %q:\n%s", part, whole)
			}
		}
	}
}

func TestRoutes(t *testing.T) {
	r := start(t, nil)
	first := get[map[string]any](t, r, "POST", "/chat", `{"message":"SQL: select 1","dataset_id":"shop"}`)
	thread, run := first["thread_id"].(string), first["run_id"].(string)
	asked := get[map[string]any](t, r, "POST", "/chat", `{"message":"Revenue by region","dataset_id":"shop"}`)
	talk, talkRun := asked["thread_id"].(string), asked["run_id"].(string)
	scenarios := []scenario{
		{name: "health", url: "/healthz", has: []string{`{"status":"ok"}`, "X-Content-Type-Options: nosniff", "frame-ancestors 'none'", "Referrer-Policy: no-referrer"}, hasNot: []string{"unsafe-inline"}},
		{name: "ready", url: "/readyz", has: []string{`"parts":[{"name":"store","status":"ok"}]`}},
		{name: "metrics", url: "/metrics", has: []string{"interlock_up 1"}},
		{name: "me", url: "/api/me", has: []string{`"user":"local"`, `"token_required":false`}},
		{name: "codes", url: "/api/codes", has: []string{`"code":"SQL_POLICY_VIOLATION"`, `"status":403`}},
		{name: "openapi", url: "/openapi.json", has: []string{`"openapi": "3.1.0"`, `"/chat/stream"`, `"/api/threads/{id}/fork"`, `text/event-stream`, `application/problem+json`}},
		{name: "datasets", url: "/datasets", has: []string{`{"datasets":[{"id":"shop","name":"Shop","description":"Orders and customers","prompts":["Revenue by region this year"],"version_hash":"abc"}]}`}},
		{name: "schema", url: "/datasets/shop/schema", has: []string{`"dataset_id":"shop"`}},
		{name: "schema of nothing", url: "/datasets/nope/schema", status: 404, has: []string{`"code":"dataset_not_found"`, `"suggestion":"List`}},

		{name: "chat", method: "POST", url: "/chat", body: `{"message":"Revenue by region","dataset_id":"shop"}`, has: []string{
			`{"assistant_message":"Revenue is highest`, `"run_id":"r_`, `"thread_id":"t_`, `"status":"succeeded","outcome":"answered"`,
			`"result":{"columns":["region","revenue","orders"],"error":null,"exec_time_ms":12,`, `"rows":[["North",1204300.5,812]`,
			`"details":{"compiled_sql":` + toJSON(t, revenueSQL) + `,"dataset_id":"shop","plan_json":null,"python_code":null,"query_mode":"sql"}`,
		}},
		{name: "chat without a query", method: "POST", url: "/chat", body: `{"message":"card"}`, has: []string{
			`"status":"waiting"`, `"result":{"columns":[],"error":null,"exec_time_ms":0,"row_count":0,"rows":[]}`,
			`"details":{"compiled_sql":null,"dataset_id":null,"plan_json":null,"python_code":null,"query_mode":"chat"}`, `"card":{"card_id":"r_`,
		}},
		{name: "policy", method: "POST", url: "/chat", body: `{"message":"reject it"}`, has: []string{`"status":"rejected","outcome":"refused"`, `"error":{"message":"DROP may not run here","type":"SQL_POLICY_VIOLATION"}`}},
		{name: "failed turn", method: "POST", url: "/chat", body: `{"message":"fail"}`, has: []string{`"status":"failed","outcome":"failed"`, `"error":{"message":"the model's provider failed. Try again`, `"type":"model_failed"`}},
		{name: "nulls are absent", method: "POST", url: "/chat", body: `{"message":"SQL: select 1","dataset_id":null,"thread_id":null,"card_response":null,"settings":null,"rerun":null}`},
		{name: "no input", method: "POST", url: "/chat", body: `{}`, status: 400, has: []string{`"code":"bad_request"`, "exactly one of message"}},
		{name: "blank message", method: "POST", url: "/chat", body: `{"message":" \n"}`, status: 400},
		{name: "two inputs", method: "POST", url: "/chat", body: `{"message":"x","command":{"name":"y"}}`, status: 400},
		{name: "card without thread", method: "POST", url: "/chat", body: `{"card_response":{"card_id":"k","answer":"a"}}`, status: 400},
		{name: "wrong type", method: "POST", url: "/chat", body: `{"message":7}`, status: 400, has: []string{`"errors":[{"location":"body.message"`}},
		{name: "unknown member", method: "POST", url: "/chat", body: `{"message":"x","criteria":"y"}`, status: 400, has: []string{"criteria"}},
		{name: "no JSON", method: "POST", url: "/chat", body: `{"message":"sesame`, status: 400, has: []string{"it is no JSON"}, hasNot: []string{"sesame", "unexpected"}},
		{name: "bad JSON", method: "POST", url: "/chat", body: `{message:1}`, status: 400, has: []string{"it is no JSON"}, hasNot: []string{"invalid character"}},
		{name: "no body", method: "POST", url: "/chat", status: 400},
		{name: "form body", method: "POST", url: "/chat", body: `message=x`, headers: []string{"Content-Type: text/plain"}, status: 415},
		{name: "unknown dataset", method: "POST", url: "/chat", body: `{"message":"x","dataset_id":"nope"}`, status: 404, has: []string{`"code":"dataset_not_found"`, `"suggestion":"Use one of: shop."`}},
		{name: "unknown thread", method: "POST", url: "/chat", body: `{"message":"x","thread_id":"t_none"}`, status: 404, has: []string{`"code":"thread_not_found"`}},
		{name: "unknown machine", method: "POST", url: "/chat", body: `{"message":"x","machine":"nowhere"}`, status: 404, has: []string{`"code":"machine_not_found"`}},
		{name: "other machine", method: "POST", url: "/chat", body: `{"message":"x","thread_id":"` + thread + `","machine":"reconcile"}`, status: 400},
		{name: "bad setting", method: "POST", url: "/chat", body: `{"message":"x","settings":{"wrong":1}}`, status: 422, has: []string{`"code":"bad_setting"`}},
		{name: "bad command", method: "POST", url: "/chat", body: `{"command":{"name":"unknown"},"thread_id":"` + thread + `"}`, status: 422, has: []string{`"code":"bad_command"`}},
		{name: "late answer", method: "POST", url: "/chat", body: `{"card_response":{"card_id":"k_old","answer":"confirm"},"thread_id":"` + thread + `"}`, status: 409, has: []string{`"code":"card_closed"`}},

		{name: "direct sql", method: "POST", url: "/runs", body: `{"dataset_id":"shop","query_type":"sql","sql":"select 1"}`, has: []string{`"status":"succeeded"`, `"row_count":4`}},
		{name: "direct plan", method: "POST", url: "/runs", body: `{"dataset_id":"shop","query_type":"plan","plan":{"table":"orders"}}`, has: []string{`"run_id":"r_`}},
		{name: "changed plan", method: "POST", url: "/chat", body: `{"dataset_id":"shop","message":"by quarter","plan":{"table":"orders"}}`, has: []string{`"query_mode":"plan"`, `"plan_json":{"table":"orders"}`}},
		{name: "changed plan without words", method: "POST", url: "/chat", body: `{"dataset_id":"shop","plan":{"table":"orders"},"command":{"name":"x"}}`, status: 400, has: []string{"needs its dataset_id"}},
		{name: "direct python", method: "POST", url: "/runs", body: `{"dataset_id":"shop","query_type":"python","python_code":"1"}`, has: []string{`"run_id":"r_`}},
		{name: "direct without text", method: "POST", url: "/runs", body: `{"dataset_id":"shop","query_type":"sql","python_code":"1"}`, status: 400, has: []string{"needs sql"}},
		{name: "direct of a kind unknown", method: "POST", url: "/runs", body: `{"dataset_id":"shop","query_type":"bash","sql":"ls"}`, status: 400},
		{name: "direct without dataset", method: "POST", url: "/runs", body: `{"query_type":"sql","sql":"select 1"}`, status: 400},
		{name: "direct on no dataset", method: "POST", url: "/runs", body: `{"dataset_id":"nope","query_type":"sql","sql":"select 1"}`, status: 404, has: []string{`Use one of: shop.`}},
		{name: "runs", url: "/runs?limit=1", has: []string{`{"runs":[{"run_id":"r_`}},
		{name: "capsule", url: "/runs/" + run, has: []string{`"run_id":"` + run}},
		{name: "no capsule", url: "/runs/r_none", status: 404, has: []string{`"code":"run_not_found"`}},
		{name: "run status", url: "/runs/" + run + "/status", has: []string{`{"run_id":"` + run + `","status":"succeeded","outcome":"answered"}`}},
		{name: "no run status", url: "/runs/r_none/status", has: []string{`{"run_id":"r_none","status":"not_found"}`}},

		{name: "messages", url: "/threads/" + talk + "/messages", has: []string{`{"thread_id":"` + talk + `","messages":[{"role":"user","content":"Revenue by region","dataset_id":"shop","run_id":"` + talkRun, `{"role":"assistant"`}},
		{name: "messages clamped below", url: "/threads/" + talk + "/messages?limit=-5", has: []string{`"messages":[{"role":"assistant"`}, hasNot: []string{`"role":"user"`}},
		{name: "messages clamped above", url: "/threads/" + talk + "/messages?limit=100000", has: []string{`"role":"user"`}},
		{name: "messages of nothing", url: "/threads/t_none/messages", status: 404},
		{name: "messages with a wrong limit", url: "/threads/" + thread + "/messages?limit=many", status: 400},
		{name: "threads", url: "/api/threads", has: []string{`{"threads":[{"id":"t_`, `"machine":"desk"`}},
		{name: "thread", url: "/api/threads/" + thread, has: []string{`"status":"idle"`, `"state":"answering"`, `"commands":[{"name":"other_scope"`, `"denied":[{"tool":"execute_python","code":"FEATURE_DISABLED"`}},
		{name: "no thread", url: "/api/threads/t_none", status: 404},
		{name: "stop nothing", method: "POST", url: "/api/threads/" + thread + "/stop", has: []string{`"status":"idle"`}},
		{name: "stop nobody", method: "POST", url: "/api/threads/t_none/stop", status: 404},
		{name: "fork", method: "POST", url: "/api/threads/" + thread + "/fork", body: `{"seq":2}`, has: []string{`"thread_id":"t_`}},
		{name: "fork beyond the end", method: "POST", url: "/api/threads/" + thread + "/fork", body: `{"seq":99999}`, status: 400},
		{name: "fork at nothing", method: "POST", url: "/api/threads/" + thread + "/fork", body: `{"seq":0}`, status: 400},
		{name: "events of nothing", url: "/api/threads/t_none/events", status: 404},
		{name: "events after nonsense", url: "/api/threads/" + thread + "/events", headers: []string{"Last-Event-ID: abc"}, status: 400},
		{name: "events after the end", url: "/api/threads/" + thread + "/events", headers: []string{"Last-Event-ID: " + thread + ":99999"}, status: 409, has: []string{"none with the number 99999"}},
		{name: "events after the end, by query", url: "/api/threads/" + thread + "/events?after=99999", status: 409},
		{name: "a turn after the end", method: "POST", url: "/chat/stream", body: `{}`, headers: []string{"Last-Event-ID: " + thread + ":99999"}, status: 409},
		{name: "events after another thread's", url: "/api/threads/" + thread + "/events", headers: []string{"Last-Event-ID: t_x:1"}, status: 400},

		{name: "session", method: "POST", url: "/api/chat", body: `{"message":"card"}`, has: []string{
			`{"session_id":"t_`, `"phase":"demonstration"`, `"status":"waiting"`, `"message":{"role":"assistant","segments":[{"type":"card","content":{"card_id":"r_`, `"timestamp":"`, `"recipe_draft":null`,
		}},
		{name: "machine of sessions", url: "/api/threads?limit=1", has: []string{`"machine":"sessions"`}},
		{name: "unknown session", method: "POST", url: "/api/chat", body: `{"session_id":"t_none","message":"x"}`, status: 404},
		{name: "empty session", method: "POST", url: "/api/chat", body: `{}`, status: 400},

		{name: "machines", url: "/api/machines", has: []string{`"name":"analyst"`, `"default":true`, `"broken":[{"name":"mine","findings":[{`, "startt"}},
		{name: "machine", url: "/api/machines/analyst", has: []string{`"name":"max_rows"`, `"max":10000`, `"tools":["list_datasets","get_dataset_schema","execute_sql"`, `flowchart TD`, `"svg":"<svg`, `"shortcuts":["SQL:","PYTHON:","always mean"]`}},
		{name: "machine with moves", url: "/api/machines/reconcile", has: []string{`"to":["inference"]`, `"requires":["schema_left","schema_right"]`, `"commands":[{"name":"`}},
		{name: "machine with choices", url: "/api/machines/workbench", has: []string{`"values":["none","report","table","json"]`}},
		{name: "broken machine", url: "/api/machines/mine", status: 422, has: []string{`"code":"machine_invalid"`}},
		{name: "no machine", url: "/api/machines/none", status: 404},

		{name: "sources", url: "/api/sources", has: []string{`{"sources":[{"alias":"orders"}]}`}},
		{name: "add source", method: "POST", url: "/api/sources", body: `{"url":"/data/x.csv","alias":"x"}`, has: []string{`"alias":"x"`}},
		{name: "add nothing", method: "POST", url: "/api/sources", body: `{"alias":"x"}`, status: 400},
		{name: "preview", url: "/api/sources/orders?offset=5&limit=9999", has: []string{`{"alias":"orders","limit":200,"offset":5}`}},
		{name: "remove source", method: "DELETE", url: "/api/sources/orders", has: []string{`"removed":true`}},
		{name: "remove nothing", method: "DELETE", url: "/api/sources/x", status: 404, has: []string{`"code":"source_not_registered"`}},
		{name: "scoped", method: "POST", url: "/api/sources/orders/load-scoped", body: `{"conditions":[{"column":"id","op":"eq","value":1}]}`, has: []string{`"alias":"orders"`, `"total_rows":1`, `"preview_rows":1`}},
		{name: "scoped keeps every digit", method: "POST", url: "/api/sources/orders/load-scoped", body: `{"conditions":[{"column":"id","op":"in","value":[12345678901234567890,0.10]}]}`, has: []string{`"value":[12345678901234567890,0.10]`}},
		{name: "scoped with a wrong column", method: "POST", url: "/api/sources/orders/load-scoped", body: `{"conditions":[{"column":"nope","op":"eq","value":1}]}`, status: 422, has: []string{`"code":"bad_filter"`, `"details":["region"]`}},
		{name: "scoped by everything", method: "POST", url: "/api/sources/orders/load-scoped", body: `{}`, has: []string{`"total_rows":1`}},
		{name: "scoped by no list", method: "POST", url: "/api/sources/orders/load-scoped", body: `{"conditions":{"column":"id"}}`, status: 400},
		{name: "scoped in another's thread", method: "POST", url: "/api/sources/orders/load-scoped", body: `{"thread_id":"t_none"}`, status: 404},

		{name: "artifact", url: "/api/artifacts/a_1", has: []string{"a,b\n1,2\n", "Content-Type: text/csv", `Content-Disposition: attachment; filename="revenue by region.csv"`, "sandbox"}},
		{name: "artifacts", url: "/api/artifacts", has: []string{`"a_1"`, `"version":2`, `"a_html"`, `"total":3`}},
		{name: "artifacts of a thread", url: "/api/artifacts?thread=t_2", has: []string{`"a_html"`, `"total":1`}, hasNot: []string{"a_1"}},
		{name: "artifacts by name", url: "/api/artifacts?q=REGION&limit=1", has: []string{`"version":2`, `"total":2`}, hasNot: []string{"a_html", `"version":1`}},
		{name: "artifact in part", url: "/api/artifacts/a_1", headers: []string{"Range: bytes=0-2"}, status: 206, has: []string{"a,b"}},
		{name: "hostile artifact", url: "/api/artifacts/a_html", has: []string{"Content-Type: application/octet-stream", "attachment"}, hasNot: []string{"text/html", ".."}},
		{name: "no artifact", url: "/api/artifacts/a_none", status: 404},
		{name: "artifact outside", url: "/api/artifacts/..%2f..%2fetc%2fpasswd", status: 404},

		{name: "page", url: "/", has: []string{"<!doctype html>", "Content-Type: text/html", "script-src 'self'"}, hasNot: []string{"<script>", "style=\"", "https://"}},
		{name: "script", url: "/assets/main-1.js", has: []string{"Content-Type: text/javascript"}},
		{name: "no file", url: "/assets/none.js", status: 404},
		{name: "path outside", url: "/assets/..%2f..%2fembed.go", status: 404},
		{name: "no route", url: "/nope", status: 404, has: []string{`"code":"not_found"`}},
		{name: "wrong method", method: "PUT", url: "/chat", status: 405, has: []string{"Allow: POST", `"status":405`}},
		{name: "request id is taken over", url: "/healthz", headers: []string{"X-Request-Id: abc-1"}, has: []string{"X-Request-Id: abc-1"}},
		{name: "request id is cleaned", url: "/nope", headers: []string{"X-Request-Id: <script>"}, status: 404, has: []string{"X-Request-Id: q_"}, hasNot: []string{"<script>"}},
	}
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) { sc.run(t, r) })
	}
}

// The answer to the card of a session goes on with the same session.
func TestSessionCard(t *testing.T) {
	r := start(t, nil)
	asked := get[struct {
		Session string `json:"session_id"`
		Message struct {
			Segments []struct {
				Content struct {
					Card string `json:"card_id"`
				}
			}
		}
	}](t, r, "POST", "/api/chat", `{"message":"card"}`)
	answer := toJSON(t, map[string]any{"session_id": asked.Session, "card_response": map[string]any{
		"card_id": asked.Message.Segments[0].Content.Card, "answer": "scope", "fields": map[string]any{"month": "2026-03", "open_only": true},
	}})
	for _, sc := range []scenario{
		{name: "answered", method: "POST", url: "/api/chat", body: answer, has: []string{
			`{"session_id":"` + asked.Session + `","phase":"inference","status":"active"`, `{"type":"text","content":"Noted. That makes **3 confirmed pairs**."}`, `"recipe_draft":{"rules":[]}`,
		}},
		{name: "answered twice", method: "POST", url: "/api/chat", body: answer, status: 409, has: []string{`"code":"card_closed"`}},
		{name: "commands", url: "/api/threads/" + asked.Session, has: []string{`"name":"other_rules","label":"Learn other rules"`}},
		{name: "command", method: "POST", url: "/api/chat", body: `{"command":{"name":"other_rules"},"session_id":"` + asked.Session + `"}`, has: []string{`"phase":"answering"`, `"recipe_draft":null`}},
	} {
		t.Run(sc.name, func(t *testing.T) { sc.run(t, r) })
	}
}
