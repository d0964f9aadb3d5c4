package catalog_test

import "testing"

// A registry may name files by a pattern: together they are one table, and what is
// outside of the folder stays outside.
func TestPattern(t *testing.T) {
	w := newWorld(t, map[string]string{
		"g/registry.yaml":     "id: g\nfiles:\n  - {path: \"parts/2024-*.csv\", table_name: sales}\n  - {path: \"none/*.csv\", table_name: none}\n  - {path: \"../*/*.csv\", table_name: out}\n",
		"g/parts/2024-01.csv": "a,b\n1,x\n", "g/parts/2024-02.csv": "b,a\ny,2\n", "g/parts/2023-12.csv": "a,b\n9,z\n", "secret/s.csv": "a\n1\n",
	})
	if got := w.rows(t, "g", "SELECT a, b FROM sales ORDER BY a"); got != `[[1,"x"],[2,"y"]]` {
		t.Errorf("rows: %s", got)
	}
	d, err := w.Get(t.Context(), "g")
	if err != nil || len(d.Tables) != 1 || len(d.Problems) != 2 {
		t.Errorf("%+v, %v", d, err)
	}
}
