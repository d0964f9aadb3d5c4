package sqlpolicy

import "slices"

// A lineageReader goes through an allowed tree.
type lineageReader struct {
	tables map[string]Table // of the dataset, by folded name
	key    func(string) string
	spent  int // columns gone through so far
}

// maxSpent bounds the columns that are gone through: what comes after is told as made of many numbers.
const maxSpent = 200_000

// A withScope has the queries that WITH named, the innermost first.
type withScope struct {
	name  string
	rows  rowSet
	outer *withScope
}

func (w *withScope) find(name string) (rowSet, bool) {
	for ; w != nil; w = w.outer {
		if w.name == name {
			return w.rows, true
		}
	}
	return rowSet{}, false
}

// statement reads a query inside another one.
func (r *lineageReader) statement(n *node, with *withScope, outer *fromScope) rowSet {
	return r.query(n.get("node"), with, outer)
}

func (r *lineageReader) query(n *node, with *withScope, outer *fromScope) rowSet {
	if r.spent > maxSpent {
		return rowSet{rest: &feed{factors: []string{manyNumbers}}}
	}
	for e := range n.get("cte_map").get("map").elements() {
		body := e.get("value")
		rows := r.statement(body.get("query"), with, outer).rename(body.get("aliases"))
		with = &withScope{r.key(e.str("key")), rows, with}
	}
	switch n.str("type") {
	case "SELECT_NODE":
		return r.selectNode(n, with, outer)
	case "SET_OPERATION_NODE":
		left, right := r.query(n.get("left"), with, outer), r.query(n.get("right"), with, outer)
		r.spent += len(left.outputs) + len(right.outputs)
		if n.str("setop_type") == "UNION_BY_NAME" {
			return uniteByName(left, right)
		}
		return uniteByPlace(left, right)
	case "RECURSIVE_CTE_NODE":
		return r.recursive(n, with, outer)
	}
	return rowSet{}
}

// recursive reads a query that refers to itself. In further rounds values may move between
// the columns, so that every column may hold the numbers of all.
func (r *lineageReader) recursive(n *node, with *withScope, outer *fromScope) rowSet {
	left := r.query(n.get("left"), with, outer).rename(n.get("aliases"))
	inner := &withScope{r.key(n.str("cte_name")), left, with}
	out := uniteByPlace(left, r.query(n.get("right"), inner, outer))
	all := out.all()
	for i := range out.outputs {
		out.outputs[i].feed = out.outputs[i].feed.merge(feed{constants: all.constants, factors: all.factors})
	}
	return out
}

func uniteByPlace(a, b rowSet) rowSet {
	out := rowSet{outputs: slices.Clone(a.outputs), rows: a.rows.merge(b.rows)}
	if a.rest != nil || b.rest != nil || len(a.outputs) != len(b.outputs) { // places mean nothing
		all := a.all().merge(b.all())
		out.rest = &all
		for i := range out.outputs {
			out.outputs[i].feed = all
		}
		return out
	}
	for i, o := range b.outputs {
		out.outputs[i].feed = out.outputs[i].feed.merge(o.feed)
	}
	return out
}

func uniteByName(a, b rowSet) rowSet {
	out := rowSet{outputs: slices.Clone(a.outputs), rows: a.rows.merge(b.rows)}
	places := map[string]int{}
	for i := len(out.outputs) - 1; i >= 0; i-- { // the first of a name is meant
		places[out.outputs[i].name] = i
	}
	for _, o := range b.outputs {
		if i, ok := places[o.name]; ok {
			out.outputs[i].feed = out.outputs[i].feed.merge(o.feed)
			continue
		}
		places[o.name] = len(out.outputs)
		out.add(o)
	}
	if a.rest != nil || b.rest != nil {
		all := a.all().merge(b.all())
		out.rest = &all
	}
	return out
}

// selectNode reads a SELECT.
func (r *lineageReader) selectNode(n *node, with *withScope, outer *fromScope) rowSet {
	s := &fromScope{outer: outer}
	r.from(n.get("from_table"), with, s)
	if !n.get("where_clause").isNull() { // rows are matched, and not multiplied
		for i := range s.sources {
			s.sources[i].rows.factors = nil
		}
	}
	out := rowSet{rows: s.rows()}
	e := exprReader{r, with, s}
	for item := range n.get("select_list").elements() {
		switch {
		case item.str("class") == "STAR" && item.get("columns").kind != 't' && item.get("expr").isNull():
			out = e.expandStar(item, out)
		case holdsStar(item) || fold(item.str("function_name")) == "unnest": // of one item there may be many columns
			f := e.read(item)
			if out.rest != nil {
				f = f.merge(*out.rest)
			}
			out.rest = &f
			if name := outputName(item); name != "" {
				out.outputs = append(out.outputs, output{name, f})
			}
		default:
			o := output{outputName(item), e.read(item)}
			out.outputs = append(out.outputs, o)
			if item.str("alias") != "" {
				s.aliases = append(s.aliases, o)
			}
		}
	}
	return out
}

// outputName is the name of an item of SELECT, "" where the engine makes one up.
func outputName(item *node) string {
	if alias := item.str("alias"); alias != "" {
		return fold(alias)
	}
	parts := columnParts(item)
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1]
}

func columnParts(n *node) []string {
	var parts []string
	for p := range n.get("column_names").elements() {
		parts = append(parts, fold(p.text))
	}
	return parts
}

// holdsStar says whether a star stands inside an expression.
func holdsStar(n *node) bool {
	if n.str("class") == "STAR" {
		return true
	}
	for f := range n.members() {
		if f.key != "subquery" && holdsStar(&f.value) {
			return true
		}
	}
	for item := range n.elements() {
		if holdsStar(item) {
			return true
		}
	}
	return false
}

// expandStar adds the columns that * stands for.
func (e exprReader) expandStar(n *node, out rowSet) rowSet {
	excluded, replaced := map[string]bool{}, map[string]feed{}
	for x := range n.get("exclude_list").elements() {
		excluded[fold(x.text)] = true
	}
	for x := range n.get("replace_list").elements() {
		replaced[fold(x.str("key"))] = e.read(x.get("value"))
	}
	renames := len(n.get("rename_list").kids)+len(n.get("qualified_exclude_list").kids) > 0
	relation := fold(n.str("relation_name"))
	for _, src := range e.scope.sources {
		if relation != "" && src.name != relation {
			continue
		}
		for _, o := range src.outputs {
			if excluded[o.name] {
				continue
			}
			if f, ok := replaced[o.name]; ok {
				o.feed = f
			}
			out.add(o)
			e.r.spent++
		}
		if src.rest != nil || renames {
			all := src.all()
			if out.rest != nil {
				all = all.merge(*out.rest)
			}
			out.rest = &all
		}
	}
	return out
}
