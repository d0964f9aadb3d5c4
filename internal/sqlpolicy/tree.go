package sqlpolicy

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// A reading is what the tree says about an allowed statement.
type reading struct {
	tables    map[string]bool // folded names of base tables
	functions map[string]bool
	edits     []edit
	with      []string        // names of WITH
	columns   map[string]bool // folded names of columns that the statement names
	star      bool
	volatile  bool
	limit     bool  // the outermost query has one
	limitRows int64 // see Decision.Limit
	order     bool
	form      string
	lineage   []schema.Lineage
}

func (r *reading) functionNames() []string {
	out := make([]string, 0, len(r.functions))
	for f := range r.functions {
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}

// A cteScope lists the names that WITH gave, the innermost first.
type cteScope struct {
	name  string
	outer *cteScope
}

func (s *cteScope) has(name string) bool {
	for ; s != nil; s = s.outer {
		if s.name == name {
			return true
		}
	}
	return false
}

// A walker goes through the whole tree of one statement.
type walker struct {
	scope     Scope
	words     vocabulary
	tables    map[string]bool // folded, allowed
	limits    Limits
	qualified map[string]bool // tables written with the dataset's name
	dotted    []dottedName
	reading   *reading
	nodes     int
	refs      int
	lambdas   int
	stars     int             // open around the place: * and COLUMNS(...)
	params    map[string]bool // parameters that occur
}

// A dottedName is a column written with what may be the dataset's name in front.
type dottedName struct {
	at    int
	table string
}

// checkTree decides on the tree that the engine's parser made of sql.
func checkTree(tree, sql string, scope Scope, limits Limits) (*reading, error) {
	root, err := decode(tree)
	if err != nil {
		return nil, unknown(-1, "its tree cannot be read")
	}
	if root.get("error").kind == 't' {
		return nil, parseError(root, sql)
	}
	if root.get("error").kind != 'f' || len(root.kids) != 2 {
		return nil, unknown(-1, "its tree cannot be read")
	}
	list := root.get("statements")
	if list.kind != '[' {
		return nil, unknown(-1, "its tree cannot be read")
	}
	switch len(list.kids) {
	case 0:
		return nil, fault.New(fault.SQLError, "There is no statement in the text.").Suggest("Write one SELECT.")
	case 1:
		w := newWalker(scope, limits)
		if err := w.statement(&list.kids[0].value, nil, 0, true); err != nil {
			return nil, err
		}
		if len(w.params) != scope.Params {
			return nil, w.otherParameters()
		}
		w.unqualifyColumns()
		w.reading.form = statementForm(&list.kids[0].value, sql)
		w.reading.lineage = lineageOf(&list.kids[0].value, scope, w.tableKey)
		return w.reading, nil
	default:
		return nil, deny(RuleOneStatement, secondStatement(sql), "Send one SELECT at a time.", "The text has %d statements; one is allowed.", len(list.kids))
	}
}

func newWalker(scope Scope, limits Limits) *walker {
	w := &walker{
		scope: scope, words: embedded, limits: limits,
		tables: make(map[string]bool, len(scope.Tables)), qualified: map[string]bool{}, params: map[string]bool{},
		reading: &reading{tables: map[string]bool{}, functions: map[string]bool{}, columns: map[string]bool{}},
	}
	if rules, ok := RulesFor(scope.Dialect); ok {
		w.words = rules.words
	}
	for _, t := range scope.Tables {
		w.tables[w.tableKey(t.Name)] = true
	}
	return w
}

// parseError tells a text that cannot be read from one that may not run.
func parseError(root *node, sql string) error {
	if root.str("error_type") == "not implemented" {
		return deny(RuleSelectOnly, 0, notSelectAdvice(sql), "Only a SELECT (or WITH ... SELECT) may run here.")
	}
	at, err := strconv.Atoi(root.str("position"))
	if err != nil {
		at = -1
	}
	return SyntaxError(sql, root.str("error_message"), at)
}

// SyntaxError is the fault for a text that the engine cannot read or bind: the
// engine's words, with the place in the text.
func SyntaxError(sql, message string, at int) *fault.Fault {
	type place struct {
		Position int    `json:"position"`
		Place    string `json:"place"`
	}
	if at < 0 || at > len(sql) {
		return fault.New(fault.SQLError, "%s", message)
	}
	pos := utf8.RuneCountInString(sql[:at]) + 1
	if at == len(sql) {
		return fault.New(fault.SQLError, "%s (at the end, character %d)", message, pos).With(place{Position: pos})
	}
	p := placeAt(sql, at)
	return fault.New(fault.SQLError, "%s (at character %d: %s)", message, pos, p).With(place{pos, p})
}

// notSelectAdvice knows the one SELECT-like statement that has no tree.
func notSelectAdvice(sql string) string {
	for i := 0; i < len(sql); {
		end, blank := tokenEnd(sql, i)
		if !blank && fold(sql[i:end]) == "pivot" {
			return "Name the values: PIVOT t ON column IN ('a', 'b') USING sum(x)."
		}
		i = end
	}
	return "Write a SELECT; data is read-only here and settings are fixed."
}

func secondStatement(sql string) int {
	semicolon := false
	for i := 0; i < len(sql); {
		end, blank := tokenEnd(sql, i)
		if !blank && semicolon && sql[i] != ';' {
			return i
		}
		if sql[i] == ';' && i > 0 {
			semicolon = true
		}
		i = end
	}
	return -1
}

// enter counts a node.
func (w *walker) enter(n *node, depth int) error {
	if w.nodes++; w.nodes > w.limits.Nodes {
		return deny(RuleTooBig, n.location(), "Split the question into several smaller ones.", "The statement is too big: more than %d parts.", w.limits.Nodes)
	}
	if depth > w.limits.Depth {
		return deny(RuleTooDeep, n.location(), "Use WITH to name the inner parts, or IN (...) for long lists.", "The statement is nested deeper than %d levels.", w.limits.Depth)
	}
	return nil
}

func (w *walker) statement(n *node, s *cteScope, depth int, outermost bool) error {
	if n.isNull() {
		return nil
	}
	if n.kind != '{' {
		return unknown(-1, "a statement without parts")
	}
	for f := range n.members() {
		switch f.key {
		case "node":
		case "named_param_map":
			if err := w.parameterMap(&f.value, outermost); err != nil {
				return err
			}
		default:
			return unknown(-1, "statement field %s", f.key)
		}
	}
	return w.query(n.get("node"), s, depth+1, outermost)
}

func (w *walker) query(n *node, s *cteScope, depth int, outermost bool) error {
	if n.isNull() {
		return nil
	}
	if err := w.enter(n, depth); err != nil {
		return err
	}
	kind := n.str("type")
	shapes, ok := queries[kind]
	if !ok {
		return unknown(-1, "query %s", kind)
	}
	s, err := w.ctes(n.get("cte_map"), s, depth)
	if err != nil {
		return err
	}
	if outermost {
		for m := range n.get("modifiers").elements() {
			switch m.str("type") {
			case "LIMIT_MODIFIER": // of an OFFSET, too
				if count := m.get("limit"); !count.noLimit() {
					w.reading.limit, w.reading.limitRows = true, count.wholeNumber()
				}
			case "LIMIT_PERCENT_MODIFIER":
				w.reading.limit, w.reading.limitRows = true, NoNumber
			case "ORDER_MODIFIER":
				w.reading.order = true
			}
		}
	}
	if err := w.fields(n, kind, shapes, s, depth); err != nil {
		return err
	}
	if kind == "RECURSIVE_CTE_NODE" {
		// Only the right side sees the name; on the left it is a base table.
		if err := w.query(n.get("left"), s, depth+1, false); err != nil {
			return err
		}
		return w.query(n.get("right"), &cteScope{w.tableKey(n.str("cte_name")), s}, depth+1, false)
	}
	return nil
}

// noLimit reports whether the number of rows of a LIMIT is missing, ALL or NULL.
func (n *node) noLimit() bool {
	return n.kind != '{' || n.str("class") == "CONSTANT" && n.get("value").get("is_null").kind == 't'
}

// wholeNumber gives the value of a constant expression, NoNumber if it is no whole number.
func (n *node) wholeNumber() int64 {
	if n.str("class") != "CONSTANT" {
		return NoNumber
	}
	value := n.get("value")
	switch value.get("type").str("id") {
	case "INTEGER", "BIGINT": // the types of whole numbers that are written out
		if v, err := strconv.ParseInt(value.get("value").text, 10, 64); err == nil && v >= 0 {
			return v
		}
	}
	return NoNumber
}

// ctes walks WITH: the body of each sees the ones before it, never itself.
func (w *walker) ctes(n *node, s *cteScope, depth int) (*cteScope, error) {
	for f := range n.members() {
		if f.key != "map" {
			return nil, unknown(-1, "WITH field %s", f.key)
		}
	}
	for e := range n.get("map").elements() {
		body := e.get("value")
		if len(e.kids) != 2 || body.kind != '{' {
			return nil, unknown(-1, "a WITH without a query")
		}
		for f := range body.members() {
			switch f.key {
			case "query", "key_targets":
			case "aliases", "materialized":
				if err := plainField(&f.value); err != nil {
					return nil, err
				}
			default:
				return nil, unknown(-1, "WITH field %s", f.key)
			}
		}
		if err := w.list(body.get("key_targets"), exprList, s, depth+1); err != nil {
			return nil, err
		}
		if err := w.statement(body.get("query"), s, depth+1, false); err != nil {
			return nil, err
		}
		s = &cteScope{w.tableKey(e.str("key")), s}
		w.reading.with = append(w.reading.with, e.str("key"))
	}
	return s, nil
}

// fields walks the fields of a node by their shapes.
func (w *walker) fields(n *node, kind string, known shapes, s *cteScope, depth int) error {
	for f := range n.members() {
		shape, ok := known[f.key]
		if !ok {
			return unknown(n.location(), "field %s of %s", f.key, kind)
		}
		if err := w.field(&f.value, shape, s, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) field(v *node, shape shape, s *cteScope, depth int) error {
	switch shape {
	case leaf:
		return plainField(v)
	case anExpr:
		return w.expr(v, s, depth+1)
	case aRef:
		return w.ref(v, s, depth+1)
	case aQuery:
		return w.query(v, s, depth+1, false)
	case aStatement:
		return w.statement(v, s, depth+1, false)
	case aType:
		return w.castType(v, s, depth+1)
	case aValue:
		return w.value(v, s, depth+1)
	case aSample:
		return w.sample(v, s, depth+1)
	case aModifier:
		return w.modifier(v, s, depth+1)
	case exprList, exprLists, typeList, modifiers, orderList:
		return w.list(v, shape, s, depth)
	case aName:
		return wantKind(v, '"')
	case aFlag:
		return wantKind(v, 't', 'f')
	case ownCode:
		return nil
	}
	return unknown(-1, "shape %d", shape)
}

func (w *walker) list(v *node, shape shape, s *cteScope, depth int) error {
	if v.isNull() {
		return nil
	}
	if v.kind != '[' {
		return unknown(-1, "a list was expected")
	}
	for item := range v.elements() {
		var err error
		switch shape {
		case exprLists:
			err = w.list(item, exprList, s, depth)
		case typeList:
			err = w.castType(item, s, depth+1)
		case modifiers:
			err = w.modifier(item, s, depth+1)
		case orderList:
			err = w.orderTerm(item, s, depth+1)
		default:
			err = w.expr(item, s, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wantKind makes sure that a value has one of the kinds.
func wantKind(v *node, kinds ...byte) error {
	if slices.Contains(kinds, v.kind) {
		return nil
	}
	return unknown(v.location(), "a value of an unexpected kind")
}

// plainField makes sure that a field without meaning for the policy hides no expression.
func plainField(v *node) error {
	for f := range v.members() {
		if f.key == "class" {
			return unknown(v.location(), "an expression in an unexpected place")
		}
		if err := plainField(&f.value); err != nil {
			return err
		}
	}
	for item := range v.elements() {
		if err := plainField(item); err != nil {
			return err
		}
	}
	return nil
}

// unqualifyColumns turns `dataset.table.column` into edits, for tables that FROM
// names with the dataset.
func (w *walker) unqualifyColumns() {
	for _, d := range w.dotted {
		if w.qualified[d.table] {
			w.reading.edits = append(w.reading.edits, edit{at: d.at})
		}
	}
}
