package toolbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/tool"
)

// MCP is the tools of the MCP servers that a user has.
type MCP interface {
	// Tools returns the tools as the servers declare them now.
	Tools(ctx context.Context, owner string) ([]tool.Found, error)
	// Search returns the tools among these that fit a few words, the best first.
	Search(tools []tool.Found, query string, limit int) []tool.Found
}

// foundAtOnce is how many tools one search brings into the prompt.
const foundAtOnce = 5

// Arguments and results of the tools about MCP servers.
type (
	ListMCPToolsIn struct {
		Known []tool.Found `json:"known,omitempty"`
		Only  string       `json:"only,omitempty"` // names of tools, with commas; empty means all
		List  bool         `json:"list,omitempty"` // the tools themselves, and not only how many there are
	}
	ListMCPToolsOut struct {
		Count int          `json:"count"`
		Tools []tool.Found `json:"tools"` // empty unless the list was asked for
		Known []tool.Found `json:"known"` // those of In.Known that are still declared as they were
	}
	ToolSearchIn struct {
		Query string       `json:"query" jsonschema:"a few words that say what the tool must do"`
		Known []tool.Found `json:"known,omitempty"`
		Only  string       `json:"only,omitempty"` // names of tools, with commas; empty means all
	}
	ToolSearchOut struct {
		Tools []tool.Found `json:"tools"`
		Added []tool.Found `json:"added"` // those that were not known before
		Note  string       `json:"note"`
	}
)

func (b box) listMCPTools() tool.Tool {
	return tool.New(spec("list_mcp_tools", tool.Reads, taints, volatile), func(ctx context.Context, in ListMCPToolsIn) (ListMCPToolsOut, error) {
		out := ListMCPToolsOut{Tools: []tool.Found{}, Known: []tool.Found{}}
		tools, err := b.mcpTools(ctx, in.Only)
		if err != nil {
			return out, err
		}
		out.Count = len(tools)
		if in.List {
			out.Tools = append(out.Tools, tools...)
		}
		for _, k := range in.Known {
			if containsTool(tools, k) {
				out.Known = append(out.Known, k)
			}
		}
		return out, nil
	})
}

func (b box) toolSearch() tool.Tool {
	return tool.New(spec("tool_search", tool.Reads, taints, volatile, mainArgument("query")), func(ctx context.Context, in ToolSearchIn) (ToolSearchOut, error) {
		out := ToolSearchOut{Tools: []tool.Found{}, Added: []tool.Found{}}
		tools, err := b.mcpTools(ctx, in.Only)
		if err != nil {
			return out, err
		}
		if b.MCP != nil {
			out.Tools = append(out.Tools, b.MCP.Search(tools, in.Query, foundAtOnce)...)
		}
		var names []string
		for _, t := range out.Tools {
			names = append(names, t.Name)
			if !containsTool(in.Known, t) {
				out.Added = append(out.Added, t)
			}
		}
		out.Note = fmt.Sprintf("None of %d tools fits these words.", len(tools))
		if len(names) > 0 {
			out.Note = fmt.Sprintf("%d of %d tools can be called now: %s.", len(names), len(tools), strings.Join(names, ", "))
		}
		return out, nil
	})
}

// mcpTools returns the tools of the user whose call it is, without those that only leaves
// out.
func (b box) mcpTools(ctx context.Context, only string) ([]tool.Found, error) {
	if b.MCP == nil {
		return nil, nil
	}
	tools, err := b.MCP.Tools(ctx, tool.In(ctx).Owner)
	if only = strings.TrimSpace(only); err != nil || only == "" {
		return tools, err
	}
	var wanted []string
	for name := range strings.SplitSeq(only, ",") {
		wanted = append(wanted, strings.TrimSpace(name))
	}
	return slices.DeleteFunc(tools, func(t tool.Found) bool {
		_, own, _ := strings.Cut(t.Name, "__")
		return !slices.Contains(wanted, t.Name) && !slices.Contains(wanted, own)
	}), nil
}

// containsTool reports whether a tool is among others and declared in the same way.
func containsTool(tools []tool.Found, t tool.Found) bool {
	return slices.ContainsFunc(tools, func(x tool.Found) bool { return x.Name == t.Name && x.Digest() == t.Digest() })
}
