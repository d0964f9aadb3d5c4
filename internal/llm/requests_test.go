package llm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"interlock/internal/event"
	"interlock/internal/llm"
)

// TestRequests holds the bodies that both APIs are sent. The file was first written by the
// providers' own Go libraries from the same requests: what we write means the same.
func TestRequests(t *testing.T) {
	const file = "testdata/requests.txt"
	var got bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body any
		decoder := json.NewDecoder(r.Body)
		decoder.UseNumber()
		if err := decoder.Decode(&body); err != nil {
			t.Error(err)
		}
		text, err := json.MarshalIndent(body, "", " ")
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&got, "POST %s\n%s\n\n", r.URL, text)
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, `{"error":{"message":"heard"}}`)
	}))
	defer server.Close()

	tools := []llm.Tool{
		{Name: "query", Description: "runs <one> statement & no more", Schema: json.RawMessage(`{"$schema":"x","type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false,"$defs":{"k":{"type":"number"}}}`)},
		{Name: "list"},
	}
	question := []llm.Message{{Role: llm.User, Text: "How many <b>?"}}
	turn := []llm.Message{
		question[0],
		{Role: llm.Assistant, Text: "Let me see.", Calls: []llm.Call{{ID: "c1", Name: "query", Args: `{"q":"x","n":12345678901234567890}`}}},
		{Role: llm.ToolRole, CallID: "c1"},
		{Role: llm.Assistant, Calls: []llm.Call{{ID: "c2", Name: "list"}}},
		{Role: llm.ToolRole, CallID: "c2", Text: "no such list", Failed: true},
		{Role: llm.User},
	}
	schema := json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false}`)
	requests := []llm.Request{
		{Messages: question},
		{System: "Be brief.", Messages: turn, Tools: tools, MaxTokens: 77},
		{System: "Be brief.", Messages: question, History: turn, Tools: tools},
		{System: "Be brief.", Messages: question, Output: schema},
		{Messages: question, Output: schema, Reasoning: event.Reasoning{Effort: "high"}},
		{Messages: question, Reasoning: event.Reasoning{Budget: 5000}, Tools: tools},
	}
	for _, config := range []llm.Config{
		{Provider: "openai", Model: "gpt-4o", OpenAIKey: "key", OpenAIBaseURL: server.URL + "/v1"},
		{Provider: "openai", Model: "gpt-5", OpenAIBaseURL: server.URL + "/v1/"},
		{Provider: "anthropic", Model: "claude-sonnet-4-5", AnthropicKey: "key", AnthropicBaseURL: server.URL},
		{Provider: "anthropic", Model: "claude-opus-4-8", AnthropicKey: "key", AnthropicBaseURL: server.URL + "/"},
	} {
		model, err := llm.Open(config)
		if err != nil {
			t.Fatal(err)
		}
		for i, request := range requests {
			fmt.Fprintf(&got, "# %s, request %d\n", config.Model, i+1)
			for _, err := range model.Reply(t.Context(), request) {
				if err == nil {
					t.Error("a refused request gave a reply")
				}
			}
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		written := t.ArtifactDir() + "/requests.txt"
		if err := os.WriteFile(written, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Errorf("the bodies differ from %s; compare with %s", file, written)
	}
}
