package recon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// knownPairs holds pairs that belong together, by which keys are chosen: li, ri.
const knownPairs = "recon_known"

const (
	maxEstimated = 48 // keys whose cost is counted
	maxKeys      = 14
	wordPartners = 12 // best partners of a row by rare words
)

// keyParts lists what rows may share, for every comparison.
func keyParts(comparisons []Comparison) []KeyPart {
	var out []KeyPart
	for _, c := range comparisons {
		if c.allText() {
			continue
		}
		add := func(by KeyForm, widths ...float64) {
			for _, w := range widths {
				out = append(out, KeyPart{c.ID, by, w})
			}
		}
		add(ByValue, 0)
		switch c.As {
		case Number:
			add(ByBand, 0.015, 0.06, 0.2)
		case Date:
			add(ByDays, 4, 10, 30)
		default:
			add(ByPrefix, 4, 3)
		}
	}
	return out
}

// combineParts lists all keys of one to three parts of different comparisons.
func combineParts(parts []KeyPart) []Key {
	var out []Key
	for x, a := range parts {
		out = append(out, Key{[]KeyPart{a}})
		for y, b := range parts[x+1:] {
			if a.Compare == b.Compare {
				continue
			}
			out = append(out, Key{[]KeyPart{a, b}})
			if len(parts) > 24 {
				continue
			}
			for _, c := range parts[x+1+y+1:] {
				if c.Compare != a.Compare && c.Compare != b.Compare {
					out = append(out, Key{[]KeyPart{a, b, c}})
				}
			}
		}
	}
	return out
}

// chooseKeys finds keys that cover the known pairs within the budget of candidates.
func (r *Reconciler) chooseKeys(ctx context.Context, comparisons []Comparison, budget int64) ([]Key, error) {
	parts := keyParts(comparisons)
	if len(parts) == 0 {
		return nil, nil
	}
	covered, err := r.coverage(ctx, comparisons, parts)
	if err != nil {
		return nil, err
	}
	var keys []compiledKey
	for _, k := range combineParts(parts) {
		compiled, err := compileKey(k, comparisons, readyLeft, readyRight)
		if err != nil {
			return nil, err
		}
		compiled.covers = make([]bool, len(covered))
		hits := 0
		for i, bits := range covered {
			compiled.covers[i] = sharesAll(k, parts, bits)
			if compiled.covers[i] {
				hits++
			}
		}
		if hits > 0 && compiled.variants <= 9 {
			keys = append(keys, compiled)
		}
	}
	slices.SortStableFunc(keys, func(x, y compiledKey) int {
		return cmp.Or(cmp.Compare(hits(y), hits(x)), cmp.Compare(len(x.All), len(y.All)), cmp.Compare(x.variants, y.variants))
	})
	keys = spreadKeys(keys)
	if err := r.estimateCosts(ctx, keys, comparisons); err != nil {
		return nil, err
	}
	return pickKeys(keys, len(covered), budget), nil
}

// costName names a key by what it compares: the second round of training knows the costs
// of the keys that the first one counted.
func (k compiledKey) costName(comparisons []Comparison) string {
	return each(k.All, " ", func(_ int, p KeyPart) string {
		c := comparisons[indexOf(comparisons, p.Compare)]
		return fmt.Sprintf("%q %q %s %q %q %t %s %g", c.Left, c.Right, c.As, c.LeftFormat, c.RightFormat, c.Opposite, p.By, p.Width)
	})
}

// maxNamed is how often one statement names a table; the policy has a bound.
const maxNamed = 40

// estimateCosts counts the pairs of each key, some keys in one statement.
func (r *Reconciler) estimateCosts(ctx context.Context, keys []compiledKey, comparisons []Comparison) error {
	var unknown []*compiledKey
	for i := range keys {
		if cost, known := r.keyCosts[keys[i].costName(comparisons)]; known {
			keys[i].cost = cost
			continue
		}
		unknown = append(unknown, &keys[i])
	}
	for len(unknown) > 0 {
		n, named := 1, unknown[0].variants+1
		for n < len(unknown) && named+unknown[n].variants+1 <= maxNamed {
			named += unknown[n].variants + 1
			n++
		}
		part := unknown[:n]
		unknown = unknown[n:]
		costs, err := selectOne[struct{ Costs []int64 }](ctx, r.space, "SELECT ["+each(part, ", ", func(_ int, k *compiledKey) string {
			return fmt.Sprintf("(SELECT CAST(coalesce(sum(n * m) FILTER (n * m <= %d), 0) AS BIGINT) FROM %s)", r.config.KeyPairs, k.hashSizes())
		})+"]")
		if err != nil {
			return err
		}
		for i, k := range part {
			k.cost = costs.Costs[i]
			r.keyCosts[k.costName(comparisons)] = k.cost
		}
	}
	return nil
}

func hits(k compiledKey) (n int) {
	for _, c := range k.covers {
		if c {
			n++
		}
	}
	return n
}

func sharesAll(k Key, parts []KeyPart, bits []bool) bool {
	for _, p := range k.All {
		if !bits[slices.Index(parts, p)] {
			return false
		}
	}
	return true
}

// spreadKeys takes the most covering keys of each number of parts: keys of more parts
// cover less and cost less.
func spreadKeys(keys []compiledKey) []compiledKey {
	var out []compiledKey
	taken := map[int]int{}
	for _, k := range keys {
		if taken[len(k.All)] < maxEstimated/3 {
			taken[len(k.All)]++
			out = append(out, k)
		}
	}
	return out
}

// coverage says, for each known pair, which key parts its rows share.
func (r *Reconciler) coverage(ctx context.Context, comparisons []Comparison, parts []KeyPart) ([][]bool, error) {
	bits := each(parts, ", ", func(_ int, p KeyPart) string {
		j := indexOf(comparisons, p.Compare)
		return p.coverSQL(j, comparisons[j].As)
	})
	type row struct{ Bits []bool }
	rows, err := selectRows[row](ctx, r.space, fmt.Sprintf("SELECT [%s] FROM %s AS p JOIN %s AS l ON l.i = p.li JOIN %s AS r ON r.i = p.ri ORDER BY p.li, p.ri", bits, knownPairs, readyLeft, readyRight))
	out := make([][]bool, len(rows))
	for i := range rows {
		out[i] = rows[i].Bits
	}
	return out, err
}

// pickKeys takes keys until every known pair is covered twice or the budget is used:
// each time the one that covers most of what is left, a cheap one before a dear one.
func pickKeys(keys []compiledKey, known int, budget int64) []Key {
	times := make([]int, known)
	var out []Key
	spent := int64(0)
	used := make([]bool, len(keys))
	for len(out) < maxKeys {
		best, bestGain := -1, 0.0
		for i, k := range keys {
			if used[i] || k.cost == 0 || spent+k.cost > budget {
				continue
			}
			gain := 0.0
			for p, covers := range k.covers {
				if covers {
					gain += [...]float64{1, 0.5, 0.25, 0.1, 0}[min(times[p], 4)]
				}
			}
			gain -= 0.25 * float64(known) * float64(k.cost) / float64(budget)
			if gain > bestGain+1e-9 || best >= 0 && gain > bestGain-1e-9 && k.cost < keys[best].cost {
				best, bestGain = i, gain
			}
		}
		if best < 0 || bestGain <= 0.002*float64(known) {
			break
		}
		used[best] = true
		spent += keys[best].cost
		for p, covers := range keys[best].covers {
			if covers {
				times[p]++
			}
		}
		out = append(out, keys[best].Key)
	}
	return out
}

// makeCandidates makes the table of pairs that are compared: those of the keys, without
// values that have more pairs than the limit of the key, of rare words that both have, and
// the pairs of a further SELECT.
func (r *Reconciler) makeCandidates(ctx context.Context, into string, keys []Key, limits []int, comparisons []Comparison, leftRows, rightRows, further string) error {
	var parts []string
	add := func(sql string) error {
		t := fmt.Sprintf("recon_pairs_%d", len(parts))
		parts = append(parts, t)
		return r.space.Create(ctx, t, sql)
	}
	if err := add(further); err != nil {
		return err
	}
	for i, k := range keys {
		compiled, err := compileKey(k, comparisons, leftRows, rightRows)
		if err != nil {
			return err
		}
		if err := add(compiled.pairsSQL(limits[i])); err != nil {
			return err
		}
	}
	if err := add(wordPairs(leftRows, rightRows, r.config.KeyPairs)); err != nil {
		return err
	}
	union := each(parts, " UNION ALL ", func(_ int, t string) string { return "SELECT li, ri FROM " + t })
	if err := r.space.Create(ctx, into, "SELECT DISTINCT li, ri FROM ("+union+")"); err != nil {
		return err
	}
	return r.space.Drop(ctx, parts...)
}

// wordPairs joins rows that share a rare word and keeps the best partners of each.
func wordPairs(leftRows, rightRows string, limit int) string {
	return fmt.Sprintf(`SELECT li, ri FROM (
		SELECT li, ri, row_number() OVER (PARTITION BY li ORDER BY s DESC, ri) AS x, row_number() OVER (PARTITION BY ri ORDER BY s DESC, li) AS y FROM (
			SELECT a.i AS li, b.i AS ri, sum(w.e %% 65536) AS s FROM %s AS w
			JOIN (SELECT * FROM %s SEMI JOIN %s USING (i)) AS a USING (j, word) JOIN (SELECT * FROM %s SEMI JOIN %s USING (i)) AS b USING (j, word)
			WHERE w.dl * w.dr BETWEEN 1 AND %d GROUP BY a.i, b.i)) WHERE x <= %d OR y <= %d`,
		wordWeight, wordsLeft, leftRows, wordsRight, rightRows, limit/40, wordPartners, wordPartners)
}
