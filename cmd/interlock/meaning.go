package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"interlock/internal/data"
	"interlock/internal/fault"
	"interlock/internal/meaning"
)

func (a *app) meaningCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "meaning", Short: "Show, check and draft what a dataset means: its semantic model"}
	var out string
	var withModel bool
	suggest := &cobra.Command{
		Use: "suggest DATASET", Short: "Draft a semantic model from the data and the dictionary, each part with its evidence", Args: cobra.ExactArgs(1),
		Long: "The draft goes to standard output, or to the file of -o, which must not exist. Keep what is right, strike what is not,\n" +
			"and put it beside the files of the dataset as " + meaning.File + ". With --with-model the model in use drafts labels, synonyms and\n" +
			"metrics as well, in one call; what fits the tables is marked as drafted by it, and what does not is named.",
		Example: "  interlock meaning suggest ecommerce --data demo\n  interlock meaning suggest ecommerce --data demo --with-model\n  interlock meaning suggest shop -o data/shop/" + meaning.File,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.readData(func(s *system) error {
				draft := data.Meanings{Catalog: s.catalog}.Suggest
				if withModel {
					draft = func(ctx context.Context, id string) ([]byte, error) { return a.suggestWithModel(ctx, s, id) }
				}
				text, err := draft(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return a.writeNew(out, text)
			})
		},
	}
	suggest.Flags().StringVarP(&out, "out", "o", "", "the file to write; default standard output")
	suggest.Flags().BoolVar(&withModel, "with-model", false, "have the model in use draft labels, synonyms and metrics as well")
	var into string
	load := &cobra.Command{
		Use: "import DATASET FILE", Short: "Draft a semantic model of what a dbt project knows: its semantic_manifest.json or manifest.json", Args: cobra.ExactArgs(2),
		Example: "  interlock meaning import shop target/semantic_manifest.json -o data/shop/" + meaning.File,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.readData(func(s *system) error {
				raw, err := readBounded(args[1])
				if err != nil {
					return err
				}
				text, err := data.Meanings{Catalog: s.catalog}.ImportDBT(cmd.Context(), args[0], args[1], raw)
				if err != nil {
					return err
				}
				return a.writeNew(into, text)
			})
		},
	}
	load.Flags().StringVarP(&into, "out", "o", "", "the file to write; default standard output")
	cmd.AddCommand(
		suggest, load,
		&cobra.Command{
			Use: "show DATASET", Short: "Show what of the semantic model of a dataset is in use", Args: cobra.ExactArgs(1),
			Example: "  interlock meaning show ecommerce --data demo",
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.readData(func(s *system) error { return a.meaningShow(cmd, s, args[0]) })
			},
		},
		&cobra.Command{
			Use: "check DATASET [FILE]", Short: "Check a semantic model against the tables and report every finding; FILE instead of the one in use", Args: cobra.RangeArgs(1, 2),
			Example: "  interlock meaning check ecommerce\n  interlock meaning check ecommerce draft.yaml",
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.readData(func(s *system) error { return a.meaningCheck(cmd, s, args) })
			},
		},
	)
	cmd.AddCommand(a.choiceCommands()...)
	cmd.AddCommand(a.verifiedCommands()...)
	return cmd
}

func (a *app) meaningShow(cmd *cobra.Command, s *system, id string) error {
	m, err := data.Meanings{Catalog: s.catalog}.Show(cmd.Context(), id)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(m)
		return nil
	}
	if m.Version == "" {
		fmt.Fprintf(a.out, "%s has no semantic model; `interlock meaning suggest %s` drafts one, for %s\n", id, id, oneLine(m.File))
		return nil
	}
	fmt.Fprintf(a.out, "%s, version %s\n", oneLine(m.File), m.Version)
	if m.Meaning != nil {
		fmt.Fprint(a.out, printable(m.Meaning.Text()))
	}
	if n := len(m.Findings); n > 0 {
		fmt.Fprintf(a.out, "%d findings: interlock meaning check %s\n", n, id)
	}
	return nil
}

// A meaningResult is the outcome of `meaning check`.
type meaningResult struct {
	Dataset  string           `json:"dataset_id"`
	File     string           `json:"file"`
	OK       bool             `json:"ok"`
	Findings meaning.Findings `json:"findings"`
}

func (a *app) meaningCheck(cmd *cobra.Command, s *system, args []string) error {
	meanings := data.Meanings{Catalog: s.catalog}
	out := meaningResult{Dataset: args[0], Findings: meaning.Findings{}}
	if len(args) > 1 {
		text, err := readBounded(args[1])
		if err != nil {
			return err
		}
		out.File = args[1]
		found, err := meanings.Check(cmd.Context(), args[0], args[1], text)
		if err != nil {
			return err
		}
		out.Findings = append(out.Findings, found...)
	} else {
		m, err := meanings.Show(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if m.Version == "" {
			return fault.New(fault.NotFound, "dataset %q has no semantic model: there is no file %s", args[0], m.File).Suggest("Draft one with `interlock meaning suggest %s -o %s`.", args[0], m.File)
		}
		out.File, out.Findings = m.File, m.Findings
	}
	if out.OK = len(out.Findings.Errors()) == 0; !out.OK {
		a.code = exitFailed
	}
	if a.json {
		a.printJSON(out)
		return nil
	}
	if len(out.Findings) == 0 {
		fmt.Fprintf(a.out, "%s: fits the tables of %s, no finding\n", oneLine(out.File), out.Dataset)
		return nil
	}
	fmt.Fprintf(a.out, "%s: %d findings\n", oneLine(out.File), len(out.Findings))
	for _, f := range out.Findings {
		fmt.Fprintf(a.out, "%s\n", printable(f.String()))
	}
	return nil
}

// readBounded reads a file that is no larger than a semantic model may be.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "there is no file %q", path)
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxMeaningFile) {
		return nil, fault.New(fault.TooLarge, "%q is no file of up to %d MB", path, maxMeaningFile>>20)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// maxMeaningFile bounds what is read of a file; the manifests of dbt projects are large.
const maxMeaningFile = 256 << 20

// writeNew writes a text to a new file, or to standard output where none is named.
func (a *app) writeNew(path string, text []byte) error {
	if path == "" {
		_, err := a.out.Write(text)
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "there is a file %s already", path).Suggest("Name another file, or compare and replace it by hand: what somebody kept or struck would be lost.")
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	a.printDone(map[string]any{"file": path, "bytes": len(text)}, "wrote %s", path)
	return nil
}
