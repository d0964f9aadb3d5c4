package machine

import (
	"errors"
	"fmt"

	"github.com/expr-lang/expr/conf"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
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
	parts     map[string]*partNode
}

func (d *decoder) report(f finding) {
	if d.exhausted {
		return // what follows from having read no further is no fault of its own
	}
	d.findings = append(d.findings, f.public())
}

func (d *decoder) reportForm(n ast.Node, format string, args ...any) {
	d.report(finding{code: "wrong-form", pos: d.pos(n), message: fmt.Sprintf(format, args...)})
}

// parseYAML returns the tree. The parser is foreign code: a panic of it is a fault of
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
	nodes := d.collectAnchors(root, 0)
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

// collectAnchors remembers anchors and counts nodes.
func (d *decoder) collectAnchors(n ast.Node, level int) int {
	if n == nil || level > 4*maxLevel {
		return 1
	}
	count := 1
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			count += d.collectAnchors(v, level+1)
		}
	case *ast.MappingValueNode:
		count += d.collectAnchors(n.Value, level+1)
	case *ast.SequenceNode:
		for _, v := range n.Values {
			count += d.collectAnchors(v, level+1)
		}
	case *ast.AnchorNode:
		if n.Name != nil && n.Name.GetToken() != nil {
			d.anchors[n.Name.GetToken().Value] = n.Value
		}
		count += d.collectAnchors(n.Value, level+1)
	case *ast.TagNode:
		count += d.collectAnchors(n.Value, level+1)
	}
	return count
}

// resolveNode follows anchors, aliases and tags to the value.
func (d *decoder) resolveNode(n ast.Node) ast.Node {
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
				d.reportForm(x, "there is no anchor &%s", name)
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
