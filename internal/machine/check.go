package machine

import "encoding/json"

// ToolTypes are the arguments and results of the tools that the program has.
type ToolTypes map[string]ToolType

// A ToolType is the type of a tool's arguments and of its result.
type ToolType struct {
	In, Out  *Type
	Required []string // arguments that it demands
}

// Check gives every finding of a definition, warnings included.
func (m *Machine) Check(tools ToolTypes) []Finding {
	return nil
}

var _ = json.Marshal
