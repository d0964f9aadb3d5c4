package sqlpolicy

func (w *walker) ref(n *node, s *cteScope, depth int) error {
	if n.isNull() {
		return nil
	}
	if err := w.enter(n, depth); err != nil {
		return err
	}
	kind := n.str("type")
	known, ok := refs[kind]
	if !ok {
		return unknown(n.location(), "table reference %s", kind)
	}
	var err error
	switch kind {
	case "BASE_TABLE":
		err = w.table(n, s)
	case "TABLE_FUNCTION":
		err = w.tableFunction(n.get("function"), s, depth)
	case "SHOW_REF":
		err = w.show(n)
	case "PIVOT":
		err = w.pivots(n.get("pivots"), s, depth)
	}
	if err != nil {
		return err
	}
	return w.fields(n, kind, known, s, depth)
}

// table admits a table of the dataset or a CTE in scope.
func (w *walker) table(n *node, s *cteScope) error {
	at := n.location()
	if w.refs++; w.refs > w.limits.Tables {
		return deny(RuleTooBig, at, "Split the question into several smaller ones.", "More than %d tables are named.", w.limits.Tables)
	}
	if !n.get("at_clause").isNull() {
		return deny(RuleTimeTravel, at, "Leave AT (...) out; the dataset has one version.", "AT (...) is not possible here.")
	}
	catalog, schema, name := fold(n.str("catalog_name")), fold(n.str("schema_name")), w.tableKey(n.str("table_name"))
	// `recurring.name` is the embedded engine's way to name a recursive CTE.
	if catalog == "" && s.has(name) && (schema == "" || schema == "recurring" && !w.scope.remote()) {
		return nil
	}
	alias := fold(w.scope.Alias)
	byDataset := alias != "" && (catalog == "" && schema == alias || catalog == alias && schema == "main")
	if !byDataset && (catalog != "" || schema != "" && !w.ownSchema(n.str("schema_name"))) || !w.tables[name] {
		return w.tableDenied(catalog, schema, n.str("table_name"), at)
	}
	w.reading.tables[name] = true
	if byDataset {
		w.qualified[name] = true
		e := edit{at: at}
		if catalog == "" && s.has(name) {
			e.with = "main." // the bare name would mean the CTE
		}
		w.reading.edits = append(w.reading.edits, e)
	}
	return nil
}

func (w *walker) tableDenied(catalog, schema, name string, at int) error {
	full := name
	if schema != "" {
		full = schema + "." + full
	}
	if catalog != "" {
		full = catalog + "." + full
	}
	switch schema {
	case "information_schema", "pg_catalog":
		return deny(RuleCatalog, at, tableList(w.scope.Tables)+" Their columns are in the dataset's schema.", "The engine's catalog (%s) is not available.", full)
	}
	return deny(RuleTable, at, TablesNear(w.scope.Tables, full), "There is no table %s in this dataset.", full)
}

func (w *walker) tableFunction(n *node, s *cteScope, depth int) error {
	if n.str("class") != "FUNCTION" {
		return unknown(n.location(), "a table function without a name")
	}
	name := fold(n.str("function_name"))
	if n.str("catalog") != "" || n.str("schema") != "" || !w.words.tableFunctions[name] {
		return deny(RuleTableFunction, n.location(), tableList(w.scope.Tables),
			"The table function %s is not allowed: only %s are.", name, w.words.listTableFunctions())
	}
	if n.get("export_state").kind == 't' {
		return unknown(n.location(), "EXPORT_STATE")
	}
	w.call(name)
	return w.fields(n, "FUNCTION", expressions["FUNCTION"], s, depth)
}

// show admits DESCRIBE and SUMMARIZE of a query, which is walked like any other.
func (w *walker) show(n *node) error {
	kind := n.str("show_type")
	if (kind == "DESCRIBE" || kind == "SUMMARY") && !n.get("query").isNull() && n.str("table_name") == "" {
		return nil
	}
	return deny(RuleCatalog, n.location(), tableList(w.scope.Tables)+" DESCRIBE table and SUMMARIZE table are possible.", "SHOW is not allowed.")
}

func (w *walker) pivots(n *node, s *cteScope, depth int) error {
	for p := range n.elements() {
		for f := range p.members() {
			var err error
			switch f.key {
			case "pivot_expressions":
				err = w.list(&f.value, exprList, s, depth)
			case "unpivot_names":
				err = plainField(&f.value)
			case "pivot_enum":
				if err = wantKind(&f.value, '"'); err == nil && f.value.text != "" {
					err = deny(RuleType, -1, "Name the values: PIVOT t ON column IN ('a', 'b').", "PIVOT over a type is not allowed.")
				}
			case "entries":
				err = w.pivotEntries(&f.value, s, depth)
			default:
				err = unknown(-1, "PIVOT field %s", f.key)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) pivotEntries(n *node, s *cteScope, depth int) error {
	for e := range n.elements() {
		for f := range e.members() {
			var err error
			switch f.key {
			case "alias":
				err = wantKind(&f.value, '"')
			case "star_expr", "expr":
				err = w.expr(&f.value, s, depth+1)
			case "values":
				err = w.values(&f.value, s, depth)
			default:
				err = unknown(-1, "PIVOT entry field %s", f.key)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
