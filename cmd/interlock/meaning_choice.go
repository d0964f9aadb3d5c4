package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/catalog"
	"interlock/internal/data"
	"interlock/internal/schema"
	"interlock/internal/server"
)

// choiceCommands list, add and remove what a person chose at questions back for good.
func (a *app) choiceCommands() []*cobra.Command {
	return []*cobra.Command{
		{
			Use: "choices DATASET", Short: "List the choices at questions back that are remembered", Args: cobra.ExactArgs(1),
			Example: "  interlock meaning choices ecommerce",
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.readData(func(s *system) error {
					found, err := data.Meanings{Catalog: s.catalog}.Choices(cmd.Context(), args[0])
					if err != nil {
						return err
					}
					a.printChoices(found)
					return nil
				})
			},
		},
		{
			Use: "remember DATASET TERM READING", Short: "Remember a choice: write it into the semantic model", Args: cobra.ExactArgs(3),
			Long:    "TERM is what a question back asked about, \"when\" for its dates; READING is the choice in the words of the question back.",
			Example: "  interlock meaning remember ecommerce when \"the order date of orders\"",
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.readData(func(s *system) error {
					found, err := data.Meanings{Catalog: s.catalog}.Remember(cmd.Context(), args[0], "", schema.Choice{Term: args[1], Reading: args[2]})
					if err != nil {
						return err
					}
					a.printDone(found, "remembered as %s: %s", found.Remembered.ID, oneLine(found.Remembered.Sentence))
					return nil
				})
			},
		},
		{
			Use: "forget DATASET ID", Short: "Forget a remembered choice or a verified question by its id", Args: cobra.ExactArgs(2),
			Example: "  interlock meaning forget ecommerce c1a2b3c4d5e6",
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.readData(func(s *system) error {
					if strings.HasPrefix(args[1], "v") {
						found, err := data.Meanings{Catalog: s.catalog}.Unverify(cmd.Context(), args[0], "", args[1])
						if err != nil {
							return err
						}
						a.printDone(found, "forgotten")
						return nil
					}
					found, err := data.Meanings{Catalog: s.catalog}.Forget(cmd.Context(), args[0], "", args[1])
					if err != nil {
						return err
					}
					a.printDone(found, "forgotten")
					return nil
				})
			},
		},
	}
}

func (a *app) printChoices(found data.DatasetChoices) {
	if a.json {
		a.printJSON(found)
		return
	}
	if len(found.Choices) == 0 {
		fmt.Fprintf(a.out, "no choice is remembered for %s\n", found.DatasetID)
	}
	for _, c := range found.Choices {
		fmt.Fprintf(a.out, "%s  %s\n", c.ID, oneLine(c.Sentence))
	}
}

// A choiceKeeper writes choices that people ask for in a chat into semantic models, with the
// rights that they have over HTTP.
type choiceKeeper struct {
	meanings  data.Meanings
	operators []string // who acts as the operator
}

func newChoiceKeeper(cfg config, c *catalog.Catalog) (choiceKeeper, error) {
	k := choiceKeeper{meanings: data.Meanings{Catalog: c}}
	if cfg.Tokens == "" {
		k.operators = []string{cfg.Owner, ""}
		return k, nil
	}
	users, err := readUsers(cfg.Tokens)
	for _, u := range users {
		if u.Role == server.Admin {
			k.operators = append(k.operators, u.Name)
		}
	}
	return k, err
}

// RememberFor implements toolbox.Choices.
func (k choiceKeeper) RememberFor(ctx context.Context, dataset, user string, c schema.Choice) error {
	if slices.Contains(k.operators, user) {
		user = ""
	}
	_, err := k.meanings.Remember(ctx, dataset, user, c)
	return err
}
