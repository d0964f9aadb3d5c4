package catalog

import (
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Bounds of YAML that others wrote. A parser goes deeper with every bracket and every
// mark on a line, and an alias can stand for more than the file holds.
const (
	maxYAML      = 1 << 20 // bytes
	maxBrackets  = 100     // open at once
	maxLineMarks = 500     // on one line
	maxIndent    = 200     // columns
)

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
	if line := tooDeep(text); line > 0 {
		return problem(fmt.Sprintf("It nests too deep in line %d.", line))
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return problem("It cannot be read: " + clip(yaml.FormatError(err, false, false), 300))
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
			return problem("It cannot be read: " + clip(yaml.FormatError(err, false, false), 300))
		}
	}
	return nil
}

// tooDeep gives the line that goes beyond the bounds, 0 if none does. It may count too
// much, never too little.
func tooDeep(text []byte) int {
	line, open, marks, indent, leading := 1, 0, 0, 0, true
	for _, b := range text {
		switch b {
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0)
		case '-', '?', ':', '!', '&', '*':
			if open == 0 {
				marks++
			}
		}
		if leading = leading && (b == ' ' || b == '\t' || b == '-' || b == '?'); leading {
			indent++
		}
		if open > maxBrackets || marks > maxLineMarks || indent > maxIndent {
			return line
		}
		if b == '\n' {
			line, marks, indent, leading = line+1, 0, 0, true
		}
	}
	return 0
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
