package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

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

// evidence is what a run keeps, each as a table that can be queried and downloaded.
var evidence = []struct{ name, table string }{
	{"matches", recon.MatchTable}, {"unmatched", recon.UnmatchedTable}, {"conflicts", recon.ConflictTable},
}

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
		if err := out.keepEvidence(ctx, s.space, recipe); err != nil {
			return out, err
		}
		out.Note = describeOutcome(o) + " The evidence is in " + strings.Join(out.Artifacts, ", ") + "."
		return out, nil
	})
}

// keepEvidence stores the tables of a run and the recipe that made them.
func (o *RunFullOut) keepEvidence(ctx context.Context, space Workspace, recipe *recon.Recipe) error {
	tool.In(ctx).Progress("keeping the evidence")
	document := recipe.Encode()
	about := event.Hash(document)[:16]
	keep := []Keeping{{Name: "recipe", Format: "json", Key: "recipe " + about, Content: document}}
	for _, t := range evidence {
		for _, format := range []string{"csv", "parquet"} {
			keep = append(keep, Keeping{Name: t.name, Format: format, Key: fmt.Sprintf("%s %s %s", t.name, format, about), SQL: "SELECT * FROM " + t.table})
		}
	}
	for _, k := range keep {
		made, err := space.Keep(ctx, k)
		if err != nil {
			return err
		}
		o.made = append(o.made, made)
		o.Artifacts = append(o.Artifacts, made.Name)
	}
	return nil
}
