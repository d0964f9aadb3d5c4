package query_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/query"
)

// A recorded statement with the engine's own tree and plan of it, for the tests of
// sqlpolicy, which have no engine.
type recorded struct {
	SQL  string          `json:"sql"`
	Tree json.RawMessage `json:"tree"`
	Plan json.RawMessage `json:"plan"`
}

var recordings = map[string]string{
	"join":    "SELECT c.name, sum(o.amount) AS total FROM shop.orders o JOIN customers c ON c.id = o.customer_id WHERE o.day > DATE '2023-01-01' AND o.status IN ('paid', 'open') GROUP BY 1 HAVING count(*) > 2 ORDER BY 2 DESC LIMIT 10",
	"with":    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5), u AS (SELECT id FROM orders) SELECT * EXCLUDE (n) FROM t, u WHERE EXISTS (SELECT 1 FROM items i WHERE i.order_id = u.id)",
	"window":  "SELECT id, sum(amount) FILTER (WHERE amount > 1) OVER (PARTITION BY status ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES), CASE WHEN id BETWEEN 1 AND 2 THEN note ELSE upper(note) END FROM orders QUALIFY row_number() OVER () = 1",
	"lists":   "SELECT list_transform([1, 2], x -> x + 1), {'a': 1}.a, MAP {'k': 2}, note::DECIMAL(10, 2)[], COLUMNS('i.*'), * REPLACE (id + 1 AS id), -amount, note COLLATE NOCASE, id IS NULL FROM orders TABLESAMPLE 10%",
	"pivot":   "SELECT * FROM (PIVOT orders ON status IN ('paid') USING sum(amount) GROUP BY customer_id) UNION ALL BY NAME (VALUES (1, 2)) ORDER BY 1",
	"ranges":  "SELECT DISTINCT ON (i) i, j.value FROM range(10) r(i), customers c, json_each(c.meta) j LIMIT 3 OFFSET 1",
	"params":  "SELECT id, note FROM shop.orders WHERE amount > CAST($2 AS DECIMAL(12,2)) AND status IN (CAST($1 AS VARCHAR), CAST($3 AS VARCHAR)) AND note <> CAST($1 AS VARCHAR) LIMIT 5",
	"summary": "SUMMARIZE SELECT * FROM orders",
}

// The engine still makes the trees and plans that were recorded. When an upgrade
// changes them, look at what is new before running this with -update.
func TestRecordings(t *testing.T) {
	db := shop(t)
	p := query.Parser{Engine: newEngine(t, query.Config{}), Database: db}
	for name, sql := range recordings {
		tree, err := p.Tree(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.Plan(t.Context(), strings.ReplaceAll(sql, "shop.", ""))
		if err != nil {
			t.Fatal(err)
		}
		got := recorded{sql, tree, plan}
		path := filepath.Join("..", "sqlpolicy", "testdata", "recorded", name+".json")
		if *update {
			text, err := json.Marshal(got)
			if err == nil {
				err = os.WriteFile(path, append(text, '\n'), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		var want recorded
		decodeFile(t, path, &want)
		if diff := cmp.Diff(string(want.Tree), string(got.Tree)); diff != "" {
			t.Errorf("%s: the tree changed: %s", name, diff)
		}
		if diff := cmp.Diff(string(want.Plan), string(got.Plan)); diff != "" {
			t.Errorf("%s: the plan changed: %s", name, diff)
		}
	}
}
