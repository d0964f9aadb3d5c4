package dialect

import "strings"

// reserved are the words that are quoted as names in every dialect; a dialect adds its
// own.
var reserved = words(`add all alter analyse analyze and anti any array as asc asof asymmetric at attach autoincrement
	begin between both by cascade case cast check collate collation column commit concurrently conflict constraint create cross
	current_catalog current_date current_role current_schema current_time current_timestamp current_user
	database default deferrable deferred delete desc describe detach distinct do drop each else end escape except exclude exists
	explain false fetch filter for foreign freeze from full generated glob grant group grouping having if ignore ilike in index
	indexed initially inner insert instead intersect into is isnull join key lambda lateral leading left like limit localtime
	localtimestamp map match natural no not nothing notnull null nulls of offset on only or order others outer over overlaps
	partition pivot pivot_longer pivot_wider placing plan positional pragma primary qualify query raise range recursive
	references regexp reindex release rename replace restrict returning right rollback row rows savepoint select semi set show
	similar some struct summarize symmetric table tablesample temp temporary then ties to trailing transaction trigger true
	try_cast unbounded union unique unpivot update user using vacuum values variadic view virtual when where window with within without`)

// words makes a set of the words of a text.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}
