package recon

import (
	"context"
	"fmt"
	"strings"
)

// nettingPass sets aside open rows of one side that cancel each other: the same
// reference or text, amounts that add up to nothing, and no third such row.
func (r *run) nettingPass(ctx context.Context) error {
	var parts []string
	if g := r.recipe.Groups; g != nil && g.Netting {
		amount := indexOf(r.recipe.Comparisons, g.Amount)
		for _, s := range [][2]string{{"left", r.openLeft()}, {"right", r.openRight()}} {
			side, open := s[0], s[1]
			for j, c := range r.recipe.Comparisons {
				if c.allText() || !c.As.usesWords() {
					continue
				}
				parts = append(parts, fmt.Sprintf(`SELECT '%[1]s' AS side, min(i) AS a, max(i) AS b FROM %[2]s WHERE n%[3]d IS NOT NULL AND a%[4]d <> 0
					GROUP BY n%[3]d, abs(a%[4]d) HAVING count(*) = 2 AND sum(a%[4]d) = 0`, side, open, j, amount))
			}
		}
	}
	empty := "SELECT '' AS side, CAST(0 AS BIGINT) AS a, CAST(0 AS BIGINT) AS b WHERE false"
	if err := r.space.Create(ctx, "recon_netpairs", strings.Join(append(parts, empty), " UNION ")); err != nil {
		return err
	}
	// A row that cancels two others cancels neither.
	once := "SELECT p.* FROM recon_netpairs AS p WHERE NOT EXISTS (SELECT 1 FROM recon_netpairs AS q WHERE q.side = p.side AND (q.a, q.b) <> (p.a, p.b) AND (q.a IN (p.a, p.b) OR q.b IN (p.a, p.b)))"
	if err := r.space.Create(ctx, "recon_netonce", once); err != nil {
		return err
	}
	if err := r.space.Create(ctx, nettedTable, "SELECT side, a AS i, b AS other FROM recon_netonce UNION ALL SELECT side, b, a FROM recon_netonce"); err != nil {
		return err
	}
	n, err := r.count(ctx, "SELECT count(*) FROM "+nettedTable)
	if err != nil || n == 0 {
		return err
	}
	return r.closeRows(ctx, n/2, "SELECT i FROM "+nettedTable+" WHERE side = 'left'", "SELECT i FROM "+nettedTable+" WHERE side = 'right'")
}
