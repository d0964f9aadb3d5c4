package recon

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"interlock/internal/fault"
)

// RecipeSchema is the JSON Schema of a recipe.
//
//go:embed recipe.schema.json
var RecipeSchema []byte

// maxRecipe bounds a document, in bytes.
const maxRecipe = 4 << 20

var recipeSchema = sync.OnceValue(func() *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(RecipeSchema))
	if err != nil {
		panic("recon: the schema of recipes is no JSON: " + err.Error())
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("recipe.json", doc); err != nil {
		panic(err)
	}
	return c.MustCompile("recipe.json")
})

// ParseRecipe reads a document. Its fault lists every problem, each with a JSON pointer,
// in Details as a []Problem.
func ParseRecipe(data []byte) (*Recipe, error) {
	if len(data) > maxRecipe {
		return nil, fault.New(fault.TooLarge, "The recipe has more than %d MiB.", maxRecipe>>20)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, recipeFault([]Problem{{"", "this is no JSON: " + err.Error()}})
	}
	problems := schemaProblems(recipeSchema().Validate(doc))
	var r Recipe
	if err := json.Unmarshal(data, &r); err != nil && len(problems) == 0 {
		problems = append(problems, Problem{"", err.Error()})
	}
	if problems = append(problems, r.furtherProblems(problems)...); len(problems) > 0 {
		sortProblems(problems)
		return nil, recipeFault(problems)
	}
	return &r, nil
}

// furtherProblems lists what the schema cannot judge, without what only follows from a
// problem that it has found: something inside of it, or a name of a comparison that is none.
func (r *Recipe) furtherProblems(found []Problem) []Problem {
	follows := func(p Problem) bool {
		return slices.ContainsFunc(found, func(f Problem) bool {
			return f.Pointer == "" || f.Pointer == "/comparisons" || p.Pointer == f.Pointer || strings.HasPrefix(p.Pointer, f.Pointer+"/")
		})
	}
	broken := slices.ContainsFunc(found, func(f Problem) bool { return strings.HasPrefix(f.Pointer, "/comparisons/") })
	return slices.DeleteFunc(r.checkReferences(), func(p Problem) bool {
		return follows(p) || broken && !strings.HasPrefix(p.Pointer, "/comparisons/")
	})
}

func recipeFault(problems []Problem) *fault.Fault {
	first := problems[0].Message
	if p := problems[0].Pointer; p != "" {
		first = p + ": " + first
	}
	return fault.New(fault.PlanInvalid, "The recipe has %d problems. %s.", len(problems), first).
		Suggest("Correct every listed problem; the pointers say where.").With(problems)
}

// schemaProblems lists the leaves of a validation error.
func schemaProblems(err error) []Problem {
	var out []Problem
	verr, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		if err != nil {
			out = append(out, Problem{"", err.Error()})
		}
		return out
	}
	printer := message.NewPrinter(language.English)
	var walk func(*jsonschema.ValidationError)
	walk = func(v *jsonschema.ValidationError) {
		for _, c := range v.Causes {
			walk(c)
		}
		if len(v.Causes) == 0 {
			out = append(out, Problem{pointer(v.InstanceLocation...), v.ErrorKind.LocalizedString(printer)})
		}
	}
	walk(verr)
	sortProblems(out)
	return out
}

// pointer writes a JSON pointer.
func pointer(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}
