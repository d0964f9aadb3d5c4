package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) threadMigrateCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "migrate THREAD", Short: "Move a thread to the present version of its machine, if it can go on with it", Args: cobra.ExactArgs(1),
		Long: "A thread goes on with the version of its machine that it began with. migrate moves it to the\n" +
			"present one, or to the one that --to names, or says why the thread could not go on with it.\n" +
			"Runs before the move replay under the old version.",
		Example: "  interlock thread migrate t_1a2b\n  interlock thread migrate t_1a2b --to ./machines/mine",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.threadMigrate(cmd, args[0], to) },
	}
	cmd.Flags().StringVar(&to, "to", "", "name, folder or hash of the version; default: the machine of the thread as it is now")
	return cmd
}

func (a *app) threadMigrate(cmd *cobra.Command, id, to string) error {
	ctx := cmd.Context()
	if err := a.needState(); err != nil {
		return err
	}
	s, err := a.openSystem(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	before, err := s.store.Thread(ctx, id)
	if err != nil {
		return err
	}
	if to == "" {
		to = before.Machine
	}
	m, err := a.findVersion(ctx, to)
	if err != nil {
		return err
	}
	if err := s.engine.Migrate(ctx, id, m, a.cfg.Owner); err != nil {
		return err
	}
	if a.json {
		a.printJSON(map[string]string{"thread": id, "from": before.Version, "to": m.Hash})
		return nil
	}
	fmt.Fprintf(a.out, "%s: moved from %.12s to %.12s\n", id, before.Version, m.Hash)
	return nil
}
