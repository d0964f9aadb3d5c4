package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// New makes a tool of a function. Schemas of arguments and results follow from In
// and Out: fields without `omitempty` are demanded, the `jsonschema` tag describes
// them. A type that has no schema is a bug and panics.
func New[In, Out any](spec Spec, fn func(context.Context, In) (Out, error)) Tool {
	if spec.Name == "" || spec.Effect == "" {
		panic(fmt.Sprintf("tool %q needs a name and an effect", spec.Name))
	}
	if spec.Input == nil {
		spec.Input = mustInferSchema[In](spec.Name)
	}
	if spec.Output == nil {
		spec.Output = mustInferSchema[Out](spec.Name)
	}
	return &typed[In, Out]{spec, fn}
}

type typed[In, Out any] struct {
	spec Spec
	fn   func(context.Context, In) (Out, error)
}

func (t *typed[In, Out]) Spec() Spec { return t.spec }

func (t *typed[In, Out]) Call(ctx context.Context, args json.RawMessage) (Result, error) {
	var in In
	dec := json.NewDecoder(bytes.NewReader(args))
	if err := dec.Decode(&in); err != nil {
		return Result{}, fmt.Errorf("decoding arguments of %s: %w", t.spec.Name, err)
	}
	out, err := t.fn(ctx, in)
	if err != nil {
		return Result{}, err
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return Result{}, fmt.Errorf("encoding the result of %s: %w", t.spec.Name, err)
	}
	res := Result{JSON: raw}
	if m, ok := any(out).(Maker); ok {
		res.Artifacts = m.Made()
	}
	if v, ok := any(out).(Varier); ok {
		res.Volatile = v.Varies()
	}
	if r, ok := any(out).(Runner); ok {
		res.Ran = r.Ran()
	}
	return res, nil
}

// Versioned adds to a tool what its results depend on besides the arguments.
func Versioned(t Tool, version func(ctx context.Context, args json.RawMessage) string) Tool {
	return versioned{t, version}
}

type versioned struct {
	Tool
	version func(context.Context, json.RawMessage) string
}

func (v versioned) Version(ctx context.Context, args json.RawMessage) string {
	return v.version(ctx, args)
}

// A Set is the tools of a program: the built-in ones by name, fixed at creation, and
// those that are found at run time by their declaration. It is safe for concurrent use.
type Set struct {
	// fixed at creation
	tools  map[string]*Entry
	names  []string
	caller Caller
	wrap   func(Tool) Tool // put around found tools; nil: nothing

	found foundEntries
}

// NewSet makes a set; two tools of one name are a bug and panic. caller calls the tools
// that are found at run time; with nil a call of one says that it is unavailable.
func NewSet(caller Caller, tools ...Tool) *Set {
	s := &Set{tools: make(map[string]*Entry, len(tools)), caller: caller}
	for _, t := range tools {
		name := t.Spec().Name
		if s.tools[name] != nil {
			panic(fmt.Sprintf("two tools are called %q", name))
		}
		e, err := newEntry(t)
		if err != nil {
			panic(fmt.Sprintf("tool %s: %v", name, err))
		}
		s.tools[name] = e
		s.names = append(s.names, name)
	}
	return s
}

// ErrUnknown is the error for a name that no tool has.
var ErrUnknown = errors.New("no such tool")

// Get finds a built-in tool.
func (s *Set) Get(name string) (*Entry, error) {
	if e := s.tools[name]; e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknown, name)
}

// Names lists the built-in tools in the order given.
func (s *Set) Names() []string { return s.names }

// Map returns a set of the same names with every tool put through f; those that are
// found at run time too.
func (s *Set) Map(f func(Tool) Tool) *Set {
	tools := make([]Tool, len(s.names))
	for i, name := range s.names {
		tools[i] = f(s.tools[name].Tool)
	}
	out := NewSet(s.caller, tools...)
	for name, e := range out.tools {
		if from := s.tools[name]; bytes.Equal(from.spec.Input, e.spec.Input) {
			e.compile = from.compile
		}
	}
	out.wrap = f
	if s.wrap != nil {
		inner := s.wrap
		out.wrap = func(t Tool) Tool { return f(inner(t)) }
	}
	return out
}
