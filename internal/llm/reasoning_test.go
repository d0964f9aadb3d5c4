package llm_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/llm/aimock"
)

// think reads a reply with the thoughts that were streamed before it.
func think(t *testing.T, m llm.Model, req llm.Request) (thoughts string, reply *llm.Reply) {
	t.Helper()
	for d, err := range m.Reply(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		thoughts += d.Thought
		if d.Reply != nil {
			reply = d.Reply
		}
	}
	return thoughts, reply
}

// TestThoughtsOnTheWire hears the thoughts of both providers' real streams.
func TestThoughtsOnTheWire(t *testing.T) {
	address := aimock.Start(t, aimock.Fixture{User: "how many", Thoughts: "I should count the orders.", Text: "There are three."})
	for provider, c := range map[string]llm.Config{
		"openai":    {Provider: llm.OpenAI, Model: "deepseek-r1", OpenAIBaseURL: address + "/v1"},
		"anthropic": {Provider: llm.Anthropic, AnthropicKey: "k", AnthropicBaseURL: address},
	} {
		t.Run(provider, func(t *testing.T) {
			client := &http.Client{Transport: &http.Transport{}}
			t.Cleanup(client.CloseIdleConnections)
			c.HTTPClient = client
			thoughts, reply := think(t, open(t, c), ask("how many?"))
			if thoughts != "I should count the orders." || reply.Thoughts != thoughts || reply.Text != "There are three." {
				t.Errorf("thoughts %q, reply %+v", thoughts, reply)
			}
		})
	}
}

// TestThoughtForms is where servers put thoughts.
func TestThoughtForms(t *testing.T) {
	text := func(pieces ...string) (events []string) {
		for _, p := range pieces {
			raw, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, `{"choices":[{"delta":{"content":`+string(raw)+`}}]}`)
		}
		return events
	}
	for name, tt := range map[string]struct {
		events         []string
		thoughts, text string
	}{
		"reasoning_content":     {[]string{`{"choices":[{"delta":{"reasoning_content":"Hm. "}}]}`, `{"choices":[{"delta":{"reasoning_content":"Well.","content":null}}]}`, `{"choices":[{"delta":{"content":"Five."}}]}`}, "Hm. Well.", "Five."},
		"reasoning":             {[]string{`{"choices":[{"delta":{"reasoning":"Hm.","content":""}}]}`, `{"choices":[{"delta":{"content":"Five.","reasoning":null}}]}`}, "Hm.", "Five."},
		"tags":                  {text("<th", "ink>H", "m.</thi", "nk>\n\nFi", "ve."), "Hm.", "Five."},
		"tags in one":           {text("\n<think>Hm.</think>Five."), "Hm.", "Five."},
		"no tag after all":      {text("<thi", "s> is no tag"), "", "<this> is no tag"},
		"a text that ends so":   {text("<th"), "", "<th"},
		"a tag within the text": {text("Five <think>no</think>."), "", "Five <think>no</think>."},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				stream(w, append(tt.events, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":15}}}`, `[DONE]`)...)
			})
			thoughts, reply := think(t, open(t, s.config(t, llm.OpenAI)), ask("x"))
			if thoughts != tt.thoughts || reply.Thoughts != tt.thoughts || reply.Text != tt.text {
				t.Errorf("thoughts %q, reply %+v", thoughts, reply)
			}
			if reply.Usage.Reasoning != 15 || reply.Usage.Output != 20 {
				t.Errorf("usage %+v", reply.Usage)
			}
		})
	}
}

// TestReasoningRequests holds how an effort and a budget travel to each provider, and that
// what a model refuses is left out.
func TestReasoningRequests(t *testing.T) {
	text := func(w http.ResponseWriter) {
		stream(w, `{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`, `[DONE]`)
	}
	message := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"type":"message","id":"m","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":9,"output_tokens_details":{"thinking_tokens":7}}}`)
	}
	refuse := func(w http.ResponseWriter, words string) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, words)
	}
	for name, tt := range map[string]struct {
		provider  string
		reasoning event.Reasoning
		refusal   string // of the first request
		want      map[string]any
	}{
		"openai effort":             {llm.OpenAI, event.Reasoning{Effort: "low"}, "", map[string]any{"reasoning_effort": "low"}},
		"openai budget":             {llm.OpenAI, event.Reasoning{Budget: 8000}, "", map[string]any{"reasoning_effort": "medium"}},
		"openai nothing asked":      {llm.OpenAI, event.Reasoning{}, "", map[string]any{"reasoning_effort": nil}},
		"openai refuses":            {llm.OpenAI, event.Reasoning{Effort: "high"}, "Unsupported parameter: 'reasoning_effort'", map[string]any{"reasoning_effort": nil}},
		"anthropic budget":          {llm.Anthropic, event.Reasoning{Budget: 4000}, "", map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 4000.0}, "max_tokens": 20000.0, "temperature": nil}},
		"anthropic small budget":    {llm.Anthropic, event.Reasoning{Budget: 10}, "", map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 1024.0}}},
		"anthropic effort":          {llm.Anthropic, event.Reasoning{Effort: "high"}, "", map[string]any{"thinking": map[string]any{"type": "adaptive", "display": "summarized"}, "output_config": map[string]any{"effort": "high"}}},
		"anthropic none":            {llm.Anthropic, event.Reasoning{Effort: "none"}, "", map[string]any{"thinking": nil}},
		"anthropic takes none":      {llm.Anthropic, event.Reasoning{Effort: "high"}, "adaptive thinking is not supported on this model", map[string]any{"thinking": nil}},
		"anthropic takes no budget": {llm.Anthropic, event.Reasoning{Budget: 4000}, "thinking.type.enabled is not supported for this model", map[string]any{"thinking": map[string]any{"type": "adaptive", "display": "summarized"}, "output_config": map[string]any{"effort": "low"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				switch {
				case n == 1 && tt.refusal != "":
					refuse(w, tt.refusal)
				case tt.provider == llm.OpenAI:
					text(w)
				default:
					message(w)
				}
			})
			req := ask("x")
			req.Reasoning = tt.reasoning
			_, reply := think(t, open(t, s.config(t, tt.provider)), req)
			sent := s.sent(s.count())
			for key, want := range tt.want {
				if diff := cmp.Diff(want, sent[key]); diff != "" {
					t.Errorf("%s: %s", key, diff)
				}
			}
			if tt.provider == llm.Anthropic && reply.Usage.Reasoning != 7 {
				t.Errorf("usage %+v", reply.Usage)
			}
		})
	}
}

// TestThoughtsAreNotSentBack holds that OpenAI's protocol gets no thoughts in later
// requests, whatever the model said before. Anthropic's signed ones go back within their
// turn (TestAnthropicThoughts).
func TestThoughtsAreNotSentBack(t *testing.T) {
	s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		stream(w, `{"choices":[{"delta":{"reasoning_content":"A secret thought."}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`)
	})
	m := open(t, s.config(t, llm.OpenAI))
	req := ask("x")
	req.Tools = []llm.Tool{{Name: "f"}}
	_, first := think(t, m, req)
	req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: first.Text, Calls: first.Calls}, llm.Message{Role: llm.ToolRole, CallID: "a", Name: "f", Text: "1"})
	think(t, m, req)
	if raw, err := json.Marshal(s.sent(2)); err != nil || strings.Contains(string(raw), "secret thought") {
		t.Errorf("%s %v", raw, err)
	}
}
