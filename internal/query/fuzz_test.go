package query_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/internal/query"
	"interlock/internal/sqlpolicy"
)

// FuzzCheck looks for a text that the tree allows and whose bound plan, read by
// other code than the policy's, touches something off the list, with values or without.
func FuzzCheck(f *testing.F) {
	db := shop(f)
	p := query.Parser{Engine: newEngine(f, query.Config{Timeout: 5 * time.Second, MemoryMB: 256}), Database: db}
	for _, pattern := range []string{"allow", "refuse"} {
		files, _ := filepath.Glob(filepath.Join("..", "sqlpolicy", "testdata", pattern, "*.txt"))
		for _, path := range files {
			for _, c := range readCorpus(f, path) {
				f.Add(c.sql, uint8(0))
			}
		}
	}
	policy := sqlpolicy.New(sqlpolicy.Config{Cache: 1})
	allowed := map[string]bool{}
	for _, t := range db.Tables {
		allowed[t.Name] = true
	}
	f.Add("SELECT id FROM orders WHERE amount > CAST($1 AS DOUBLE) AND note = CAST($2 AS VARCHAR) LIMIT CAST($2 AS BIGINT)", uint8(2))
	f.Fuzz(func(t *testing.T, sql string, params uint8) {
		d, err := policy.Check(t.Context(), treeOnly{p}, sqlpolicy.Scope{Alias: db.Alias, Tables: db.Tables, Params: int(params)}, sql)
		if err != nil {
			return
		}
		plan, err := p.Plan(t.Context(), d.SQL)
		if err != nil {
			return
		}
		var root any
		if err := json.Unmarshal(plan, &root); err != nil {
			return // numbers that JSON does not have
		}
		for _, scan := range scans(root, nil) {
			name, _ := scan["name"].(string)
			data, _ := scan["function_data"].(map[string]any)
			table, _ := data["table"].(string)
			if name == "seq_scan" && !allowed[strings.ToLower(table)] || name != "seq_scan" && sqlpolicy.TableFunction(name) != sqlpolicy.Allowed {
				t.Errorf("%q\nreads %s %s", sql, name, table)
			}
		}
	})
}

// scans finds every LOGICAL_GET, wherever it stands.
func scans(v any, out []map[string]any) []map[string]any {
	switch v := v.(type) {
	case map[string]any:
		if v["type"] == "LOGICAL_GET" {
			out = append(out, v)
		}
		for _, w := range v {
			out = scans(w, out)
		}
	case []any:
		for _, w := range v {
			out = scans(w, out)
		}
	}
	return out
}
