package machine

import (
	"fmt"
	"maps"
	"slices"
)

// statesRaising lists the states that can raise a card: asks, and agents that offer a
// tool with it.
func (c *checker) statesRaising(card string) []*State {
	var out []*State
	for _, s := range c.m.States {
		if slices.Contains(c.cardsRaisedIn(s), card) {
			out = append(out, s)
		}
	}
	return out
}

// cardsRaisedIn lists the cards that a state can raise.
func (c *checker) cardsRaisedIn(s *State) []string {
	if s.Kind == Ask && s.Card != "" {
		return []string{s.Card}
	}
	var out []string
	if s.Kind == Agent {
		for _, tool := range c.offers[s.Name] {
			if b := c.m.Tools[tool]; b != nil && b.Card != "" && !slices.Contains(out, b.Card) {
				out = append(out, b.Card)
			}
		}
	}
	return out
}

func (c *checker) checkCards() {
	for _, name := range slices.Sorted(maps.Keys(c.m.Cards)) {
		card := c.m.Cards[name]
		raised := c.statesRaising(name)
		if len(raised) == 0 {
			c.report("card-unraised", card.Pos, "name it in an ask or in `tools`, or take it away", "nothing raises card %s", name)
		}
		if len(card.Answers) == 0 {
			c.report("card-no-answer", card.Pos, "add `answers:`", "nobody can answer card %s: it has no answers", name)
		}
		if card.Message != "" && card.Answer(card.Message) == nil {
			var names []string
			for _, a := range card.Answers {
				names = append(names, a.Name)
			}
			c.report("message-no-answer", c.m.keyPos("message", name), "use one of "+quoteNames(names), "`message` of card %s names no answer: %q%s", name, card.Message, suggestName(card.Message, names))
		}
		for _, a := range card.Answers {
			c.checkAnswer(card, a, raised)
		}
	}
}

func (c *checker) checkAnswer(card *Card, a *Answer, raised []*State) {
	place := "answer/" + card.Name + "/" + a.Name
	if a.To != "" {
		c.checkState(a.To, c.m.keyPos(place, "to"), "an answer")
	}
	if a.Command == "" {
		return
	}
	pos := c.m.keyPos(place, "command")
	cmd := c.m.Command(a.Command)
	if cmd == nil {
		var names []string
		for _, k := range c.m.Commands {
			names = append(names, k.Name)
		}
		c.report("bad-answer-command", pos, "declare it under `commands`", "answer %s of card %s does an unknown command %q%s", a.Name, card.Name, a.Command, suggestName(a.Command, names))
		return
	}
	if a.To != "" {
		c.report("wrong-form", pos, "keep one of them", "answer %s of card %s has both `to` and `command`", a.Name, card.Name)
	}
	for _, s := range raised {
		if cmd.From != nil && !slices.Contains(cmd.From, s.Name) {
			c.report("bad-answer-command", pos, fmt.Sprintf("add %s to `from` of the command", s.Name), "answer %s of card %s does the command %s, which is not allowed in state %s", a.Name, card.Name, cmd.Name, s.Name)
		}
	}
}

func (c *checker) checkSettings() {
	for _, s := range c.m.Settings {
		pos := c.m.keyPos("default", s.Name)
		if s.Default == nil {
			c.report("setting-no-default", s.Pos, "add `default:`", "setting %s has no default", s.Name)
			continue
		}
		if s.Type.Kind == Enum {
			if v, ok := s.Default.(string); !ok || !slices.Contains(s.Type.Values, v) {
				c.report("setting-enum", pos, "use one of "+quoteNames(s.Type.Values), "the default of setting %s is none of its values", s.Name)
			}
			continue
		}
		if why, ok := fitsInto(typeOfValue(s.Default), s.Type); !ok {
			c.report("type-mismatch", pos, "give a default of its type", "the default of setting %s: %s", s.Name, why)
			continue
		}
		v, isNumber := s.Default.(float64)
		if isNumber && (s.Min != nil && v < *s.Min || s.Max != nil && v > *s.Max) {
			c.report("setting-range", pos, "move the default or the bounds", "the default of setting %s lies outside min and max", s.Name)
		}
		if !isNumber && (s.Min != nil || s.Max != nil || s.Step != nil) {
			c.report("type-mismatch", s.Pos, "take min, max and step away", "setting %s is no number and has no bounds", s.Name)
		}
	}
}

func (c *checker) checkFacts() {
	for _, f := range c.m.Facts {
		if f.Max > 0 && f.Type.Kind != List {
			c.report("append-no-list", f.Pos, "make it a list, or take `max` away", "fact %s has `max` but is no list", f.Name)
		}
		if f.Default == nil {
			continue
		}
		t := typeOfValue(f.Default)
		if why, ok := fitsInto(t, f.Type); !ok {
			code := "type-mismatch"
			if t.Kind == Enum && f.Type.Kind == Enum {
				code = "enum-value"
			}
			c.report(code, c.m.keyPos("factDefault", f.Name), "give a default of its type", "the default of fact %s: %s", f.Name, why)
		}
	}
}
