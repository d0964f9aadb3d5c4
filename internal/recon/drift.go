package recon

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A Drift compares a run of a recipe with an earlier one.
type Drift struct {
	RateBefore float64  `json:"rate_before"` // share of the left rows that were matched, without those carried over
	RateNow    float64  `json:"rate_now"`
	Silent     []string `json:"silent"`   // rules that matched something then and nothing now
	Falling    []string `json:"falling"`  // rules whose share fell to less than half
	New        []string `json:"new"`      // ways in which many matched pairs agree now and none did then
	Findings   []string `json:"findings"` // in plain words, the gravest first
}

// driftPoints is the change of the match rate that is reported.
const driftPoints = 0.05

// CompareRuns says what changed between two runs of one recipe.
func CompareRuns(before, now *Outcome) Drift {
	d := Drift{RateBefore: before.rate(), RateNow: now.rate(), Silent: []string{}, Falling: []string{}, New: []string{}, Findings: []string{}}
	if diff := d.RateNow - d.RateBefore; diff <= -driftPoints || diff >= driftPoints {
		d.Findings = append(d.Findings, fmt.Sprintf("The share of new left rows that are matched went from %.1f %% to %.1f %%.", 100*d.RateBefore, 100*d.RateNow))
	}
	for _, rule := range slices.Sorted(maps.Keys(before.ByRule)) {
		was := float64(before.ByRule[rule]) / float64(max(1, before.LeftRows-before.carried().OpenLeft))
		is := float64(now.ByRule[rule]) / float64(max(1, now.LeftRows-now.carried().OpenLeft))
		switch {
		case rule == ruleConfirmed:
		case is == 0:
			d.Silent = append(d.Silent, rule)
			d.Findings = append(d.Findings, fmt.Sprintf("The rule %s matched %d pairs and now matches none: %s", rule, before.ByRule[rule], now.ruleInWords(rule)))
		case is < was/2:
			d.Falling = append(d.Falling, rule)
			d.Findings = append(d.Findings, fmt.Sprintf("The rule %s matched %.1f %% of the left rows and now matches %.1f %%: %s", rule, 100*was, 100*is, now.ruleInWords(rule)))
		}
	}
	if b, n := before.ambiguity(), now.ambiguity(); n > 2*b && n-b > 0.01 {
		d.Findings = append(d.Findings, fmt.Sprintf("Ambiguous rows went from %.1f %% to %.1f %%: rows look alike that did not before.", 100*b, 100*n))
	}
	d.addNew(before, now)
	return d
}

// addNew names the ways to agree that are new and frequent. An earlier report that has
// none, or not all of them, says nothing about what is new.
func (d *Drift) addNew(before, now *Outcome) {
	if before.Agreements == nil || len(before.Agreements) == maxAgreements {
		return
	}
	for _, a := range now.Agreements {
		known := slices.ContainsFunc(before.Agreements, func(b Agreement) bool { return a.Sentence == b.Sentence })
		if !known && a.Pairs >= 3 && 100*a.Pairs >= now.LeftRows {
			d.New = append(d.New, a.Sentence)
			d.Findings = append(d.Findings, fmt.Sprintf("%d pairs agree in a way in which none did before: %s.", a.Pairs, a.Sentence))
		}
	}
}

// rate is the share of left rows that have a partner. Rows that were carried over say
// nothing about it: they were left because nothing fitted them.
func (o *Outcome) rate() float64 {
	c := o.carried()
	rows := o.LeftRows - c.Left
	return roundTo(float64(rows-(o.UnmatchedLeft-c.OpenLeft)) / float64(max(1, rows)))
}

func (o *Outcome) carried() Carried {
	if o.Carried == nil {
		return Carried{}
	}
	return *o.Carried
}

// ruleInWords is the sentence of a rule of the run.
func (o *Outcome) ruleInWords(rule string) string {
	if i := slices.IndexFunc(o.Rules, func(r RuleOutcome) bool { return r.Rule == rule }); i >= 0 {
		return o.Rules[i].Sentence
	}
	return "the recipe does not have it any more."
}

func (o *Outcome) ambiguity() float64 {
	return float64(o.Ambiguous) / float64(max(1, cmp.Or(o.LeftRows+o.RightRows, 1)))
}
