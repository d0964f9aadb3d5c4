package sqlpolicy

import "strconv"

// withNames numbers the names of the statement's own WITH, so that another name for the same
// part is no other statement. It gives none where a name may mean two things: in a recursive
// part, in one that reads a table of its own name, or if a part inside has the name again.
func withNames(statement *node) map[string]string {
	root := statement
	if inner := statement.get("node"); inner.kind == '{' {
		root = inner
	}
	parts := root.get("cte_map").get("map")
	names := map[string]string{}
	for e := range parts.elements() {
		name := fold(e.str("key"))
		if names[name] != "" {
			return nil
		}
		names[name] = "@" + strconv.Itoa(len(names)+1) // no table is called so
	}
	if len(names) == 0 {
		return nil
	}
	known := map[string]string{}
	for e := range parts.elements() {
		body := e.get("value")
		if readsAny(body, func(name string) bool { return names[name] != "" && known[name] == "" }) || repeatsWith(body, names) {
			return nil
		}
		known[fold(e.str("key"))] = "@"
	}
	for i := range root.kids {
		if root.kids[i].key != "cte_map" && repeatsWith(&root.kids[i].value, names) {
			return nil
		}
	}
	return names
}

// readsAny reports whether a part reads a table with such a name and no schema before it.
func readsAny(n *node, is func(name string) bool) bool {
	if n.kind == '{' && n.str("type") == "BASE_TABLE" && n.str("schema_name") == "" && is(fold(n.str("table_name"))) {
		return true
	}
	for i := range n.kids {
		if readsAny(&n.kids[i].value, is) {
			return true
		}
	}
	return false
}

// repeatsWith reports whether a part has a recursive query, or a WITH with one of the names.
func repeatsWith(n *node, names map[string]string) bool {
	if n.kind == '{' && n.str("type") == "RECURSIVE_CTE_NODE" {
		return true
	}
	for e := range n.get("cte_map").get("map").elements() {
		if names[fold(e.str("key"))] != "" {
			return true
		}
	}
	for i := range n.kids {
		if repeatsWith(&n.kids[i].value, names) {
			return true
		}
	}
	return false
}

// isWithName reports whether a member of an object is the name of a part of WITH.
func isWithName(n *node, key string) bool {
	return key == "key" && n.get("value").get("query").kind == '{'
}

// withName is the name that stands for the one of a part of WITH which a table reference
// reads; "" if it reads another table.
func (f *formWriter) withName(ref *node) string {
	if ref.str("type") != "BASE_TABLE" || ref.str("schema_name") != "" || ref.str("catalog_name") != "" {
		return ""
	}
	return f.with[fold(ref.str("table_name"))]
}

// addsNoName reports whether an item of a SELECT list is a column under its own name.
func addsNoName(item *node) bool {
	names := item.get("column_names").kids
	return item.str("class") == "COLUMN_REF" && len(names) > 0 && item.str("alias") == names[len(names)-1].value.text
}
