package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/artifact"
	"interlock/internal/fault"
)

func (a *app) artifactCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "artifact", Short: "List and copy the files that threads made: reports, charts, rows"}
	var thread string
	list := &cobra.Command{
		Use: "list", Short: "List artifacts with all their versions, newest first", Args: cobra.NoArgs,
		Example: "  interlock artifact list --thread t_1a2b",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.artifactList(cmd.Context(), thread) },
	}
	list.Flags().StringVar(&thread, "thread", "", "only of this thread")
	var out string
	get := &cobra.Command{
		Use: "get ARTIFACT", Short: "Copy an artifact into a file; ARTIFACT@N means its version N", Args: cobra.ExactArgs(1),
		Example: "  interlock artifact get art_1a2b\n  interlock artifact get art_1a2b@2 --out report.pdf",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.artifactGet(cmd.Context(), args[0], out) },
	}
	get.Flags().StringVarP(&out, "out", "o", "", "the file to write, - for standard output; without it, the artifact's name in this folder")
	cmd.AddCommand(list, get)
	return cmd
}

func (a *app) openArtifacts() (*artifact.Store, error) {
	if err := a.needState(); err != nil {
		return nil, err
	}
	return artifact.New(artifact.Config{Dir: a.statePath("artifacts")})
}

func (a *app) artifactList(ctx context.Context, thread string) error {
	artifacts, err := a.openArtifacts()
	if err != nil {
		return err
	}
	all, err := artifacts.List(ctx, a.cfg.Owner, thread)
	if err != nil {
		return err
	}
	rows := make([][]string, len(all))
	for i, m := range all {
		rows[i] = []string{fmt.Sprintf("%s@%d", m.ID, m.Version), m.Type, fmt.Sprint(m.Bytes), formatTime(m.CreatedAt), m.Thread, m.Name}
	}
	a.printRows(all, []string{"artifact", "type", "bytes", "made", "thread", "name"}, rows)
	return nil
}

func (a *app) artifactGet(ctx context.Context, id, out string) error {
	artifacts, err := a.openArtifacts()
	if err != nil {
		return err
	}
	content, meta, err := artifacts.Open(ctx, a.cfg.Owner, id)
	if fault.Is(err, fault.NotFound) {
		return fault.From(err).Suggest("`interlock artifact list` names those that exist.")
	}
	if err != nil {
		return err
	}
	defer content.Close()
	switch out {
	case "-":
		_, err = io.Copy(a.out, content)
		return err
	case "":
		if out = fileName(meta.Name); out == "" {
			return fault.New(fault.BadRequest, "%q is no name of a file", meta.Name).Suggest("Name one: --out FILE.")
		}
		if err := copyToNewFile(out, content); err != nil {
			return err
		}
	default:
		if err := a.writeRows(content, out); err != nil {
			return err
		}
	}
	if a.json {
		a.printJSON(map[string]any{"file": out, "artifact": meta})
		return nil
	}
	fmt.Fprintf(a.out, "%s: %d bytes\n", oneLine(out), meta.Bytes)
	return nil
}

// fileName is the name under which an artifact is written: a model chose it, so it names no
// other folder and no hidden file. It is "" if nothing is left.
func fileName(name string) string {
	return strings.TrimLeft(filepath.Base(filepath.ToSlash(strings.ReplaceAll(name, `\`, "/"))), "./-")
}

// copyToNewFile writes a file that does not exist yet.
func copyToNewFile(path string, content io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fault.New(fault.BadRequest, "%s exists already", path).Suggest("Name another file, or this one to replace it: --out FILE.")
	}
	if err != nil {
		return fault.Wrap(err, fault.BadRequest, "%s cannot be written: %v", path, err)
	}
	if _, err := io.Copy(f, content); err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", path, err), f.Close(), os.Remove(path))
	}
	return f.Close()
}
