package toolbox

import (
	"context"
	"encoding/json"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/tool"
)

// declare makes a tool that has a declaration and no hands yet: machines that use it
// can be checked and played with scripted tools, and a call says plainly that this
// build cannot do it.
func declare[In, Out any](name, description string, effect tool.Effect, adjust ...func(*tool.Spec)) tool.Tool {
	spec := tool.Spec{Name: name, Description: description, Effect: effect}
	for _, f := range adjust {
		f(&spec)
	}
	return tool.New(spec, func(context.Context, In) (Out, error) {
		var none Out
		return none, fault.New(fault.Unavailable, "%s is not part of this build of Interlock", name).
			Suggest("Use a machine that does without it; `interlock machine list` says which are complete.")
	})
}

func taints(s *tool.Spec) { s.Taints = true }

// volatile marks a tool that reads sources where they are, without a version.
func volatile(s *tool.Spec) { s.Volatile = true }

func mainArgument(name string) func(*tool.Spec) { return func(s *tool.Spec) { s.Main = name } }

// Undone names the declared tools that this build cannot run.
func Undone() []string {
	var names []string
	for _, t := range declared() {
		names = append(names, t.Spec().Name)
	}
	return names
}

// declared lists the tools of machines whose parts are not built in.
func declared() []tool.Tool {
	return []tool.Tool{
		declare[ListMCPToolsIn, ListMCPToolsOut]("list_mcp_tools", "List the tools of connected MCP servers.", tool.Reads, taints),
		declare[ToolSearchIn, ToolSearchOut]("tool_search", "Find tools of connected MCP servers by what they do.", tool.Reads, taints),
	}
}

// Arguments and results of the assistant tools.
type (
	FoundTool struct {
		Name        string          `json:"name"`
		Server      string          `json:"server"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
		ReadOnly    bool            `json:"read_only"`
	}
	ListMCPToolsIn struct {
		Known []FoundTool `json:"known,omitempty"`
		Only  string      `json:"only,omitempty"` // names of tools, with commas; empty means all
		List  bool        `json:"list,omitempty"` // the tools themselves, and not only how many there are
	}
	ListMCPToolsOut struct {
		Count int         `json:"count"`
		Tools []FoundTool `json:"tools"` // empty unless the list was asked for
		Known []FoundTool `json:"known"` // those of In.Known that are still declared as they were
	}
	ToolSearchIn struct {
		Query string      `json:"query"`
		Known []FoundTool `json:"known,omitempty"`
		Only  string      `json:"only,omitempty"` // names of tools, with commas; empty means all
	}
	ToolSearchOut struct {
		Tools []FoundTool `json:"tools"`
		Added []FoundTool `json:"added"`
		Note  string      `json:"note"`
	}
	SQLSelectIn struct {
		SourceID string       `json:"source_id"`
		SQL      string       `json:"sql"`
		Purpose  string       `json:"purpose,omitempty"`
		Tables   []FoundTable `json:"tables"`
		MaxRows  int          `json:"max_rows"`
	}
	SQLSelectOut struct {
		Columns  []string        `json:"columns"`
		Rows     json.RawMessage `json:"rows"`
		RowCount int             `json:"row_count"`
		Limited  bool            `json:"limited"`

		varies bool
		ran    *event.Ran
	}
	RequestCapabilityIn struct {
		Name string `json:"name"`
		Why  string `json:"why"`
	}
	RequestCapabilityOut struct {
		Name string `json:"name"`
		Note string `json:"note"`
	}
)
