package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"interlock/internal/capsule"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

func (a *app) threadCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "thread", Short: "List, show, rename, fork, compare, migrate and stop threads"}
	var q store.Query
	list := &cobra.Command{
		Use: "list", Short: "List threads, newest first", Args: cobra.NoArgs,
		Example: "  interlock thread list --machine analyst --limit 20",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.threadList(cmd, q) },
	}
	listFlags(list, &q, store.Idle, store.Running, store.Waiting, store.Complete, store.Failed)
	var events bool
	show := &cobra.Command{
		Use: "show THREAD", Short: "Show a thread: state, messages, results, facts; with --events its whole log", Args: cobra.ExactArgs(1),
		Example: "  interlock thread show t_1a2b --events",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.threadShow(cmd, args[0], events) },
	}
	show.Flags().BoolVar(&events, "events", false, "print every event")
	var at int64
	fork := &cobra.Command{
		Use: "fork THREAD", Short: "Create a thread that begins with the events of another one", Args: cobra.ExactArgs(1),
		Example: "  interlock thread fork t_1a2b --at 42",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.threadFork(cmd, args[0], at) },
	}
	fork.Flags().Int64Var(&at, "at", 0, "sequence number of the last event to copy; 0 = all")
	stop := &cobra.Command{
		Use: "stop THREAD", Short: "Stop the turn that runs or waits in a thread, in whichever process it runs", Args: cobra.ExactArgs(1),
		Example: "  interlock thread stop t_1a2b",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.threadStop(cmd, args[0]) },
	}
	rename := &cobra.Command{
		Use: "rename THREAD TITLE", Short: "Give a thread another title", Args: cobra.ExactArgs(2),
		Example: "  interlock thread rename t_1a2b 'Refunds in October'",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.threadRename(cmd, args[0], args[1]) },
	}
	cmd.AddCommand(list, show, rename, fork, a.threadDiffCommand(), a.threadMigrateCommand(), stop)
	return cmd
}

// listFlags adds the flags that choose rows; a status is one of those given.
func listFlags(cmd *cobra.Command, q *store.Query, statuses ...string) {
	cmd.Flags().StringVar(&q.Machine, "machine", "", "only of this machine")
	cmd.Flags().StringVar(&q.Status, "status", "", "only with this status: "+strings.Join(statuses, ", "))
	cmd.Flags().StringVar(&q.Text, "text", "", "only with this text in the title or question")
	cmd.Flags().IntVar(&q.Limit, "limit", 50, "how many to list at most")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if q.Status != "" && !slices.Contains(statuses, q.Status) {
			return usageError{fmt.Errorf("--status %q is none; it is one of %s", q.Status, strings.Join(statuses, ", "))}
		}
		if q.Limit < 1 {
			return usageError{fmt.Errorf("--limit %d lists nothing: give a number from 1 on", q.Limit)}
		}
		return nil
	}
}

// needState says so where the state folder holds no log: a command that only reads makes
// none.
func (a *app) needState() error {
	if _, err := os.Stat(a.statePath("interlock.db")); err != nil {
		return fault.Wrap(err, fault.NotFound, "there is no state of Interlock in %s", a.cfg.State).
			Suggest("Check --state; `interlock config` says where it comes from.")
	}
	return nil
}

// openStore opens the log alone: enough for what only reads.
func (a *app) openStore() (store.Store, error) {
	if err := a.needState(); err != nil {
		return nil, err
	}
	return store.Open(store.Config{DSN: a.statePath("interlock.db"), ReadOnly: true})
}

func (a *app) threadList(cmd *cobra.Command, q store.Query) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := s.Threads(cmd.Context(), q)
	if err != nil {
		return err
	}
	defer noteRest(cmd.Context(), a, len(list), q, s.Threads)
	rows := make([][]string, len(list))
	for i, t := range list {
		rows[i] = []string{t.ID, t.Machine, t.Status, t.State, formatTime(t.Updated), t.Title}
	}
	a.printRows(list, []string{"thread", "machine", "status", "state", "changed", "title"}, rows)
	return nil
}

// maxCounted is how many threads or runs are counted.
const maxCounted = 100_000

// noteRest says how many there are where a list stopped at its limit.
func noteRest[T any](ctx context.Context, a *app, shown int, q store.Query, list func(context.Context, store.Query) ([]T, error)) {
	if shown < q.Limit || shown >= maxCounted {
		return
	}
	limit := q.Limit
	q.Limit = maxCounted
	all, err := list(ctx, q)
	if err != nil || len(all) <= shown {
		return
	}
	more := ""
	if len(all) == maxCounted {
		more = " or more"
	}
	fmt.Fprintf(a.errw, "the first %d of %d%s; --limit %d lists more\n", shown, len(all), more, 10*limit)
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func (a *app) threadShow(cmd *cobra.Command, id string, events bool) error {
	ctx := cmd.Context()
	if err := a.needState(); err != nil {
		return err
	}
	s, err := a.openForReading(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	v, err := s.engine.View(ctx, id)
	if err != nil {
		return err
	}
	var log []event.Event
	for e, err := range s.engine.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		e.Body = event.Inline(e.Body)
		log = append(log, e)
	}
	if a.json && !events {
		log = nil
	}
	if a.json {
		a.printJSON(map[string]any{"view": v, "events": log})
		return nil
	}
	a.printThread(v, log)
	if !events {
		return nil
	}
	fmt.Fprintln(a.out)
	for _, e := range log {
		raw, err := json.Marshal(e.Body)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%5d %s %-16s %s\n", e.Seq, e.Time.Local().Format("15:04:05.000"), e.Body.Kind(), cutText(oneLine(string(raw)), 200))
	}
	return nil
}

func (a *app) threadFork(cmd *cobra.Command, id string, at int64) error {
	ctx := cmd.Context()
	if at < 0 {
		return usageError{fmt.Errorf("--at %d is no sequence number: the first event is 1", at)}
	}
	if err := a.needState(); err != nil {
		return err
	}
	s, err := a.openSystem(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	fork, err := s.engine.Fork(ctx, id, at, a.cfg.Owner)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(map[string]string{"thread": fork, "parent": id})
		return nil
	}
	fmt.Fprintln(a.out, fork)
	return nil
}

// stopPatience is how long a stop waits for another process, beyond its lease.
const stopPatience = 30 * time.Second

func (a *app) threadRename(cmd *cobra.Command, id, title string) error {
	if err := a.needState(); err != nil {
		return err
	}
	s, err := a.openSystem(cmd.Context())
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.engine.Rename(cmd.Context(), id, title, a.cfg.Owner); err != nil {
		return err
	}
	thread, err := s.store.Thread(cmd.Context(), id)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(thread)
		return nil
	}
	fmt.Fprintf(a.out, "%s: %s\n", id, oneLine(thread.Title))
	return nil
}

func (a *app) threadStop(cmd *cobra.Command, id string) error {
	if err := a.needState(); err != nil {
		return err
	}
	s, err := a.openSystem(cmd.Context())
	if err != nil {
		return err
	}
	defer s.close()
	before, err := s.store.Thread(cmd.Context(), id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), a.cfg.Lease+stopPatience)
	defer cancel()
	if err := s.engine.Stop(ctx, id); err != nil {
		return err
	}
	running := before.Status == store.Running || before.Status == store.Waiting
	switch {
	case a.json:
		a.printJSON(map[string]any{"thread": id, "stopped": running})
	case running:
		fmt.Fprintf(a.out, "%s: the turn is stopped\n", id)
	default:
		fmt.Fprintf(a.out, "%s: no turn runs or waits\n", id)
	}
	return nil
}

func (a *app) runCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "run", Short: "List, show, keep and export runs"}
	var q store.Query
	list := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: cobra.NoArgs, Example: "  interlock run list --status failed",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runList(cmd, q) },
	}
	listFlags(list, &q, store.Running, store.Waiting, string(event.Answered), string(event.Asked), string(event.Declined), string(event.Refused),
		string(event.Failed), string(event.Stopped), string(event.Limited))
	list.Flags().StringVar(&q.Thread, "thread", "", "only of this thread")
	list.Flags().BoolVar(&q.Kept, "kept", false, "only those that are kept")
	var release bool
	keep := &cobra.Command{
		Use: "keep RUN", Short: "Keep a run and its thread, whatever the limits of retention say", Args: cobra.ExactArgs(1),
		Example: "  interlock run keep r_1a2b\n  interlock run keep r_1a2b --release",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runKeep(cmd, args[0], !release) },
	}
	keep.Flags().BoolVar(&release, "release", false, "keep it no longer")
	cmd.AddCommand(list, keep, a.runExportCommand(), &cobra.Command{
		Use: "show RUN", Short: "Show the audit document of a run: everything that happened in it", Args: cobra.ExactArgs(1),
		Example: "  interlock run show r_1a2b --json",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runShow(cmd, args[0]) },
	})
	return cmd
}

func (a *app) runList(cmd *cobra.Command, q store.Query) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := s.Runs(cmd.Context(), q)
	if err != nil {
		return err
	}
	defer noteRest(cmd.Context(), a, len(list), q, s.Runs)
	rows := make([][]string, len(list))
	for i, r := range list {
		rows[i] = []string{r.ID, r.Status, r.Machine, formatTime(r.Started), strconv.Itoa(r.Tokens), r.Question}
	}
	a.printRows(list, []string{"run", "status", "machine", "started", "tokens", "question"}, rows)
	return nil
}

func (a *app) runKeep(cmd *cobra.Command, id string, keep bool) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.KeepRun(cmd.Context(), id, keep); err != nil {
		return err
	}
	switch {
	case a.json:
		a.printJSON(map[string]any{"run_id": id, "kept": keep})
	case keep:
		fmt.Fprintf(a.out, "%s: kept\n", id)
	default:
		fmt.Fprintf(a.out, "%s: no longer kept\n", id)
	}
	return nil
}

func (a *app) runShow(cmd *cobra.Command, id string) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	defer s.Close()
	c, err := capsule.Build(cmd.Context(), s, id)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(c)
		return nil
	}
	fmt.Fprintf(a.out, "%s  %s  %s %s\n", c.Run, oneLine(c.Machine), c.Outcome, c.Code)
	fmt.Fprintf(a.out, "question: %s\n", oneLine(c.Question))
	if c.Dataset != "" {
		fmt.Fprintf(a.out, "dataset:  %s %s\n", oneLine(c.Dataset), oneLine(c.DataVersion))
	}
	fmt.Fprintf(a.out, "time:     %s, %d ms; %d tokens in, %d out, %.4f $\n", formatTime(c.Started), c.MS, c.Usage.Input, c.Usage.Output, float64(c.Usage.MicroUSD)/1e6)
	for _, st := range c.States {
		fmt.Fprintf(a.out, "state:    %s -> %s (%s)\n", oneLine(st.From), oneLine(st.To), oneLine(st.Cause))
	}
	for _, t := range c.Tools {
		a.showCall(t)
	}
	fmt.Fprintf(a.out, "answer:   %s\n", printable(c.Answer))
	a.listFigures(c.Figures)
	return nil
}

// showCall prints a call: what ran, whole, and what came of it.
func (a *app) showCall(t capsule.ToolCall) {
	fmt.Fprintf(a.out, "call:     %s %s %s\n", oneLine(t.Tool), t.Outcome, t.Code)
	var args map[string]json.RawMessage
	_ = json.Unmarshal(t.Args, &args) // what is no object has no statement
	for _, name := range []string{"sql", "python_code", "code"} {
		var text string
		if json.Unmarshal(args[name], &text) == nil && text != "" {
			fmt.Fprintf(a.out, "          %s\n", strings.ReplaceAll(printable(strings.TrimSpace(text)), "\n", "\n          "))
			delete(args, name)
		}
	}
	if rest, err := json.Marshal(args); err == nil && len(args) > 0 {
		fmt.Fprintf(a.out, "          %s\n", cutText(oneLine(string(rest)), 160))
	}
	if t.Message != "" {
		fmt.Fprintf(a.out, "          %s\n", printable(t.Message))
	}
	(&chat{app: a}).printResult(t.Result)
}

// onToday is the value of replay's --data where no folder follows it.
const onToday = "today's"

func (a *app) replayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay RUN [--data [DIR]]", Short: "Replay a run from its recording without a model, and compare the logs byte for byte", Args: cobra.RangeArgs(1, 2),
		Long: "Without a flag, replay runs the machine again with the recorded replies of the model and results\n" +
			"of the tools, and compares the new log with the recorded one byte for byte. With --data it makes\n" +
			"the tool calls again on today's data and reports for each whether the result is the same, different\n(with the first cell that differs), or volatile.",
		Example: "  interlock replay r_1a2b\n  interlock replay r_1a2b --data ./data",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				a.cfg.Data = []string{args[1]}
			}
			onData := cmd.Flags().Changed("data")
			if onData && len(args) == 1 {
				if err := a.needDatasetOf(cmd.Context(), args[0]); err != nil {
					return err
				}
			}
			return a.replay(cmd, args[0], onData)
		},
	}
	cmd.Flags().StringArray("data", nil, "run the statements again on today's data, in this folder if one is given")
	cmd.Flags().Lookup("data").NoOptDefVal = onToday
	return cmd
}

// needDatasetOf asks for the folder where the settings name none that holds the dataset of a run.
func (a *app) needDatasetOf(ctx context.Context, run string) error {
	log, err := a.openStore()
	if err != nil {
		return err
	}
	row, err := log.Run(ctx, run)
	if err := errors.Join(err, log.Close()); err != nil {
		return err
	}
	return a.changeData(func(s *system) error {
		if _, err := s.catalog.Get(ctx, row.Dataset); err == nil || row.Dataset == "" {
			return nil
		}
		return fault.New(fault.NotFound, "the dataset %q of the run %s is in no folder of the settings", row.Dataset, run).
			Suggest("Name the folder that holds it: interlock replay %s --data DIR", run)
	})
}

func (a *app) replay(cmd *cobra.Command, run string, onData bool) error {
	ctx := cmd.Context()
	if err := a.needState(); err != nil {
		return err
	}
	s, err := a.openSystem(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if onData {
		return a.replayData(cmd, s, run)
	}
	r, err := capsule.ReplayRun(ctx, s.store, s.tools, run)
	if err != nil {
		return err
	}
	if !r.Same {
		a.code = exitFailed
	}
	if a.json {
		a.printJSON(r)
		return nil
	}
	if r.Same {
		fmt.Fprintf(a.out, "%s: %d events, the same byte for byte\n", run, r.Events)
		return nil
	}
	fmt.Fprintf(a.out, "%s: differs at event %d\n recorded %s\n replayed %s\n", run, r.Diff.Seq, r.Diff.Recorded, r.Diff.Replayed)
	return nil
}

func (a *app) replayData(cmd *cobra.Command, s *system, run string) error {
	list, err := capsule.RecheckCalls(cmd.Context(), s.store, s.tools, run)
	if err != nil {
		return err
	}
	rows := make([][]string, len(list))
	for i, r := range list {
		note := r.Note
		if r.Where != "" {
			note = fmt.Sprintf("%s: %s, today %s", r.Where, r.Recorded, r.Today)
		}
		rows[i] = []string{r.Call, r.Tool, r.Verdict, note}
		if r.Verdict == capsule.Different || r.Verdict == capsule.Failed {
			a.code = exitFailed
		}
	}
	a.printRows(list, []string{"call", "tool", "verdict", "where"}, rows)
	if len(list) == 0 && !a.json {
		return fault.New(fault.NotFound, "the run %s made no call that returned", run)
	}
	return nil
}
