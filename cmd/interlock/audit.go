package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/audit"
	"interlock/internal/store"
)

func (a *app) auditCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "audit", Short: "List and verify who did what"}
	var limit int
	list := &cobra.Command{
		Use: "list", Short: "List the entries of the audit log, newest first", Args: cobra.NoArgs,
		Example: "  interlock audit list --limit 20",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.auditList(cmd.Context(), limit) },
	}
	list.Flags().IntVar(&limit, "limit", 50, "how many to list at most")
	var heads []string
	verify := &cobra.Command{
		Use: "verify", Short: "Check that no entry of the audit log was changed, removed, inserted or cut off", Args: cobra.NoArgs,
		Long: "Each entry seals the one before it, and every run of a thread must have its entry. Exit code 0: intact, 1: changed.\n" +
			"Whoever may write the state could seal the whole log anew: keep the head that is printed elsewhere, and give it\nwith --head later.",
		Example: "  interlock audit verify\n  interlock audit verify --head 42:1f0c…",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.auditVerify(cmd.Context(), heads) },
	}
	verify.Flags().StringArrayVar(&heads, "head", nil, "number:hash of an entry that was the last one at some time; may be repeated")
	cmd.AddCommand(list, verify)
	return cmd
}

func (a *app) auditList(ctx context.Context, limit int) error {
	if limit < 1 {
		return usageError{fmt.Errorf("--limit %d lists nothing: give a number from 1 on", limit)}
	}
	s, err := a.openStore()
	if err != nil {
		return err
	}
	defer s.Close()
	records, err := s.LastActions(ctx, 0, limit)
	if err != nil {
		return err
	}
	entries := make([]audit.Entry, len(records))
	rows := make([][]string, len(records))
	for i, r := range records {
		e, err := r.Entry()
		if err != nil {
			e.Action = "(cannot be read)"
		}
		e.Seq, entries[i] = r.Seq, e
		about := strings.Join(slices.DeleteFunc([]string{e.Object, e.Thread, e.Run, e.Detail}, func(s string) bool { return s == "" }), " ")
		rows[i] = []string{strconv.FormatInt(e.Seq, 10), formatTime(e.Time), e.User, e.Via, e.Action, about}
	}
	a.printRows(entries, []string{"entry", "time", "user", "via", "action", "about"}, rows)
	return nil
}

func (a *app) auditVerify(ctx context.Context, given []string) error {
	var kept []audit.Head
	for _, text := range given {
		h, err := audit.ParseHead(text)
		if err != nil {
			return err
		}
		kept = append(kept, h)
	}
	s, err := a.openStore()
	if err != nil {
		return err
	}
	defer s.Close()
	report, err := s.VerifyActions(ctx, kept...)
	if err != nil {
		return err
	}
	if !report.Intact {
		a.code = exitFailed
	}
	if a.json {
		a.printJSON(report)
		return nil
	}
	fmt.Fprintln(a.out, report.Text())
	for _, f := range report.Findings {
		fmt.Fprintf(a.out, "  entry %d: %s\n", f.Seq, oneLine(f.Problem))
	}
	return nil
}

// recordedCommands change something that is no turn, or hand data out. Each is recorded before
// it runs. Turns, forks and the like are recorded by the store.
var recordedCommands = []string{
	"sources add", "sources remove", "sources refresh", "docs add", "docs remove", "model use", "model forget", "meaning remember", "meaning forget",
	"run export", "run keep", "artifact get", "thread stop", "retention", "query", "reconcile",
}

// recordCommand says in the audit log which command is run, and by whom.
func (a *app) recordCommand(cmd *cobra.Command, args []string) error {
	name := strings.TrimPrefix(cmd.CommandPath(), "interlock ")
	cmd.SetContext(audit.WithActor(cmd.Context(), audit.Actor{User: a.cfg.Owner, Via: "command"}))
	if !slices.Contains(recordedCommands, name) || a.cfg.State == "" {
		return nil
	}
	if _, err := os.Stat(a.statePath("interlock.db")); err != nil {
		return nil // a command that only reads makes no state; one that makes it begins the log with its first turn
	}
	s, err := store.Open(store.Config{DSN: a.statePath("interlock.db")})
	if errors.Is(err, store.ErrNotWritable) {
		return nil // then nothing is changed here
	}
	if err != nil {
		return err
	}
	object := ""
	if len(args) > 0 {
		object = withoutPassword(args[0])
	}
	return errors.Join(s.RecordAction(cmd.Context(), audit.Entry{Action: "interlock " + name, Object: object}), s.Close())
}

// withoutPassword is an address without who connects, and any other text as it is.
func withoutPassword(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return "an address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
