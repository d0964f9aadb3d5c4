package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// An entry is one key of a mapping.
type entry struct {
	key   string
	pos   Pos
	value ast.Node
}

// mapEntries returns the keys of a mapping in order, merged ones last.
func (d *decoder) mapEntries(n ast.Node, what string) []entry {
	return d.mapEntriesAt(n, what, 0)
}

func (d *decoder) mapEntriesAt(n ast.Node, what string, level int) []entry {
	r := d.resolveNode(n)
	var values []*ast.MappingValueNode
	switch x := r.(type) {
	case nil, *ast.NullNode:
		return nil
	case *ast.MappingNode:
		values = x.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{x}
	default:
		d.reportForm(n, "%s must be a mapping of names to values", what)
		return nil
	}
	var out, merged []entry
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		if v == nil || v.Key == nil {
			continue
		}
		if v.Key.IsMergeKey() {
			if level < maxLevel {
				merged = append(merged, d.mergedEntries(v.Value, what, level+1)...)
			}
			continue
		}
		key := d.key(v.Key)
		if seen[key] {
			d.report(finding{code: "name-taken", pos: d.pos(v.Key), message: fmt.Sprintf("%s has %q twice", what, key), repair: "keep one of them"})
			continue
		}
		seen[key] = true
		out = append(out, entry{key, d.pos(v.Key), v.Value})
	}
	for _, e := range merged {
		if !seen[e.key] {
			seen[e.key] = true
			out = append(out, e)
		}
	}
	return out
}

// mergedEntries returns what `<<` brings in: one mapping or a list of them.
func (d *decoder) mergedEntries(n ast.Node, what string, level int) []entry {
	if list, ok := d.resolveNode(n).(*ast.SequenceNode); ok {
		var out []entry
		for _, v := range list.Values {
			out = append(out, d.mapEntriesAt(v, what, level)...)
		}
		return out
	}
	return d.mapEntriesAt(n, what, level)
}

func (d *decoder) key(k ast.Node) string {
	switch x := k.(type) {
	case *ast.StringNode:
		return x.Value
	case *ast.MappingKeyNode:
		if x.Value != nil {
			return d.key(x.Value)
		}
	}
	if t := k.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

// An object is a mapping whose keys the format knows.
type object struct {
	pos   Pos
	order []string
	by    map[string]entry
}

func (o object) has(key string) bool { _, ok := o.by[key]; return ok }

func (o object) keyPos(key string) Pos {
	if e, ok := o.by[key]; ok {
		return e.pos
	}
	return o.pos
}

// decodeObject reads a mapping of the given kind; keys that keys.go does not list for it
// are faults.
func (d *decoder) decodeObject(n ast.Node, kind string) object {
	o := object{pos: d.pos(n), by: make(map[string]entry)}
	known := keysOf[kind]
	for _, e := range d.mapEntries(n, "`"+kind+"`") {
		if !slices.Contains(known, e.key) {
			d.report(finding{
				code: "unknown-key", pos: e.pos, message: fmt.Sprintf("unknown key %q in %s%s", e.key, kind, suggestName(e.key, known)),
				repair: "use one of " + strings.Join(known, ", "),
			})
			continue
		}
		o.by[e.key] = e
		o.order = append(o.order, e.key)
	}
	return o
}

// decodeItems returns the members of a list.
func (d *decoder) decodeItems(n ast.Node, what string) []ast.Node {
	switch x := d.resolveNode(n).(type) {
	case nil, *ast.NullNode:
		return nil
	case *ast.SequenceNode:
		return x.Values
	default:
		d.reportForm(n, "%s must be a list", what)
		return nil
	}
}

// decodeText returns a scalar as written.
func (d *decoder) decodeText(n ast.Node, what string) string {
	switch x := d.resolveNode(n).(type) {
	case nil, *ast.NullNode:
	case *ast.StringNode:
		return x.Value
	case *ast.LiteralNode:
		if x.Value != nil {
			return x.Value.Value
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return x.GetToken().Value
	default:
		d.reportForm(n, "%s must be text", what)
	}
	return ""
}

// decodeTexts returns a list of texts, or a single one.
func (d *decoder) decodeTexts(n ast.Node, what string) []string {
	if list, ok := d.resolveNode(n).(*ast.SequenceNode); ok {
		out := make([]string, 0, len(list.Values))
		for _, v := range list.Values {
			out = append(out, d.decodeText(v, what))
		}
		return out
	}
	if s := d.decodeText(n, what); s != "" {
		return []string{s}
	}
	return nil
}

func (d *decoder) decodeFlag(n ast.Node, what string) bool {
	b, ok := d.resolveNode(n).(*ast.BoolNode)
	if !ok {
		d.reportForm(n, "%s must be true or false", what)
		return false
	}
	return b.Value
}

func (d *decoder) decodeNumber(n ast.Node, what string) *float64 {
	if v, ok := d.decodeValue(n, 0).(float64); ok {
		return &v
	}
	d.reportForm(n, "%s must be a number", what)
	return nil
}

func (d *decoder) decodeCount(n ast.Node, what string) int {
	v, ok := d.decodeValue(n, 0).(float64)
	if !ok || v != float64(int32(v)) || v < 0 {
		d.reportForm(n, "%s must be a whole number, 0 or more", what)
		return 0
	}
	return int(v)
}

// decodeValue gives YAML as a plain JSON value.
func (d *decoder) decodeValue(n ast.Node, level int) any {
	if level > maxLevel {
		d.reportForm(n, "the value nests too deep")
		return nil
	}
	switch x := d.resolveNode(n).(type) {
	case *ast.StringNode:
		return x.Value
	case *ast.LiteralNode:
		return d.decodeText(x, "value")
	case *ast.BoolNode:
		return x.Value
	case *ast.IntegerNode:
		switch v := x.Value.(type) {
		case int64:
			return float64(v)
		case uint64:
			return float64(v)
		}
	case *ast.FloatNode:
		return finiteOrNil(x.Value)
	case *ast.SequenceNode:
		list := make([]any, 0, len(x.Values))
		for _, v := range x.Values {
			list = append(list, d.decodeValue(v, level+1))
		}
		return list
	case *ast.MappingNode, *ast.MappingValueNode:
		r := make(map[string]any)
		for _, e := range d.mapEntries(x, "value") {
			r[e.key] = d.decodeValue(e.value, level+1)
		}
		return r
	}
	return nil
}
