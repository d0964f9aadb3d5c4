package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/capsule"
)

func (a *app) threadDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use: "diff A B", Short: "Compare two threads, such as a fork and its parent: what they share and where they part", Args: cobra.ExactArgs(2),
		Example: "  interlock thread diff t_1a2b t_3c4d",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.threadDiff(cmd, args[0], args[1]) },
	}
}

func (a *app) threadDiff(cmd *cobra.Command, left, right string) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	defer s.Close()
	c, err := capsule.CompareThreads(cmd.Context(), s, left, right)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(c)
		return nil
	}
	fmt.Fprintf(a.out, "%d events are the same\n", c.Shared)
	for _, b := range []capsule.Branch{c.A, c.B} {
		fmt.Fprintf(a.out, "\n%s: %d events of its own, %s %.12s in %s\n", b.Thread, b.Events, oneLine(b.Machine), b.Version, oneLine(b.State))
		for _, t := range b.Turns {
			fmt.Fprintf(a.out, "  > %s\n", cutText(oneLine(t.Question), 160))
			if len(t.Tools) > 0 {
				fmt.Fprintf(a.out, "    calls: %s\n", oneLine(strings.Join(t.Tools, ", ")))
			}
			fmt.Fprintf(a.out, "    %s %s\n", t.Status, cutText(oneLine(t.Answer), 300))
		}
		for _, m := range b.Artifacts {
			fmt.Fprintf(a.out, "  made %s %s (%s, version %d)\n", m.Type, oneLine(m.Name), m.ID, m.Version)
		}
	}
	for _, f := range c.Facts {
		fmt.Fprintf(a.out, "\nfact %s\n  %s\n  %s\n", oneLine(f.Name), cutText(oneLine(string(f.A)), 160), cutText(oneLine(string(f.B)), 160))
	}
	return nil
}
