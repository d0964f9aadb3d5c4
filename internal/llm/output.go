package llm

import (
	"encoding/json"
	"slices"
	"strings"

	"interlock/internal/fault"
)

// An outputSchema is the schema that the text of a reply must follow, fitted to
// what providers accept: its root is an object.
type outputSchema struct {
	schema  map[string]any
	text    json.RawMessage // the schema as it is sent, its properties in their declared order
	wrapped bool            // the wanted value stands under "value"
}

// newOutputSchema reads the schema of a request; it is nil without one.
func newOutputSchema(raw json.RawMessage) (*outputSchema, error) {
	if raw == nil {
		return nil, nil
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, fault.Wrap(err, fault.ModelFailed, "the schema of the wanted output is no JSON object")
	}
	if schema["type"] == "object" {
		return &outputSchema{schema: schema, text: raw}, nil
	}
	wrapped := map[string]any{
		"type":                 "object",
		"properties":           map[string]any{"value": schema},
		"required":             []any{"value"},
		"additionalProperties": false,
	}
	text, err := json.Marshal(map[string]any{
		"type":                 "object",
		"properties":           map[string]any{"value": raw},
		"required":             []any{"value"},
		"additionalProperties": false,
	})
	return &outputSchema{schema: wrapped, text: text, wrapped: true}, err
}

// prompt asks for the form in words, for models that take no schema.
func (f *outputSchema) prompt() string {
	return "Answer with one JSON object that follows this JSON Schema, and with nothing else:\n" + string(f.text)
}

// extractJSON finds the JSON in the text of a reply: alone, in a fenced block, or
// with words around it.
func (f *outputSchema) extractJSON(r *Reply) (string, error) {
	value, ok := findObject(r.Text)
	switch {
	case ok:
	case r.Stop == stopLength:
		return "", &attemptError{code: fault.ModelBadOutput, text: "the answer was cut off before its JSON was complete"}
	case r.Stop == StopRefusal:
		return "", &attemptError{code: fault.ModelRefused, text: "the model declined: " + truncate(r.Text, 200)}
	default:
		return "", &attemptError{code: fault.ModelBadOutput, text: "the answer is not the JSON that was asked for: " + truncate(r.Text, 200)}
	}
	if !f.wrapped {
		return value, nil
	}
	var inner struct {
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal([]byte(value), &inner) != nil || inner.Value == nil {
		return "", &attemptError{code: fault.ModelBadOutput, text: "the answer has no \"value\""}
	}
	return string(inner.Value), nil
}

// findObject returns the first JSON object in a text. It looks at no more than a
// few candidates, so that hostile text costs little.
func findObject(text string) (string, bool) {
	text = strings.TrimSpace(text)
	for rest, tries := text, 0; tries < 8; tries++ {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			return "", false
		}
		rest = rest[i:]
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(rest)).Decode(&raw) == nil {
			return string(raw), true
		}
		rest = rest[1:]
	}
	return "", false
}

// isEnforceable reports whether the schema keeps to the part of JSON Schema that
// providers can enforce: objects that allow nothing beyond their properties and, if
// all is set, require every one of them.
func isEnforceable(schema any, all bool) bool {
	switch s := schema.(type) {
	case []any:
		return !slices.ContainsFunc(s, func(v any) bool { return !isEnforceable(v, all) })
	case map[string]any:
		if props, ok := s["properties"].(map[string]any); ok || s["type"] == "object" {
			if s["additionalProperties"] != false {
				return false
			}
			required, _ := s["required"].([]any)
			for name, p := range props {
				if all && !slices.Contains(required, any(name)) || !isEnforceable(p, all) {
					return false
				}
			}
		}
		defs, _ := s["$defs"].(map[string]any)
		for _, d := range defs {
			if !isEnforceable(d, all) {
				return false
			}
		}
		for key, v := range s {
			if !enforceable[key] || (key == "items" || key == "anyOf") && !isEnforceable(v, all) {
				return false
			}
		}
	}
	return true
}

var enforceable = map[string]bool{
	"type": true, "properties": true, "required": true, "additionalProperties": true, "items": true,
	"enum": true, "const": true, "anyOf": true, "description": true, "title": true,
	"$defs": true, "$ref": true,
}
