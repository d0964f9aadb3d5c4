package recon

import (
	"context"
	"fmt"

	"interlock/internal/fault"
)

// errNothingAlike says that the rows have nothing in common that could be learned.
var errNothingAlike = fault.New(fault.CannotAnswer, "No columns of the two sides agree in a way that tells rows that belong together from others.").
	Suggest("Confirm a few pairs, or other ones, or check that the two sources hold the same things.")

// seedTable holds the pairs from which training starts without labels.
const seedTable = "recon_seeds"

// seedPairs gives the pairs from which training starts: the confirmed ones, or else
// rows that share words which hardly any other row has.
func (r *Reconciler) seedPairs(ctx context.Context, l *learnt) (string, error) {
	confirmed := "SELECT li, ri FROM " + labelled + " WHERE w = 1"
	n, err := r.count(ctx, "SELECT count(*) FROM ("+confirmed+")")
	if err != nil || n > 0 {
		return confirmed, err
	}
	words := func(t table, p Profile) string {
		text := each(p.telling(maxLooked).Columns, ", ", func(_ int, c ColumnProfile) string {
			if c.Name == t.side.Key && c.Whole {
				return "NULL" // numbers that count the rows meet by chance
			}
			return shortened(fmt.Sprintf("v%d", c.index))
		})
		all := normalText("concat_ws(' ', " + text + ")")
		return fmt.Sprintf(`(SELECT i, word, count(*) OVER (PARTITION BY word) AS n FROM (SELECT i, unnest(list_distinct(list_concat(string_split(x, ' '), regexp_extract_all(replace(x, ' ', ''), '[0-9]{5,}')))) AS word FROM (SELECT i, %s AS x FROM %s) WHERE x IS NOT NULL))`, all, t.staged)
	}
	shared := fmt.Sprintf("SELECT a.i AS li, b.i AS ri, CAST(sum(CASE WHEN a.n * b.n = 1 THEN 3 ELSE 1 END) AS BIGINT) AS s FROM %s AS a JOIN %s AS b USING (word) WHERE a.n <= 3 AND b.n <= 3 AND length(word) >= 3 GROUP BY a.i, b.i", words(l.left, l.lp), words(l.right, l.rp))
	if err := r.space.Create(ctx, seedTable, shared); err != nil {
		return "", err
	}
	// The pairs that share most are the safest.
	if err := r.space.Create(ctx, "recon_seedbest", fmt.Sprintf("SELECT li, ri FROM (%s) ORDER BY s DESC, hash(li), li LIMIT %d", mutualBest(seedTable), teachers/2)); err != nil {
		return "", err
	}
	return "SELECT li, ri FROM recon_seedbest", nil
}
