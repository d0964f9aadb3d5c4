package machine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// A partNode is a named part of a definition: prompt, tools and injections that belong
// together, with a guard for all of them. A state that uses it is decoded as if they stood
// there, so that nothing behind the decoder knows parts.
type partNode struct {
	object
	used bool
}

// indexParts notes the parts by name. They are read where a state uses them.
func (d *decoder) indexParts(n ast.Node) {
	d.parts = make(map[string]*partNode)
	for _, e := range d.mapEntries(n, "`parts`") {
		if !isName(e.key) {
			d.report(finding{code: "name-taken", pos: e.pos, message: fmt.Sprintf("%q cannot be the name of a part", e.key), repair: "use letters, digits and _"})
			continue
		}
		p := &partNode{object: d.decodeObject(e.value, "part")}
		p.pos = e.pos
		d.parts[e.key] = p
	}
}

// decodeUses adds what the parts of a state bring, in the order in which they are named,
// behind what the state says itself.
func (d *decoder) decodeUses(s *State, n ast.Node) {
	for _, item := range d.decodeItems(n, "`uses`") {
		name := d.decodeText(item, "a part")
		p := d.parts[name]
		if p == nil {
			known := slices.Sorted(maps.Keys(d.parts))
			d.report(finding{
				code: "unknown-part", pos: d.pos(item), message: fmt.Sprintf("state %s uses an unknown part %q%s", s.Name, name, suggestName(name, known)),
				repair: "declare it under `parts`, or use one of " + quoteNames(known),
			})
			continue
		}
		p.used = true
		d.decodePart(s, p)
	}
}

func (d *decoder) decodePart(s *State, p *partNode) {
	guard := p.by["when"].value
	if p.has("prompt") {
		for _, section := range d.decodeSections(p.by["prompt"].value) {
			section.When = d.joinGuards(guard, section.When)
			s.Prompt = append(s.Prompt, section)
		}
	}
	for _, n := range d.decodeItems(p.by["tools"].value, "`tools`") {
		offer := d.decodeOffer(n)
		offer.When = d.joinGuards(guard, offer.When)
		s.Offers = append(s.Offers, offer)
	}
	for _, n := range d.decodeItems(p.by["inject"].value, "`inject`") {
		inject := d.decodeInject(n)
		inject.When = d.joinGuards(guard, inject.When)
		s.Inject = append(s.Inject, inject)
	}
}

// joinGuards returns the guard of one thing of a part: the part's and its own.
func (d *decoder) joinGuards(part ast.Node, own *Expr) *Expr {
	all := d.decodeExpr(part, "when")
	switch {
	case all == nil:
		return own
	case own == nil:
		return all
	}
	return d.compileLater("("+all.Source+") && ("+own.Source+")", own.Pos, false)
}

// reportUnusedParts says which parts no state uses.
func (d *decoder) reportUnusedParts() {
	for name, p := range d.parts {
		if !p.used {
			d.report(finding{code: "part-unused", pos: p.pos, message: fmt.Sprintf("no state uses the part %s", name), repair: "name it in `uses` of a state, or remove it", warn: true})
		}
	}
}
