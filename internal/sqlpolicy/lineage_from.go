package sqlpolicy

import "strconv"

// from adds what a reference to tables gives to the scope.
func (r *lineageReader) from(n *node, with *withScope, s *fromScope) {
	add := func(rows rowSet) {
		s.sources = append(s.sources, named{tableAlias(n), rows.rename(n.get("column_name_alias"))})
	}
	e := exprReader{r, with, s}
	switch n.str("type") {
	case "BASE_TABLE":
		add(r.table(n, with))
	case "SUBQUERY":
		add(r.statement(n.get("subquery"), with, s)) // it may refer to tables on its left
	case "JOIN":
		r.join(n, with, s)
	case "TABLE_FUNCTION":
		f := e.list(n.get("function").get("children"))
		rows := feed{reads: f.reads}
		if fold(n.get("function").str("function_name")) != "unnest" {
			rows.factors = f.computed(isCounter).factors
		}
		add(rowSet{rest: &f, rows: rows})
	case "EXPRESSION_LIST":
		add(e.values(n.get("values")))
	case "PIVOT":
		add(r.pivot(n, with, s))
	case "SHOW_REF":
		rows := r.query(n.get("query"), with, s)
		all := rows.all().merge(rows.rows)
		add(rowSet{rest: &all, rows: rows.rows})
	}
}

// table gives the columns of a table of the dataset, or of a query that WITH names.
func (r *lineageReader) table(n *node, with *withScope) rowSet {
	name := r.key(n.str("table_name"))
	if rows, ok := with.find(name); ok && (n.str("schema_name") == "" || fold(n.str("schema_name")) == "recurring") {
		return rows
	}
	t, ok := r.tables[name]
	rows := rowSet{rows: feed{reads: []string{name}}}
	for _, c := range t.Columns {
		rows.outputs = append(rows.outputs, output{fold(c), feed{reads: []string{name + "." + fold(c)}}})
	}
	if !ok || len(t.Columns) == 0 {
		rows.rest = &rows.rows
	}
	return rows
}

// join adds both sides. A condition matches rows; without one each side multiplies the
// rows of the other.
func (r *lineageReader) join(n *node, with *withScope, s *fromScope) {
	r.from(n.get("left"), with, s)
	r.from(n.get("right"), with, s)
	if n.str("ref_type") == "CROSS" {
		return
	}
	for i := range s.sources {
		s.sources[i].rows.factors = nil
	}
}

// values gives the columns of VALUES.
func (e exprReader) values(lists *node) rowSet {
	var out rowSet
	for list := range lists.elements() {
		i := 0
		for v := range list.elements() {
			if i == len(out.outputs) {
				out.outputs = append(out.outputs, output{name: "col" + strconv.Itoa(i)})
			}
			out.outputs[i].feed = out.outputs[i].feed.merge(e.read(v))
			i++
		}
	}
	return out
}

// pivot gives the columns of the source, and others that are computed of them.
func (r *lineageReader) pivot(n *node, with *withScope, s *fromScope) rowSet {
	inner := &fromScope{outer: s}
	r.from(n.get("source"), with, inner)
	e := exprReader{r, with, inner}
	computed := e.list(n.get("aggregates"))
	var out rowSet
	for _, src := range inner.sources {
		for _, o := range src.outputs {
			out.add(o)
		}
		computed = computed.merge(src.all())
	}
	out.rest, out.rows = &computed, inner.rows()
	return out
}
