package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/machine"
)

// A capability is a switch of machines that flags can set for one launch.
type capability struct {
	setting, what string
	search        bool // it serves another capability, and stays when --only leaves it out
}

var capabilities = []capability{
	{"documents", "documents", false},
	{"sql", "databases", false},
	{"mcp", "the tools of MCP servers", false},
	{"python", "Python", false},
	{"schema_search", "searching for tables", true},
	{"tool_search", "searching for tools", true},
}

// launchFlags switch capabilities for one launch.
type launchFlags struct {
	off   [6]bool // by capabilities
	only  []string
	tools []string
}

func (f *launchFlags) register(cmd *cobra.Command) {
	for i, c := range capabilities {
		cmd.Flags().BoolVar(&f.off[i], "no-"+strings.ReplaceAll(c.setting, "_", "-"), false, "without "+c.what)
	}
	cmd.Flags().StringSliceVar(&f.only, "only", nil, "with these capabilities alone: documents, sql, mcp, python")
	cmd.Flags().StringSliceVar(&f.tools, "tools", nil, "of the tools of MCP servers these alone, by name")
}

// settings returns what --set and the flags say of a machine's settings. A switch that
// the machine does not have is a mistake of the command line.
func (f *launchFlags) settings(m *machine.Machine, set []string) (map[string]any, error) {
	flags := map[string]any{}
	for i, c := range capabilities {
		if f.off[i] || len(f.only) > 0 && !c.search && !slices.Contains(f.only, c.setting) {
			flags[c.setting] = false
		}
	}
	has := func(setting string) bool {
		return slices.ContainsFunc(m.Settings, func(s *machine.Setting) bool { return s.Name == setting })
	}
	for _, name := range f.only {
		if !has(name) || !slices.ContainsFunc(capabilities, func(c capability) bool { return c.setting == name }) {
			return nil, usageError{fmt.Errorf("--only: the machine %s has no capability %q", m.Name, name)}
		}
	}
	if len(f.tools) > 0 {
		flags["mcp_only"] = strings.Join(f.tools, ",")
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if !has(name) {
			return nil, usageError{fmt.Errorf("the machine %s has no switch %s", m.Name, name)}
		}
	}
	given, err := parseSettings(set)
	if err != nil {
		return nil, err
	}
	maps.Copy(flags, given)
	return flags, nil
}
