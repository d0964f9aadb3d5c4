package catalog

import (
	"fmt"
	"testing"
	"time"

	"interlock/internal/schema"
)

// TestLinksOfManyTables looks for links among 400 tables with a key each and no two that fit: that goes by names
// alone and must not take a time that grows with their number three times over.
func TestLinksOfManyTables(t *testing.T) {
	r := relater{}
	var tables []schema.Table
	targets := map[string]*schema.Table{}
	for i := range 400 {
		name := fmt.Sprintf("things_of_kind_%d", i)
		table := schema.Table{Name: name, Rows: 1}
		for _, column := range []string{"id", "some_name", "a_value", "seen_on"} {
			table.Columns = append(table.Columns, schema.Column{Name: column, Type: schema.Type{Kind: schema.Int}})
		}
		tables = append(tables, table)
		targets[name] = &tables[len(tables)-1]
		r.found.Keys = append(r.found.Keys, Key{name, "id"})
	}
	begin := time.Now()
	for _, table := range tables {
		if err := r.findLinks(t.Context(), table, targets); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("looking through 400 tables took %s", took)
	}
	if r.tried > 0 {
		t.Errorf("%d pairs were compared", r.tried)
	}
}
