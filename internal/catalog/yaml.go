package catalog

import (
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"interlock/internal/schema"
)

// maxYAML bounds a document that others wrote, in bytes.
const maxYAML = 1 << 20

// readYAML decodes a document into each target. What could cost more than its length
// is refused before it is parsed, aliases before they are followed.
func readYAML(text []byte, targets ...any) (err error) {
	defer func() {
		if r := recover(); r != nil { // the parser is foreign code
			err = problem("It cannot be read as YAML.")
		}
	}()
	if len(text) > maxYAML {
		return problem(fmt.Sprintf("It has %d bytes, more than the %d that are read; split it.", len(text), maxYAML))
	}
	if line, why := schema.CostlyYAML(text); line > 0 {
		return problem(fmt.Sprintf("In line %d %s.", line, why))
	} else if why != "" {
		return problem("The file costs too much to read: " + why + "; split it.")
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return problem("It cannot be read: " + truncate(yaml.FormatError(err, false, false), 300))
	}
	for _, doc := range file.Docs {
		v := &aliasFinder{}
		if doc != nil && doc.Body != nil {
			ast.Walk(v, doc.Body)
		}
		if v.line > 0 {
			return problem(fmt.Sprintf("It uses an alias in line %d; write out what it stands for.", v.line))
		}
	}
	for _, target := range targets {
		if err := yaml.Unmarshal(text, target); err != nil {
			return problem("It cannot be read: " + truncate(yaml.FormatError(err, false, false), 300))
		}
	}
	return nil
}

type aliasFinder struct{ line int }

func (f *aliasFinder) Visit(n ast.Node) ast.Visitor {
	if _, ok := n.(*ast.AliasNode); ok && f.line == 0 {
		f.line = 1
		if t := n.GetToken(); t != nil && t.Position != nil {
			f.line = t.Position.Line
		}
	}
	return f
}
