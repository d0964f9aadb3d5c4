package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"interlock/internal/data"
	"interlock/internal/eval"
	"interlock/internal/fault"
	"interlock/internal/toolbox"
)

// dialoguesFolder says what a folder of conversations holds.
const dialoguesFolder = "DIR holds dialogues.json and, for each dataset that it names and that is not in --data, a folder of that name with a CSV file for each table."

// dialogues plays the conversations of a folder and counts what became of each turn.
func (e *evaluation) dialogues(ctx context.Context, dir string) (err error) {
	list, err := eval.LoadDialogues(dir)
	if err != nil {
		return fault.Wrap(err, fault.BadRequest, "%v", err).Suggest("%s", dialoguesFolder)
	}
	if e.limit > 0 {
		list = list[:min(e.limit, len(list))]
	}
	state, err := os.MkdirTemp("", "interlock-eval-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	if hasFolders(dir, list) {
		e.cfg.Data = []string{dir}
	} else if err := e.cfg.requireData(); err != nil {
		return err
	}
	e.cfg.State = state
	if e.s, err = e.openSystem(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.s.close()) }()
	turns, err := e.play(ctx, dir, list)
	if err != nil {
		return err
	}
	sum := eval.SummariseDialogues(turns)
	if e.json {
		e.printJSON(sum)
		return nil
	}
	fmt.Fprint(e.out, sum.String())
	return nil
}

// hasFolders reports whether the folder holds data for a dataset of the dialogues.
func hasFolders(dir string, list []eval.Dialogue) bool {
	for _, d := range list {
		if s, err := os.Stat(filepath.Join(dir, d.Dataset)); err == nil && s.IsDir() {
			return true
		}
	}
	return len(list) == 0
}

// play plays the dialogues, each in a thread of its own.
func (e *evaluation) play(ctx context.Context, dir string, list []eval.Dialogue) ([]eval.TurnRecord, error) {
	runner, err := e.runner()
	if err != nil {
		return nil, err
	}
	folders := hasFolders(dir, list)
	golds := map[string]*eval.Gold{}
	var turns []eval.TurnRecord
	for i, d := range list {
		run := e.runHere(ctx, d.Dataset)
		if _, err := e.s.catalog.Get(ctx, d.Dataset); err != nil && !folders {
			return nil, fault.Wrap(err, fault.BadRequest, "%s holds no CSV files of the dataset %s, and --data has no such dataset", dir, d.Dataset).Suggest("%s", dialoguesFolder)
		}
		if folders {
			g := golds[d.Dataset]
			if g == nil {
				if g, err = eval.OpenGold(ctx, filepath.Join(dir, d.Dataset)); err != nil {
					return nil, fault.Wrap(err, fault.BadRequest, "%v", err).Suggest("%s", dialoguesFolder)
				}
				defer g.Close()
				golds[d.Dataset] = g
			}
			run = func(sql string) (eval.Result, error) { return g.Run(ctx, sql) }
		}
		say, err := runner.Talk(ctx, d.Dataset)
		if err != nil {
			return nil, err
		}
		records, err := d.Play(say, run)
		if err != nil {
			return nil, err
		}
		turns = append(turns, records...)
		e.progress(i+1, len(list))
	}
	return turns, nil
}

// maxGoldRows bounds the rows of a gold statement.
const maxGoldRows = 100_000

// runHere returns how gold statements about a dataset of --data run: as any statement, in its own dialect.
func (e *evaluation) runHere(ctx context.Context, dataset string) func(sql string) (eval.Result, error) {
	return func(sql string) (eval.Result, error) {
		r, err := data.Datasets{Catalog: e.s.catalog}.Query(ctx, toolbox.Query{Dataset: dataset, SQL: sql, MaxRows: maxGoldRows, User: e.cfg.Owner})
		if err != nil {
			return eval.Result{}, fmt.Errorf("the gold statement %q: %w", sql, err)
		}
		out := eval.Result{}
		for _, c := range r.Columns {
			out.Columns = append(out.Columns, c.Name)
		}
		return out, json.Unmarshal(r.Rows, &out.Rows)
	}
}
