package sqlpolicy

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/fault"
)

// planOperators are the steps that a plan of a SELECT may have.
var planOperators = names(`PROJECTION FILTER AGGREGATE_AND_GROUP_BY WINDOW UNNEST LIMIT ORDER_BY TOP_N DISTINCT SAMPLE PIVOT GET
	CHUNK_GET DELIM_GET EXPRESSION_GET DUMMY_SCAN EMPTY_RESULT CTE_REF JOIN DELIM_JOIN COMPARISON_JOIN ANY_JOIN CROSS_PRODUCT
	POSITIONAL_JOIN ASOF_JOIN DEPENDENT_JOIN UNION EXCEPT INTERSECT RECURSIVE_CTE MATERIALIZED_CTE`)

// binderFunctions are functions that nobody may call by name but the binder puts into plans.
var binderFunctions = names(`constant_or_null error`)

// A planWalker goes through a bound plan: what names came to mean.
type planWalker struct {
	scope   Scope
	tables  map[string]Table
	touched map[string]map[string]bool // folded table name to columns
}

// checkPlan decides on the plan that the engine's binder made, and gives the tables
// and columns that it reads. It trusts nothing that the tree said.
func checkPlan(plan, sql string, scope Scope, r *reading) ([]Touch, error) {
	root, err := decode(plan)
	if err != nil {
		return nil, unknown(-1, "its plan cannot be read")
	}
	if root.get("error").kind == 't' {
		return nil, planError(root, sql)
	}
	if plans := root.get("plans"); plans.kind != '[' || len(plans.kids) != 1 {
		return nil, unknown(-1, "it has no plan")
	}
	w := planWalker{scope: scope, tables: make(map[string]Table, len(scope.Tables)), touched: map[string]map[string]bool{}}
	for _, t := range scope.Tables {
		w.tables[fold(t.Name)] = t
	}
	if err := w.walk(root.get("plans")); err != nil {
		return nil, err
	}
	for name := range r.tables { // DESCRIBE and unused WITHs name tables that no plan reads
		if name = fold(name); w.touched[name] == nil {
			w.touched[name] = map[string]bool{}
		}
	}
	return w.touches(), nil
}

func planError(root *node, sql string) error {
	message := root.str("error_message")
	switch kind := root.str("error_type"); kind {
	case "not implemented", "serialization":
		return unknown(-1, "it has no plan that can be looked at")
	case "internal", "fatal":
		return fault.New(fault.SQLError, "The engine cannot plan this statement.").Suggest("Say it with simpler SQL.")
	}
	at, err := strconv.Atoi(root.str("position"))
	if err != nil {
		at = -1
	}
	return SyntaxError(sql, message, at)
}

func (w *planWalker) walk(n *node) error {
	if kind, ok := strings.CutPrefix(n.str("type"), "LOGICAL_"); ok {
		if !planOperators[kind] {
			return unknown(-1, "plan step %s", kind)
		}
		if kind == "GET" {
			if err := w.scan(n); err != nil {
				return err
			}
		}
	}
	switch n.str("expression_class") {
	case "BOUND_FUNCTION", "BOUND_AGGREGATE", "BOUND_WINDOW":
		name := fold(n.str("name"))
		if deniedFunctions[name] && !binderFunctions[name] && !strings.HasPrefix(name, "icu_collate_") {
			return deny(RuleFunction, n.location(), "Answer the question from the dataset's tables alone.", "The function %s is not allowed.", name)
		}
	}
	for f := range n.members() {
		if err := w.walk(&f.value); err != nil {
			return err
		}
	}
	for item := range n.elements() {
		if err := w.walk(item); err != nil {
			return err
		}
	}
	return nil
}

// scan admits a scan of a table of the dataset or one of the allowed table functions.
func (w *planWalker) scan(n *node) error {
	name := fold(n.str("name"))
	if name != "seq_scan" {
		if allowedTableFunctions[name] {
			return nil
		}
		return deny(RuleTableFunction, -1, tableList(w.scope.Tables), "The table function %s is not allowed.", name)
	}
	data := n.get("function_data")
	table, known := w.tables[fold(data.str("table"))]
	switch fold(data.str("catalog")) {
	case "", "system", "temp":
		known = false
	}
	if !known || fold(data.str("schema")) != "main" {
		return deny(RuleTable, -1, TablesNear(w.scope.Tables, data.str("table")), "There is no table %s in this dataset.", data.str("table"))
	}
	return w.columns(n, table)
}

// columns notes the columns that a scan reads; a number beyond the names is no
// column (row id, or nothing at all for count(*)).
func (w *planWalker) columns(n *node, table Table) error {
	read := w.touched[fold(table.Name)]
	if read == nil {
		read = map[string]bool{}
		w.touched[fold(table.Name)] = read
	}
	names := n.get("names").kids
	for c := range n.get("column_indexes").elements() {
		i, err := strconv.ParseUint(c.get("index").text, 10, 64)
		if err != nil {
			return unknown(-1, "a scan whose columns cannot be read")
		}
		if i >= uint64(len(names)) {
			continue
		}
		column := names[i].value.text
		if len(table.Columns) > 0 && !slices.ContainsFunc(table.Columns, func(c string) bool { return fold(c) == fold(column) }) {
			return deny(RuleColumn, -1, "Use the columns of "+table.Name+": "+strings.Join(table.Columns, ", ")+".",
				"The column %s of %s is not available.", column, table.Name)
		}
		read[column] = true
	}
	return nil
}

func (w *planWalker) touches() []Touch {
	out := make([]Touch, 0, len(w.touched))
	for name, columns := range w.touched {
		out = append(out, Touch{Table: w.tables[name].Name, Columns: slices.Sorted(maps.Keys(columns))})
	}
	slices.SortFunc(out, func(a, b Touch) int { return strings.Compare(a.Table, b.Table) })
	return out
}
