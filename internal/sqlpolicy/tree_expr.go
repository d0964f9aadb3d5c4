package sqlpolicy

func (w *walker) expr(n *node, s *cteScope, depth int) error {
	if n.isNull() {
		return nil
	}
	if err := w.enter(n, depth); err != nil {
		return err
	}
	class := n.str("class")
	known, ok := expressions[class]
	if !ok {
		return unknown(n.location(), "expression %s", class)
	}
	var err error
	switch class {
	case "FUNCTION", "WINDOW":
		err = w.function(n)
	case "OPERATOR":
		if kind := n.str("type"); !operators[kind] {
			err = unknown(n.location(), "operator %s", kind)
		}
	case "COLUMN_REF":
		err = w.column(n)
	case "LAMBDA":
		if w.lambdas++; w.lambdas > w.limits.Lambdas {
			return deny(RuleTooDeep, n.location(), "Use a subquery.", "Lambdas are nested deeper than %d.", w.limits.Lambdas)
		}
		defer func() { w.lambdas-- }()
	case "CASE":
		err = w.cases(n.get("case_checks"), s, depth)
	case "PARAMETER":
		err = w.parameter(n)
	case "STAR":
		w.reading.star = true
		w.stars++
		defer func() { w.stars-- }()
		err = w.replacements(n.get("replace_list"), s, depth)
	}
	if err != nil {
		return err
	}
	return w.fields(n, class, known, s, depth)
}

// function checks the name of a call. The engine's parser writes list and struct
// literals as calls with schema main; `column.f()` puts the column there.
func (w *walker) function(n *node) error {
	name, at := fold(n.str("function_name")), n.location()
	if c := n.str("catalog"); c != "" {
		return deny(RuleFunction, at, "Call the function by its bare name.", "The function %s is called with a catalog in front.", name)
	}
	if w.foreignSchema(fold(n.str("schema")), name) {
		return deny(RuleFunction, at, "Call the function by its bare name.", "The function %s is called with a schema in front.", name)
	}
	if n.get("export_state").kind == 't' {
		return deny(RuleFunction, at, "Leave EXPORT_STATE out.", "Aggregate states cannot be exported.")
	}
	if !w.words.functions[name] {
		return w.functionDenied(name, at)
	}
	w.call(name)
	return nil
}

// call notes a function.
func (w *walker) call(name string) {
	if w.words.volatile[name] {
		w.reading.volatile = true
	}
	w.reading.functions[name] = true
}

func (w *walker) functionDenied(name string, at int) error {
	if w.scope.remote() {
		return deny(RuleFunction, at, "Use a standard SQL function, or compute it from the rows.", "The function %s is not one that may be called in %s from here.", name, w.scope.Dialect.Title())
	}
	if deniedFunctions[name] {
		return deny(RuleFunction, at, "Answer the question from the dataset's tables alone.",
			"The function %s is not allowed: it reaches outside the dataset's own data or into the engine.", name)
	}
	if allowedTableFunctions[name] || deniedTableFunctions[name] {
		return deny(RuleFunction, at, "Use it in FROM, if it is one of range, generate_series, unnest, json_each, json_tree.",
			"%s is not a function for this place.", name)
	}
	return deny(RuleFunction, at, "Use a standard SQL or DuckDB function.", "There is no function %s that may be used here.", name)
}

// columnLike are functions that SQL writes like columns.
var columnLike = names(`current_catalog current_database current_schema current_query current_role current_user session_user user`)

// volatileColumns are functions of time that SQL writes like columns.
var volatileColumns = names(`current_date current_time current_timestamp localtime localtimestamp`)

func (w *walker) column(n *node) error {
	parts := n.get("column_names")
	if parts.kind != '[' || len(parts.kids) == 0 {
		return unknown(n.location(), "a column without a name")
	}
	for p := range parts.elements() {
		if p.kind != '"' {
			return unknown(n.location(), "a column without a name")
		}
	}
	first := fold(parts.kids[0].value.text)
	if len(parts.kids) == 1 {
		if volatileColumns[first] && !w.hasColumn(first) {
			w.reading.volatile = true
		}
		if columnLike[first] && !w.hasColumn(first) {
			return deny(RuleFunction, n.location(), "Answer the question from the dataset's tables alone.", "%s is not allowed.", first)
		}
	}
	w.reading.columns[fold(parts.kids[len(parts.kids)-1].value.text)] = true
	if w.scope.Alias != "" && len(parts.kids) >= 3 && first == fold(w.scope.Alias) {
		table := w.tableKey(parts.kids[1].value.text)
		if table == "main" && len(parts.kids) >= 4 {
			table = w.tableKey(parts.kids[2].value.text)
		}
		w.dotted = append(w.dotted, dottedName{n.location(), table})
	}
	return nil
}

// hasColumn says whether some table of the dataset has a column of this name.
func (w *walker) hasColumn(name string) bool {
	for _, t := range w.scope.Tables {
		for _, c := range t.Columns {
			if fold(c) == name {
				return true
			}
		}
	}
	return false
}

func (w *walker) cases(n *node, s *cteScope, depth int) error {
	for c := range n.elements() {
		for f := range c.members() {
			if f.key != "when_expr" && f.key != "then_expr" {
				return unknown(-1, "CASE field %s", f.key)
			}
			if err := w.expr(&f.value, s, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// replacements walks `* REPLACE (...)`.
func (w *walker) replacements(n *node, s *cteScope, depth int) error {
	for r := range n.elements() {
		for f := range r.members() {
			switch f.key {
			case "key":
				if err := wantKind(&f.value, '"'); err != nil {
					return err
				}
			case "value":
				if err := w.expr(&f.value, s, depth+1); err != nil {
					return err
				}
			default:
				return unknown(-1, "REPLACE field %s", f.key)
			}
		}
	}
	return nil
}

func (w *walker) modifier(n *node, s *cteScope, depth int) error {
	if n.isNull() {
		return nil
	}
	switch kind := n.str("type"); kind {
	case "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER", "ORDER_MODIFIER", "DISTINCT_MODIFIER":
	default:
		return unknown(-1, "modifier %s", kind)
	}
	for f := range n.members() {
		var err error
		switch f.key {
		case "type":
		case "limit", "offset":
			err = w.expr(&f.value, s, depth+1)
		case "orders":
			err = w.list(&f.value, orderList, s, depth)
		case "distinct_on_targets":
			err = w.list(&f.value, exprList, s, depth)
		default:
			err = unknown(-1, "modifier field %s", f.key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var orderings = map[string]bool{"ORDER_DEFAULT": true, "ASCENDING": true, "DESCENDING": true, "NULLS FIRST": true, "NULLS LAST": true}

func (w *walker) orderTerm(n *node, s *cteScope, depth int) error {
	for f := range n.members() {
		switch f.key {
		case "type", "null_order":
			if !orderings[f.value.text] {
				return unknown(-1, "ORDER BY %s", f.value.text)
			}
		case "expression":
			if err := w.expr(&f.value, s, depth+1); err != nil {
				return err
			}
		default:
			return unknown(-1, "ORDER BY field %s", f.key)
		}
	}
	return nil
}

func (w *walker) sample(n *node, s *cteScope, depth int) error {
	if n.isNull() {
		return nil
	}
	w.reading.volatile = true
	for f := range n.members() {
		switch f.key {
		case "is_percentage", "method", "seed":
			if err := plainField(&f.value); err != nil {
				return err
			}
		case "sample_size":
			if err := w.value(&f.value, s, depth+1); err != nil {
				return err
			}
		default:
			return unknown(-1, "sample field %s", f.key)
		}
	}
	return nil
}
