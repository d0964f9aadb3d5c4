package machine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A pendingExpr waits until all facts are known.
type pendingExpr struct {
	x    *Expr
	keep bool
	flat bool
}

// decodeExpr reads an expression: text is a source, every other scalar a literal.
func (d *decoder) decodeExpr(n ast.Node, what string) *Expr { return d.decodeExprOf(n, what, false) }

func (d *decoder) decodeExprOf(n ast.Node, what string, keep bool) *Expr {
	switch x := d.resolveNode(n).(type) {
	case nil:
		return nil
	case *ast.StringNode:
		pos, t := d.pos(x), x.GetToken()
		if t != nil && (t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType) {
			pos.Col++
		}
		return d.compileLater(x.Value, pos, keep)
	case *ast.LiteralNode:
		pos := d.pos(x)
		return d.compileLater(strings.TrimSpace(d.decodeText(x, what)), Pos{File: pos.File, Line: pos.Line + 1, Col: 1}, keep)
	case *ast.NullNode:
		return literal(nil, "null", d.pos(x))
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		return literal(d.decodeValue(x, 0), x.GetToken().Value, d.pos(x))
	default:
		d.reportForm(n, "%s must be an expression; write a list or record in quotes, as in '{a: 1}'", what)
		return nil
	}
}

// compileLater returns an expression that is compiled once all facts are known.
func (d *decoder) compileLater(source string, pos Pos, keep bool) *Expr {
	x := &Expr{Source: source, Pos: pos}
	d.pending = append(d.pending, pendingExpr{x: x, keep: keep, flat: d.isVerbatim(source, pos)})
	return x
}

// isVerbatim reports whether the source stands in the file as it is, so that a place in
// it is a place in the file.
func (d *decoder) isVerbatim(source string, pos Pos) bool {
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

// compileNow returns an expression that is compiled at once.
func (d *decoder) compileNow(source string, pos Pos, keep bool) *Expr {
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
	d.report(finding{
		code: "guard-syntax", pos: pos, message: fmt.Sprintf("%s in %q", err, x.Source),
		repair: `correct the expression; a text is written '"text"'`,
	})
}
