package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) profileCommand() *cobra.Command {
	return &cobra.Command{
		Use: "profile ALIAS", Short: "Show what the columns of a source hold", Args: cobra.ExactArgs(1),
		Example: "  interlock sources profile orders\n  interlock sources profile orders --json  # with histograms",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.readData(func(s *system) error {
				p, err := s.catalog.Profile(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				rows := make([][]string, len(p.Columns))
				for i, c := range p.Columns {
					rows[i] = []string{c.Name, c.Type.String(), fmt.Sprint(c.Nulls), fmt.Sprint(c.Distinct), c.Min, c.Max, strings.Join(c.Examples, ", ")}
				}
				a.printRows(p, []string{"column", "type", "nulls", "distinct", "min", "max", "examples"}, rows)
				if !a.json {
					fmt.Fprintf(a.errw, "(%d rows)\n", p.Rows)
					for _, n := range p.Notes {
						fmt.Fprintf(a.errw, "%s\n", oneLine(n.Line()))
					}
				}
				return nil
			})
		},
	}
}
