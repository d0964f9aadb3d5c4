package tool

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// mustInferSchema returns the JSON Schema of the values that encoding/json makes of
// T. It panics if T has none, which is a mistake in the tool's declaration.
func mustInferSchema[T any](toolName string) json.RawMessage {
	schema, err := inferSchema(reflect.TypeFor[T](), nil)
	if err == nil {
		var raw json.RawMessage
		if raw, err = json.Marshal(schema); err == nil {
			return raw
		}
	}
	panic(fmt.Sprintf("tool %s: its type has no schema: %v", toolName, err))
}

// SchemaOf returns the JSON Schema of the values that encoding/json makes of T. It panics
// if T has none.
func SchemaOf[T any]() json.RawMessage { return mustInferSchema[T](reflect.TypeFor[T]().String()) }

// inferSchema returns the schema of t, whose enclosing struct types are outer. A
// pointer and a slice may be null; a struct allows no properties but its fields.
func inferSchema(t reflect.Type, outer []reflect.Type) (map[string]any, error) {
	switch t {
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[any]():
		return map[string]any{}, nil // any value
	}
	if t.Kind() == reflect.Struct && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return map[string]any{"type": "string"}, nil // encoding/json writes its text
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}, nil
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}, nil
	case reflect.Float64:
		return map[string]any{"type": "number"}, nil
	case reflect.String:
		return map[string]any{"type": "string"}, nil
	case reflect.Pointer:
		schema, err := inferSchema(t.Elem(), outer)
		if kind, ok := schema["type"].(string); ok {
			schema["type"] = []string{"null", kind}
		}
		return schema, err
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil, fmt.Errorf("%s is encoded as base64; tools pass text or values", t)
		}
		items, err := inferSchema(t.Elem(), outer)
		return map[string]any{"type": []string{"null", "array"}, "items": items}, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("%s has keys that are not strings", t)
		}
		values, err := inferSchema(t.Elem(), outer)
		return map[string]any{"type": "object", "additionalProperties": values}, err
	case reflect.Struct:
		return inferStruct(t, outer)
	}
	return nil, fmt.Errorf("%s has no JSON Schema", t)
}

// inferStruct returns the schema of a struct: a field without omitempty or omitzero
// is required, and its jsonschema tag is its description.
func inferStruct(t reflect.Type, outer []reflect.Type) (map[string]any, error) {
	if slices.Contains(outer, t) {
		return nil, fmt.Errorf("%s contains itself", t)
	}
	outer = append(slices.Clip(outer), t)
	properties, required := map[string]any{}, []string{}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "", !field.IsExported(), name == "-":
			continue // the fields of an embedded struct are visible themselves
		case name == "":
			name = field.Name
		}
		property, err := inferSchema(field.Type, outer)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", field.Name, err)
		}
		if text := field.Tag.Get("jsonschema"); text != "" {
			property["description"] = text
		}
		properties[name] = property
		optional := slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return o == "omitempty" || o == "omitzero" })
		if !optional {
			required = append(required, name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema, nil
}
