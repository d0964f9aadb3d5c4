package queryplan

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"interlock/internal/fault"
)

// maxBytes bounds the text of a plan.
const maxBytes = 256 << 10

//go:embed plan.schema.json
var schemaText []byte

// JSONSchema is the schema of a plan: every operator, function, join, condition and
// date part.
func JSONSchema() json.RawMessage { return slices.Clone(schemaText) }

var compiled = sync.OnceValue(func() *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText))
	if err != nil {
		panic("queryplan: plan.schema.json: " + err.Error())
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan.schema.json", doc); err != nil {
		panic("queryplan: plan.schema.json: " + err.Error())
	}
	return c.MustCompile("plan.schema.json")
})

// Parse reads a plan. What does not fit the schema is a fault that lists every
// problem; whether the plan fits the data is for Validate to say.
func Parse(raw json.RawMessage) (*Plan, error) {
	if len(raw) > maxBytes {
		return nil, fault.New(fault.PlanInvalid, "the plan is larger than %d bytes", maxBytes)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fault.New(fault.PlanInvalid, "the plan is not JSON: %v", err)
	}
	if nesting(doc) > 64 {
		return nil, fault.New(fault.PlanInvalid, "the plan is nested too deeply")
	}
	if err := compiled().Validate(doc); err != nil {
		problems := innermostErrors(err)
		return nil, invalid(problems)
	}
	p := new(Plan)
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, fault.New(fault.PlanInvalid, "reading the plan: %v", err)
	}
	return p, nil
}

func nesting(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			deepest = max(deepest, nesting(x))
		}
	case []any:
		for _, x := range v {
			deepest = max(deepest, nesting(x))
		}
	default:
		return 0
	}
	return deepest + 1
}

// innermostErrors lists the innermost errors of a validation, in the order of their places.
func innermostErrors(err error) []Problem {
	top, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []Problem{{Message: err.Error()}}
	}
	english := message.NewPrinter(language.English)
	var problems []Problem
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			problems = append(problems, Problem{writePlace(e.InstanceLocation), e.ErrorKind.LocalizedString(english)})
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(top)
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Message, b.Message)
	})
	return slices.Compact(problems)
}

// writePlace writes a location as a person would: filters[0].value.
func writePlace(steps []string) string {
	var b strings.Builder
	for _, s := range steps {
		if _, err := strconv.Atoi(s); err == nil {
			b.WriteString("[" + s + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s)
	}
	return b.String()
}
