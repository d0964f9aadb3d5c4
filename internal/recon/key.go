package recon

import (
	"fmt"
	"strings"
)

// A Key is a way to find candidates: rows that agree in all of its parts.
type Key struct {
	All []KeyPart `json:"all"`
}

// A KeyPart is what two rows must share in one comparison.
type KeyPart struct {
	Compare string  `json:"compare"`
	By      KeyForm `json:"by"`
	Width   float64 `json:"width,omitempty"` // of a band, as a share of the number; of days
}

// A KeyForm says which part of a value is the key.
type KeyForm string

// The forms of keys.
const (
	ByValue  KeyForm = "value"  // the whole normal value
	ByPrefix KeyForm = "prefix" // its first Width characters
	ByBand   KeyForm = "band"   // numbers that differ by at most Width of themselves
	ByDays   KeyForm = "days"   // dates that differ by at most Width days
)

// sides gives the expressions of the key: the left row looks also into neighbouring
// bands, so that no border separates two near values.
func (p KeyPart) sides(j int, kind Kind) (left []string, right string) {
	column := func(letter string) string { return fmt.Sprintf("%s%d", letter, j) }
	neighbours := func(sql string) []string {
		return []string{"(" + sql + ") - 1", sql, "(" + sql + ") + 1"}
	}
	switch {
	case p.By == ByBand:
		sql := fmt.Sprintf("CASE WHEN %[1]s <> 0 THEN CAST(floor(ln(abs(%[1]s)) / ln(1 + 2 * %[2]g)) AS BIGINT) END", column("f"), p.Width)
		return neighbours(sql), sql
	case p.By == ByDays:
		sql := fmt.Sprintf("CAST(floor(%s / %g) AS BIGINT)", column("d"), p.Width)
		return neighbours(sql), sql
	case p.By == ByPrefix:
		sql := fmt.Sprintf("left(%s, %d)", column("n"), int(p.Width))
		return []string{sql}, sql
	}
	sql := column(map[Kind]string{Number: "a", Date: "d", Reference: "q"}[kind])
	if kind == Text || kind == Words {
		sql = column("n")
	}
	return []string{sql}, sql
}

// A compiledKey is a key as SQL: two SELECTs of i and the parts k0, k1 ….
type compiledKey struct {
	Key
	left, right string
	variants    int
	covers      []bool // of the known pairs
	cost        int64
}

// columns names the parts.
func (k compiledKey) columns(prefix string) string {
	return each(k.All, ", ", func(i int, _ KeyPart) string { return fmt.Sprintf("%sk%d", prefix, i) })
}

// compileKey writes a key over the rows of two FROM clauses.
func compileKey(k Key, comparisons []Comparison, leftRows, rightRows string) (compiledKey, error) {
	c := compiledKey{Key: k}
	lefts := [][]string{nil}
	var rights []string
	for _, p := range k.All {
		j := indexOf(comparisons, p.Compare)
		if j < 0 {
			return c, fmt.Errorf("recon: a key names the comparison %q, which does not exist", p.Compare)
		}
		left, right := p.sides(j, comparisons[j].As)
		var next [][]string
		for _, have := range lefts {
			for _, l := range left {
				next = append(next, append(have[:len(have):len(have)], l))
			}
		}
		lefts, rights = next, append(rights, right)
	}
	c.variants = len(lefts)
	parts := func(expressions []string) string {
		return each(expressions, ", ", func(i int, sql string) string { return fmt.Sprintf("%s AS k%d", sql, i) })
	}
	known := each(k.All, " AND ", func(i int, _ KeyPart) string { return fmt.Sprintf("k%d IS NOT NULL", i) })
	var union []string
	for _, l := range lefts {
		union = append(union, fmt.Sprintf("SELECT i, %s FROM %s", parts(l), leftRows))
	}
	c.left = fmt.Sprintf("SELECT * FROM (%s) WHERE %s", strings.Join(union, " UNION ALL "), known)
	c.right = fmt.Sprintf("SELECT * FROM (SELECT i, %s FROM %s) WHERE %s", parts(rights), rightRows, known)
	return c, nil
}

func indexOf(comparisons []Comparison, id string) int {
	for j, c := range comparisons {
		if c.ID == id {
			return j
		}
	}
	return -1
}

// sizes counts the rows of both sides for each value of the key.
func (k compiledKey) sizes() string {
	return fmt.Sprintf("(SELECT %[1]s, count(*) AS n FROM (%[2]s) GROUP BY ALL) AS a JOIN (SELECT %[1]s, count(*) AS m FROM (%[3]s) GROUP BY ALL) AS b USING (%[1]s)",
		k.columns(""), k.left, k.right)
}

// hashSizes is sizes by the hash of the values, which is counted more quickly.
func (k compiledKey) hashSizes() string {
	return fmt.Sprintf("(SELECT hash(%[1]s) AS h, count(*) AS n FROM (%[2]s) GROUP BY h) AS a JOIN (SELECT hash(%[1]s) AS h, count(*) AS m FROM (%[3]s) GROUP BY h) AS b USING (h)",
		k.columns(""), k.left, k.right)
}

// pairsSQL joins the rows that share the key, without values that too many rows have.
func (k compiledKey) pairsSQL(limit int) string {
	c := k.columns("")
	return fmt.Sprintf("SELECT a.i AS li, b.i AS ri FROM (%s) AS a JOIN (SELECT %s FROM %s WHERE n * m <= %d) AS ok USING (%s) JOIN (%s) AS b USING (%s)",
		k.left, c, k.sizes(), limit, c, k.right, c)
}

// coverSQL says whether a pair of ready rows l and r shares the key part.
func (p KeyPart) coverSQL(j int, kind Kind) string {
	left, right := p.sides(j, kind)
	qualify := func(sql, prefix string) string {
		for _, letter := range []string{"n", "f", "a", "d", "q"} {
			sql = replaceColumn(sql, fmt.Sprintf("%s%d", letter, j), prefix)
		}
		return sql
	}
	return "(" + each(left, " OR ", func(_ int, l string) string {
		return fmt.Sprintf("coalesce((%s) = (%s), false)", qualify(l, "l"), qualify(right, "r"))
	}) + ")"
}

// replaceColumn puts a table's alias before a column where it stands as a whole word.
func replaceColumn(sql, column, alias string) string {
	var b strings.Builder
	word := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for i := 0; i < len(sql); {
		if strings.HasPrefix(sql[i:], column) && (i == 0 || !word(sql[i-1]) && sql[i-1] != '.') && (i+len(column) == len(sql) || !word(sql[i+len(column)])) {
			b.WriteString(alias + "." + column)
			i += len(column)
			continue
		}
		b.WriteByte(sql[i])
		i++
	}
	return b.String()
}
