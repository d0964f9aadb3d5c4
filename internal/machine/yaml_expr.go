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

// verbatim reports whether the source stands in the file as it is, so that a place in
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
	d.report(finding{
		code: "guard-syntax", pos: pos, message: fmt.Sprintf("%s in %q", err, x.Source),
		repair: `correct the expression; a text is written '"text"'`,
	})
}
