package toolbox

import (
	"context"
	"encoding/json"
	"slices"

	"interlock/internal/recon"
	"interlock/internal/tool"
)

// RunSampleIn is what run_sample takes; the machine binds all of it.
type RunSampleIn struct {
	Draft       json.RawMessage   `json:"draft"`
	SampleLeft  []json.RawMessage `json:"sample_left,omitempty"`
	SampleRight []json.RawMessage `json:"sample_right,omitempty"`
	SchemaLeft  *SideSchema       `json:"schema_left,omitempty"`
	SchemaRight *SideSchema       `json:"schema_right,omitempty"`
	Confirmed   []Pair            `json:"confirmed,omitempty"`
	Rejected    []Pair            `json:"rejected,omitempty"`
}

// RunSampleOut is the content of the card on which the person decides.
type RunSampleOut struct {
	Outcome  Outcome  `json:"outcome"`
	Examples Examples `json:"examples"`
	Note     string   `json:"note"`
}

func (b box) runSample() tool.Tool {
	return tool.New(spec("run_sample", tool.Computes, taints, longCall), func(ctx context.Context, in RunSampleIn) (RunSampleOut, error) {
		recipe, err := recon.ParseRecipe(in.Draft)
		if err != nil {
			return RunSampleOut{}, err
		}
		left, err := keptSide(in.SchemaLeft, in.SampleLeft)
		if err != nil {
			return RunSampleOut{}, err
		}
		right, err := keptSide(in.SchemaRight, in.SampleRight)
		if err != nil {
			return RunSampleOut{}, err
		}
		in.Confirmed = sampled(in.Confirmed, recipe, left, right)
		in.Rejected = sampled(in.Rejected, recipe, left, right)
		s, err := b.newSession(ctx, []SideRows{left, right}, [2]string{recipe.Left.Key, recipe.Right.Key}, labels(in.Confirmed, in.Rejected))
		if err != nil {
			return RunSampleOut{}, err
		}
		defer s.close()
		o, err := s.Run(ctx, s.input, recipe)
		if err != nil {
			return RunSampleOut{}, err
		}
		out := RunSampleOut{Note: "On the samples: " + describeOutcome(o) + " Rows whose partner is not in the sample are open here and need not be in the full run."}
		if out.Outcome, err = outcomeOf("sample-"+tool.In(ctx).ID, o); err != nil {
			return out, err
		}
		out.Examples, err = s.examples(ctx)
		return out, err
	})
}

// sampled are the pairs of which both rows are in the samples. Where rows have no key a
// sample cannot tell, because their numbers are those of all rows.
func sampled(pairs []Pair, r *recon.Recipe, left, right SideRows) []Pair {
	if r.Left.Key == "" || r.Right.Key == "" {
		return nil
	}
	leftKeys, rightKeys := left.keys(r.Left.Key), right.keys(r.Right.Key)
	return slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool { return !leftKeys[p.LeftKey] || !rightKeys[p.RightKey] })
}

// keys are the cells of a column, as text.
func (r SideRows) keys(column string) map[string]bool {
	found := map[string]bool{}
	var rows [][]json.RawMessage
	if json.Unmarshal(r.Rows, &rows) != nil {
		return found
	}
	for i, c := range r.Columns {
		if c.Name != column {
			continue
		}
		for _, row := range rows {
			var text string
			if json.Unmarshal(row[i], &text) != nil {
				text = string(row[i])
			}
			found[text] = true
		}
	}
	return found
}
