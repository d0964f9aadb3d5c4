package recon

import (
	"context"
	"fmt"
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

// makeReady brings the values of both sides into the forms that are compared.
func (r *Reconciler) makeReady(ctx context.Context, left, right table, comparisons []Comparison) error {
	for _, s := range []struct {
		t       table
		ready   string
		words   string
		isRight bool
	}{{left, readyLeft, wordsLeft, false}, {right, readyRight, wordsRight, true}} {
		var raw, derived []string
		for j, c := range comparisons {
			columns, format := c.Left, c.LeftFormat
			if s.isRight {
				columns, format = c.Right, c.RightFormat
			}
			raw = append(raw, c.readyColumns(j, c.source(s.t, columns), format, s.isRight)...)
			derived = append(derived, c.derivedColumns(j)...)
		}
		sql := fmt.Sprintf("SELECT i, %s FROM %s", strings.Join(raw, ", "), s.t.staged)
		if len(derived) > 0 {
			sql = fmt.Sprintf("SELECT *, %s FROM (%s)", strings.Join(derived, ", "), sql)
		}
		if err := r.space.Create(ctx, s.ready, sql); err != nil {
			return err
		}
		if err := r.space.Create(ctx, s.words, wordsOf(s.ready, comparisons)); err != nil {
			return err
		}
	}
	return r.weighWords(ctx, left.rows+right.rows, comparisons)
}

// wordsOf lists the distinct words of each text. Runs of digits count as words also
// where letters or separators surround them, so that INV-2024-00012 and inv202400012 meet.
func wordsOf(ready string, comparisons []Comparison) string {
	var parts []string
	for j, c := range comparisons {
		if !c.As.usesWords() {
			continue
		}
		list := fmt.Sprintf("string_split(n%d, ' ')", j)
		if c.As != Text {
			list = fmt.Sprintf("list_concat(%s, list_concat(regexp_extract_all(n%[2]d, '[0-9]{4,}'), regexp_extract_all(replace(n%[2]d, ' ', ''), '[0-9]{5,}')))", list, j)
		}
		parts = append(parts, fmt.Sprintf("SELECT i, CAST(%d AS TINYINT) AS j, unnest(list_distinct(%s)) AS word FROM %s WHERE n%d IS NOT NULL", j, list, ready, j))
	}
	if len(parts) == 0 {
		return "SELECT CAST(0 AS BIGINT) AS i, CAST(0 AS TINYINT) AS j, '' AS word WHERE false"
	}
	return strings.Join(parts, " UNION ALL ")
}

// weighWords gives rare words a high weight and packs those of a row into a list:
// the number of the word times 65536, plus its squared weight in 256ths.
func (r *Reconciler) weighWords(ctx context.Context, rows int64, comparisons []Comparison) error {
	sql := fmt.Sprintf(`SELECT *, (row_number() OVER (ORDER BY j, word)) * 65536 + CAST(least(65535, greatest(1, round(pow(ln((%d + 1.0) / (dl + dr)), 2) * 256))) AS BIGINT) AS e
		FROM (SELECT j, word, CAST(sum(a) AS BIGINT) AS dl, CAST(sum(b) AS BIGINT) AS dr FROM (
			SELECT j, word, count(*) AS a, 0 AS b FROM %s GROUP BY j, word UNION ALL SELECT j, word, 0, count(*) FROM %s GROUP BY j, word) GROUP BY j, word)`, rows, wordsLeft, wordsRight)
	if err := r.space.Create(ctx, wordWeight, sql); err != nil {
		return err
	}
	lists := each(comparisons, ", ", func(j int, _ Comparison) string {
		return fmt.Sprintf("list(e) FILTER (j = %[1]d) AS t%[1]d, CAST(sum(e %% 65536) FILTER (j = %[1]d) AS BIGINT) AS z%[1]d", j)
	})
	for _, s := range [][2]string{{wordsLeft, listsLeft}, {wordsRight, listsRight}} {
		if err := r.space.Create(ctx, s[1], fmt.Sprintf("SELECT i, %s FROM %s JOIN %s USING (j, word) GROUP BY i", lists, s[0], wordWeight)); err != nil {
			return err
		}
	}
	return nil
}
