package llm_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/event"
	"interlock/internal/llm"
)

func TestAnthropicRequest(t *testing.T) {
	s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		stream(w,
			`message_start {"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":1}}}`,
			`ping {"type":"ping"}`,
			`content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I "}}`,
			`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"look."}}`,
			`content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"count","input":{}}}`,
			`content_block_start {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"count","input":{"t":"b"}}}`,
			`content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"t\":"}}`,
			`content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"a\"}"}}`,
			`message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":30}}`,
			`message_stop {"type":"message_stop"}`)
	})
	c := s.config(t, llm.Anthropic)
	c.Model = "claude-sonnet-4-5"
	deltas, reply, err := hear(t.Context(), open(t, c), llm.Request{
		System:  "Be brief.",
		History: []llm.Message{{Role: llm.User, Text: "Hi"}, {Role: llm.Assistant, Text: "Hello"}},
		Messages: []llm.Message{
			{Role: llm.User, Text: "How many?"},
			{Role: llm.Assistant, Calls: []llm.Call{{ID: "c 1", Name: "count", Args: ""}, {ID: "c2", Name: "count", Args: "{}"}}},
			{Role: llm.ToolRole, CallID: "c 1", Name: "count", Text: "1"},
			{Role: llm.User, Text: "Well?"},
		},
		Tools: []llm.Tool{{Name: "other"}, {Name: "count", Description: "Counts.", Schema: json.RawMessage(`{"type":"object","properties":{"t":{"type":"string"}},"required":["t"]}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	cached := map[string]any{"type": "ephemeral"}
	text := func(s string) map[string]any { return map[string]any{"type": "text", "text": s} }
	mark := func(m map[string]any) map[string]any { m["cache_control"] = cached; return m }
	const id = "call_8c0cd8a3ba6e6c1e0a3b6a2f" // replaced below: only its form matters
	want := map[string]any{
		"model": "claude-sonnet-4-5", "stream": true, "temperature": 0.0, "max_tokens": 16000.0,
		"system": []any{mark(text("Be brief."))},
		"messages": []any{
			map[string]any{"role": "user", "content": []any{text("Hi")}},
			map[string]any{"role": "assistant", "content": []any{mark(text("Hello"))}},
			map[string]any{"role": "user", "content": []any{text("How many?")}},
			map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "tool_use", "id": id, "name": "count", "input": map[string]any{}},
				map[string]any{"type": "tool_use", "id": "c2", "name": "count", "input": map[string]any{}},
			}},
			map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "tool_result", "tool_use_id": id, "is_error": false, "content": []any{text("1")}},
				map[string]any{"type": "tool_result", "tool_use_id": "c2", "is_error": true, "content": []any{text("No result of this call was recorded.")}},
				mark(text("Well?")),
			}},
		},
		"tools": []any{
			map[string]any{"name": "other", "input_schema": map[string]any{"type": "object", "properties": map[string]any{}}},
			mark(map[string]any{"name": "count", "description": "Counts.", "input_schema": map[string]any{"type": "object", "properties": map[string]any{"t": map[string]any{"type": "string"}}, "required": []any{"t"}}}),
		},
	}
	sent := s.sent(1)
	made := sent["messages"].([]any)[3].(map[string]any)["content"].([]any)[0].(map[string]any)["id"].(string)
	raw, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(raw), made, id)), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := s.heads[0].Get("X-Api-Key"); got != "sk-secret-anthropic" {
		t.Errorf("key %q", got)
	}
	if diff := cmp.Diff([]string{"I ", "look."}, deltas); diff != "" {
		t.Error(diff)
	}
	wantReply := &llm.Reply{
		Model: "anthropic/m", Text: "I look.", Stop: "calls",
		Calls: []llm.Call{{ID: "toolu_1", Name: "count", Args: `{"t":"a"}`}, {ID: "toolu_2", Name: "count", Args: `{"t":"b"}`}},
		Usage: event.Usage{Input: 10, Output: 30, CacheRead: 100, CacheWrite: 20, MicroUSD: 30 + 450 + 30 + 75},
	}
	if diff := cmp.Diff(wantReply, reply); diff != "" {
		t.Error(diff)
	}
}

func TestAnthropicNotStreamed(t *testing.T) {
	s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"type":"message","id":"msg_1","content":[{"type":"text","text":"hello"},{"type":"tool_use","id":"t","name":"f","input":{"x":1}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}`))
	})
	deltas, reply, err := hear(t.Context(), open(t, s.config(t, llm.Anthropic)), ask("x"))
	if err != nil {
		t.Fatal(err)
	}
	want := &llm.Reply{Model: "anthropic/test-model", Text: "hello", Stop: "calls", Calls: []llm.Call{{ID: "t", Name: "f", Args: `{"x":1}`}}, Usage: event.Usage{Input: 1, Output: 2}}
	if diff := cmp.Diff(want, reply); diff != "" || len(deltas) != 1 {
		t.Error(deltas, diff)
	}
}

// Signed thoughts go back with the results of the calls that they led to, until
// the API refuses them.
func TestAnthropicThoughts(t *testing.T) {
	refuse := false
	s := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch {
		case n == 1:
			stream(w,
				`message_start {"type":"message_start","message":{"id":"msg_1"}}`,
				`content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
				`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}`,
				`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"think."}}`,
				`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"SIG"}}`,
				`content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"XYZ"}}`,
				`content_block_start {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{"a": 2, "b": 1}}}`,
				`message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use"}}`,
				`message_stop {"type":"message_stop"}`)
		case refuse && n == 3:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid signature in thinking block"}}`))
		default:
			hello(w, &http.Request{URL: mustURL("/v1/messages")})
		}
	})
	m := open(t, s.config(t, llm.Anthropic))
	deltas, first, err := hear(t.Context(), m, ask("x"))
	if err != nil || len(deltas) != 0 {
		t.Fatalf("%q, %v: thoughts are not for the person", deltas, err)
	}
	first.Calls[0].ID, first.Calls[0].Args = "r_1", `{"b":1,"a":2}` // as the engine gives them back
	next := ask("x")
	next.Messages = append(next.Messages,
		llm.Message{Role: llm.Assistant, Text: first.Text, Calls: first.Calls},
		llm.Message{Role: llm.ToolRole, CallID: "r_1", Name: "f", Text: "ok"})
	kinds := func(n int) (out []string) {
		for _, b := range s.sent(n)["messages"].([]any)[1].(map[string]any)["content"].([]any) {
			out = append(out, b.(map[string]any)["type"].(string))
		}
		return out
	}
	if _, _, err := hear(t.Context(), m, next); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"thinking", "redacted_thinking", "tool_use"}, kinds(2)); diff != "" {
		t.Error(diff)
	}
	thought := s.sent(2)["messages"].([]any)[1].(map[string]any)["content"].([]any)[0]
	if diff := cmp.Diff(map[string]any{"type": "thinking", "thinking": "Let me think.", "signature": "SIG"}, thought); diff != "" {
		t.Error(diff)
	}
	refuse = true
	if _, _, err := hear(t.Context(), m, next); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tool_use"}, kinds(4)); diff != "" {
		t.Error(diff)
	}
}

func TestAnthropicLearns(t *testing.T) {
	output := json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}`)
	for name, tt := range map[string]struct {
		refusal string
		req     llm.Request
		check   func(body map[string]any) bool
	}{
		"temperature":   {"temperature: Extra inputs are not permitted", ask("x"), func(b map[string]any) bool { return b["temperature"] == nil }},
		"max_tokens":    {"max_tokens: 16000 > 8192, which is the maximum allowed number of output tokens", ask("x"), func(b map[string]any) bool { return b["max_tokens"] == 8192.0 }},
		"output_config": {"output_config.format: not supported on this model", llm.Request{Output: output}, func(b map[string]any) bool { return b["output_config"] == nil && b["system"] != nil }},
	} {
		t.Run(name, func(t *testing.T) {
			var s *server
			s = serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
				if !tt.check(s.sent(n)) {
					w.WriteHeader(http.StatusBadRequest)
					_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": tt.refusal}})
					return
				}
				_, _ = w.Write([]byte(`{"type":"message","content":[{"type":"text","text":"Here: {\"a\":1}"}],"stop_reason":"end_turn"}`))
			})
			c := s.config(t, llm.Anthropic)
			c.Model = "claude-sonnet-4-5"
			m := open(t, c)
			for range 2 {
				if _, _, err := hear(t.Context(), m, tt.req); err != nil {
					t.Fatal(err)
				}
			}
			if s.count() != 3 {
				t.Errorf("%d requests, want 3", s.count())
			}
		})
	}
}

// Models that refuse a temperature are not sent one.
func TestTemperature(t *testing.T) {
	for model, want := range map[string]bool{
		"claude-sonnet-5-5": false, "claude-opus-4-7": false, "claude-opus-4-6": true, "claude-sonnet-4-5-20250929": true, "claude-haiku-4-5": true,
		"gpt-4.1": true, "gpt-5.4": true, "gpt-5": false, "gpt-5-mini": false, "gpt-6-sol": false, "o3": false, "openai/o4-mini": false, "llama3.3": true,
	} {
		t.Run(model, func(t *testing.T) {
			s := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { hello(w, r) })
			c := s.config(t, llm.OpenAI)
			if strings.HasPrefix(model, "claude") {
				c.Provider = llm.Anthropic
			}
			c.Model = model
			if _, _, err := hear(t.Context(), open(t, c), ask("x")); err != nil {
				t.Fatal(err)
			}
			if _, got := s.sent(1)["temperature"]; got != want {
				t.Errorf("temperature sent: %v, want %v", got, want)
			}
		})
	}
}
