package recon

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// key is what the rows of a rule must share, so that they can be found: the
// comparisons whose values must be equal.
func (r Rule) key(comparisons []Comparison) Key {
	var k Key
	for _, c := range r.When {
		j := indexOf(comparisons, c.Compare)
		if j < 0 || comparisons[j].allText() {
			continue
		}
		if c.AtLeast == "equal" || c.Days != nil && c.Days[0] == 0 && c.Days[1] == 0 {
			k.All = append(k.All, KeyPart{Compare: c.Compare, By: ByValue})
		}
	}
	return k
}

// rulesPass applies the rules in order. A rule takes the pairs whose rows have no other
// partner under it. One that was learned, of which some matches are wrong, leaves pairs that
// the weights speak against alone.
func (r *run) rulesPass(ctx context.Context) error {
	const pairs = "recon_rulepairs"
	for _, rule := range r.recipe.Rules {
		key := rule.key(r.recipe.Comparisons)
		skewed, err := r.skipCrowded(ctx, key)
		if err != nil {
			return fmt.Errorf("rule %s: %w", rule.ID, err)
		}
		sql, err := r.rulePairs(rule, key, skewed)
		if err != nil {
			return err
		}
		if err := r.space.Create(ctx, pairs, sql); err != nil {
			return fmt.Errorf("rule %s: %w", rule.ID, err)
		}
		matched := r.onlyPartners(pairs, key)
		if scoring := r.recipe.Scoring; rule.Precision > 0 && len(scoring.Chances) > 0 {
			matched = fmt.Sprintf("SELECT * FROM (%s) WHERE %s >= %d", matched, scoreSQL(scoring.weights(r.recipe.Comparisons)), scoring.scoreFrom(scoring.Suggested))
		}
		if _, err := r.takePass(ctx, pass{rule: rule.ID, compared: true}, matched); err != nil {
			return fmt.Errorf("rule %s: %w", rule.ID, err)
		}
	}
	return r.space.Drop(ctx, pairs, crowdedValues) // which may be as large as the sides
}

// A comparedBy says when a rule compares the values of a comparison for the evidence.
type comparedBy int

const (
	byKey   comparedBy = iota // never: its key says that they are equal
	byJoin                    // as it joins the rows
	byMatch                   // once it is known which pairs are matches, because it takes long
)

// comparedBy says when a rule with this key compares a comparison.
func (r *run) comparedBy(key Key, c Comparison) comparedBy {
	hasFiner := len(r.recipe.Scoring.Chances) > 0 && c.As != Reference // a closeness within the level
	switch {
	case !hasFiner && slices.Contains(key.All, KeyPart{Compare: c.ID, By: ByValue}):
		return byKey
	case c.As == Number || c.As == Date:
		return byJoin
	}
	return byMatch
}

// closeness adds up the closeness of some comparisons from their pair columns. It is
// nothing where no pair is matched by weights.
func (r *run) closeness(which func(Comparison) bool) string {
	sum := "0.0"
	if len(r.recipe.Scoring.Chances) == 0 {
		return sum
	}
	for j, c := range r.recipe.Comparisons {
		if which(c) {
			sum += " + " + c.closenessSQL(j)
		}
	}
	return sum
}

// rulePairs joins the open rows that share the key of a rule and meet its other
// conditions. Values of the key that too many rows have are left out where there are any.
func (r *run) rulePairs(rule Rule, key Key, skewed bool) (string, error) {
	comparisons := r.recipe.Comparisons
	var on, days, levels, inner []string
	shares := []string{"*"}
	words := false
	for _, p := range key.All {
		j := indexOf(comparisons, p.Compare)
		_, column := p.sides(j, comparisons[j].As)
		on = append(on, fmt.Sprintf("l.%[1]s = r.%[1]s", column))
	}
	outer := []string{"li", "ri"}
	joined := func(c Comparison) bool { return r.comparedBy(key, c) == byJoin }
	for j, c := range comparisons {
		if joined(c) {
			inner = append(inner, c.pairColumns(j, r.open.costly)...)
			outer = append(outer, fmt.Sprintf("CAST(%s AS TINYINT) AS g%d", c.levelSQL(j), j))
		}
	}
	for _, c := range rule.When {
		j := indexOf(comparisons, c.Compare)
		switch {
		case c.Days != nil:
			days = append(days, fmt.Sprintf("r.d%[1]d - l.d%[1]d BETWEEN %[2]d AND %[3]d", j, c.Days[0], c.Days[1]))
		case !slices.Contains(key.All, KeyPart{Compare: c.Compare, By: ByValue}):
			kind := comparisons[j].As
			if !joined(comparisons[j]) {
				inner = append(inner, comparisons[j].pairColumns(j, r.open.costly)...)
				shares = append(shares, comparisons[j].shareColumns(j)...)
			}
			levels = append(levels, fmt.Sprintf("(%s) >= %d", comparisons[j].levelSQL(j), slices.Index(kind.Levels(), c.AtLeast)))
			words = words || kind.sharesWords()
		}
	}
	sql := fmt.Sprintf("SELECT %s FROM %s AS l JOIN %s AS r ON %s", strings.Join(append([]string{"l.i AS li", "r.i AS ri"}, inner...), ", "), r.openLeft(), r.openRight(), strings.Join(on, " AND "))
	if words {
		sql += fmt.Sprintf(" LEFT JOIN %s AS lt ON lt.i = l.i LEFT JOIN %s AS rt ON rt.i = r.i", listsLeft, listsRight)
	}
	if skewed {
		compiled, err := compileKey(key, comparisons, r.openLeft(), r.openRight())
		if err != nil {
			return "", err
		}
		sql += fmt.Sprintf(" ANTI JOIN (SELECT %s FROM %s WHERE n * m > %d) AS x ON %s", compiled.columns(""), compiled.sizes(), r.config.KeyPairs, each(key.All, " AND ", func(i int, p KeyPart) string {
			j := indexOf(comparisons, p.Compare)
			_, column := p.sides(j, comparisons[j].As)
			return fmt.Sprintf("x.k%d = l.%s", i, column)
		}))
	}
	if len(days) > 0 {
		sql += " WHERE " + strings.Join(days, " AND ")
	}
	sql = fmt.Sprintf("SELECT %s, %s AS t FROM (SELECT %s FROM (%s))", strings.Join(outer, ", "), r.closeness(joined), strings.Join(shares, ", "), sql)
	if len(levels) > 0 {
		sql += " WHERE " + strings.Join(levels, " AND ")
	}
	if r.rejected || r.held {
		sql = fmt.Sprintf("SELECT v.* FROM (%s) AS v%s", sql, r.withoutDecided("v"))
	}
	return sql, nil
}

// onlyPartners selects the pairs of a rule whose rows have no other partner under it,
// with the levels that are not known yet.
func (r *run) onlyPartners(pairs string, key Key) string {
	only := fmt.Sprintf(`SELECT p.* FROM %[1]s AS p
		ANTI JOIN (SELECT li FROM %[1]s GROUP BY li HAVING count(*) > 1) AS x ON x.li = p.li ANTI JOIN (SELECT ri FROM %[1]s GROUP BY ri HAVING count(*) > 1) AS y ON y.ri = p.ri`, pairs)
	var late []Comparison
	shares, inner := []string{"*"}, []string{"c.*"}
	levels := []string{"li", "ri", "CAST(NULL AS BIGINT) AS s", "CAST(NULL AS BIGINT) AS margin", "CAST(NULL AS BIGINT) AS grp"}
	isLate := func(c Comparison) bool { return r.comparedBy(key, c) == byMatch }
	for j, c := range r.recipe.Comparisons {
		switch r.comparedBy(key, c) {
		case byKey:
			levels = append(levels, fmt.Sprintf("CAST(%d AS TINYINT) AS g%d", c.As.equalLevel(), j))
		case byJoin:
			levels = append(levels, fmt.Sprintf("g%d", j))
		case byMatch:
			late = append(late, c)
			inner, shares = append(inner, c.pairColumns(j, r.open.costly)...), append(shares, c.shareColumns(j)...)
			levels = append(levels, fmt.Sprintf("CAST(%s AS TINYINT) AS g%d", c.levelSQL(j), j))
		}
	}
	if len(late) > 0 {
		open := rowTables{left: r.openLeft(), right: r.openRight()}
		only = fmt.Sprintf("SELECT %s FROM (SELECT %s FROM %s)", strings.Join(shares, ", "), strings.Join(inner, ", "), pairsFrom("("+only+")", open, late))
	}
	return fmt.Sprintf("SELECT %s, CAST(round(t + %s) AS INTEGER) AS t FROM (%s)", strings.Join(levels, ", "), r.closeness(isLate), only)
}

// sentence says a rule in plain words.
func (r Rule) sentence(comparisons []Comparison) string {
	parts := make([]string, len(r.When))
	for i, c := range r.When {
		parts[i] = c.sentence(comparisons[indexOf(comparisons, c.Compare)])
	}
	if len(parts) == 1 {
		return "Rows match where " + parts[0] + "."
	}
	return "Rows match where " + strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1] + "."
}

func (c Condition) sentence(k Comparison) string {
	l, r := sideName(k.Left), sideName(k.Right)
	switch {
	case c.Days != nil && *c.Days == [2]int{}:
		return fmt.Sprintf("%s is the day of %s", l, r)
	case c.Days != nil:
		return fmt.Sprintf("%s lies %d to %d days after %s", r, c.Days[0], c.Days[1], l)
	case c.AtLeast == "equal":
		return fmt.Sprintf("%s equals %s", l, r)
	case k.As == Reference:
		return fmt.Sprintf("%s and %s have a number in common or one contains the other", l, r)
	case k.As == Number:
		return fmt.Sprintf("%s is %s within %s", l, r, c.AtLeast)
	}
	return fmt.Sprintf("%s and %s are alike (%s or better)", l, r, c.AtLeast)
}
