package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"interlock/internal/catalog"
	"interlock/internal/data"
	"interlock/internal/fault"
	"interlock/internal/schema"
)

func (a *app) sourcesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "sources", Short: "List, preview, add and remove sources of data"}
	var given catalog.Connection
	add := &cobra.Command{
		Use: "add URL", Short: "Connect a database: postgres://, mysql://, sqlite:, clickhouse://, trino:// or snowflake://", Args: cobra.ExactArgs(1),
		Example: "  interlock sources add postgres://ann:secret@db.local/shop --alias shop\n" +
			"  interlock sources add postgres://ann:secret@db.local/shop --remote --schema sales --table orders --table customers",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeData(func(s *system) error {
				conn, secret, err := catalog.ParseConnection(args[0], given.Alias)
				if err != nil {
					return err
				}
				conn.Schema, conn.Tables, conn.Remote, conn.AllowOwner, conn.MaxAge = given.Schema, given.Tables, given.Remote, given.AllowOwner, given.MaxAge
				if err := s.catalog.Add(cmd.Context(), conn, secret); err != nil {
					return err
				}
				a.printDone(conn, "added %s", conn.Alias)
				return nil
			})
		},
	}
	add.Flags().StringVar(&given.Alias, "alias", "", "its name; default made from the address")
	add.Flags().StringVar(&given.Schema, "schema", "", "the schema whose tables to connect")
	add.Flags().StringSliceVar(&given.Tables, "table", nil, "a table to connect; default all; may be repeated")
	add.Flags().BoolVar(&given.Remote, "remote", false, "do not copy the rows: statements run in the database, in its dialect")
	add.Flags().BoolVar(&given.AllowOwner, "allow-owner", false, "with --remote: run statements in PostgreSQL even as a role that could do more than read")
	add.Flags().StringVar(&given.MaxAge, "max-age", "", "how old the copy may be, such as 1h; default that of --copy-age")
	refresh := &cobra.Command{
		Use: "refresh NAME", Short: "Copy a database again, with the tables that it has now", Args: cobra.ExactArgs(1),
		Example: "  interlock sources refresh shop",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.readData(func(s *system) error {
				d, err := s.catalog.Refresh(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				a.printDone(d, "copied %d tables of %s at %s", len(d.Tables), d.ID, d.CopiedAt.UTC().Format(time.RFC3339))
				return nil
			})
		},
	}
	var offset, limit int
	var where string
	preview := &cobra.Command{
		Use: "preview ALIAS", Short: "Show rows of a source", Args: cobra.ExactArgs(1),
		Example: "  interlock sources preview orders --limit 5\n  interlock sources preview orders --where '[{\"column\":\"amount\",\"op\":\"gt\",\"value\":100}]'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.sourcePreview(cmd, args[0], where, offset, limit)
		},
	}
	preview.Flags().IntVar(&offset, "offset", 0, "how many rows to skip")
	preview.Flags().IntVar(&limit, "limit", 20, "how many rows to show")
	preview.Flags().StringVar(&where, "where", "", "conditions as JSON: [{column, op, value}]")
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List datasets and their tables", Args: cobra.NoArgs, Example: "  interlock sources list --data ./data",
			RunE: func(cmd *cobra.Command, _ []string) error { return a.sourceList(cmd) },
		},
		preview, a.profileCommand(), add, refresh,
		&cobra.Command{
			Use: "remove ALIAS", Short: "Disconnect a database; its data is not touched", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.readData(func(s *system) error {
					if err := s.catalog.Remove(cmd.Context(), args[0]); err != nil {
						return err
					}
					a.printDone(map[string]string{"removed": args[0]}, "removed %s", args[0])
					return nil
				})
			},
		},
	)
	return cmd
}

// changeData opens the data part of the system alone.
func (a *app) changeData(f func(*system) error) error {
	s := &system{log: a.logger()}
	if err := s.openData(a.cfg); err != nil {
		return err
	}
	defer s.close()
	return f(s)
}

// readData is changeData for a command that only reads. It names data folders that do
// not exist, and refuses where none does.
func (a *app) readData(f func(*system) error) error {
	if err := a.cfg.requireData(); err != nil {
		return err
	}
	a.warnMissingData()
	return a.openReadOnly(f)
}

// openReadOnly opens the data part of the system. Where the state folder that was named
// does not exist, it imports into a temporary one, and none is made.
func (a *app) openReadOnly(f func(*system) error) error {
	if _, err := os.Stat(a.cfg.State); !errors.Is(err, os.ErrNotExist) || a.cfg.State == defaultState() {
		return a.changeData(f)
	}
	dir, err := os.MkdirTemp("", "interlock-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(a.errw, "There is no folder %s: the data is imported for this command only.\n", a.cfg.State)
	reading := *a
	reading.cfg.State = dir
	return reading.changeData(f)
}

// printDone prints a confirmation, as a sentence or as JSON.
func (a *app) printDone(v any, format string, args ...any) {
	if a.json {
		a.printJSON(v)
		return
	}
	fmt.Fprintln(a.out, oneLine(fmt.Sprintf(format, args...)))
}

func (a *app) sourceList(cmd *cobra.Command) error {
	if err := a.cfg.requireData(); err != nil {
		return err
	}
	return a.openReadOnly(func(s *system) error {
		ctx := cmd.Context()
		list, err := s.catalog.List(ctx)
		if err != nil {
			return err
		}
		var rows [][]string
		for i, d := range list {
			if full, err := s.catalog.Describe(ctx, d.ID); err == nil {
				list[i] = full
				data.Meanings{Catalog: s.catalog}.AddProblems(ctx, &list[i])
			} else if ctx.Err() != nil {
				return ctx.Err()
			} else if len(list[i].Problems) == 0 { // those say already what is wrong
				list[i].Problems = append(list[i].Problems, schema.Problem{Message: fault.From(err).Message})
			}
			for _, t := range list[i].Tables {
				rows = append(rows, []string{d.ID, t.Name, t.Kind, fmt.Sprint(len(t.Columns)), fmt.Sprint(t.Rows), t.File})
			}
		}
		a.printRows(map[string]any{"datasets": list}, []string{"dataset", "table", "kind", "columns", "rows", "file"}, rows)
		for _, d := range list {
			if !d.CopiedAt.IsZero() && !a.json {
				fmt.Fprintf(a.errw, "%s: copied at %s\n", oneLine(d.ID), d.CopiedAt.UTC().Format(time.RFC3339))
			}
			for _, p := range d.Problems {
				place := d.ID
				if p.Path != "" {
					place += ": " + p.Path
				}
				fmt.Fprintf(a.errw, "%s: %s\n", oneLine(place), oneLine(p.Message))
			}
		}
		if len(list) == 0 && !a.json {
			fmt.Fprintln(a.errw, "There are no datasets. Name a folder with --data, or make the demo with `interlock demo`.")
		}
		return nil
	})
}

func (a *app) sourcePreview(cmd *cobra.Command, alias, where string, offset, limit int) error {
	conditions, err := schema.ParseConditions([]byte(where))
	if err != nil {
		return err
	}
	return a.readData(func(s *system) error {
		r, err := s.catalog.Preview(cmd.Context(), alias, conditions, offset, limit)
		if err != nil {
			return err
		}
		head, rows, err := rowTexts(r.Columns, r.Rows)
		if err != nil {
			return err
		}
		a.printRows(r, head, rows)
		if !a.json {
			fmt.Fprintf(a.errw, "(%d of %d rows)\n", r.PreviewRows, r.TotalRows)
		}
		return nil
	})
}
