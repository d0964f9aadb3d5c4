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
		if j < 0 || len(comparisons[j].Left) > 1 || len(comparisons[j].Right) > 1 {
			continue
		}
		if c.AtLeast == "equal" || c.Days != nil && c.Days[0] == 0 && c.Days[1] == 0 {
			k.All = append(k.All, KeyPart{Compare: c.Compare, By: ByValue})
		}
	}
	return k
}

// levelCondition is the condition on the level of comparison j.
func (c Condition) levelCondition(j int, k Kind) string {
	if c.Days == nil {
		return fmt.Sprintf("g%d >= %d", j, slices.Index(k.Levels(), c.AtLeast))
	}
	return "true" // days are compared exactly, on the ready rows
}

// rulesPass applies the rules in order. A rule takes the pairs whose rows have no other
// partner under it.
func (r *run) rulesPass(ctx context.Context) error {
	for i, rule := range r.recipe.Rules {
		pairs, levels := "recon_rulepairs", "recon_rulelevels"
		compiled, err := compileKey(rule.key(r.recipe.Comparisons), r.recipe.Comparisons, r.openLeft(), r.openRight())
		if err != nil {
			return err
		}
		if err := r.space.Create(ctx, pairs, r.rulePairs(rule, compiled)); err != nil {
			return fmt.Errorf("rule %s: %w", rule.ID, err)
		}
		if err := r.makeLevels(ctx, levels, pairs, r.recipe.Comparisons); err != nil {
			return fmt.Errorf("rule %s: %w", rule.ID, err)
		}
		where := each(rule.When, " AND ", func(_ int, c Condition) string {
			j := indexOf(r.recipe.Comparisons, c.Compare)
			return c.levelCondition(j, r.recipe.Comparisons[j].As)
		})
		hold := fmt.Sprintf("(SELECT li, ri FROM %s AS v ANTI JOIN (SELECT * FROM %s WHERE w = 0) AS n ON n.li = v.li AND n.ri = v.ri WHERE %s)", levels, labelled, where)
		only := fmt.Sprintf(`SELECT li, ri, NULL AS s, NULL AS margin FROM (SELECT li, ri, count(*) OVER (PARTITION BY li) AS n, count(*) OVER (PARTITION BY ri) AS m FROM %s) WHERE n = 1 AND m = 1`, hold)
		if _, err := r.take(ctx, rule.ID, only, "NULL"); err != nil {
			return fmt.Errorf("rule %d, %s: %w", i+1, rule.ID, err)
		}
	}
	return nil
}

// rulePairs joins the open rows that share the key of a rule and lie within its days.
func (r *run) rulePairs(rule Rule, k compiledKey) string {
	var days []string
	for _, c := range rule.When {
		if c.Days != nil {
			j := indexOf(r.recipe.Comparisons, c.Compare)
			days = append(days, fmt.Sprintf("r.d%[1]d - l.d%[1]d BETWEEN %[2]d AND %[3]d", j, c.Days[0], c.Days[1]))
		}
	}
	sql := k.pairsSQL(r.config.KeyPairs)
	if len(days) == 0 {
		return sql
	}
	return fmt.Sprintf("SELECT p.li, p.ri FROM (%s) AS p JOIN %s AS l ON l.i = p.li JOIN %s AS r ON r.i = p.ri WHERE %s", sql, readyLeft, readyRight, strings.Join(days, " AND "))
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
	l, r := strings.Join(k.Left, " and "), strings.Join(k.Right, " and ")
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
