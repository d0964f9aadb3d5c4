package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// A Difference is one thing that is not the same in two versions of a machine.
type Difference struct {
	What   string `json:"what"` // a path: states.planner.go
	Kind   string `json:"kind"` // added, removed or changed
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

func (d Difference) String() string {
	switch d.Kind {
	case "added":
		return fmt.Sprintf("+ %s: %s", d.What, d.After)
	case "removed":
		return fmt.Sprintf("- %s: %s", d.What, d.Before)
	}
	return fmt.Sprintf("~ %s: %s -> %s", d.What, d.Before, d.After)
}

// diffDepth is how deep a section is compared: states.planner.go is one thing.
var diffDepth = map[string]int{
	"states": 3, "cards": 3, "commands": 3, "tools": 2, "facts": 2, "settings": 2, "types": 2, "calls": 2,
	"show": 2, "policies": 2, "prompt": 2, "reply": 2, "limits": 2,
}

// Diff lists what changed from one version to another, in the order of names.
func Diff(old, new *Machine) []Difference {
	a, b := old.document(), new.document()
	var out []Difference
	for _, key := range bothKeys(a, b) {
		out = append(out, compareValues(key, a[key], b[key], max(diffDepth[key], 1)-1)...)
	}
	for _, name := range bothKeys(old.Files, new.Files) {
		before, had := old.Files[name]
		after, has := new.Files[name]
		if name == File || before == after && had == has {
			continue
		}
		d := Difference{What: name, Kind: "changed", Before: shorten(before), After: shorten(after)}
		switch {
		case !had:
			d.Kind, d.Before = "added", ""
		case !has:
			d.Kind, d.After = "removed", ""
		}
		out = append(out, d)
	}
	return out
}

// document is the definition as a plain value.
func (m *Machine) document() map[string]any {
	source := m.Files[File]
	d := &decoder{m: &Machine{}, file: File, lines: strings.Split(source, "\n"), anchors: make(map[string]ast.Node)}
	root := d.parseYAML(source)
	if root == nil {
		return nil
	}
	doc, _ := d.decodeValue(root, 0).(map[string]any)
	return doc
}

func bothKeys[V any](a, b map[string]V) []string {
	keys := maps.Clone(a)
	if keys == nil {
		keys = make(map[string]V)
	}
	maps.Copy(keys, b)
	return slices.Sorted(maps.Keys(keys))
}

func compareValues(what string, a, b any, depth int) []Difference {
	if canonicalJSON(a) == canonicalJSON(b) {
		return nil
	}
	x, okX := a.(map[string]any)
	y, okY := b.(map[string]any)
	if depth > 0 && okX && okY {
		var out []Difference
		for _, key := range bothKeys(x, y) {
			out = append(out, compareValues(what+"."+key, x[key], y[key], depth-1)...)
		}
		return out
	}
	d := Difference{What: what, Kind: "changed", Before: shorten(canonicalJSON(a)), After: shorten(canonicalJSON(b))}
	switch {
	case a == nil:
		d.Kind, d.Before = "added", ""
	case b == nil:
		d.Kind, d.After = "removed", ""
	}
	return []Difference{d}
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return s
}

// UpgradeProblems says why a thread that stands in a state with these facts could not go on
// with a new version; nothing means that it can.
func UpgradeProblems(old, new *Machine, state string, facts map[string]any) []string {
	var why []string
	to := new.State(state)
	if to == nil {
		return []string{fmt.Sprintf("it stands in state %s, which the new version does not have", state)}
	}
	moved := new.Defaults()
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		f := new.Fact(name)
		if f == nil || f.Is != nil || facts[name] == nil {
			continue
		}
		v, err := Conform(f.Type, plainValue(facts[name]))
		if err != nil {
			why = append(why, fmt.Sprintf("fact %s does not fit its new type: %v", name, err))
			continue
		}
		moved[name] = v
	}
	scope := &Scope{Facts: moved, Settings: new.defaultSettings(), State: map[string]any{"name": state}}
	for _, r := range to.Requires {
		if !new.meetsRequirement(r, scope) {
			why = append(why, fmt.Sprintf("state %s now requires %s, which does not hold", state, r.Source))
		}
	}
	if from := old.State(state); from != nil && from.Kind == Ask && from.Card != to.Card {
		why = append(why, fmt.Sprintf("it may wait for card %s, which state %s does not raise any more", from.Card, state))
	}
	return why
}

// defaultSettings returns every setting at its default.
func (m *Machine) defaultSettings() map[string]any {
	out := make(map[string]any, len(m.Settings))
	for _, s := range m.Settings {
		out[s.Name] = s.Default
	}
	return out
}

// meetsRequirement reports whether a requirement holds.
func (m *Machine) meetsRequirement(r Predicate, s *Scope) bool {
	v := m.Value(r.Fact, s)
	switch {
	case r.IsTrue:
		return isTrue(v)
	case r.Len > 0:
		list, _ := v.([]any)
		return len(list) >= r.Len
	}
	return v != nil
}
