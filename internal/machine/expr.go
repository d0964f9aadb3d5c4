package machine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// A program is a compiled expression. Evaluation is total: whatever the facts are,
// it ends, without a panic, with a plain JSON value.
type program struct {
	run  evalFunc
	tree ast.Node // nil for a literal
	off  int      // characters before the source in what was parsed
	refs []ref    // what it looks at, for people
	deps []*Fact  // facts it names
	lit  any      // the value of a literal
	flat bool     // the source stands in the file as it is
}

type evalFunc func(*frame) any

// A ref is a name that an expression looks at.
type ref struct {
	name string
	get  evalFunc
}

const (
	maxSource = 8192 // characters of an expression
	maxNodes  = 2048
	// A keep predicate speaks of an item, which the parser allows only inside a
	// call: it is parsed as the predicate of this one.
	keepBefore = "all([], "
)

// A badExpr is why a source is no expression, and where in it.
type badExpr struct {
	at      int // characters from the start of the source
	message string
}

func (b *badExpr) Error() string { return b.message }

// literal makes an expression of a value.
func literal(v any, source string, pos Pos) *Expr {
	v = plainValue(v)
	return &Expr{Source: source, Pos: pos, code: &program{
		run: func(*frame) any { return v },
		lit: v,
	}}
}

// compile makes a program of a source. In a keep predicate the item is `#`.
func (m *Machine) compile(cfg *conf.Config, source string, keep bool) (p *program, err error) {
	if len(source) > maxSource {
		return nil, &badExpr{message: fmt.Sprintf("the expression is longer than %d characters", maxSource)}
	}
	tree, off, err := parseExpr(cfg, source, keep)
	if err != nil {
		return nil, err
	}
	c := &compiler{m: m, off: off}
	if keep {
		c.depth = 1
	}
	run := c.compileNode(tree)
	if c.err != nil {
		return nil, c.err
	}
	return &program{run: run, tree: tree, off: off, refs: c.refs, deps: c.deps}, nil
}

// parserConfig is how sources are parsed. It is not safe for concurrent use.
func parserConfig() *conf.Config {
	cfg := conf.CreateNew()
	cfg.MaxNodes = maxNodes
	cfg.DisableIfOperator = true
	return cfg
}

// parseExpr returns the tree of a source. The parser is foreign code: a panic of it is
// an error of the source.
func parseExpr(cfg *conf.Config, source string, keep bool) (tree ast.Node, off int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &badExpr{message: "the expression cannot be parsed"}
		}
	}()
	text := source
	if keep {
		text, off = keepBefore+source+")", len(keepBefore)
	}
	t, err := parser.ParseWithConfig(text, cfg)
	if err != nil {
		bad := &badExpr{message: err.Error()}
		if fe, ok := errors.AsType[*file.Error](err); ok {
			bad.message = fe.Message
			bad.at = min(max(fe.From-off, 0), len([]rune(source)))
		}
		bad.message = strings.TrimSpace(bad.message)
		return nil, 0, bad
	}
	if !keep {
		return t.Node, 0, nil
	}
	if b, ok := t.Node.(*ast.BuiltinNode); ok && b.Name == "all" && len(b.Arguments) == 2 {
		list, isList := b.Arguments[0].(*ast.ArrayNode)
		pred, isPred := b.Arguments[1].(*ast.PredicateNode)
		if isList && len(list.Nodes) == 0 && isPred {
			return pred.Node, off, nil
		}
	}
	return nil, 0, &badExpr{message: "the brackets of the predicate do not match"}
}
