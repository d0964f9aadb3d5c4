package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"interlock/internal/catalog"
	"interlock/internal/data"
	"interlock/internal/eval"
	"interlock/internal/fault"
)

// hasMeaning reports whether a folder is that of a dataset with a semantic model.
func hasMeaning(dir string) bool {
	for _, name := range catalog.MeaningFiles {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// verified asks the verified questions of the dataset in a folder, and compares the answers
// with what their plans give.
func (e *evaluation) verified(ctx context.Context, dir string) (err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	state, err := os.MkdirTemp("", "interlock-eval-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	e.cfg.Data, e.cfg.State = []string{filepath.Dir(abs)}, state
	if e.s, err = e.openSystem(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.s.close()) }()
	id := filepath.Base(abs)
	found, err := data.Meanings{Catalog: e.s.catalog}.VerifiedQuestions(ctx, id)
	if err != nil {
		return err
	}
	if len(found.Verified) == 0 {
		return fault.New(fault.BadRequest, "the semantic model of %s has no verified questions", id).Suggest("Keep one of an answer with `interlock meaning verify RUN`.")
	}
	var list []eval.Dialogue
	for i, q := range found.Verified {
		turn := eval.DialogueTurn{Say: q.Question, Expect: "answer", Gold: []string{q.SQL}, Kind: "verified"}
		list = append(list, eval.Dialogue{ID: fmt.Sprintf("%s-%d", id, i+1), Dataset: id, Turns: []eval.DialogueTurn{turn}})
	}
	if e.limit > 0 {
		list = list[:min(e.limit, len(list))]
	}
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
