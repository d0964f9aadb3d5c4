package figure

import (
	"fmt"
	"strings"
	"testing"
)

// TestReadStatement shows what a statement states, and what it only compares with.
func TestReadStatement(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT 48211.37 AS revenue", "no data; revenue! 48211.37"},
		{"SELECT 412", "no data; 412"},
		{"SELECT 412 n, count(*) AS all_of_them FROM orders", "n! 412"},
		{"SELECT count(*) n FROM orders -- 48211.37", ""},
		{"SELECT /* 48211.37 */ count(*) n FROM orders", ""},
		{"SELECT sum(total) AS revenue FROM orders WHERE total > 48211.37 AND year IN (2023, 2024) LIMIT 500", "asks 48211.37 2023 2024 500"},
		{"SELECT 2024 AS year, sum(x) AS s FROM t WHERE year = 2024", "year! 2024 asks 2024"},
		{"SELECT CASE WHEN count(*) > 10000 THEN 48211.37 END AS r FROM orders", "48211.37 asks 10000"},
		{"SELECT sum(CASE WHEN late THEN 1 ELSE 0 END) AS late FROM orders", "1 0"},
		{"SELECT 48211.37 + 0 * count(*) AS r FROM orders", "48211.37 0"},
		{"SELECT coalesce(max(x), 4821) AS r FROM orders", "4821"},
		{"SELECT round(100.0 * sum(a) / sum(b), 2) AS share FROM t", "100.0 asks 2"},
		{"SELECT sum(ms) / 86400 AS days FROM t", "86400"},
		{"WITH v AS (SELECT 48211 + 0.37 AS revenue) SELECT revenue FROM v", "no data; 48211 0.37"},
		{"WITH v AS (SELECT 412 AS n), w AS (SELECT * FROM v) SELECT n, (SELECT count(*) FROM orders) AS c FROM w", "412"},
		{"SELECT * FROM (VALUES ('a', 4711), ('b', 12)) AS t(x, n)", "no data; 4711 asks 12"},
		{"SELECT region, n FROM sales UNION ALL SELECT 'Rest', 388", "388"},
		{"SELECT 'a' AS k, 5 AS n UNION ALL SELECT 'b', 7", "no data; k! n! 5 7"},
		{"SELECT n FROM orders WHERE EXISTS (SELECT 4711 FROM x)", "asks 4711"},
		{"SELECT '48211.37'::DOUBLE AS revenue, max(day) AS d FROM orders", "revenue! '48211.37'"},
		{"SELECT max(412) AS n FROM orders", "n! 412"},
		{"SELECT count(1) AS n, sum(1) AS m FROM orders", "asks 1 1"},
		{"SELECT *, 4711 FROM orders", "4711"},
		{"SELECT extract(year FROM day) AS y FROM orders", ""},
		{"FROM orders SELECT count(*) AS n", ""},
		{"SELECT x FROM read_csv('a.csv')", ""},
		{"SELECT x FROM generate_series(1, 4711) AS g(x)", "no data; asks 1 4711"},
		{"SHOW TABLES", ""},
		{"SELECT day, sum(n) FROM a JOIN b ON a.id = b.id AND b.kind = 4711 GROUP BY 1 ORDER BY 2", "asks 4711 1 2"},
		{"SELECT ((", "no data;"},
	} {
		p := readStatement(c.sql)
		var parts []string
		if !p.readsData {
			parts = append(parts, "no data;")
		}
		for _, o := range p.columns {
			if o.constant && o.name != "" {
				parts = append(parts, o.name+"!")
			}
		}
		stated, asked := statedTexts(c.sql, p)
		if parts = append(parts, stated); asked != "" {
			parts = append(parts, "asks", asked)
		}
		if got := strings.Join(strings.Fields(strings.Join(parts, " ")), " "); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s (values %v, conditions %q)", c.sql, got, c.want, p.values, p.conditions)
		}
	}
}

// statedTexts are the numbers that were cut out of the conditions, and those that were left.
func statedTexts(sql string, p *program) (stated, asked string) {
	var out, left []string
	for _, loc := range sqlTokens.FindAllStringIndex(sql, -1) {
		token := sqlToken{sql[loc[0]:loc[1]], loc[0], loc[1]}
		if _, ok := token.number(); !ok || isComment(token.text) {
			continue
		}
		if strings.TrimSpace(p.conditions[loc[0]:loc[1]]) == "" {
			out = append(out, token.text)
		} else {
			left = append(left, token.text)
		}
	}
	return strings.Join(out, " "), strings.Join(left, " ")
}

// TestComputedWith holds that a number which is added is told, whatever unit it may be.
func TestComputedWith(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT count(*) + 1000 AS n FROM orders", "1000"},
		{"SELECT count(*) + 60 + 24 + 7 + 12 AS n FROM orders", "60 24 7 12"},
		{"SELECT count(*) - 1 AS n FROM orders", "1"},
		{"SELECT 1 - sum(a) / sum(b) AS n FROM orders", ""},
		{"SELECT 100 - 100.0 * sum(a) / sum(b) AS n FROM orders", ""},
		{"SELECT sum(a) + 1000 * sum(b) AS n FROM orders", ""},
		{"SELECT coalesce(sum(a), -1) AS n FROM orders", ""},
		{"SELECT sum(a) * 1.19 + 0 AS n FROM orders", "1.19"},
	} {
		if got := strings.Join(readStatement(c.sql).columns[0].factors, " "); got != c.want {
			t.Errorf("%s: computed with %q, want %q", c.sql, got, c.want)
		}
	}
	for _, c := range []struct{ code, want string }{
		{"result_df = len(orders) + 1000", "1000"},
		{"n += 60", "60"},
		{"n = a.sum() + 1000 * b.sum() - 24", "24"},
		{"share = 100 - 100 * a / b", ""},
		{"i += 1", ""},
		{"x = total / 1000", ""},
	} {
		if got := strings.Join(readCode(c.code).factors, " "); got != c.want {
			t.Errorf("%s: computed with %q, want %q", c.code, got, c.want)
		}
	}
}

// TestReadCode shows which numbers code states.
func TestReadCode(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"print('revenue 48211.37')", "[48211.37 48211.37]"},
		{"print('revenue 48,211.37')  # 999.5", "[211.37 48211.37]"},
		{"print(48_211.37)", "[48211.37]"},
		{"x = df[df.amount > 1000].head(10)", "[]"},
		{"share = 100 * a / b", "[]"},
		{"print('# 4711')", "[4711]"},
		{"r = df[df['year'] == 2024]; result_df = r", "[]"},
		{"col_4711 = x1234", "[]"},
	} {
		if got := fmt.Sprint(readCode(c.code).values); !strings.Contains(got, strings.Trim(c.want, "[]")) || c.want == "[]" && got != "[]" {
			t.Errorf("%s: got %s, want %s", c.code, got, c.want)
		}
	}
}
