package machine_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"interlock/internal/machine"
	"interlock/machines"
)

func TestParseRoundTrip(t *testing.T) {
	for name, fsys := range machines.All() {
		m, err := machine.Load(fsys)
		if err != nil {
			t.Fatal(err)
		}
		again, err := machine.Parse(m.Files)
		if err != nil {
			t.Fatal(err)
		}
		if again.Hash != m.Hash || len(m.Hash) != 64 {
			t.Errorf("%s: hash %s, then %s", name, m.Hash, again.Hash)
		}
		changed := maps.Clone(m.Files)
		changed[machine.File] += "# changed\n"
		if other, err := machine.Parse(changed); err != nil || other.Hash == m.Hash {
			t.Errorf("%s: a changed file gives the same hash (%v)", name, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	m, err := machine.Parse(map[string]string{machine.File: "name: x\nstart: a\nstates:\n  a: {kind: agent, terminal: true, limits: {seconds: 9}, errors: {then: inform_user}}\n"})
	if err != nil {
		t.Fatal(err)
	}
	s, scope := m.State("a"), &machine.Scope{}
	for what, got := range map[string][2]float64{
		"iterations":    {m.Float(s.Limits.Iterations, scope, 0), 25},
		"seconds":       {m.Float(s.Limits.Seconds, scope, 0), 9},
		"tokens":        {m.Float(m.Limits.Tokens, scope, 0), 200_000},
		"dollars":       {m.Float(m.Limits.Dollars, scope, 0), 1},
		"failures":      {float64(s.Errors.Failures), 3},
		"messages":      {float64(m.Int(m.History.Messages, scope, 0)), 12},
		"tool turns":    {float64(m.Int(m.History.ToolTurns, scope, 0)), 1},
		"inventory":     {float64(m.Int(m.Policies.InventoryMax, scope, 0)), 30},
		"empty retries": {float64(m.Policies.EmptyRetries), 1},
	} {
		if got[0] != got[1] {
			t.Errorf("%s is %v, want %v", what, got[0], got[1])
		}
	}
	if p := m.Policies; !p.Duplicates || !p.AcrossTurns || !p.Inventory || !p.Repair || !p.Origins {
		t.Errorf("policies %+v, want all on", p)
	}
	if m.Title != "x" {
		t.Errorf("title %q", m.Title)
	}
}

func TestEveryFaultAtOnce(t *testing.T) {
	_, err := machine.Parse(map[string]string{machine.File: "name: x\nfoo: 1\nstart: nowhere\nstates:\n  a: {kind: agent, terminal: true, bar: 2}\n  b: {kind: agents}\nfacts: {q: strng}\n"})
	fs, ok := errors.AsType[machine.Findings](err)
	if !ok {
		t.Fatalf("error %T, want Findings", err)
	}
	for _, want := range []string{"machine.yaml:2:1:", "machine.yaml:5:36:", "machine.yaml:6:13:", "machine.yaml:7:12:"} {
		if !strings.Contains(fs.Error(), want) {
			t.Errorf("nothing at %s in:\n%v", want, fs)
		}
	}
}

// large is a machine of n states in a chain of steps and agents with requirements.
func large(n int) string {
	var b strings.Builder
	b.WriteString("name: large\nfacts:\n")
	for i := range 30 {
		fmt.Fprintf(&b, "  f%d: {type: string}\n", i)
	}
	b.WriteString("start: s0\nstates:\n")
	for i := range n {
		fmt.Fprintf(&b, "  s%d:\n    kind: agent\n    tools: [look, {name: find, when: f0 != nil}]\n", i)
		if i > 0 {
			fmt.Fprintf(&b, "    requires: [f%d]\n", i%30)
		}
		fmt.Fprintf(&b, "    go:\n      - {on: returned, tool: look, when: 'f%d != nil && f%d != \"x\"', to: s%d}\n      - {on: final, to: end}\n", (i+1)%30, (i+1)%30, (i+1)%n)
	}
	b.WriteString("  end: {kind: final}\neffects:\n")
	for i := range 30 {
		fmt.Fprintf(&b, "  - {on: returned, tool: find, set: {f%d: event.result.v}}\n", i)
	}
	return b.String()
}

// TestMutationsNeverPanic changes shipped machines at random: the check must end with
// a machine or findings, never with a panic.
func TestMutationsNeverPanic(t *testing.T) {
	all := make(map[string]map[string]string)
	for _, name := range machines.Names() {
		all[name] = copyOf(t, name)
	}
	tools := toolTypes(t)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(machines.Names()).Draw(t, "machine")
		files := maps.Clone(all[name])
		lines := strings.Split(files[machine.File], "\n")
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			i := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				lines = slices.Delete(lines, i, i+1)
			case 1:
				lines = slices.Insert(lines, i, lines[rapid.IntRange(0, len(lines)-1).Draw(t, "other")])
			case 2:
				j := rapid.IntRange(0, len(lines)-1).Draw(t, "swap")
				lines[i], lines[j] = lines[j], lines[i]
			case 3:
				words := strings.Fields(lines[i])
				if len(words) > 0 {
					w := rapid.SampledFrom(words).Draw(t, "word")
					lines[i] = strings.Replace(lines[i], w, rapid.SampledFrom([]string{"", "x", "null", "[]", "{}", "&a", "*a", "true", "-1", "'#'", "event", w + w}).Draw(t, "by"), 1)
				}
			case 4:
				lines[i] = strings.TrimPrefix(lines[i], "  ")
			}
			if len(lines) == 0 {
				lines = []string{""}
			}
		}
		files[machine.File] = strings.Join(lines, "\n")
		m, found := machine.Examine(files, tools)
		if m == nil && len(found.Errors()) == 0 {
			t.Fatalf("neither a machine nor an error")
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, name := range machines.Names() {
		f.Add(copyOf(f, name)[machine.File])
	}
	f.Add(large(3))
	f.Add("name: x\na: &a [*a]\nstates: {s: {<<: *a}}\n")
	f.Add("- - - - -\n? ? ?\n!!a &b *c")
	f.Fuzz(func(t *testing.T, source string) {
		m, found := machine.Examine(map[string]string{machine.File: source}, nil)
		if m == nil && len(found.Errors()) == 0 {
			t.Error("neither a machine nor an error")
		}
	})
}

// TestParts: what a part brings stands behind the state's own, guarded by the part and by
// its own guard.
func TestParts(t *testing.T) {
	m, err := machine.Parse(map[string]string{
		machine.File: `
name: x
start: a
settings: {on: {type: bool, default: true}, more: {type: bool, default: false}}
facts: {seen: {type: string, default: ""}}
parts:
  look: {when: settings.on, prompt: look.md, tools: [find, {name: open, when: settings.more || settings.on}], inject: [{fact: seen}]}
states:
  a: {kind: agent, prompt: own.md, tools: [list], uses: [look]}
  b: {kind: agent, terminal: true, uses: [look]}
go: [{from: [a], on: final, when: settings.more, to: b}]
`,
		"look.md": "Look.", "own.md": "Own.",
	})
	if m == nil {
		t.Fatal(err)
	}
	a, b := m.State("a"), m.State("b")
	if len(a.Prompt) != 2 || a.Prompt[0].Text.File != "own.md" || a.Prompt[1].Text.File != "look.md" || len(b.Prompt) != 1 || len(b.Offers) != 2 || len(b.Inject) != 1 {
		t.Fatalf("the states are %+v and %+v", a, b)
	}
	for _, on := range []bool{true, false} {
		scope := &machine.Scope{Settings: map[string]any{"on": on, "more": true}}
		for _, guard := range []*machine.Expr{a.Prompt[1].When, a.Offers[1].When, a.Offers[2].When, a.Inject[0].When} {
			if got, err := m.Eval(guard, scope); err != nil || got != on {
				t.Errorf("on %v: %q gives %v, %v", on, guard.Source, got, err)
			}
		}
	}
	if a.Offers[0].When != nil || a.Offers[0].Tool != "list" {
		t.Errorf("the state's own tool is %+v", a.Offers[0])
	}
}
