package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"interlock/internal/fault"
)

// An Entry is a tool with its schema made ready: compiled for validation by the first call,
// taken apart for argument repair and for narrowing.
type Entry struct {
	Tool
	spec    Spec
	shape   argumentShape
	compile func() (*jsonschema.Schema, error) // once: most tools of a process are never called
	schema  map[string]any                     // as models see it
	digest  string                             // of the declaration of a found tool
	server  string                             // of a found tool

	mu      sync.Mutex
	offered map[string]json.RawMessage // schema as a model sees it, by what narrows it
}

// An argumentShape is the part of a schema that argument repair needs.
type argumentShape struct {
	props    map[string]property
	required []string
}

type property struct {
	kinds []string // JSON types; empty = any
}

func newEntry(t Tool) (*Entry, error) {
	spec := t.Spec()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(spec.Input))
	if err != nil {
		return nil, fmt.Errorf("its argument schema is no JSON: %w", err)
	}
	schema, _ := doc.(map[string]any)
	compile := sync.OnceValues(func() (*jsonschema.Schema, error) { return compileSchema(doc) })
	e := &Entry{Tool: t, spec: spec, compile: compile, schema: schema, shape: newArgumentShape(schema), offered: map[string]json.RawMessage{}}
	if spec.Shown != nil {
		e.schema = nil
		if err := json.Unmarshal(spec.Shown, &e.schema); err != nil {
			return nil, fmt.Errorf("its shown schema is no JSON object: %w", err)
		}
	}
	return e, nil
}

func compileSchema(doc any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource("arguments.json", doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile("arguments.json")
	if err != nil {
		return nil, fmt.Errorf("its argument schema does not compile: %w", err)
	}
	return compiled, nil
}

// noLoader refuses references out of the schema: a tool from outside must not make
// us read files or call servers.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %s: only references inside the schema are followed", url)
}

func newArgumentShape(schema map[string]any) argumentShape {
	s := argumentShape{props: map[string]property{}}
	props, _ := schema["properties"].(map[string]any)
	for name, v := range props {
		p, _ := v.(map[string]any)
		s.props[name] = property{propertyKinds(p)}
	}
	for _, r := range toList(schema["required"]) {
		if name, ok := r.(string); ok {
			s.required = append(s.required, name)
		}
	}
	return s
}

func propertyKinds(p map[string]any) []string {
	switch t := p["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, k := range t {
			if text, ok := k.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}

func toList(v any) []any { l, _ := v.([]any); return l }

// Spec returns the tool's declaration.
func (e *Entry) Spec() Spec { return e.spec }

// Validate checks whole arguments against the schema. The fault lists every problem.
func (e *Entry) Validate(args map[string]any) *fault.Fault {
	compiled, err := e.compile()
	if err == nil {
		err = compiled.Validate(args)
	}
	if err == nil {
		return nil
	}
	verr, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return fault.Wrap(err, fault.InvalidArguments, "the arguments of %s cannot be checked", e.spec.Name)
	}
	var problems []string
	eachLeafError(verr, func(v *jsonschema.ValidationError) {
		at := strings.Join(v.InstanceLocation, ".")
		text := v.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		if at != "" {
			text = at + ": " + text
		}
		problems = append(problems, text)
	})
	slices.Sort(problems)
	problems = slices.Compact(problems)
	if len(problems) > 20 {
		problems = append(problems[:20], fmt.Sprintf("and %d more", len(problems)-20))
	}
	return fault.New(fault.InvalidArguments, "the arguments of %s do not fit: %s", e.spec.Name, strings.Join(problems, "; ")).With(problems)
}

func eachLeafError(v *jsonschema.ValidationError, yield func(*jsonschema.ValidationError)) {
	if len(v.Causes) == 0 {
		yield(v)
		return
	}
	for _, c := range v.Causes {
		eachLeafError(c, yield)
	}
}

// A Narrowing is what a machine adds to the schema that a model sees.
type Narrowing struct {
	Hidden  []string         // bound by the machine
	Enum    map[string][]any // allowed values, by argument
	Default map[string]any
}

// Offered returns the argument schema as a model sees it: bound arguments left out,
// narrowed ones with their values.
func (e *Entry) Offered(n Narrowing) json.RawMessage {
	key, err := json.Marshal(n)
	if err != nil {
		return e.spec.Input
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if raw, ok := e.offered[string(key)]; ok {
		return raw
	}
	raw, err := json.Marshal(narrowSchema(e.schema, n))
	if err != nil {
		return e.spec.Input
	}
	if len(e.offered) > 64 {
		clear(e.offered)
	}
	e.offered[string(key)] = raw
	return raw
}

func narrowSchema(schema map[string]any, n Narrowing) map[string]any {
	out := make(map[string]any, len(schema))
	for k, v := range schema {
		out[k] = v
	}
	props, _ := schema["properties"].(map[string]any)
	shown := make(map[string]any, len(props))
	for name, v := range props {
		if slices.Contains(n.Hidden, name) {
			continue
		}
		p, isMap := v.(map[string]any)
		if !isMap {
			shown[name] = v
			continue
		}
		q := make(map[string]any, len(p)+2)
		for k, v := range p {
			q[k] = v
		}
		if enum, ok := n.Enum[name]; ok {
			q["enum"] = enum
		}
		if def, ok := n.Default[name]; ok {
			q["default"] = def
		}
		shown[name] = q
	}
	out["properties"] = shown
	if _, ok := out["type"]; !ok {
		out["type"] = "object"
	}
	required := []any{}
	for _, r := range toList(schema["required"]) {
		name, _ := r.(string)
		_, hasDefault := n.Default[name]
		if !slices.Contains(n.Hidden, name) && !hasDefault {
			required = append(required, r)
		}
	}
	if len(required) > 0 {
		out["required"] = required
	} else {
		delete(out, "required")
	}
	return out
}
