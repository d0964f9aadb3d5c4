package machine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/conf"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a definition.
const (
	maxYAML   = 16 << 20 // bytes of machine.yaml
	maxPrompt = 1 << 20  // bytes of a prompt
	maxFiles  = 500
	maxStates = 50_000
	maxLevel  = 40   // nesting of YAML
	maxMarks  = 5000 // brackets open, or marks on one line, before the file is parsed
)

// A decoder reads the YAML tree of a definition. It goes on after a fault, so that
// every fault is reported at once.
type decoder struct {
	parser    *conf.Config // of expressions
	m         *Machine
	file      string
	lines     []string
	anchors   map[string]ast.Node
	budget    int // nodes that may still be visited: aliases can multiply
	findings  []Finding
	exhausted bool // the budget is used up
	pending   []pendingExpr
	templates []pendingTemplate
	named     map[string]bool // prompt files that were named
}

// A pendingExpr waits until all facts are known.
type pendingExpr struct {
	x    *Expr
	keep bool
	flat bool
}

func (d *decoder) report(f finding) {
	if d.exhausted {
		return // what follows from having read no further is no fault of its own
	}
	d.findings = append(d.findings, f.public())
}

func (d *decoder) wrong(n ast.Node, format string, args ...any) {
	d.report(finding{code: "wrong-form", pos: d.pos(n), message: fmt.Sprintf(format, args...)})
}

// parseYAML gives the tree. The parser is foreign code: a panic of it is a fault of
// the file.
func (d *decoder) parseYAML(source string) (root ast.Node) {
	defer func() {
		if r := recover(); r != nil {
			root = nil
			d.report(finding{code: "yaml-syntax", pos: Pos{File: d.file, Line: 1}, message: "the file cannot be parsed as YAML"})
		}
	}()
	if depthOf(source) > maxMarks {
		d.report(finding{code: "too-large", pos: Pos{File: d.file, Line: 1}, message: "the file nests too deep"})
		return nil
	}
	f, err := parser.ParseBytes([]byte(source), 0)
	if err != nil {
		pos, message := Pos{File: d.file, Line: 1}, err.Error()
		if se, ok := errors.AsType[*yaml.SyntaxError](err); ok {
			message = se.Message
			if t := se.Token; t != nil && t.Position != nil {
				pos.Line, pos.Col = t.Position.Line, t.Position.Column
			}
		}
		d.report(finding{code: "yaml-syntax", pos: pos, message: message, repair: "correct the YAML at this place"})
		return nil
	}
	for _, doc := range f.Docs {
		if doc != nil && doc.Body != nil {
			if root != nil {
				d.report(finding{code: "wrong-form", pos: d.pos(doc.Body), message: "the file holds more than one document"})
				break
			}
			root = doc.Body
		}
	}
	if root == nil {
		d.report(finding{code: "yaml-syntax", pos: Pos{File: d.file, Line: 1}, message: "the file is empty"})
		return nil
	}
	nodes := d.collect(root, 0)
	d.budget = 20*nodes + 10_000
	return root
}

// depthOf counts what makes a recursive parser go deeper: brackets, and marks outside
// brackets on one line. It may count too much, never too little.
func depthOf(source string) int {
	deepest, open, marks := 0, 0, 0
	for _, r := range source {
		switch r {
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0)
		case '-', '?', ':', '!', '&':
			if open == 0 {
				marks++
			}
		case '\n':
			marks = 0
		}
		deepest = max(deepest, open, marks)
	}
	return deepest
}

// collect remembers anchors and counts nodes.
func (d *decoder) collect(n ast.Node, level int) int {
	if n == nil || level > 4*maxLevel {
		return 1
	}
	count := 1
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			count += d.collect(v, level+1)
		}
	case *ast.MappingValueNode:
		count += d.collect(n.Value, level+1)
	case *ast.SequenceNode:
		for _, v := range n.Values {
			count += d.collect(v, level+1)
		}
	case *ast.AnchorNode:
		if n.Name != nil && n.Name.GetToken() != nil {
			d.anchors[n.Name.GetToken().Value] = n.Value
		}
		count += d.collect(n.Value, level+1)
	case *ast.TagNode:
		count += d.collect(n.Value, level+1)
	}
	return count
}

// resolve follows anchors, aliases and tags to the value.
func (d *decoder) resolve(n ast.Node) ast.Node {
	for range maxLevel {
		switch x := n.(type) {
		case *ast.AnchorNode:
			n = x.Value
		case *ast.TagNode:
			n = x.Value
		case *ast.AliasNode:
			name := ""
			if x.Value != nil && x.Value.GetToken() != nil {
				name = x.Value.GetToken().Value
			}
			to, ok := d.anchors[name]
			if !ok {
				d.wrong(x, "there is no anchor &%s", name)
				return nil
			}
			n = to
		default:
			d.budget--
			if d.budget == 0 {
				d.report(finding{code: "too-large", pos: d.pos(n), message: "aliases multiply the file beyond its limits", repair: "use fewer aliases inside aliases"})
				d.exhausted = true
			}
			if d.budget <= 0 {
				return nil
			}
			if n == nil {
				return nil
			}
			return n
		}
	}
	return nil
}

// pos gives where a node begins.
func (d *decoder) pos(n ast.Node) Pos {
	p := Pos{File: d.file, Line: 1}
	for range 4 {
		switch x := n.(type) {
		case *ast.MappingNode:
			if !x.IsFlowStyle && len(x.Values) > 0 {
				n = x.Values[0]
			}
		case *ast.MappingValueNode:
			n = x.Key
		}
	}
	if n == nil {
		return p
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		p.Line, p.Col = t.Position.Line, t.Position.Column
	}
	return p
}

// An entry is one key of a mapping.
type entry struct {
	key   string
	pos   Pos
	value ast.Node
}

// entries gives the keys of a mapping in order, merged ones last.
func (d *decoder) entries(n ast.Node, what string) []entry {
	return d.entriesAt(n, what, 0)
}

func (d *decoder) entriesAt(n ast.Node, what string, level int) []entry {
	r := d.resolve(n)
	var values []*ast.MappingValueNode
	switch x := r.(type) {
	case nil, *ast.NullNode:
		return nil
	case *ast.MappingNode:
		values = x.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{x}
	default:
		d.wrong(n, "%s must be a mapping of names to values", what)
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
				merged = append(merged, d.merges(v.Value, what, level+1)...)
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

// merges gives what `<<` brings in: one mapping or a list of them.
func (d *decoder) merges(n ast.Node, what string, level int) []entry {
	if list, ok := d.resolve(n).(*ast.SequenceNode); ok {
		var out []entry
		for _, v := range list.Values {
			out = append(out, d.entriesAt(v, what, level)...)
		}
		return out
	}
	return d.entriesAt(n, what, level)
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

func (o object) at(key string) Pos {
	if e, ok := o.by[key]; ok {
		return e.pos
	}
	return o.pos
}

// object reads a mapping of the given kind; keys that keys.go does not list for it
// are faults.
func (d *decoder) object(n ast.Node, kind string) object {
	o := object{pos: d.pos(n), by: make(map[string]entry)}
	known := keysOf[kind]
	for _, e := range d.entries(n, "`"+kind+"`") {
		if !slices.Contains(known, e.key) {
			d.report(finding{code: "unknown-key", pos: e.pos, message: fmt.Sprintf("unknown key %q in %s%s", e.key, kind, nearest(e.key, known)),
				repair: "use one of " + strings.Join(known, ", ")})
			continue
		}
		o.by[e.key] = e
		o.order = append(o.order, e.key)
	}
	return o
}

// items gives the members of a list.
func (d *decoder) items(n ast.Node, what string) []ast.Node {
	switch x := d.resolve(n).(type) {
	case nil, *ast.NullNode:
		return nil
	case *ast.SequenceNode:
		return x.Values
	default:
		d.wrong(n, "%s must be a list", what)
		return nil
	}
}

// text gives a scalar as written.
func (d *decoder) text(n ast.Node, what string) string {
	switch x := d.resolve(n).(type) {
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
		d.wrong(n, "%s must be text", what)
	}
	return ""
}

// texts gives a list of texts, or a single one.
func (d *decoder) texts(n ast.Node, what string) []string {
	if list, ok := d.resolve(n).(*ast.SequenceNode); ok {
		out := make([]string, 0, len(list.Values))
		for _, v := range list.Values {
			out = append(out, d.text(v, what))
		}
		return out
	}
	if s := d.text(n, what); s != "" {
		return []string{s}
	}
	return nil
}

func (d *decoder) flag(n ast.Node, what string) bool {
	b, ok := d.resolve(n).(*ast.BoolNode)
	if !ok {
		d.wrong(n, "%s must be true or false", what)
		return false
	}
	return b.Value
}

func (d *decoder) number(n ast.Node, what string) *float64 {
	if v, ok := d.value(n, 0).(float64); ok {
		return &v
	}
	d.wrong(n, "%s must be a number", what)
	return nil
}

func (d *decoder) count(n ast.Node, what string) int {
	v, ok := d.value(n, 0).(float64)
	if !ok || v != float64(int32(v)) || v < 0 {
		d.wrong(n, "%s must be a whole number, 0 or more", what)
		return 0
	}
	return int(v)
}

// value gives YAML as a plain JSON value.
func (d *decoder) value(n ast.Node, level int) any {
	if level > maxLevel {
		d.wrong(n, "the value nests too deep")
		return nil
	}
	switch x := d.resolve(n).(type) {
	case *ast.StringNode:
		return x.Value
	case *ast.LiteralNode:
		return d.text(x, "value")
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
		return finite(x.Value)
	case *ast.SequenceNode:
		list := make([]any, 0, len(x.Values))
		for _, v := range x.Values {
			list = append(list, d.value(v, level+1))
		}
		return list
	case *ast.MappingNode, *ast.MappingValueNode:
		r := make(map[string]any)
		for _, e := range d.entries(x, "value") {
			r[e.key] = d.value(e.value, level+1)
		}
		return r
	}
	return nil
}

// expr reads an expression: text is a source, every other scalar a literal.
func (d *decoder) expr(n ast.Node, what string) *Expr { return d.exprOf(n, what, false) }

func (d *decoder) exprOf(n ast.Node, what string, keep bool) *Expr {
	switch x := d.resolve(n).(type) {
	case nil:
		return nil
	case *ast.StringNode:
		pos, t := d.pos(x), x.GetToken()
		if t != nil && (t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType) {
			pos.Col++
		}
		return d.later(x.Value, pos, keep)
	case *ast.LiteralNode:
		pos := d.pos(x)
		return d.later(strings.TrimSpace(d.text(x, what)), Pos{File: pos.File, Line: pos.Line + 1, Col: 1}, keep)
	case *ast.NullNode:
		return literal(nil, "null", d.pos(x))
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		return literal(d.value(x, 0), x.GetToken().Value, d.pos(x))
	default:
		d.wrong(n, "%s must be an expression; write a list or record in quotes, as in '{a: 1}'", what)
		return nil
	}
}

// later makes an expression that is compiled once all facts are known.
func (d *decoder) later(source string, pos Pos, keep bool) *Expr {
	x := &Expr{Source: source, Pos: pos}
	d.pending = append(d.pending, pendingExpr{x: x, keep: keep, flat: d.verbatim(source, pos)})
	return x
}

// verbatim says whether the source stands in the file as it is, so that a place in
// it is a place in the file.
func (d *decoder) verbatim(source string, pos Pos) bool {
	if pos.Line < 1 || pos.Line > len(d.lines) {
		return false
	}
	line := []rune(d.lines[pos.Line-1])
	return pos.Col >= 1 && pos.Col <= len(line)+1 && strings.HasPrefix(string(line[pos.Col-1:]), source)
}

// compilePending compiles what was read.
func (d *decoder) compilePending() {
	for _, p := range d.pending {
		code, err := d.m.compile(d.parser, p.x.Source, p.keep)
		if err != nil {
			d.badSource(p.x, p.flat, err)
			continue
		}
		code.flat = p.flat
		p.x.code = code
	}
}

// compiled makes an expression at once.
func (d *decoder) compiled(source string, pos Pos, keep bool) *Expr {
	x := &Expr{Source: source, Pos: pos}
	code, err := d.m.compile(d.parser, source, keep)
	if err != nil {
		d.badSource(x, !strings.Contains(source, "\n"), err)
		return nil
	}
	code.flat = !strings.Contains(source, "\n")
	x.code = code
	return x
}

func (d *decoder) badSource(x *Expr, flat bool, err error) {
	pos := x.Pos
	if bad, ok := errors.AsType[*badExpr](err); ok && flat {
		pos.Col += bad.at
	}
	d.report(finding{code: "guard-syntax", pos: pos, message: fmt.Sprintf("%s in %q", err, x.Source),
		repair: `correct the expression; a text is written '"text"'`})
}
