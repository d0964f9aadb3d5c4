package machine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// ToolTypes are the arguments and results of the tools that the program has.
type ToolTypes map[string]ToolType

// A ToolType is the type of a tool's arguments and of its result.
type ToolType struct {
	In, Out  *Type
	Required []string // arguments that it demands
	Always   []string // parts of the result that are never missing; nil = not known, all count
}

// TypeOfSchema makes a type of a JSON Schema and lists what it demands. What the
// type language cannot say becomes json.
func TypeOfSchema(raw json.RawMessage) (*Type, []string, error) {
	var s schema
	if len(raw) == 0 {
		return &Type{Kind: JSON}, nil, nil
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, nil, fmt.Errorf("reading a tool's schema: %w", err)
	}
	defs := s.Defs
	if defs == nil {
		defs = s.Definitions
	}
	return s.typeOf(defs, 0), s.Required, nil
}

// A schema is the part of JSON Schema that types are made of.
type schema struct {
	Type        json.RawMessage    `json:"type"`
	Enum        []any              `json:"enum"`
	Properties  map[string]*schema `json:"properties"`
	Items       *schema            `json:"items"`
	Required    []string           `json:"required"`
	Format      string             `json:"format"`
	Ref         string             `json:"$ref"`
	Additional  json.RawMessage    `json:"additionalProperties"`
	Defs        map[string]*schema `json:"$defs"`
	Definitions map[string]*schema `json:"definitions"`
	any         bool
}

// UnmarshalJSON accepts the schemas true and false too.
func (s *schema) UnmarshalJSON(raw []byte) error {
	var b bool
	if json.Unmarshal(raw, &b) == nil {
		s.any = true
		return nil
	}
	type plainSchema schema
	return json.Unmarshal(raw, (*plainSchema)(s))
}

// kind is the one type that is not null, "" where there are several.
func (s *schema) kind() string {
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		return one
	}
	var many []string
	if json.Unmarshal(s.Type, &many) != nil {
		return ""
	}
	many = slices.DeleteFunc(many, func(k string) bool { return k == "null" })
	if len(many) == 1 {
		return many[0]
	}
	return ""
}

func (s *schema) typeOf(defs map[string]*schema, depth int) *Type {
	if s == nil || s.any || depth > 8 {
		return &Type{Kind: JSON}
	}
	for _, prefix := range []string{"#/$defs/", "#/definitions/"} {
		if len(s.Ref) > len(prefix) && s.Ref[:len(prefix)] == prefix {
			return defs[s.Ref[len(prefix):]].typeOf(defs, depth+1)
		}
	}
	if len(s.Enum) > 0 {
		return enumOf(s.Enum)
	}
	switch s.kind() {
	case "string":
		if s.Format == "date-time" {
			return &Type{Kind: Time}
		}
		return &Type{Kind: String}
	case "integer":
		return &Type{Kind: Int}
	case "number":
		return &Type{Kind: Float}
	case "boolean":
		return &Type{Kind: Bool}
	case "array":
		return &Type{Kind: List, Of: s.Items.typeOf(defs, depth+1)}
	case "object":
		if len(s.Properties) == 0 && string(s.Additional) != "false" {
			return &Type{Kind: JSON}
		}
		t := &Type{Kind: Record, Fields: make(map[string]*Type, len(s.Properties)), Order: slices.Sorted(maps.Keys(s.Properties))}
		for name, p := range s.Properties {
			t.Fields[name] = p.typeOf(defs, depth+1)
		}
		return t
	}
	return &Type{Kind: JSON}
}

func enumOf(values []any) *Type {
	t := &Type{Kind: Enum}
	for _, v := range values {
		s, ok := v.(string)
		if !ok {
			return &Type{Kind: JSON}
		}
		t.Values = append(t.Values, s)
	}
	return t
}
