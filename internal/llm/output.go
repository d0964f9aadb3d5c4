package llm

import (
	"encoding/json"
	"slices"
	"strings"

	"interlock/internal/fault"
)

// A form is the schema that the text of a reply must follow, fitted to what
// providers take: the root is an object.
type form struct {
	schema  map[string]any
	wrapped bool // the wanted value stands under "value"
}

// newForm reads the schema of a request; without one there is no form.
func newForm(raw json.RawMessage) (*form, error) {
	if raw == nil {
		return nil, nil
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, fault.Wrap(err, fault.ModelFailed, "the schema of the wanted output is no JSON object")
	}
	delete(schema, "$schema")
	if schema["type"] == "object" {
		return &form{schema: schema}, nil
	}
	return &form{wrapped: true, schema: map[string]any{
		"type":                 "object",
		"properties":           map[string]any{"value": schema},
		"required":             []any{"value"},
		"additionalProperties": false,
	}}, nil
}

// prompt asks for the form in words, for models that take no schema.
func (f *form) prompt() string {
	b, err := json.Marshal(f.schema)
	if err != nil {
		return ""
	}
	return "Answer with one JSON object that follows this JSON Schema, and with nothing else:\n" + string(b)
}

// read finds the JSON in what the model said: alone, in a fenced block, or with
// words around it.
func (f *form) read(r *Reply) (string, error) {
	value, ok := findObject(r.Text)
	switch {
	case ok:
	case r.Stop == stopLength:
		return "", &trouble{code: fault.ModelBadOutput, text: "the answer was cut off before its JSON was complete"}
	case r.Stop == StopRefusal:
		return "", &trouble{code: fault.ModelRefused, text: "the model declined: " + clip(r.Text, 200)}
	default:
		return "", &trouble{code: fault.ModelBadOutput, text: "the answer is not the JSON that was asked for: " + clip(r.Text, 200)}
	}
	if !f.wrapped {
		return value, nil
	}
	var inner struct {
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal([]byte(value), &inner) != nil || inner.Value == nil {
		return "", &trouble{code: fault.ModelBadOutput, text: "the answer has no \"value\""}
	}
	return string(inner.Value), nil
}

// findObject gives the first JSON object in a text. It looks at no more than a
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

// closed says whether the schema keeps to the part of JSON Schema that providers
// can enforce: objects that allow nothing beyond their properties and, if all is
// set, demand every one of them.
func closed(schema any, all bool) bool {
	switch s := schema.(type) {
	case []any:
		return !slices.ContainsFunc(s, func(v any) bool { return !closed(v, all) })
	case map[string]any:
		if props, ok := s["properties"].(map[string]any); ok || s["type"] == "object" {
			if s["additionalProperties"] != false {
				return false
			}
			required, _ := s["required"].([]any)
			for name, p := range props {
				if all && !slices.Contains(required, any(name)) || !closed(p, all) {
					return false
				}
			}
		}
		defs, _ := s["$defs"].(map[string]any)
		for _, d := range defs {
			if !closed(d, all) {
				return false
			}
		}
		for key, v := range s {
			if !enforceable[key] || (key == "items" || key == "anyOf") && !closed(v, all) {
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
