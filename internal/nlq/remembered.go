package nlq

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/internal/schema"
)

// useChoices takes over what a person chose once and for all. The date that a person chose for a
// table is its main date.
func (x *Index) useChoices(list []schema.Choice) {
	x.chosen, x.chosenDates = list, map[int]int{}
	for _, c := range list {
		if !strings.EqualFold(c.Term, schema.WhenTerm) {
			continue
		}
		for id := range x.columns {
			col := &x.columns[id]
			if _, said := x.mainDates[col.table]; !said && col.isCalendar() && strings.EqualFold(x.columnText(id), c.Reading) {
				x.mainDates[col.table], x.chosenDates[col.table] = id, id
			}
		}
	}
}

// columnText is a column as a choice offers it.
func (x *Index) columnText(id int) string {
	c := &x.columns[id]
	return fmt.Sprintf("the %s of %s", humanName(c.name), humanName(x.tableName(c.table)))
}

// remembered finds the option of an open choice that a person wants to be taken always.
func (x *Index) remembered(c choice) (option, bool) {
	for _, said := range x.chosen {
		if !strings.EqualFold(said.Term, c.about) {
			continue
		}
		if i := slices.IndexFunc(c.options, func(o option) bool { return strings.EqualFold(o.text, said.Reading) }); i >= 0 {
			return c.options[i], true
		}
	}
	return option{}, false
}

// rememberedReading is the reading of a term that is asked about which a person wants always.
func (x *Index) rememberedReading(t ambiguousTerm) string {
	for _, c := range x.chosen {
		if strings.EqualFold(c.Term, t.Term) {
			if i := slices.IndexFunc(t.Readings, func(r string) bool { return strings.EqualFold(r, c.Reading) }); i >= 0 {
				return t.Readings[i]
			}
		}
	}
	return ""
}

// rememberedNote says in an answer that it rests on a choice that was made before.
func rememberedNote(term, reading string) string {
	if strings.EqualFold(term, schema.WhenTerm) {
		return fmt.Sprintf("periods are those of %s, as you chose", reading)
	}
	return fmt.Sprintf("%q is read as %s, as you chose", term, reading)
}

// readWithRemembered reads a question with what a person wants to be taken always.
func readWithRemembered(x *Index, text string, now time.Time) *reading {
	choices := map[string]int{}
	for {
		g := readQuestion(x, text, now, choices)
		g.r.offerTies()
		i := slices.IndexFunc(g.r.open, func(c choice) bool { _, ok := x.remembered(c); return ok })
		if i < 0 || len(choices) > maxOptions {
			return g
		}
		o, _ := x.remembered(g.r.open[i])
		choices[g.r.open[i].key] = o.id
	}
}

// RememberHint says how a choice becomes one for all questions.
const RememberHint = `Say "always mean this" to have it read so from now on.`

// chosenAs is what a person may have remembered of a choice that they made.
func chosenAs(c choice, text string) *schema.Choice {
	if c.passing || c.about == "" {
		return nil
	}
	return &schema.Choice{Term: c.about, Reading: text}
}
