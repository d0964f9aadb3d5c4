package main

import "github.com/spf13/cobra"

func (a *app) askCommand() *cobra.Command {
	c := chat{app: a, machine: "pipeline"}
	cmd := &cobra.Command{
		Use: "ask QUESTION", Short: "Ask one question and get one checked answer", Args: cobra.MinimumNArgs(1),
		Long:        "Ask plans a query for the question, checks and runs it, and judges the result. If the question\ncan be read in two ways, it asks back.",
		Example:     "  interlock ask \"sales by region\" --data ./data\n  interlock ask \"how many orders were returned\" --dataset shop --json",
		Annotations: map[string]string{ownInterrupts: "turns"},
		RunE:        func(cmd *cobra.Command, args []string) error { return c.runCommand(cmd, args) },
	}
	cmd.Flags().StringVar(&c.dataset, "dataset", "", "the dataset; may be left out if there is only one")
	cmd.Flags().StringVar(&c.machine, "machine", "pipeline", "the machine that answers")
	cmd.Flags().StringArrayVar(&c.set, "set", nil, "a setting of the machine: name=value; may be repeated")
	c.launch.register(cmd)
	return cmd
}
