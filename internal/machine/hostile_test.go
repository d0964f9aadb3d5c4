package machine_test

import (
	"strings"
	"testing"

	"interlock/internal/machine"
)

// TestHostileFiles: files made to hurt a parser end as findings.
func TestHostileFiles(t *testing.T) {
	deep := func(open, close string, n int) string { return strings.Repeat(open, n) + strings.Repeat(close, n) }
	var stairs strings.Builder
	for i := range 1500 {
		stairs.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	guard := func(s string) string {
		return "name: x\nfacts: {n: json}\nstart: a\nstates: {a: {kind: agent, terminal: true}}\nreply:\n  x: '" + s + "'\n"
	}
	for name, source := range map[string]string{
		"brackets":         "a: " + deep("[", "]", 200_000),
		"open brackets":    strings.Repeat("{a: ", 100_000),
		"dashes":           strings.Repeat("- ", 200_000),
		"questions":        strings.Repeat("? ", 200_000),
		"colons":           strings.Repeat("a: ", 200_000),
		"tags":             "a: " + strings.Repeat("!x ", 100_000),
		"stairs":           stairs.String(),
		"levels":           "name: x\nfacts: {f: {type: json, default: " + deep("[", "]", 300) + "}}\n",
		"zeros":            strings.Repeat("\x00", 10_000),
		"empty":            "",
		"only a comment":   "# nothing\n",
		"two documents":    "name: x\n---\nname: y\n",
		"a list":           "- name\n",
		"a text":           "name",
		"itself":           "name: &a {b: *a}\nstates: *a\n",
		"merge of itself":  "states: &s\n  a: &a {<<: *a, kind: agent}\n",
		"missing anchor":   "name: *nowhere\n",
		"parentheses":      guard(deep("(", ")", 4000)),
		"nots":             guard(strings.Repeat("!", 8000) + "n"),
		"long":             guard(strings.Repeat("n", 100_000)),
		"many":             guard("n" + strings.Repeat(" + n", 2040)),
		"nested lists":     guard(deep("[", "]", 4000)),
		"type in brackets": "name: x\nfacts: {a: " + deep("list(", ")", 3000) + "}\nstart: a\nstates: {a: {kind: agent, terminal: true}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			m, found := machine.Examine(map[string]string{machine.File: source}, nil)
			if m != nil || len(found.Errors()) == 0 {
				t.Errorf("accepted: %v", found)
			}
		})
	}
}

// TestUnfoldingIsBounded: facts computed from each other, each naming the last twice,
// must not make the check explode.
func TestUnfoldingIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: x\nfacts:\n  f0: {type: bool, default: true}\n")
	names := []string{"f0"}
	for i := range 50 {
		name := "g" + strings.Repeat("i", i)
		last := names[len(names)-1]
		b.WriteString("  " + name + ": {type: bool, is: '" + last + " && " + last + " || !" + last + "'}\n")
		names = append(names, name)
	}
	last := names[len(names)-1]
	b.WriteString("start: a\nstates:\n  a: {kind: agent, tools: [t], go: [{on: final, when: " + last + ", to: b}]}\n  b: {kind: agent, terminal: true, requires: [" + last + "]}\n")
	m, err := machine.Parse(map[string]string{machine.File: b.String()})
	if err != nil {
		t.Fatal(err)
	}
	if !m.Holds(m.State("a").Go[0].When, &machine.Scope{Facts: m.Defaults()}) {
		t.Error("the guard does not hold")
	}
}
