package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"interlock/internal/retention"
)

func (a *app) retentionCommand() *cobra.Command {
	var dryRun, compact bool
	cmd := &cobra.Command{
		Use: "retention", Short: "Remove old threads and artifacts, or list what would go", Args: cobra.NoArgs,
		Long: "Removes what is beyond the limits that --keep-threads, --keep-threads-mb, --keep-artifacts and\n" +
			"--keep-artifacts-mb set; `serve` does the same every hour. A thread stays while one of its runs is\n" +
			"kept (`interlock run keep`), while a turn runs in it and while it has a fork; an artifact stays while\n" +
			"such a thread names it.",
		Example: "  interlock retention --keep-threads 90d --dry-run\n  interlock retention --keep-artifacts-mb 10000 --compact",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.retain(cmd.Context(), dryRun, compact) },
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only list what would be removed, and what stays and why")
	cmd.Flags().BoolVar(&compact, "compact", false, "give the freed space of the log back to the disk; writers wait meanwhile")
	return cmd
}

// retention returns the limits that the settings set.
func (c *config) retention() retention.Limits {
	return retention.Limits{
		ThreadAge: c.KeepThreads, ThreadBytes: int64(c.KeepThreadsMB) << 20,
		ArtifactAge: c.KeepArtifacts, ArtifactBytes: int64(c.KeepArtifactsMB) << 20,
	}
}

func (s *system) keeper() (*retention.Keeper, error) {
	return retention.New(retention.Config{Store: s.store, Artifacts: s.artifacts, Threads: s.engine})
}

func (a *app) retain(ctx context.Context, dryRun, compact bool) error {
	limits := a.cfg.retention()
	if limits.IsZero() && !compact {
		return usageError{errors.New("no limit is set: give --keep-threads, --keep-threads-mb, --keep-artifacts or --keep-artifacts-mb")}
	}
	if err := a.needState(); err != nil {
		return err
	}
	s, err := a.openSystem(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	k, err := s.keeper()
	if err != nil {
		return err
	}
	plan, err := k.Plan(ctx, limits)
	if err != nil {
		return err
	}
	if dryRun {
		a.showPlan(plan, nil)
		return nil
	}
	done, err := k.Apply(ctx, plan)
	if err != nil {
		return err
	}
	if compact {
		if err := s.store.Compact(ctx); err != nil {
			return err
		}
	}
	a.showPlan(plan, &done)
	return nil
}

// showPlan prints what goes and what stays nevertheless; done is nil for a dry run.
func (a *app) showPlan(p *retention.Plan, done *retention.Result) {
	if a.json {
		a.printJSON(struct {
			*retention.Plan
			DryRun  bool              `json:"dry_run"`
			Removed *retention.Result `json:"removed,omitempty"`
		}{p, done == nil, done})
		return
	}
	var rows [][]string
	var bytes int64
	for _, t := range p.Threads {
		rows = append(rows, []string{"thread", t.ID, t.Reason, formatTime(t.Updated), fmt.Sprint(t.Bytes), t.Title})
		bytes += t.Bytes
	}
	for _, o := range p.Artifacts {
		rows = append(rows, []string{"artifact", o.ID, o.Reason, formatTime(o.Used), fmt.Sprint(o.Bytes), o.Name})
		bytes += o.Bytes
	}
	for _, k := range p.Kept {
		rows = append(rows, []string{"stays", k.ID, k.Why, formatTime(k.Used), fmt.Sprint(k.Bytes), k.Name})
	}
	if len(rows) > 0 {
		writeTable(a.out, []string{"what", "id", "reason", "last used", "bytes", "name"}, rows, terminalWidth(a.out))
	}
	for _, d := range p.Damaged {
		fmt.Fprintf(a.out, "damaged and left alone: %s (%s)\n", oneLine(d.Path), oneLine(d.Problem))
	}
	if done == nil {
		fmt.Fprintf(a.out, "would remove %d threads and %d artifacts, %d bytes; nothing was removed\n", len(p.Threads), len(p.Artifacts), bytes)
		return
	}
	fmt.Fprintf(a.out, "removed %d threads and %d artifacts, %d bytes\n", done.Threads, done.Artifacts, done.Bytes)
}

// retainEvery is how often a server removes what is beyond its limits.
const retainEvery = time.Hour

// retainRegularly removes what is beyond the limits, now and then every hour.
func (s *system) retainRegularly(ctx context.Context, k *retention.Keeper, limits retention.Limits) {
	tick := time.NewTicker(retainEvery)
	defer tick.Stop()
	for {
		plan, err := k.Plan(ctx, limits)
		var done retention.Result
		if err == nil {
			done, err = k.Apply(ctx, plan)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.log.Error("old threads and artifacts could not be removed", "err", err)
		case len(plan.Damaged) > 0:
			s.log.Warn("documents of artifacts are damaged", "documents", len(plan.Damaged), "first", plan.Damaged[0].Path)
			fallthrough
		case done != retention.Result{}:
			s.log.Info("removed old threads and artifacts", "threads", done.Threads, "artifacts", done.Artifacts, "bytes", done.Bytes)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
