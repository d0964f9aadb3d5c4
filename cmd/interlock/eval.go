package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"interlock/internal/catalog"
	"interlock/internal/eval"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/source"
)

func (a *app) evalCommand() *cobra.Command {
	e := evaluation{app: a}
	cmd := &cobra.Command{
		Use: "eval [DIR]", Short: "Ask questions with known answers and score the answers", Args: cobra.MaximumNArgs(1),
		Long: "DIR holds questions.json ([{db, question, gold_sql}]) and a <db>.sqlite for each database, or\n" +
			"dialogues.json (conversations with gold statements) and a folder of CSV files for each dataset, or\n" +
			"without such folders dialogues about the datasets in --data, with statements in their own dialect.\n" +
			"A dataset's own folder with a meaning.yaml: its verified questions are asked.\n" +
			"Without DIR the golden queries of the datasets in --data are asked.\n" +
			"Eval prints the share of right answers among all questions (EX), of answers among all questions\n(coverage) and of right answers among the answers (precision), and how often it asked back or declined.",
		Example: "  interlock eval ./questions --limit 50\n  interlock eval --data ./demo",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && eval.HasDialogues(args[0]) {
				if !cmd.Flags().Changed("machine") {
					e.machine = "analyst"
				}
				return e.dialogues(cmd.Context(), args[0])
			}
			if len(args) == 1 && hasMeaning(args[0]) {
				return e.verified(cmd.Context(), args[0])
			}
			if len(args) == 1 {
				return e.questions(cmd.Context(), args[0])
			}
			return e.golden(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&e.machine, "machine", "pipeline", "the machine that answers")
	cmd.Flags().IntVar(&e.limit, "limit", 0, "how many questions to ask at most")
	cmd.Flags().StringVar(&e.resume, "resume", "", "file that keeps the results, so that an interrupted evaluation can continue")
	return cmd
}

// evaluation asks questions one after the other, each in a thread of its own.
type evaluation struct {
	*app
	machine string
	limit   int
	resume  string
	s       *system
}

// runner asks the machine of the evaluation.
func (e *evaluation) runner() (eval.Runner, error) {
	m, err := e.s.machines.Get(e.machine)
	return eval.Runner{Engine: e.s.engine, Machine: m, Owner: e.cfg.Owner}, err
}

// questions scores a folder of questions over SQLite databases.
func (e *evaluation) questions(ctx context.Context, dir string) (err error) {
	cases, err := eval.Load(dir)
	if err != nil {
		return fault.Wrap(err, fault.BadRequest, "%v", err).Suggest("DIR holds questions.json and a <db>.sqlite for each database.")
	}
	if e.limit > 0 {
		cases = cases[:min(e.limit, len(cases))]
	}
	if e.cfg.Model == llm.Offline {
		e.cfg.Provider, e.cfg.Model = llm.Offline, ""
	}
	e.cfg.Data = nil
	state, err := os.MkdirTemp("", "interlock-eval-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	e.cfg.State = state
	if e.s, err = e.openSystem(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.s.close()) }()
	if err := e.connect(ctx, dir, cases); err != nil {
		return err
	}
	runner, err := e.runner()
	if err != nil {
		return err
	}
	records, err := e.loadEarlier()
	if err != nil {
		return err
	}
	for _, c := range cases[min(len(records), len(cases)):] {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r := runner.Score(ctx, dir, c)
		records = append(records, r)
		if err := e.saveResult(r); err != nil {
			return err
		}
		e.progress(len(records), len(cases))
	}
	sum := eval.Summarise(records)
	if e.json {
		e.printJSON(sum)
		return nil
	}
	fmt.Fprint(e.out, sum.String())
	return nil
}

// connect makes a dataset of each database that the cases name.
func (e *evaluation) connect(ctx context.Context, dir string, cases []eval.Case) error {
	var known []string
	for _, c := range cases {
		if slices.Contains(known, c.DB) {
			continue
		}
		known = append(known, c.DB)
		path, err := filepath.Abs(c.Database(dir))
		if err != nil {
			return err
		}
		if err := e.s.catalog.Add(ctx, catalog.Connection{Alias: c.DB, URL: "sqlite:" + path}, source.Secret{}); err != nil {
			return err
		}
	}
	return nil
}

func (e *evaluation) progress(n, of int) {
	if isTerminal(e.errw) {
		fmt.Fprintf(e.errw, "\r%d of %d", n, of)
		if n == of {
			fmt.Fprintln(e.errw)
		}
	}
}

// loadEarlier loads the results of an evaluation that was interrupted.
func (e *evaluation) loadEarlier() ([]eval.Record, error) {
	if e.resume == "" {
		return nil, nil
	}
	f, err := os.Open(e.resume)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []eval.Record
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r eval.Record
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			break // the last line of a killed run
		}
		out = append(out, r)
	}
	return out, lines.Err()
}

func (e *evaluation) saveResult(r eval.Record) error {
	if e.resume == "" {
		return nil
	}
	f, err := os.OpenFile(e.resume, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(r)
	if err == nil {
		_, err = f.Write(append(raw, '\n'))
	}
	return errors.Join(err, f.Close())
}

// goldenRow is one golden query as it went.
type goldenRow struct {
	Dataset  string `json:"dataset"`
	Question string `json:"question"`
	Outcome  string `json:"outcome"`
	Note     string `json:"note,omitempty"`
}

// golden asks the golden queries of the datasets in --data.
func (e *evaluation) golden(ctx context.Context) (err error) {
	if err := e.cfg.requireData(); err != nil {
		return err
	}
	if e.s, err = e.openSystem(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.s.close()) }()
	runner, err := e.runner()
	if err != nil {
		return err
	}
	list, err := e.s.catalog.List(ctx)
	if err != nil {
		return err
	}
	var out []goldenRow
	right := 0
	for _, d := range list {
		queries, err := eval.ReadGolden(e.cfg.Data, d.ID)
		if err != nil {
			return err
		}
		for _, g := range queries {
			row := goldenRow{Dataset: d.ID, Question: g.Question}
			a, err := runner.Ask(ctx, d.ID, g.Question)
			switch {
			case err != nil:
				row.Outcome, row.Note = "failed", err.Error()
			case a.Asked:
				row.Outcome, row.Note = "asked", "it asked back"
			case a.Result.Columns == nil:
				row.Outcome, row.Note = "declined", a.Reply.Text
			default:
				row.Outcome, row.Note = eval.JudgeGolden(g.Check, a)
			}
			if row.Outcome == "right" {
				right++
			}
			out = append(out, row)
		}
	}
	if len(out) == 0 {
		return fault.New(fault.NotFound, "no dataset has golden queries").Suggest("Make the demo with `interlock demo`, or name a folder of questions.")
	}
	rows := make([][]string, len(out))
	for i, r := range out {
		rows[i] = []string{r.Outcome, r.Dataset, r.Question, oneLine(r.Note)}
	}
	a := map[string]any{"n": len(out), "right": right, "queries": out}
	e.printRows(a, []string{"", "dataset", "question", "note"}, rows)
	if !e.json {
		fmt.Fprintf(e.out, "%d of %d right\n", right, len(out))
	}
	if right < len(out) {
		e.code = exitFailed
	}
	return nil
}
