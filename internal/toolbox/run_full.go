package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"interlock/internal/event"
	"interlock/internal/recon"
	"interlock/internal/tool"
)

// RunFullIn is what run_full takes; the machine binds all of it.
type RunFullIn struct {
	Draft     json.RawMessage `json:"draft"`
	Confirmed []Pair          `json:"confirmed,omitempty"`
	Rejected  []Pair          `json:"rejected,omitempty"`
}

// RunFullOut is the outcome, and the names of the files that hold the evidence.
type RunFullOut struct {
	Outcome   Outcome  `json:"outcome"`
	Artifacts []string `json:"artifacts"`
	Examples  Examples `json:"examples"`
	Note      string   `json:"note"`

	made []event.ArtifactMade
}

// Made implements tool.Maker.
func (o RunFullOut) Made() []event.ArtifactMade { return o.made }

func (b box) runFull() tool.Tool {
	return tool.New(spec("run_full", tool.Writes, taints, longCall), func(ctx context.Context, in RunFullIn) (RunFullOut, error) {
		recipe, err := recon.ParseRecipe(in.Draft)
		if err != nil {
			return RunFullOut{}, err
		}
		left, err := scopedSource(recipe.Left)
		if err != nil {
			return RunFullOut{}, err
		}
		right, err := scopedSource(recipe.Right)
		if err != nil {
			return RunFullOut{}, err
		}
		s, err := b.openSession(ctx, left, right, labels(in.Confirmed, in.Rejected))
		if err != nil {
			return RunFullOut{}, err
		}
		defer s.close()
		o, err := s.Run(ctx, s.input, recipe)
		if err != nil {
			return RunFullOut{}, err
		}
		out := RunFullOut{Artifacts: []string{}}
		if out.Outcome, err = outcomeOf("run-"+tool.In(ctx).ID, o); err != nil {
			return out, err
		}
		if out.Examples, err = s.examples(ctx); err != nil {
			return out, err
		}
		tool.In(ctx).Progress("keeping the evidence")
		report := recon.Report{
			Program: "interlock", At: time.Now().UTC(), By: tool.In(ctx).Owner, Recipe: recipe, Outcome: o, Confirmed: len(in.Confirmed), Rejected: len(in.Rejected),
			Left: sourceReport(recipe.Left, o.LeftRows), Right: sourceReport(recipe.Right, o.RightRows),
		}
		if report.Left.Hash, err = s.HashRows(ctx, s.input.Left); err != nil {
			return out, err
		}
		if report.Right.Hash, err = s.HashRows(ctx, s.input.Right); err != nil {
			return out, err
		}
		out.made, err = s.space.KeepFiles(ctx, "evidence "+recipe.Hash(), func(dir string) ([]string, error) { return s.WriteEvidence(ctx, dir, s.input, report) })
		for _, a := range out.made {
			out.Artifacts = append(out.Artifacts, a.Name)
		}
		out.Note = describeOutcome(o) + fmt.Sprintf(" The evidence is in %d files of this thread; evidence.xlsx has a summary to sign.", len(out.Artifacts))
		return out, err
	})
}

// sourceReport identifies a side in the evidence.
func sourceReport(s recon.Source, rows int64) recon.SourceReport {
	out := recon.SourceReport{Name: s.Source, Rows: rows, Key: s.Key}
	for i, c := range s.Scope {
		if i > 0 {
			out.Scope += " and "
		}
		out.Scope += fmt.Sprintf("%s %s %s", c.Column, c.Op, c.Value)
	}
	return out
}
