package nlq

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/queryplan"
)

// A formula is arithmetic between columns of a row: quantity times price.
type formula struct {
	col         int // where op is "" and it is no number
	number      *float64
	op          queryplan.MathOperator
	left, right *formula
}

var (
	formulaWord = regexp.MustCompile(`(?i)[\p{L}_][\w.]*|\d+(?:\.\d+)?|[()+*/]|-`)
	formulaOps  = map[string]queryplan.MathOperator{"plus": queryplan.Add, "+": queryplan.Add, "and": queryplan.Add, "less": queryplan.Subtract, "minus": queryplan.Subtract, "-": queryplan.Subtract, "times": queryplan.Multiply, "*": queryplan.Multiply, "divided_by": queryplan.Divide, "/": queryplan.Divide}
)

// readFormula reads arithmetic between columns, those of a table first where it is given; nil where it is
// anything else, or no arithmetic at all.
func (x *Index) readFormula(text string, table int) *formula {
	text = strings.NewReplacer("multiplied by", "times", "divided by", "divided_by").Replace(strings.ToLower(text))
	r := &formulaReader{x: x, words: formulaWord.FindAllString(text, -1), base: table}
	if strings.Join(r.words, "") != strings.Join(strings.Fields(text), "") {
		return nil
	}
	f := r.sum()
	if f == nil || f.op == "" || len(r.words) > 0 || len(f.columns()) == 0 || x.formulaTable(f) < 0 {
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

func (r *formulaReader) product() *formula {
	return r.chain(r.operand, queryplan.Multiply, queryplan.Divide)
}

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
	if n, err := strconv.ParseFloat(word, 64); err == nil {
		return &formula{col: -1, number: &n}
	}
	col := r.column(word)
	if col < 0 || !r.x.columns[col].isNumeric() {
		return nil
	}
	if r.base < 0 {
		r.base = r.x.columns[col].table
	}
	return &formula{col: col}
}

// column is the column that words name from here on, the longest name first.
func (r *formulaReader) column(word string) int {
	for n := min(3, len(r.words)); n >= 0; n-- {
		name := strings.Join(append([]string{word}, r.words[:n]...), "_")
		col := r.x.columnNamed(name, r.base)
		if col < 0 {
			col = r.x.columnNamed(name, -1)
		}
		if col >= 0 {
			r.words = r.words[n:]
			return col
		}
	}
	return -1
}

// columns are those that a formula computes with, the first one first.
func (f *formula) columns() []int {
	switch {
	case f == nil || f.number != nil:
		return nil
	case f.op == "":
		return []int{f.col}
	}
	return append(f.left.columns(), f.right.columns()...)
}

// formula compiles arithmetic between columns.
func (p *planner) formula(f *formula) queryplan.Expr {
	if f.number != nil {
		return queryplan.Expr{Literal: queryplan.Literal(*f.number)}
	}
	if f.op == "" {
		return p.expr(f.col, true)
	}
	return queryplan.Expr{Math: &queryplan.Math{Operator: f.op, Left: p.formula(f.left), Right: p.formula(f.right)}}
}
