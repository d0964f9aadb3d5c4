package figure

import (
	"slices"
	"strconv"
	"strings"

	"interlock/internal/schema"
)

// feeds finds what feeds a column of the result: by its place where that has its name,
// else by its name.
func (p *program) feeds(column int, name string) (schema.Lineage, bool) {
	if column < len(p.lineage) && (p.lineage[column].Column == "" || strings.EqualFold(p.lineage[column].Column, name)) {
		return p.lineage[column], true
	}
	for _, wanted := range []string{name, "*"} {
		for _, l := range p.lineage {
			if strings.EqualFold(l.Column, wanted) {
				return l, true
			}
		}
	}
	return schema.Lineage{}, false
}

// computesWith lists the numbers of the program with which it computes a column of data.
func (p *program) computesWith(column int, name string) []string {
	switch {
	case p == nil || !p.known || !p.readsData:
		return nil
	case p.lineage != nil:
		l, _ := p.feeds(column, name)
		return l.Factors
	case p.isCode:
		return p.factors
	}
	c, _ := p.item(column, name)
	return c.factors
}

// holdsNumber says whether a list of numbers has one with at least so many digits.
func holdsNumber(list []string, value float64, digits int) bool {
	return slices.ContainsFunc(list, func(s string) bool {
		v, err := strconv.ParseFloat(s, 64)
		return err == nil && v == value && significantDigits(s) >= digits
	})
}

// A madeResult is a result with the program that gave it, by the name that later programs
// know it by.
type madeResult struct {
	name string
	made *program
}

// inheritLineage lets what reads an earlier result have the lineage of that result: a
// column of constants is no data under another name. Results are given newest first.
func inheritLineage(results []madeResult) {
	for i := range slices.Backward(results) { // the oldest first
		if p := results[i].made; p != nil {
			p.inherit(results[i+1:])
		}
	}
}

// earlier finds the newest of the earlier results that has a name and a known program.
func earlier(results []madeResult, name string) *program {
	for _, r := range results {
		if strings.EqualFold(r.name, name) {
			return r.made
		}
	}
	return nil
}

func (p *program) inherit(older []madeResult) {
	if len(p.frames) == 0 || !p.readsData {
		return
	}
	if p.isCode {
		p.readsData = false
		for _, name := range p.frames {
			from := earlier(older, name)
			if from == nil || !from.known || from.readsData { // a table of the data, or rows of one
				p.readsData = true
			}
			if from != nil {
				p.factors = appendNew(p.factors, from.allFactors()...)
			}
		}
		return
	}
	if p.lineage == nil {
		return
	}
	p.readsData = false
	p.lineage = slices.Clone(p.lineage)
	for i := range p.lineage {
		p.lineage[i] = p.inheritColumn(p.lineage[i], older)
		p.readsData = p.readsData || len(p.lineage[i].Reads) > 0
	}
}

// inheritColumn leaves out what a column reads of results that were made of constants, and
// adds the numbers with which the others were computed.
func (p *program) inheritColumn(l schema.Lineage, older []madeResult) schema.Lineage {
	var reads []string
	constants, factors := slices.Clone(l.Constants), slices.Clone(l.Factors)
	for _, read := range l.Reads {
		table, column, _ := strings.Cut(read, ".")
		var from *program
		if slices.ContainsFunc(p.frames, func(name string) bool { return strings.EqualFold(name, table) }) {
			from = earlier(older, table)
		}
		switch {
		case from == nil || !from.known:
			reads = append(reads, read)
		case !from.readsData:
		case column == "" || from.lineage == nil:
			reads = append(reads, read)
			factors = appendNew(factors, from.factors...)
		default:
			f, ok := from.feeds(len(from.lineage), column)
			if !ok || len(f.Reads) > 0 {
				reads = append(reads, read)
			}
			constants, factors = appendNew(constants, f.Constants...), appendNew(factors, f.Factors...)
		}
	}
	l.Reads, l.Constants, l.Factors = reads, constants, factors
	return l
}

// allFactors are the numbers with which any column was computed.
func (p *program) allFactors() []string {
	out := slices.Clone(p.factors)
	for _, l := range p.lineage {
		out = appendNew(out, l.Factors...)
	}
	for _, c := range p.columns {
		out = appendNew(out, c.factors...)
	}
	return out
}

func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// markMixed marks figures that were read from, or follow from, cells which a program
// computed with numbers of its own: they are data and constants together.
func (t *tracer) markMixed(figures []Figure) {
	mixed := map[Cell][]string{} // by table and column
	for i := range t.grids {
		g := &t.grids[i]
		for j, c := range g.columns {
			if with := g.table.made.computesWith(j, c.name); len(with) > 0 {
				mixed[Cell{Table: g.table.ID, Column: c.name}] = with
			}
		}
	}
	printed := map[string][]string{}
	for _, d := range t.e.Documents {
		if with := d.made.computesWith(0, ""); len(with) > 0 && d.made.isCode {
			printed[d.ID] = with
		}
	}
	if len(mixed)+len(printed) == 0 {
		return
	}
	for i := range figures {
		f := &figures[i]
		if f.Support == FromDocument {
			f.Factors = printed[f.Source]
		}
		if f.Support == FromCell || f.Support == FromFormula {
			for _, c := range f.Cells {
				f.Factors = appendNew(f.Factors, mixed[Cell{Table: c.Table, Column: c.Column}]...)
			}
		}
		if len(f.Factors) > 0 {
			f.Support = Mixed
		}
	}
}

// setLineage adds what is known of a program besides its text: the lineage of a statement,
// and the tables that code was handed.
func (p *program) setLineage(r Result, root any) {
	if p == nil || p.isText {
		return
	}
	if !p.isCode {
		p.lineage, p.frames = r.Lineage, r.Frames
		if p.lineage != nil {
			p.readsData = slices.ContainsFunc(p.lineage, func(l schema.Lineage) bool { return len(l.Reads) > 0 })
		}
		return
	}
	o, _ := root.(object)
	reads, told := o.get(codeReads).([]any)
	if !told {
		return // of a tool that does not say what its code was handed
	}
	for _, name := range reads {
		if text, ok := name.(string); ok {
			p.frames = append(p.frames, text)
		}
	}
	p.readsData = len(p.frames) > 0
}

// codeReads is the member of a result in which a tool lists the tables that its code names,
// of those that it was handed.
const codeReads = "reads"
