package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/fault"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

func (a *app) toolCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "tool", Short: "List and show the tools that machines may call"}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List every tool with its arguments and results", Args: cobra.NoArgs, Example: "  interlock tool list --json",
			RunE: func(*cobra.Command, []string) error { return a.toolList() },
		},
		&cobra.Command{
			Use: "show NAME", Short: "Show a tool: description, arguments and results as JSON Schema", Args: cobra.ExactArgs(1),
			Example: "  interlock tool show execute_sql",
			RunE:    func(_ *cobra.Command, args []string) error { return a.toolShow(args[0]) },
		},
	)
	return cmd
}

// toolView is a tool as it is listed.
type toolView struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Effect      tool.Effect     `json:"effect"`
	Arguments   json.RawMessage `json:"arguments"`
	Results     json.RawMessage `json:"results"`
}

// toolViews lists the tools of this build by name.
func toolViews() ([]toolView, error) {
	set := tool.NewSet(nil, toolbox.Tools(toolbox.Config{})...)
	var out []toolView
	for _, name := range slices.Sorted(slices.Values(set.Names())) {
		t, err := set.Get(name)
		if err != nil {
			return nil, err
		}
		s := t.Spec()
		out = append(out, toolView{s.Name, s.Description, s.Effect, s.Input, s.Output})
	}
	return out, nil
}

func (a *app) toolList() error {
	list, err := toolViews()
	if err != nil {
		return err
	}
	rows := make([][]string, len(list))
	for i, t := range list {
		rows[i] = []string{t.Name, string(t.Effect), schemaLine(t.Arguments), schemaLine(t.Results)}
	}
	a.printRows(list, []string{"tool", "effect", "arguments", "results"}, rows)
	return nil
}

func (a *app) toolShow(name string) error {
	list, err := toolViews()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(t toolView) bool { return t.Name == name })
	if i < 0 {
		return fault.New(fault.UnknownTool, "there is no tool %q", name).Suggest("List them with `interlock tool list`.")
	}
	t := list[i]
	if a.json {
		a.printJSON(t)
		return nil
	}
	fmt.Fprintf(a.out, "%s (%s)\n\n%s\n", t.Name, t.Effect, t.Description)
	for _, part := range []struct {
		title  string
		schema json.RawMessage
	}{{"Arguments", t.Arguments}, {"Results", t.Results}} {
		raw, err := json.MarshalIndent(part.schema, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "\n%s:\n%s\n", part.title, raw)
	}
	return nil
}

// schemaLine names the properties of a schema; what may be left out has a question mark.
func schemaLine(schema json.RawMessage) string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return ""
	}
	var names []string
	for name := range s.Properties {
		if !slices.Contains(s.Required, name) {
			name += "?"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
