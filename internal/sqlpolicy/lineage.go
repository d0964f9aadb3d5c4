package sqlpolicy

import (
	"context"
	"slices"
	"strconv"

	"interlock/internal/schema"
)

// The lineage of a statement says for each column of its result which columns of tables
// feed it, and which numbers of the text it is or is computed with. It is read from the
// tree that the policy has allowed, in which every name of a table is one of the scope or
// of a WITH. Only values count: conditions (WHERE, HAVING, ON, CASE WHEN) choose rows and
// values, and feed a column only where it counts or averages what they choose. A name that
// cannot be found counts as what the rows of FROM are made of.

// A feed is what a value is made of. All lists are short, and without repetition.
type feed struct {
	reads     []string // table.column, or table for its rows
	chosen    []string // the same, of conditions that choose between values
	constants []string
	factors   []string
}

// maxFeed bounds each list of a feed. What does not fit is left out of reads; of numbers it
// is told as manyNumbers.
const (
	maxFeed     = 40
	manyNumbers = "more"
)

// merge adds what another value is made of.
func (f feed) merge(others ...feed) feed {
	for _, o := range others {
		f.reads = unite(f.reads, o.reads, "")
		f.chosen = unite(f.chosen, o.chosen, "")
		f.constants = unite(f.constants, o.constants, manyNumbers)
		f.factors = unite(f.factors, o.factors, manyNumbers)
	}
	return f
}

func unite(a, b []string, more string) []string {
	out := a
	for _, s := range b {
		switch {
		case slices.Contains(out, s):
		case len(out) < maxFeed:
			out = append(out[:len(out):len(out)], s)
		case more != "" && out[len(out)-1] != more:
			out = append(out[:len(out):len(out)], more)
		}
	}
	return out
}

// computed is a value that was computed of this one: its constants enter as factors, but
// for those that leave its meaning as it was.
func (f feed) computed(harmless func(number float64) bool) feed {
	for _, c := range f.constants {
		if !holds(c, harmless) {
			f.factors = unite(f.factors, []string{c}, manyNumbers)
		}
	}
	f.constants = nil
	return f
}

// decided is a truth about this value.
func (f feed) decided() feed { return feed{reads: unite(f.reads, f.chosen, "")} }

// holds says whether a number, as it is written, is of a kind.
func holds(number string, kind func(float64) bool) bool {
	v, err := strconv.ParseFloat(number, 64)
	return err == nil && kind(v)
}

// Kinds of numbers that are not told.
func isNothing(v float64) bool { return v == 0 }                      // in a sum
func isMinuend(v float64) bool { return v == 0 || schema.IsWhole(v) } // before a minus
func isCounter(v float64) bool { return v == 0 || v == 1 || v == -1 } // chosen by a CASE that counts

// An output is a column of a query, with its folded name.
type output struct {
	name string
	feed feed
}

// A rowSet is what a query or a table gives.
type rowSet struct {
	outputs []output
	// rest is not nil where there are columns that are not known one by one, such as those
	// of COLUMNS(*), and feeds them.
	rest *feed
	rows feed // what there are rows of; its factors multiply them
}

// maxOutputs bounds the columns that are known one by one: stars of stars multiply them.
const maxOutputs = 1000

// add adds a column, to the rest where there are very many.
func (r *rowSet) add(o output) {
	if len(r.outputs) < maxOutputs {
		r.outputs = append(r.outputs, o)
		return
	}
	rest := o.feed
	if r.rest != nil {
		rest = r.rest.merge(rest)
	}
	r.rest = &rest
}

// all is what all columns together are made of.
func (r rowSet) all() feed {
	var f feed
	for _, o := range r.outputs {
		f = f.merge(o.feed)
	}
	if r.rest != nil {
		f = f.merge(*r.rest)
	}
	return f
}

// column finds a column by its folded name.
func (r rowSet) column(name string) (feed, bool) {
	for _, o := range r.outputs {
		if o.name == name {
			return o.feed, true
		}
	}
	if r.rest != nil {
		return *r.rest, true
	}
	return feed{}, false
}

// rename gives the columns the names of an alias list.
func (r rowSet) rename(aliases *node) rowSet {
	i := 0
	for a := range aliases.elements() {
		switch {
		case i < len(r.outputs):
			if i == 0 {
				r.outputs = slices.Clone(r.outputs)
			}
			r.outputs[i].name = fold(a.text)
		case r.rest != nil:
			r.outputs = append(r.outputs, output{fold(a.text), *r.rest})
		}
		i++
	}
	return r
}

// A named rowSet is one of FROM.
type named struct {
	name string
	rowSet
}

// A fromScope finds columns: those of FROM, and those of the queries around it.
type fromScope struct {
	sources []named
	aliases []output        // of the items of SELECT before this one
	locals  map[string]feed // parameters of lambdas
	outer   *fromScope
}

// all is what the columns of FROM are made of.
func (s *fromScope) all() feed {
	var f feed
	for _, src := range s.sources {
		f = f.merge(src.all())
	}
	return f
}

// rows is what FROM has rows of.
func (s *fromScope) rows() feed {
	var f feed
	for _, src := range s.sources {
		f = f.merge(src.rows)
	}
	return f
}

// find resolves a reference of one or more parts: a column, a column of a table, or a field
// of either.
func (s *fromScope) find(parts []string) feed {
	first := s
	for ; s != nil; s = s.outer {
		if f, ok := s.locals[parts[0]]; ok {
			return f
		}
		for _, src := range s.sources {
			if src.name != parts[0] {
				continue
			}
			if len(parts) == 1 {
				return src.all() // the row as a value
			}
			if f, ok := src.column(parts[1]); ok {
				return f
			}
		}
		for _, src := range s.sources {
			if f, ok := src.column(parts[0]); ok {
				return f
			}
		}
		for _, o := range s.aliases {
			if o.name == parts[0] {
				return o.feed
			}
		}
	}
	if len(parts) > 1 { // schema.table.column
		return first.find(parts[1:])
	}
	return first.rows()
}

// lineageOf reads the lineage of the columns of a statement.
func lineageOf(statement *node, scope Scope, key func(string) string) []schema.Lineage {
	r := lineageReader{tables: map[string]Table{}, key: key}
	for _, t := range scope.Tables {
		r.tables[key(t.Name)] = t
	}
	result := r.query(statement.get("node"), nil, nil)
	out := make([]schema.Lineage, 0, len(result.outputs)+1)
	for _, o := range result.outputs {
		out = append(out, o.feed.lineage(o.name))
	}
	if result.rest != nil || len(out) > maxLineage {
		out = append(out[:min(len(out), maxLineage)], result.all().lineage("*"))
	}
	return out
}

// maxLineage bounds the columns whose lineage is told one by one.
const maxLineage = 100

func (f feed) lineage(name string) schema.Lineage {
	l := schema.Lineage{Column: name, Reads: slices.Sorted(slices.Values(f.reads)), Factors: f.factors}
	for _, c := range f.constants {
		if !holds(c, isCounter) {
			l.Constants = append(l.Constants, c)
		}
	}
	return l
}

// remoteLineage reads the lineage of a statement that another engine's grammar has allowed,
// where the embedded engine's parser is there and can read it too; else it is not known.
func remoteLineage(ctx context.Context, parser Parser, scope Scope, rules *Rules, sql string) []schema.Lineage {
	if parser == nil {
		return nil
	}
	tokens, err := rules.tokenize(sql)
	if err != nil {
		return nil
	}
	tree, err := parser.Tree(ctx, emit(tokens, rules.parserText).text)
	if err != nil {
		return nil
	}
	root, err := decode(string(tree))
	if err != nil || root.get("error").kind != 'f' || len(root.get("statements").kids) != 1 {
		return nil
	}
	return lineageOf(&root.get("statements").kids[0].value, scope, scope.tableKey)
}
