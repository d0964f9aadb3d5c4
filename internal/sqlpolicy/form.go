package sqlpolicy

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"regexp"
	"strconv"
	"strings"
)

// statementForm names a statement by its tree, so that two wordings of one statement
// have one form: blanks, comments, the case of keywords and table names, brackets that
// change nothing, the aliases of tables, the names of a WITH, ASC, the case of column names
// and id AS id do not count. Names of result columns do: what reads the result, such as
// Python or a chart, knows its columns by them, so that under other names it is another result.
func statementForm(n *node, sql string) string {
	f := formWriter{hash: sha256.New()}
	if !namesColumnsByTables(n) {
		f.aliases, f.named, f.with = map[string]string{}, map[string]bool{}, withNames(n)
		f.findNames(n)
		if f.mentionsTable(n) {
			f.aliases, f.with = nil, nil
		}
	}
	f.write(n)
	if text := TextForm(sql); groupingSets.MatchString(text) {
		f.writeText(text)
	}
	return hex.EncodeToString(f.hash.Sum(nil)[:16])
}

// groupingSets finds what may group by the empty set, which the engine's tree leaves out:
// GROUP BY ROLLUP (a) has the tree of GROUP BY a. Such statements are known by their text.
var groupingSets = regexp.MustCompile(`(?i)\b(?:rollup|cube|grouping)\b|(?:\bby|,)\s*\(\s*\)`)

// TextForm is the form of a statement of the embedded engine that has no tree here:
// its text without comments and with single blanks.
func TextForm(sql string) string {
	var out strings.Builder
	apart := false
	for i := 0; i < len(sql); {
		end, blank := tokenEnd(sql, i)
		if blank {
			apart = true
		} else {
			if apart && out.Len() > 0 {
				out.WriteByte(' ')
			}
			apart = false
			out.WriteString(sql[i:end])
		}
		i = end
	}
	return strings.TrimRight(out.String(), "; ")
}

// A formWriter hashes a tree.
type formWriter struct {
	hash hash.Hash
	// aliases has the name of each table in the statement with the one that stands for
	// it, numbered in the order of the text; nil leaves all as is.
	aliases map[string]string
	tables  int               // references to tables
	with    map[string]string // the names of the statement's WITH with what stands for them
	naming  int               // SELECT items around the present place whose text names a result column
	named   map[string]bool   // what the statement calls its columns and expressions
	renames bool              // a * or COLUMNS gives columns other names or values
}

// tableAlias is the name under which a table reference is known in its statement.
func tableAlias(n *node) string {
	if alias := n.str("alias"); alias != "" || n.str("type") != "BASE_TABLE" {
		return fold(alias)
	}
	return fold(n.str("table_name"))
}

func isTableRef(n *node) bool {
	_, known := refs[n.str("type")]
	return known && n.kind == '{' && n.get("class").kind != '"'
}

// findNames collects the names that the statement gives.
func (f *formWriter) findNames(n *node) {
	if n.kind == '{' && n.str("class") != "" {
		f.named[fold(n.str("alias"))] = true
		if n.str("class") == "STAR" && (len(n.get("replace_list").kids) > 0 || len(n.get("rename_list").kids) > 0 || n.get("columns").kind == 't') {
			f.renames = true
		}
	}
	if isTableRef(n) {
		f.tables++
		if alias := tableAlias(n); alias != "" && f.aliases[alias] == "" {
			f.aliases[alias] = "#" + strconv.Itoa(len(f.aliases)+1) // no table is called so
		}
	}
	for i := range n.kids {
		f.findNames(&n.kids[i].value)
	}
}

// mentionsTable reports whether the name of a table stands in a place where write does not
// replace it: as a whole row, or in EXCLUDE (a.id). Another alias means something else there.
func (f *formWriter) mentionsTable(n *node) bool {
	if n.kind == '"' {
		return f.aliases[fold(n.text)] != ""
	}
	ref, class := isTableRef(n), n.str("class")
	for i := range n.kids {
		key, v := n.kids[i].key, &n.kids[i].value
		switch {
		case ref && (key == "table_name" || key == "alias"), class == "STAR" && key == "relation_name", f.with != nil && isWithName(n, key):
			continue
		case class == "COLUMN_REF" && key == "column_names" && len(v.kids) > 1:
			v = &node{kind: '[', kids: v.kids[1:]}
		}
		if f.mentionsTable(v) {
			return true
		}
	}
	return false
}

// namesColumnsByTables reports whether some column of a SELECT has no name but its
// text, with a table in it: s.a + s.b. Another alias is another name there.
func namesColumnsByTables(n *node) bool {
	if n.kind == '{' && n.str("type") == "SELECT_NODE" {
		for item := range n.get("select_list").elements() {
			class := item.str("class")
			if item.str("alias") == "" && class != "COLUMN_REF" && class != "STAR" && hasQualifiedColumn(item) {
				return true
			}
		}
	}
	for i := range n.kids {
		if namesColumnsByTables(&n.kids[i].value) {
			return true
		}
	}
	return false
}

func hasQualifiedColumn(n *node) bool {
	if n.kind == '{' && n.str("class") == "COLUMN_REF" && len(n.get("column_names").kids) > 1 {
		return true
	}
	for i := range n.kids {
		if hasQualifiedColumn(&n.kids[i].value) {
			return true
		}
	}
	return false
}

// write hashes a value: its kind, the length of its text and what it holds, so that no
// two values are written alike.
func (f *formWriter) write(n *node) {
	f.hash.Write([]byte(string(n.kind) + strconv.Itoa(len(n.text)) + ":" + n.text))
	if n.kind != '{' {
		for i := range n.kids {
			f.write(&n.kids[i].value)
		}
		f.hash.Write([]byte("."))
		return
	}
	ref, class := isTableRef(n), n.str("class")
	if ref && f.aliases != nil {
		f.writeText(f.aliases[tableAlias(n)])
	}
	for i := range n.kids {
		key, v := n.kids[i].key, &n.kids[i].value
		if key == "query_location" || ref && key == "alias" && f.aliases != nil || key == "alias" && addsNoName(n) {
			continue
		}
		f.hash.Write([]byte(strconv.Itoa(len(key)) + ":" + key))
		switch {
		case isWithName(n, key) && f.with[fold(v.text)] != "":
			f.writeText(f.with[fold(v.text)])
		case ref && key == "table_name" && f.withName(n) != "":
			f.writeText(f.withName(n))
		case key == "select_list":
			f.writeItems(v)
		case namesFields(n, key):
			f.naming++
			f.write(v)
			f.naming--
		case key == "type" && v.text == "ORDER_DEFAULT":
			f.writeText("ASCENDING")
		case class == "COLUMN_REF" && key == "column_names" && len(v.kids) == 1 && f.naming == 0:
			f.writeText(fold(v.kids[0].value.text))
		case ref && v.kind == '"' && (key == "table_name" || key == "schema_name" || key == "catalog_name" || key == "alias"):
			f.writeText(fold(v.text))
		case class == "COLUMN_REF" && key == "column_names" && len(v.kids) > 1:
			f.writeQualified(v)
		case class == "STAR" && key == "relation_name":
			f.writeText(f.standIn(v.text))
		default:
			f.write(v)
		}
	}
	f.hash.Write([]byte("."))
}

// namesFields reports whether columns in a member name parts of the result as they are
// written: struct_pack(ID), or the aggregates of a PIVOT.
func namesFields(n *node, key string) bool {
	return key == "aggregates" && n.str("type") == "PIVOT" || key == "children" && (n.str("function_name") == "struct_pack" || n.str("function_name") == "row")
}

// writeItems writes the items of a SELECT list. The text of one without an alias names a
// column of the result as it is written.
func (f *formWriter) writeItems(list *node) {
	for item := range list.elements() {
		named := item.str("alias") != "" && !addsNoName(item)
		if !named {
			f.naming++
		}
		f.write(item)
		if !named {
			f.naming--
		}
	}
	f.hash.Write([]byte("."))
}

func (f *formWriter) writeText(text string) { f.write(&node{kind: '"', text: text}) }

// standIn gives the name that stands for a table's, or the name itself.
func (f *formWriter) standIn(name string) string {
	if in, ok := f.aliases[fold(name)]; ok {
		return in
	}
	return fold(name)
}

// writeQualified writes a column with its table's name before it. Where there is only
// one table, and nothing else of the column's name, the table's name says nothing.
func (f *formWriter) writeQualified(names *node) {
	table, column := fold(names.kids[0].value.text), fold(names.kids[1].value.text)
	if _, known := f.aliases[table]; known && len(names.kids) == 2 && f.tables == 1 && !f.named[column] && !f.renames {
		if f.naming == 0 {
			f.writeText(column)
			return
		}
		f.write(&node{kind: '[', kids: names.kids[1:]})
		return
	}
	f.writeText(f.standIn(names.kids[0].value.text))
	for i := range names.kids[1:] {
		f.write(&names.kids[i+1].value)
	}
}
