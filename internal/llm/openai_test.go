package llm_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
)

const chunkHead = `{"id":"chatcmpl-1","model":"test-model-2026-01-01","choices":[{"index":0,"delta":`

// TestOpenAIServers is what servers that call themselves compatible send.
func TestOpenAIServers(t *testing.T) {
	say := func(delta string) string { return chunkHead + delta + `}]}` }
	const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	const calls = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	const done = `[DONE]`
	one := []llm.Call{{ID: "a", Name: "f", Args: `{"x":1}`}}

	for name, tt := range map[string]struct {
		events []string
		raw    string // instead of events
		kind   string
		text   string
		calls  []llm.Call
		stop   string
	}{
		"text":                        {events: []string{say(`{"content":"he"}`), say(`{"content":"llo"}`), stop, done}, text: "hello", stop: "end"},
		"no done":                     {events: []string{say(`{"content":"hello"}`), stop}, text: "hello", stop: "end"},
		"no finish reason":            {events: []string{say(`{"content":"hello"}`), done}, text: "hello", stop: "end"},
		"cut off":                     {events: []string{say(`{"content":"hel"}`), `{"choices":[{"finish_reason":"length"}]}`, done}, text: "hel", stop: "length"},
		"refused with words":          {events: []string{say(`{"refusal":"I will not."}`), stop, done}, text: "I will not.", stop: "refusal"},
		"content in parts":            {events: []string{say(`{"content":[{"type":"text","text":"hello"}]}`), stop, done}, text: "hello", stop: "end"},
		"null everywhere":             {events: []string{`{"id":null,"choices":null,"usage":null,"error":null}`, say(`{"content":null,"tool_calls":null}`), say(`{"content":"hello"}`), stop, done}, text: "hello", stop: "end"},
		"wrong types":                 {events: []string{`{"id":7,"choices":[{"index":"0","delta":{"content":"hello","tool_calls":"none"}}]}`, stop, done}, text: "hello", stop: "end"},
		"garbage in between":          {events: []string{say(`{"content":"hel"}`), `{"choices":`, `<html>`, say(`{"content":"lo"}`), stop, done}, text: "hello", stop: "end"},
		"whole message at the end":    {events: []string{say(`{"content":"hel"}`), `{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}`}, text: "hello", stop: "end"},
		"a second choice":             {events: []string{say(`{"content":"hello"}`), `{"choices":[{"index":1,"delta":{"content":"bye"}}]}`, stop, done}, text: "hello", stop: "end"},
		"call":                        {events: []string{say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}`), say(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]}`), calls, done}, calls: one, stop: "calls"},
		"call that says stop":         {events: []string{say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}`), stop, done}, calls: one, stop: "calls"},
		"arguments as an object":      {events: []string{say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}]}`), calls, done}, calls: one, stop: "calls"},
		"call without function":       {events: []string{say(`{"tool_calls":[{"id":"a","name":"f","arguments":"{\"x\":1}"}]}`), calls, done}, calls: one, stop: "calls"},
		"call repeated at the end":    {events: []string{say(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}`), `{"choices":[{"message":{"tool_calls":[{"id":"zz","function":{"name":"f","arguments":"{\"x\":1}"}}]},"finish_reason":"tool_calls"}]}`, done}, calls: one, stop: "calls"},
		"old function call":           {events: []string{say(`{"function_call":{"name":"f","arguments":"{\"x\""}}`), say(`{"function_call":{"arguments":":1}"}}`), `{"choices":[{"finish_reason":"function_call"}]}`, done}, calls: []llm.Call{{ID: "call_chatcmpl-1_1", Name: "f", Args: `{"x":1}`}}, stop: "calls"},
		"no stream at all":            {kind: "application/json", raw: `{"id":"1","choices":[{"message":{"content":"hello","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]},"finish_reason":"tool_calls"}]}`, text: "hello", calls: one, stop: "calls"},
		"no stream, many lines":       {kind: "application/json", raw: "{\n\"choices\":[{\n\"message\":{\"content\":\"hello\"},\n\"finish_reason\":\"stop\"}]\n}\n", text: "hello", stop: "end"},
		"lines of JSON":               {kind: "application/x-ndjson", raw: say(`{"content":"hel"}`) + "\n" + say(`{"content":"lo"}`) + "\n" + stop + "\n", text: "hello", stop: "end"},
		"comments, CRLF, no space":    {raw: ": PROCESSING\r\n\r\nevent: x\r\ndata:" + say(`{"content":"hello"}`) + "\r\n\r\nid: 3\r\ndata:" + stop + "\r\n\r\ndata:[DONE]", text: "hello", stop: "end"},
		"last event without its line": {raw: "data: " + say(`{"content":"hello"}`) + "\n\ndata: " + stop, text: "hello", stop: "end"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				if tt.raw == "" {
					stream(w, tt.events...)
					return
				}
				if tt.kind != "" {
					w.Header().Set("Content-Type", tt.kind)
				}
				_, _ = w.Write([]byte(tt.raw))
			})
			deltas, reply, err := hear(t.Context(), open(t, s.config(t, llm.OpenAI)), ask("x"))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(deltas, ""); got != tt.text || reply.Text != tt.text {
				t.Errorf("deltas %q, text %q, want %q", got, reply.Text, tt.text)
			}
			if diff := cmp.Diff(tt.calls, reply.Calls); diff != "" {
				t.Error(diff)
			}
			if reply.Stop != tt.stop {
				t.Errorf("stop %q, want %q", reply.Stop, tt.stop)
			}
		})
	}
}

func TestOpenAIRequest(t *testing.T) {
	s := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		stream(w, `{"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10}}}`, `[DONE]`)
	})
	c := s.config(t, llm.OpenAI)
	c.Prices = map[string]llm.Price{"test": {Input: 1, Output: 2, CacheRead: 0.5, CacheWrite: 3}}
	_, reply, err := hear(t.Context(), open(t, c), llm.Request{
		System:    "Be brief.",
		MaxTokens: 50,
		Messages: []llm.Message{
			{Role: llm.User, Text: "How many?"},
			{Role: llm.Assistant, Text: "I look.", Calls: []llm.Call{{ID: "c1", Name: "count", Args: `{"t":"a"}`}, {ID: "c2", Name: "count", Args: "b"}}},
			{Role: llm.ToolRole, CallID: "c2", Name: "count", Text: "2"},
			{Role: llm.ToolRole, CallID: "c1", Name: "count", Text: "1"},
		},
		Tools: []llm.Tool{{Name: "count", Description: "Counts.", Schema: json.RawMessage(`{"type":"object","properties":{"t":{"type":"string"}}}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"model": "test-model", "stream": true, "stream_options": map[string]any{"include_usage": true},
		"temperature": 0.0, "max_tokens": 50.0,
		"messages": []any{
			map[string]any{"role": "system", "content": "Be brief."},
			map[string]any{"role": "user", "content": "How many?"},
			map[string]any{"role": "assistant", "content": "I look.", "tool_calls": []any{
				map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": "count", "arguments": `{"t":"a"}`}},
				map[string]any{"id": "c2", "type": "function", "function": map[string]any{"name": "count", "arguments": `{"arguments":"b"}`}},
			}},
			map[string]any{"role": "tool", "tool_call_id": "c1", "content": "1"},
			map[string]any{"role": "tool", "tool_call_id": "c2", "content": "2"},
		},
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{
			"name": "count", "description": "Counts.",
			"parameters": map[string]any{"type": "object", "properties": map[string]any{"t": map[string]any{"type": "string"}}},
		}}},
	}
	if diff := cmp.Diff(want, s.sent(1)); diff != "" {
		t.Error(diff)
	}
	if got := s.heads[0].Get("Authorization"); got != "Bearer sk-secret-openai" {
		t.Errorf("authorization %q", got)
	}
	if diff := cmp.Diff(event.Usage{Input: 30, Output: 20, CacheRead: 60, CacheWrite: 10, MicroUSD: 30 + 40 + 30 + 30}, reply.Usage); diff != "" {
		t.Error(diff)
	}
	if reply.Model != "openai/test-model" {
		t.Errorf("model %q", reply.Model)
	}
}

func TestOpenAICostFromServer(t *testing.T) {
	s := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		stream(w, `{"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":0.0021}}`, `[DONE]`)
	})
	_, reply, err := hear(t.Context(), open(t, s.config(t, llm.OpenAI)), ask("x"))
	if err != nil || reply.Usage.MicroUSD != 2100 {
		t.Fatalf("%v, %v", reply, err)
	}
}

// A server that refuses a parameter is asked again without it, and is not sent
// it in later requests.
func TestOpenAILearns(t *testing.T) {
	output := json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}}}`)
	tools := []llm.Tool{{Name: "f"}}
	for name, tt := range map[string]struct {
		refusal  string
		req      llm.Request
		check    func(body map[string]any) bool // holds of a body that the server takes
		requests int
	}{
		"temperature":      {"Unsupported value: 'temperature' does not support 0 with this model.", ask("x"), func(b map[string]any) bool { return b["temperature"] == nil }, 3},
		"stream_options":   {"Unknown field stream_options", ask("x"), func(b map[string]any) bool { return b["stream_options"] == nil }, 3},
		"max_tokens":       {"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", llm.Request{MaxTokens: 9}, func(b map[string]any) bool { return b["max_completion_tokens"] == 9.0 }, 3},
		"response_format":  {"response_format is not supported", llm.Request{Output: output}, func(b map[string]any) bool { return b["response_format"] == nil }, 3},
		"reasoning_effort": {"Function tools with reasoning_effort are not supported. Set reasoning_effort to 'none'.", llm.Request{Tools: tools}, func(b map[string]any) bool { return b["reasoning_effort"] == "none" }, 3},
		"nothing to learn": {"Invalid schema for function 'f'", llm.Request{Tools: tools}, func(map[string]any) bool { return false }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var s *server
			s = serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
				if !tt.check(s.sent(n)) {
					w.WriteHeader(http.StatusBadRequest)
					_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": tt.refusal}})
					return
				}
				stream(w, `{"choices":[{"delta":{"content":"{\"a\":1}"},"finish_reason":"stop"}]}`, `[DONE]`)
			})
			m := open(t, s.config(t, llm.OpenAI))
			for range 2 {
				_, _, err := hear(t.Context(), m, tt.req)
				if tt.requests == 2 {
					wantCode(t, err, fault.ModelFailed, tt.refusal)
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if s.count() != tt.requests {
				t.Errorf("%d requests, want %d", s.count(), tt.requests)
			}
		})
	}
}
