package recon

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Tables with the words of the compared texts.
const (
	wordsLeft  = "recon_lwords" // i, j, word
	wordsRight = "recon_rwords"
	wordWeight = "recon_weight" // j, word, dl, dr, e: numbers of rows and the weight, with the word's number
	listsLeft  = "recon_llists" // i, t0, z0 …: the weighted words of comparison 0 and the sum of their weights
	listsRight = "recon_rlists"
)

// makeReady brings the values of both sides into the forms that training compares, unless
// the last call made the same ones.
func (r *Reconciler) makeReady(ctx context.Context, left, right table, comparisons []Comparison) error {
	if reflect.DeepEqual(r.ready, comparisons) {
		return nil
	}
	r.ready = nil
	costly := costlyColumns(comparisons)
	for _, s := range []struct {
		t       table
		ready   string
		isRight bool
	}{{left, readyLeft, false}, {right, readyRight, true}} {
		if err := r.space.Create(ctx, s.ready, fmt.Sprintf("SELECT *%s FROM (%s)", costly, readySQL(s.t, s.t.staged, "i", s.isRight, comparisons))); err != nil {
			return err
		}
	}
	if err := r.makeWords(ctx, bothReady, left.rows+right.rows, comparisons, Kind.usesWords); err != nil {
		return err
	}
	if err := r.makeLists(ctx, comparisons); err != nil {
		return err
	}
	r.ready = slices.Clone(comparisons)
	return nil
}

// readySQL selects columns of staged rows and their values in the forms that are compared.
func readySQL(t table, from, keep string, isRight bool, comparisons []Comparison) string {
	raw, derived := []string{keep}, []string{"*"}
	for j, c := range comparisons {
		columns, format := c.Left, c.LeftFormat
		if isRight {
			columns, format = c.Right, c.RightFormat
		}
		raw = append(raw, c.readyColumns(j, t, columns, format, isRight)...)
		derived = append(derived, c.derivedColumns(j)...)
	}
	return fmt.Sprintf("SELECT %s FROM (SELECT %s FROM %s)", strings.Join(derived, ", "), strings.Join(raw, ", "), from)
}

// costlyColumns lists the costly columns of all comparisons, each after a comma.
func costlyColumns(comparisons []Comparison) string {
	return each(comparisons, "", func(j int, c Comparison) string {
		if sql, column := c.costlyColumn(j, ""); sql != "" {
			return fmt.Sprintf(", %s AS %s", sql, column)
		}
		return ""
	})
}

// makeWords makes the tables of the words that rows have in comparisons of some kinds,
// and weighs them.
func (r *Reconciler) makeWords(ctx context.Context, rows rowTables, n int64, comparisons []Comparison, kinds func(Kind) bool) error {
	for _, s := range [][2]string{{rows.left, wordsLeft}, {rows.right, wordsRight}} {
		if err := r.space.Create(ctx, s[1], wordsOf(s[0], comparisons, kinds)); err != nil {
			return err
		}
	}
	return r.weighWords(ctx, n)
}

// wordsOf lists the distinct words of each text. Runs of digits count as words also
// where letters, separators or zeros surround them, so that INV-2024-00012 and inv202400012
// meet, and so do letters and digits that one text writes apart: KX-20 and KX20, 16 GB and 16GB.
// The last eight digits are a word too: telephone numbers begin in several ways.
func wordsOf(ready string, comparisons []Comparison, kinds func(Kind) bool) string {
	var parts []string
	for j, c := range comparisons {
		if !kinds(c.As) {
			continue
		}
		list := fmt.Sprintf("string_split(n%d, ' ')", j)
		if c.As != Text {
			list = fmt.Sprintf(`flatten([%s, regexp_extract_all(n%[2]d, '[1-9][0-9]{3,}'), regexp_extract_all(replace(n%[2]d, ' ', ''), '[1-9][0-9]{4,}'), regexp_extract_all(replace(n%[2]d, ' ', ''), '[0-9]{8}$'),
				list_transform(list_concat(regexp_extract_all(n%[2]d, '\b[a-z]{1,4} [0-9]{2,}[a-z]{0,2}\b'), regexp_extract_all(n%[2]d, '\b[0-9]+ [a-z]{1,3}\b')), lambda e: replace(e, ' ', ''))])`, list, j)
		}
		parts = append(parts, fmt.Sprintf("SELECT i, CAST(%d AS TINYINT) AS j, unnest(list_distinct(%s)) AS word FROM %s WHERE n%d IS NOT NULL", j, list, ready, j))
	}
	if len(parts) == 0 {
		return "SELECT CAST(0 AS BIGINT) AS i, CAST(0 AS TINYINT) AS j, '' AS word WHERE false"
	}
	return strings.Join(parts, " UNION ALL ")
}

// weighWords gives rare words a high weight: e is the number of the word times 65536,
// plus its squared weight in 256ths.
func (r *Reconciler) weighWords(ctx context.Context, rows int64) error {
	sql := fmt.Sprintf(`SELECT *, (row_number() OVER (ORDER BY j, word)) * 65536 + CAST(least(65535, greatest(1, round(pow(ln((%d + 1.0) / (dl + dr)), 2) * 256))) AS BIGINT) AS e
		FROM (SELECT j, word, CAST(sum(a) AS BIGINT) AS dl, CAST(sum(b) AS BIGINT) AS dr FROM (
			SELECT j, word, count(*) AS a, 0 AS b FROM %s GROUP BY j, word UNION ALL SELECT j, word, 0, count(*) FROM %s GROUP BY j, word) GROUP BY j, word)`, rows, wordsLeft, wordsRight)
	return r.space.Create(ctx, wordWeight, sql)
}

// makeLists packs the weighted words of each row into lists, for comparisons that are
// decided by the words that both rows have.
func (r *Reconciler) makeLists(ctx context.Context, comparisons []Comparison) error {
	var lists []string
	for j, c := range comparisons {
		if c.As.sharesWords() {
			lists = append(lists, fmt.Sprintf("list(e) FILTER (j = %[1]d) AS t%[1]d, CAST(sum(e %% 65536) FILTER (j = %[1]d) AS BIGINT) AS z%[1]d", j))
		}
	}
	if len(lists) == 0 {
		return nil
	}
	for _, s := range [][2]string{{wordsLeft, listsLeft}, {wordsRight, listsRight}} {
		if err := r.space.Create(ctx, s[1], fmt.Sprintf("SELECT i, %s FROM %s JOIN %s USING (j, word) GROUP BY i", strings.Join(lists, ", "), s[0], wordWeight)); err != nil {
			return err
		}
	}
	return nil
}
