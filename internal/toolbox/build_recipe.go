package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/recon"
	"interlock/internal/schema"
	"interlock/internal/tool"
)

// BuildRecipeIn is what build_recipe takes; the machine binds all but the first three.
type BuildRecipeIn struct {
	Rules       []string          `json:"rules" jsonschema:"ids of learned rules, in the order in which they apply"`
	Cardinality string            `json:"cardinality,omitempty" jsonschema:"one_to_one, one_to_many, many_to_one or many_to_many; absent: as learned"`
	Parameters  *RecipeParameters `json:"parameters,omitempty"`
	Left        string            `json:"left"`
	Right       string            `json:"right"`
	ScopeLeft   *Scope            `json:"scope_left,omitempty"`
	ScopeRight  *Scope            `json:"scope_right,omitempty"`
	Learned     json.RawMessage   `json:"learned,omitempty"`
}

// RecipeParameters change what was learned. An absent one leaves it as it is.
type RecipeParameters struct {
	RulesOnly *bool    `json:"rules_only,omitempty" jsonschema:"true: rows that no rule matches stay open, however alike they are"`
	Auto      *float64 `json:"auto,omitempty" jsonschema:"probability from which a match needs no eye"`
	Suggested *float64 `json:"suggested,omitempty" jsonschema:"probability from which rows are matched at all"`
	Tolerance *float64 `json:"tolerance,omitempty" jsonschema:"by how much the sum of several rows may differ from one row"`
	Netting   *bool    `json:"netting,omitempty" jsonschema:"true: rows of one side that cancel each other are set aside"`
}

// BuildRecipeOut is the draft.
type BuildRecipeOut struct {
	Recipe json.RawMessage `json:"recipe"`
	Note   string          `json:"note"`
}

func buildRecipe() tool.Tool {
	return tool.New(spec("build_recipe", tool.Computes, taints), func(_ context.Context, in BuildRecipeIn) (BuildRecipeOut, error) {
		if len(in.Learned) == 0 || string(in.Learned) == "null" {
			return BuildRecipeOut{}, fault.New(fault.InvalidState, "no rules are learned").Suggest("Learn the rules first.")
		}
		recipe, err := recon.ParseRecipe(in.Learned)
		if err != nil {
			return BuildRecipeOut{}, err
		}
		if err := in.choose(recipe); err != nil {
			return BuildRecipeOut{}, err
		}
		if err := in.Parameters.apply(recipe); err != nil {
			return BuildRecipeOut{}, err
		}
		if recipe.Left, err = recipeSource(in.Left, in.ScopeLeft); err != nil {
			return BuildRecipeOut{}, err
		}
		if recipe.Right, err = recipeSource(in.Right, in.ScopeRight); err != nil {
			return BuildRecipeOut{}, err
		}
		draft := recipe.Encode()
		if _, err := recon.ParseRecipe(draft); err != nil { // what the choices made of it
			return BuildRecipeOut{}, err
		}
		return BuildRecipeOut{Recipe: draft, Note: describeRecipe(recipe)}, nil
	})
}

// choose leaves the rules that were asked for, in their order, and the cardinality.
func (in BuildRecipeIn) choose(r *recon.Recipe) error {
	learned, ids := map[string]recon.Rule{}, []string{}
	for _, rule := range r.Rules {
		learned[rule.ID] = rule
		ids = append(ids, rule.ID)
	}
	r.Rules = []recon.Rule{}
	for _, id := range in.Rules {
		rule, ok := learned[id]
		if !ok {
			return fault.New(fault.InvalidArguments, "there is no rule %.80q, or it was named twice", id).Suggest("The learned rules are %s.", strings.Join(ids, ", "))
		}
		delete(learned, id)
		r.Rules = append(r.Rules, rule)
	}
	switch in.Cardinality {
	case "":
	case recon.OneToOne, recon.OneToMany, recon.ManyToOne, recon.ManyToMany:
		r.Cardinality = in.Cardinality
	default:
		return fault.New(fault.InvalidArguments, "there is no cardinality %.80q", in.Cardinality).
			Suggest("Use %s, %s, %s or %s.", recon.OneToOne, recon.OneToMany, recon.ManyToOne, recon.ManyToMany)
	}
	if r.Cardinality == recon.OneToOne {
		r.Groups = nil
	}
	if r.Cardinality != recon.OneToOne && r.Groups == nil {
		return fault.New(fault.InvalidArguments, "nothing was learned about sums, so every row has one partner").Suggest("Use %s.", recon.OneToOne)
	}
	return nil
}

// apply changes a recipe by parameters. One that has nothing to change is a mistake.
func (p *RecipeParameters) apply(r *recon.Recipe) error {
	if p == nil {
		return nil
	}
	if p.RulesOnly != nil && *p.RulesOnly {
		r.Scoring = nil
	}
	if (p.Auto != nil || p.Suggested != nil) && r.Scoring == nil {
		return fault.New(fault.InvalidArguments, "auto and suggested are about rows that are matched by weights, and this recipe has rules only").Suggest("Leave them out.")
	}
	if (p.Tolerance != nil || p.Netting != nil) && r.Groups == nil {
		return fault.New(fault.InvalidArguments, "tolerance and netting are about sums, and this recipe matches none").Suggest("Leave them out, or choose another cardinality than %s.", recon.OneToOne)
	}
	set(&p.Auto, func(v float64) { r.Scoring.Auto = v })
	set(&p.Suggested, func(v float64) { r.Scoring.Suggested = v })
	set(&p.Tolerance, func(v float64) { r.Groups.Tolerance = v })
	set(&p.Netting, func(v bool) { r.Groups.Netting = v })
	return nil
}

func set[T any](v **T, to func(T)) {
	if *v != nil {
		to(**v)
	}
}

// recipeSource writes a side down as recipes have it.
func recipeSource(alias string, s *Scope) (recon.Source, error) {
	out := recon.Source{Source: alias}
	if s == nil {
		return out, nil
	}
	out.Key = s.Key
	out.Scope = s.Conditions
	return out, nil
}

// scopedSource reads a side of a recipe.
func scopedSource(s recon.Source) (ScopedSource, error) {
	out := ScopedSource{Alias: s.Source, Scope: &Scope{Conditions: append([]schema.Condition{}, s.Scope...), Key: s.Key}}
	return out, nil
}

// describeRecipe says in a sentence what a recipe does.
func describeRecipe(r *recon.Recipe) string {
	text := fmt.Sprintf("The draft has %d rules", len(r.Rules))
	if r.Scoring != nil {
		text += fmt.Sprintf(", matches the rest by weights from a probability of %g", r.Scoring.Suggested)
	}
	if r.Groups != nil {
		text += " and searches sums of several rows"
	}
	return text + fmt.Sprintf("; its cardinality is %s.", r.Cardinality)
}
