package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/recon"
	"interlock/internal/tool"
)

// ValidateRecipeIn is what validate_recipe takes; the machine binds all but Recipe.
type ValidateRecipeIn struct {
	Recipe      json.RawMessage `json:"recipe,omitempty" jsonschema:"a whole recipe; absent: the draft"`
	Draft       json.RawMessage `json:"draft,omitempty"`
	SchemaLeft  *SideSchema     `json:"schema_left,omitempty"`
	SchemaRight *SideSchema     `json:"schema_right,omitempty"`
}

// ValidateRecipeOut lists every problem.
type ValidateRecipeOut struct {
	Findings Findings `json:"findings"`
}

func validateRecipe() tool.Tool {
	return tool.New(spec("validate_recipe", tool.Computes), func(_ context.Context, in ValidateRecipeIn) (ValidateRecipeOut, error) {
		document := in.Recipe
		if len(document) == 0 || string(document) == "null" {
			document = in.Draft
		}
		problems, err := in.check(document)
		if err != nil {
			return ValidateRecipeOut{}, err
		}
		out := Findings{OK: len(problems) == 0, Problems: []json.RawMessage{}}
		for _, p := range problems {
			raw, err := json.Marshal(p)
			if err != nil {
				return ValidateRecipeOut{}, fmt.Errorf("writing a problem: %w", err)
			}
			out.Problems = append(out.Problems, raw)
		}
		return ValidateRecipeOut{out}, nil
	})
}

// check reports what is wrong with the document itself, and what the two sides lack.
func (in ValidateRecipeIn) check(document json.RawMessage) ([]recon.Problem, error) {
	recipe, err := recon.ParseRecipe(document)
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		if problems, ok := f.Details.([]recon.Problem); ok {
			return problems, nil
		}
	}
	if err != nil {
		return nil, err
	}
	left, err := in.SchemaLeft.names()
	if err != nil {
		return nil, err
	}
	right, err := in.SchemaRight.names()
	if err != nil {
		return nil, err
	}
	problems := recipe.Check(left, right)
	for _, side := range []struct {
		at      string
		source  recon.Source
		columns []string
	}{{"/left", recipe.Left, left}, {"/right", recipe.Right, right}} {
		missing := func(pointer, column string) {
			if column != "" && !slices.Contains(side.columns, column) {
				problems = append(problems, recon.Problem{Pointer: pointer, Message: fmt.Sprintf("the source has no column %q; it has %s", column, strings.Join(side.columns, ", "))})
			}
		}
		missing(side.at+"/key", side.source.Key)
		for i, c := range side.source.Scope {
			missing(fmt.Sprintf("%s/scope/%d/column", side.at, i), c.Column)
		}
	}
	return problems, nil
}

// names are the columns of a side.
func (s *SideSchema) names() ([]string, error) {
	if s == nil {
		return nil, fault.New(fault.InvalidState, "the columns of both sides are not known").Suggest("Preview both sources first.")
	}
	kept, err := keptSide(s, nil)
	var out []string
	for _, c := range kept.Columns {
		out = append(out, c.Name)
	}
	return out, err
}
