package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/engine"
)

// machinePreviewCommand shows what a machine would do with a question.
func (a *app) machinePreviewCommand() *cobra.Command {
	var q engine.PreviewRequest
	var set []string
	var state string
	var launch launchFlags
	cmd := &cobra.Command{
		Use: "preview NAME", Short: "Show the states that settings allow, the exact prompt and tools of each, and the one that a question would begin in", Args: cobra.ExactArgs(1),
		Example: "  interlock machine preview assistant --question 'How many orders were returned?'\n" +
			"  interlock machine preview assistant --no-python --set rag_chunk_min=0.5 --show hybrid",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			q.Machine, q.Owner = args[0], a.cfg.Owner
			s, err := a.openSystem(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.close()) }()
			m, err := s.machines.Get(q.Machine)
			if err != nil {
				return err
			}
			if q.Settings, err = launch.settings(m, set); err != nil {
				return err
			}
			p, err := s.engine.Preview(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.showPreview(p, state)
		},
	}
	cmd.Flags().StringVar(&q.Text, "question", "", "what the person would ask; without it nothing is looked up")
	cmd.Flags().StringVar(&q.Dataset, "dataset", "", "the dataset of the turn")
	cmd.Flags().StringVar(&state, "show", "", "show this state alone")
	cmd.Flags().StringArrayVar(&set, "set", nil, "a setting of the machine: name=value; may be repeated")
	launch.register(cmd)
	return cmd
}

// showPreview prints a preview: the choice and its reason, then each state.
func (a *app) showPreview(p engine.Preview, state string) error {
	if state != "" {
		p.States = slices.DeleteFunc(p.States, func(s engine.PreviewState) bool { return s.Name != state })
		if len(p.States) == 0 {
			return usageError{fmt.Errorf("the state %q is not possible under these settings", state)}
		}
	}
	if a.json {
		a.printJSON(p)
		return nil
	}
	fmt.Fprintf(a.out, "begins in %s", p.Active)
	if p.When != "" {
		fmt.Fprintf(a.out, " because %s", p.When)
	}
	fmt.Fprintln(a.out)
	for _, name := range slices.Sorted(maps.Keys(p.Scores)) {
		fmt.Fprintf(a.out, "  %-20s %v\n", name, p.Scores[name])
	}
	for _, c := range p.Discovered {
		if c.Error != "" {
			fmt.Fprintf(a.out, "  %s failed (%s): %s\n", oneLine(c.Tool), c.Code, oneLine(c.Error))
		}
	}
	for _, s := range p.States {
		mark := ""
		if s.Active {
			mark = " (the question would begin here)"
		}
		fmt.Fprintf(a.out, "\n=== %s%s\n", s.Name, mark)
		if len(s.Data) > 0 {
			raw, err := json.Marshal(s.Data)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "data:  %s\n", oneLine(string(raw)))
		}
		names := make([]string, len(s.Tools))
		for i, t := range s.Tools {
			names[i] = t.Name
		}
		fmt.Fprintf(a.out, "tools: %s\n", oneLine(textOrNone(strings.Join(names, ", "))))
		if s.Prompt != "" {
			fmt.Fprintf(a.out, "\n%s\n", printable(s.Prompt))
		}
	}
	return nil
}
