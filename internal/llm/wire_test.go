package llm_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/llm/aimock"
)

// TestWire talks to a server that speaks the providers' real streams.
func TestWire(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Node process")
	}
	calls := []aimock.Call{{ID: "call_a", Name: "count", Args: `{"table":"orders"}`}, {ID: "call_b", Name: "count", Args: `{"table":"items"}`}}
	url := aimock.Start(t,
		aimock.Fixture{User: "hello", Text: "Hi there, how can I help you today?"},
		aimock.Fixture{User: "how many", Text: "Let me look.", Calls: calls},
		aimock.Fixture{User: "how many", AfterTool: true, Text: "There are 3 orders and 7 items."},
		aimock.Fixture{User: "busy", Nth: 1, Status: 503, Error: "overloaded"},
		aimock.Fixture{User: "busy", Nth: 2, Text: "Now I can."},
		aimock.Fixture{User: "limit", Status: 429, Error: "slow down"},
		aimock.Fixture{User: "key", Status: 401, Error: "bad key"},
		aimock.Fixture{User: "breaks", Text: strings.Repeat("A long answer. ", 20), Cut: 4, Pause: 20 * time.Millisecond},
		aimock.Fixture{User: "json", Text: `{"a":1}`},
		aimock.Fixture{User: "slow", Text: strings.Repeat("A long answer. ", 20), Pause: 100 * time.Millisecond},
	)
	for provider, c := range map[string]llm.Config{
		"openai":     {Provider: llm.OpenAI, Model: "gpt-4.1", OpenAIKey: "sk-secret", OpenAIBaseURL: url + "/v1"},
		"openrouter": {Provider: llm.OpenAI, Model: "openai/gpt-4.1", OpenAIKey: "sk-secret", OpenAIBaseURL: url + "/api/v1"},
		"anthropic":  {Provider: llm.Anthropic, AnthropicKey: "sk-secret", AnthropicBaseURL: url},
	} {
		t.Run(provider, func(t *testing.T) {
			client := &http.Client{Transport: &http.Transport{}}
			t.Cleanup(client.CloseIdleConnections)
			c.HTTPClient = client
			retrying := open(t, c)
			c.Retries = -1
			m := open(t, c)

			t.Run("tokens", func(t *testing.T) {
				deltas, reply, err := hear(t.Context(), m, ask("hello"))
				if err != nil {
					t.Fatal(err)
				}
				if len(deltas) < 3 || strings.Join(deltas, "") != reply.Text || reply.Text != "Hi there, how can I help you today?" {
					t.Errorf("deltas %q, text %q", deltas, reply.Text)
				}
				if reply.Stop != "end" || reply.Calls != nil {
					t.Errorf("reply %+v", reply)
				}
			})
			t.Run("calls and their results", func(t *testing.T) {
				req := ask("how many?")
				req.System = "Be brief."
				req.Tools = []llm.Tool{{Name: "count", Description: "Counts rows.", Schema: []byte(`{"type":"object","properties":{"table":{"type":"string"}}}`)}}
				_, first, err := hear(t.Context(), m, req)
				if err != nil {
					t.Fatal(err)
				}
				want := []llm.Call{{ID: "call_a", Name: "count", Args: `{"table":"orders"}`}, {ID: "call_b", Name: "count", Args: `{"table":"items"}`}}
				if diff := cmp.Diff(want, first.Calls); diff != "" || first.Stop != "calls" || first.Text != "Let me look." {
					t.Fatalf("%+v %s", first, diff)
				}
				req.Messages = append(req.Messages,
					llm.Message{Role: llm.Assistant, Text: first.Text, Calls: first.Calls},
					llm.Message{Role: llm.ToolRole, CallID: "call_b", Name: "count", Text: "7"},
					llm.Message{Role: llm.ToolRole, CallID: "call_a", Name: "count", Text: "3"})
				_, second, err := hear(t.Context(), m, req)
				if err != nil || second.Text != "There are 3 orders and 7 items." {
					t.Fatal(second, err)
				}
			})
			t.Run("structured", func(t *testing.T) {
				req := ask("json")
				req.Output = []byte(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`)
				deltas, reply, err := hear(t.Context(), m, req)
				if err != nil || reply.Text != `{"a":1}` || len(deltas) != 0 {
					t.Fatal(deltas, reply, err)
				}
			})
			t.Run("rate limit", func(t *testing.T) {
				_, _, err := hear(t.Context(), m, ask("limit"))
				wantCode(t, err, fault.ModelRateLimited, "slow down")
			})
			t.Run("bad key", func(t *testing.T) {
				_, _, err := hear(t.Context(), retrying, ask("key"))
				wantCode(t, err, fault.ModelFailed, "bad key", "_API_KEY")
			})
			t.Run("breaks off", func(t *testing.T) {
				deltas, _, err := hear(t.Context(), retrying, ask("breaks"))
				wantCode(t, err, fault.ModelFailed)
				if len(deltas) == 0 {
					t.Error("nothing was said before")
				}
			})
			t.Run("no answer for it", func(t *testing.T) {
				_, _, err := hear(t.Context(), m, ask("something that no fixture knows"))
				wantCode(t, err, fault.ModelFailed)
			})
			t.Run("leave the loop", func(t *testing.T) {
				for d, err := range m.Reply(t.Context(), ask("slow")) {
					if err != nil || d.Text == "" {
						t.Fatal(d, err)
					}
					break
				}
			})
		})
	}
	t.Run("busy once", func(t *testing.T) {
		client := &http.Client{Transport: &http.Transport{}}
		t.Cleanup(client.CloseIdleConnections)
		m := open(t, llm.Config{Provider: llm.Anthropic, AnthropicKey: "k", AnthropicBaseURL: url, HTTPClient: client})
		_, reply, err := hear(t.Context(), m, ask("busy"))
		if err != nil || reply.Text != "Now I can." {
			t.Fatal(reply, err)
		}
	})
}
