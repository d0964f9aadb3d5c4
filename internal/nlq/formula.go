package nlq

import (
	"regexp"
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// A formula is arithmetic between columns of a row: quantity times price.
type formula struct {
	col         int // where op is ""
	op          queryplan.MathOperator
	left, right *formula
}

var (
	formulaWord = regexp.MustCompile(`(?i)[\p{L}_][\w.]*|[()+*]|-`)
	formulaOps  = map[string]queryplan.MathOperator{"plus": queryplan.Add, "+": queryplan.Add, "and": queryplan.Add, "less": queryplan.Subtract, "minus": queryplan.Subtract, "-": queryplan.Subtract, "times": queryplan.Multiply, "*": queryplan.Multiply}
)

// readFormula reads arithmetic between columns that can be reached from the first; nil where it is
// anything else, or no arithmetic at all.
func (x *Index) readFormula(text string) *formula {
	text = strings.ReplaceAll(strings.ToLower(text), "multiplied by", "times")
	r := &formulaReader{x: x, words: formulaWord.FindAllString(text, -1), base: -1}
	if strings.Join(r.words, "") != strings.Join(strings.Fields(text), "") {
		return nil
	}
	f := r.sum()
	if f == nil || f.op == "" || len(r.words) > 0 {
		return nil
	}
	return f
}

// A formulaReader takes the words of a formula from the left.
type formulaReader struct {
	x     *Index
	words []string
	base  int // the table of the first column
}

func (r *formulaReader) accept(ops ...queryplan.MathOperator) queryplan.MathOperator {
	if len(r.words) == 0 || !slices.Contains(ops, formulaOps[r.words[0]]) {
		return ""
	}
	op := formulaOps[r.words[0]]
	r.words = r.words[1:]
	return op
}

func (r *formulaReader) sum() *formula {
	return r.chain(r.product, queryplan.Add, queryplan.Subtract)
}

func (r *formulaReader) product() *formula { return r.chain(r.operand, queryplan.Multiply) }

func (r *formulaReader) chain(part func() *formula, ops ...queryplan.MathOperator) *formula {
	f := part()
	for op := r.accept(ops...); f != nil && op != ""; op = r.accept(ops...) {
		right := part()
		if right == nil {
			return nil
		}
		f = &formula{col: -1, op: op, left: f, right: right}
	}
	return f
}

func (r *formulaReader) operand() *formula {
	if len(r.words) == 0 {
		return nil
	}
	word := r.words[0]
	r.words = r.words[1:]
	if word == "(" {
		f := r.sum()
		if f == nil || len(r.words) == 0 || r.words[0] != ")" {
			return nil
		}
		r.words = r.words[1:]
		return f
	}
	col := r.x.columnNamed(word, r.base)
	if col < 0 {
		col = r.x.columnNamed(word, -1)
	}
	if col < 0 || !r.x.columns[col].isNumeric() {
		return nil
	}
	table := r.x.columns[col].table
	if r.base < 0 {
		r.base = table
	}
	if r.x.singleWay(r.base, table) == nil {
		return nil
	}
	return &formula{col: col}
}

// columns are those that a formula computes with, the first one first.
func (f *formula) columns() []int {
	switch {
	case f == nil:
		return nil
	case f.op == "":
		return []int{f.col}
	}
	return append(f.left.columns(), f.right.columns()...)
}

// formula compiles arithmetic between columns.
func (p *planner) formula(f *formula) queryplan.Expr {
	if f.op == "" {
		return p.expr(f.col, true)
	}
	return queryplan.Expr{Math: &queryplan.Math{Operator: f.op, Left: p.formula(f.left), Right: p.formula(f.right)}}
}
