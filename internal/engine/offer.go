package engine

import (
	"encoding/json"
	"slices"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/tool"
)

// offer is a tool that the present state offers, ready to be shown and called.
type offer struct {
	entry  *tool.Entry
	decl   *machine.Offer
	narrow tool.Narrowing
}

// offers works out which tools the state offers now, in the order of the file, and
// which of those it names are denied and why.
func (r *rules) offers(s *machine.Scope) ([]offer, []event.Denial) {
	here, _ := s.State["name"].(string)
	st := r.m.State(here)
	if st == nil || st.Kind != machine.Agent {
		return nil, nil
	}
	var out []offer
	var denied []event.Denial
	for _, decl := range st.Offers {
		names := []string{decl.Tool}
		if decl.From != "" {
			names = listed(r.m.Value(decl.From, s))
		}
		holds := r.m.Holds(decl.When, s)
		for _, name := range names {
			if slices.ContainsFunc(out, func(o offer) bool { return o.entry.Spec().Name == name }) {
				continue
			}
			entry, err := r.tools.Get(name)
			if err != nil {
				denied = append(denied, event.Denial{Tool: name, Code: fault.UnknownTool})
				continue
			}
			if !holds {
				d := event.Denial{Tool: name, Code: fault.ToolNotAllowed, When: decl.When.Source, Saw: r.m.Saw(decl.When, s)}
				if decl.BySettings {
					d.Code = fault.FeatureDisabled
				}
				denied = append(denied, d)
				continue
			}
			if r.usedUp(name) {
				denied = append(denied, event.Denial{Tool: name, Code: fault.ToolUsedUp})
				continue
			}
			out = append(out, offer{entry: entry, decl: decl, narrow: r.narrowing(name, s)})
		}
	}
	return out, denied
}

// listed gives the names of tools in a fact: texts, or records with a name.
func listed(v any) []string {
	items, _ := v.([]any)
	var out []string
	for _, item := range items {
		switch x := item.(type) {
		case string:
			out = append(out, x)
		case map[string]any:
			if name, ok := x["name"].(string); ok {
				out = append(out, name)
			}
		}
	}
	return out
}

// usedUp says whether a tool has failed so often that it is gone for this turn.
func (r *rules) usedUp(name string) bool {
	return r.f.Turn != nil && r.f.Turn.Failures[name] >= r.failuresAllowed()
}

func (r *rules) failuresAllowed() int {
	e := r.m.Errors
	if st := r.m.State(r.f.State); st != nil && st.Errors != nil {
		e = *st.Errors
	}
	if e.Failures == 0 {
		return 3
	}
	return e.Failures
}

func (r *rules) skipTo() string {
	if st := r.m.State(r.f.State); st != nil && st.Errors != nil {
		return st.Errors.Skip
	}
	return r.m.Errors.Skip
}

// narrowing is what the machine says about a tool's arguments: bound ones are
// hidden, narrowed ones get their values.
func (r *rules) narrowing(name string, s *machine.Scope) tool.Narrowing {
	var n tool.Narrowing
	b := r.m.Tools[name]
	if b == nil {
		return n
	}
	for _, a := range b.In {
		n.Hidden = append(n.Hidden, a.Name)
	}
	for arg, nw := range b.Args {
		if nw.Enum != nil {
			v, _ := r.m.Eval(nw.Enum, s)
			values, _ := v.([]any)
			if n.Enum == nil {
				n.Enum = map[string][]any{}
			}
			n.Enum[arg] = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
		}
		if nw.Default != nil {
			v, _ := r.m.Eval(nw.Default, s)
			if n.Default == nil {
				n.Default = map[string]any{}
			}
			n.Default[arg] = v
		}
	}
	return n
}

// specs is the offers as a model is told of them.
func specs(offers []offer) []llm.Tool {
	out := make([]llm.Tool, len(offers))
	for i, o := range offers {
		spec := o.entry.Spec()
		out[i] = llm.Tool{Name: spec.Name, Description: spec.Description, Schema: o.entry.Offered(o.narrow)}
	}
	return out
}

// bind adds the machine's arguments to those of the model. The model cannot set a
// bound one: it is overwritten.
func (r *rules) bind(name string, args map[string]any, n tool.Narrowing, s *machine.Scope) (map[string]any, *fault.Fault) {
	whole := make(map[string]any, len(args)+4)
	for k, v := range args {
		whole[k] = v
	}
	for arg, def := range n.Default {
		if _, given := whole[arg]; !given && def != nil {
			whole[arg] = def
		}
	}
	for arg, values := range n.Enum {
		v, given := whole[arg]
		if given && !slices.ContainsFunc(values, func(x any) bool { return sameJSON(x, v) }) {
			return nil, fault.New(fault.InvalidArguments, "%s: %s must be one of %s, not %s", name, arg, compact(values), compact(v)).
				Suggest("Use one of the listed values.")
		}
	}
	if b := r.m.Tools[name]; b != nil {
		for _, a := range b.In {
			delete(whole, a.Name)
			v, err := r.m.Eval(a.Expr, s)
			if err != nil {
				return nil, fault.Wrap(err, fault.InvalidState, "%s: the machine's value for %s cannot be worked out", name, a.Name)
			}
			if v != nil {
				whole[a.Name] = v
			}
		}
	}
	return whole, nil
}

func sameJSON(a, b any) bool { return compact(a) == compact(b) }

func compact(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
