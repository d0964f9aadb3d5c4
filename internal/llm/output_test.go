package llm_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
	"interlock/internal/llm"
)

// message answers with a text, in both dialects at once.
func message(w http.ResponseWriter, text, stop, reason string) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"type": "message", "content": []any{map[string]any{"type": "text", "text": text}}, "stop_reason": reason,
		"choices": []any{map[string]any{"message": map[string]any{"content": text}, "finish_reason": stop}},
	})
}

func TestOutput(t *testing.T) {
	const object = `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`
	const list = `{"type":"array","items":{"type":"integer"}}`
	for name, tt := range map[string]struct {
		schema, said, stop string
		want               string
		code               fault.Code
	}{
		"plain":            {object, `{"a":1}`, "stop", `{"a":1}`, ""},
		"fenced":           {object, "Here you are:\n```json\n{\"a\": 1}\n```\nAnything else?", "stop", `{"a": 1}`, ""},
		"after a brace":    {object, "A set {x}: {\"a\":1}", "stop", `{"a":1}`, ""},
		"not an object":    {list, `{"value":[1,2]}`, "stop", `[1,2]`, ""},
		"value is missing": {list, `{"values":[1,2]}`, "stop", "", fault.ModelBadOutput},
		"no JSON":          {object, "I do not know.", "stop", "", fault.ModelBadOutput},
		"cut off":          {object, `{"a":`, "length", "", fault.ModelBadOutput},
		"declined":         {object, "I will not.", "content_filter", "", fault.ModelRefused},
		"bad schema":       {`[]`, "", "stop", "", fault.ModelFailed},
	} {
		for _, provider := range both {
			t.Run(name+"/"+provider, func(t *testing.T) {
				reason := map[string]string{"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}[tt.stop]
				s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { message(w, tt.said, tt.stop, reason) })
				deltas, reply, err := hear(t.Context(), open(t, s.config(t, provider)), llm.Request{Output: json.RawMessage(tt.schema)})
				if len(deltas) != 0 {
					t.Errorf("deltas %q of a structured answer", deltas)
				}
				if tt.code != "" {
					wantCode(t, err, tt.code)
					return
				}
				if err != nil || reply.Text != tt.want {
					t.Fatalf("%v, %v; want %s", reply, err, tt.want)
				}
			})
		}
	}
}

// What each provider is told of the schema: natively where it can enforce it.
func TestOutputRequest(t *testing.T) {
	const (
		strict = `{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/b"}]}},"required":["a"],"additionalProperties":false,"$defs":{"b":{"enum":["x"]}}}`
		loose  = `{"type":"object","properties":{"a":{"type":"integer","minimum":1}}}`
	)
	for schema, strictly := range map[string]bool{strict: true, loose: false} {
		var want map[string]any
		if err := json.Unmarshal([]byte(schema), &want); err != nil {
			t.Fatal(err)
		}
		s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { message(w, `{"a":1}`, "stop", "end_turn") })
		for _, provider := range both {
			if _, _, err := hear(t.Context(), open(t, s.config(t, provider)), llm.Request{System: "Be brief.", Output: json.RawMessage(schema)}); err != nil {
				t.Fatal(err)
			}
		}
		format := map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "strict": strictly, "schema": want}}
		if diff := cmp.Diff(format, s.sent(1)["response_format"]); diff != "" {
			t.Error(diff)
		}
		native := map[string]any{"format": map[string]any{"type": "json_schema", "schema": want}}
		system := s.sent(2)["system"].([]any)[0].(map[string]any)["text"].(string)
		if diff := cmp.Diff(native, s.sent(2)["output_config"]); strictly && diff != "" {
			t.Error(diff)
		}
		if said := system != "Be brief."; said == strictly || s.sent(2)["tool_choice"] != nil {
			t.Errorf("strict %v, system text %q", strictly, system)
		}
	}
}
