package engine

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/tool"
)

// An offer is a tool that the present state offers to the model.
type offer struct {
	entry  *tool.Entry
	decl   *machine.Offer
	narrow tool.Narrowing
}

// offers returns the tools that the state offers now, in the order of the definition, and
// those that it names but denies, with the reasons.
func (r *rules) offers(s *machine.Scope) ([]offer, []event.Denial) {
	here, _ := s.State["name"].(string)
	st := r.m.State(here)
	if st == nil || st.Kind != machine.Agent {
		return nil, nil
	}
	var out []offer
	var denied []event.Denial
	for _, decl := range st.Offers {
		holds := r.m.Holds(decl.When, s)
		for _, ref := range r.offeredTools(decl, s) {
			name := ref.name
			if slices.ContainsFunc(out, func(o offer) bool { return o.entry.Spec().Name == name }) {
				continue
			}
			entry, err := r.entryOf(ref)
			if err != nil {
				denied = append(denied, event.Denial{Tool: name, Code: fault.UnknownTool})
				continue
			}
			if !holds {
				d := event.Denial{Tool: name, Code: fault.ToolNotAllowed, When: decl.When.Source, Saw: r.m.GuardValues(decl.When, s)}
				if decl.BySettings {
					d.Code = fault.FeatureDisabled
				}
				denied = append(denied, d)
				continue
			}
			if r.isUsedUp(name) {
				denied = append(denied, event.Denial{Tool: name, Code: fault.ToolUsedUp})
				continue
			}
			out = append(out, offer{entry: entry, decl: decl, narrow: r.narrowArgs(name, s)})
		}
	}
	return out, denied
}

// A toolRef names a tool: a built-in one, or one that a fact declares.
type toolRef struct {
	name  string
	found *tool.Found // nil for a built-in tool
}

// offeredTools returns the tools that an offer of a state stands for.
func (r *rules) offeredTools(decl *machine.Offer, s *machine.Scope) []toolRef {
	if decl.From == "" {
		return []toolRef{{name: decl.Tool}}
	}
	return toolRefs(r.m.Value(decl.From, s))
}

// toolRefs returns the tools that a fact lists: names of built-in ones, or declarations
// of tools that were found at run time.
func toolRefs(v any) []toolRef {
	items, _ := v.([]any)
	var out []toolRef
	for _, item := range items {
		switch x := item.(type) {
		case string:
			out = append(out, toolRef{name: x})
		case map[string]any:
			if f := foundDeclaration(x); f.Name != "" {
				out = append(out, toolRef{f.Name, f})
			}
		}
	}
	return out
}

// foundDeclaration reads the declaration of a found tool from its record.
func foundDeclaration(x map[string]any) *tool.Found {
	f := &tool.Found{}
	f.Name, _ = x["name"].(string)
	f.Server, _ = x["server"].(string)
	f.Description, _ = x["description"].(string)
	f.ReadOnly, _ = x["read_only"].(bool)
	if x["schema"] != nil {
		f.Schema = mustJSON(x["schema"])
	}
	return f
}

// entryOf returns the tool that a reference means.
func (r *rules) entryOf(ref toolRef) (*tool.Entry, error) {
	if ref.found != nil {
		return r.tools.Found(*ref.found)
	}
	return r.tools.Get(ref.name)
}

// findTool returns a tool by name: a built-in one, else one that the present state
// offers, else one that any state would take from a fact of the thread.
func (r *rules) findTool(name string) (*tool.Entry, error) {
	builtIn, err := r.tools.Get(name)
	if err == nil {
		return builtIn, nil
	}
	s := r.readScope()
	if o, _ := r.findOffer(name, s); o != nil {
		return o.entry, nil
	}
	for _, st := range r.m.States {
		for _, decl := range st.Offers {
			if decl.From == "" {
				continue
			}
			for _, ref := range r.offeredTools(decl, s) {
				if ref.name == name {
					return r.entryOf(ref)
				}
			}
		}
	}
	return nil, err
}

// isUsedUp reports whether a tool has failed so often that this turn no longer offers it.
func (r *rules) isUsedUp(name string) bool {
	return r.f.Turn != nil && r.f.Turn.Failures[name] >= r.failuresAllowed()
}

// failuresAllowed returns how often a tool may fail in a turn in the present state.
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

// skipTarget returns the state that a turn moves to when a tool has failed too often, ""
// if there is none.
func (r *rules) skipTarget() string {
	if st := r.m.State(r.f.State); st != nil && st.Errors != nil {
		return st.Errors.Skip
	}
	return r.m.Errors.Skip
}

// narrowArgs returns what the machine says about a tool's arguments: which are hidden
// because the machine binds them, which values others may have, and their defaults.
func (r *rules) narrowArgs(name string, s *machine.Scope) tool.Narrowing {
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

// sameOffers reports whether two lists of offers are the same to a model.
func sameOffers(a, b []offer) bool {
	return slices.EqualFunc(a, b, func(a, b offer) bool { return a.entry == b.entry && reflect.DeepEqual(a.narrow, b.narrow) })
}

// toolSpecs returns the offers as they are sent to the model.
func toolSpecs(offers []offer) []llm.Tool {
	out := make([]llm.Tool, len(offers))
	for i, o := range offers {
		spec := o.entry.Spec()
		out[i] = llm.Tool{Name: spec.Name, Description: spec.Description, Schema: o.entry.Offered(o.narrow)}
	}
	return out
}

// bindArgs adds the machine's arguments to those of the model. A bound argument that the
// model sent is overwritten.
func (r *rules) bindArgs(name string, args map[string]any, n tool.Narrowing, s *machine.Scope) (map[string]any, *fault.Fault) {
	if r.m.Tools[name] == nil {
		return args, nil
	}
	whole := make(map[string]any, len(args)+4)
	maps.Copy(whole, args)
	for arg, def := range n.Default {
		if _, given := whole[arg]; !given && def != nil {
			whole[arg] = def
		}
	}
	for arg, values := range n.Enum {
		v, given := whole[arg]
		if given && !slices.ContainsFunc(values, func(x any) bool { return sameJSON(x, v) }) {
			return nil, fault.New(fault.InvalidArguments, "%s: %s must be one of %s, not %s", name, arg, compactJSON(values), compactJSON(v)).
				Suggest("Use one of the listed values.")
		}
	}
	for _, a := range r.m.Tools[name].In {
		delete(whole, a.Name)
		v, err := r.m.Eval(a.Expr, s)
		if err != nil {
			return nil, fault.Wrap(err, fault.InvalidState, "%s: the machine's value for %s cannot be worked out", name, a.Name)
		}
		if v != nil {
			whole[a.Name] = v
		}
	}
	return whole, nil
}

func sameJSON(a, b any) bool { return compactJSON(a) == compactJSON(b) }

func compactJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
