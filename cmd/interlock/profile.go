package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/catalog"
	"interlock/internal/query"
)

// profile looks at the columns of a source. One that is imported is looked at where
// it is; a table of a database is copied alone, not the database with it.
func (s *system) profile(ctx context.Context, alias string) (*query.Profile, error) {
	found, err := s.catalog.Source(ctx, alias)
	if err != nil {
		return nil, err
	}
	d, err := s.catalog.Get(ctx, found.Dataset)
	if err != nil {
		return nil, err
	}
	var db query.Database
	if d.Kind == "files" {
		db, _, err = s.catalog.Database(ctx, found.Dataset)
	} else {
		db, err = s.catalog.Assemble(ctx, []catalog.Part{{Table: found.Table, Alias: found.Alias}})
	}
	if err != nil {
		return nil, err
	}
	return s.query.Profile(ctx, db, found.Table)
}

func (a *app) profileCommand() *cobra.Command {
	return &cobra.Command{
		Use: "profile ALIAS", Short: "Show what the columns of a source hold", Args: cobra.ExactArgs(1),
		Example: "  interlock sources profile orders\n  interlock sources profile orders --json  # with histograms",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withData(cmd, func(s *system) error {
				p, err := s.profile(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				rows := make([][]string, len(p.Columns))
				for i, c := range p.Columns {
					rows[i] = []string{c.Name, c.Type, fmt.Sprint(c.Nulls), fmt.Sprint(c.Distinct), c.Min, c.Max, strings.Join(c.Examples, ", ")}
				}
				a.show(p, []string{"column", "type", "nulls", "distinct", "min", "max", "examples"}, rows)
				if !a.json {
					fmt.Fprintf(a.errw, "(%d rows)\n", p.Rows)
				}
				return nil
			})
		},
	}
}
