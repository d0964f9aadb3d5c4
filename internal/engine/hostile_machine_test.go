package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"interlock/internal/machine"
)

// randomMachine makes a definition that passes the check. It writes candidates and
// lets the check decide, so that everything it lets through is played.
func randomMachine(t *testing.T, rng *rand.Rand) *machine.Machine {
	t.Helper()
	for range 5000 {
		m, err := machine.Parse(map[string]string{"machine.yaml": randomYAML(rng), "p.md": "Facts: {{ a }} {{ c }}"})
		if err == nil {
			return m
		}
	}
	t.Fatal("no random definition passed the check")
	return nil
}

var guards = []string{
	"a > 2", "len(c) >= 1", "b != nil", "p == true", "settings.s", `visits("s1") < 3`, `event.name == "returned"`, "y == \"high\"", "x > 2 && b != nil", "len(q) >= 2",
}

func randomYAML(rng *rand.Rand) string {
	var b strings.Builder
	w := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	n := 2 + rng.IntN(4)
	state := func() string { return fmt.Sprintf("s%d", rng.IntN(n)) }
	maybe := func() string {
		if rng.IntN(2) == 0 {
			return ""
		}
		return fmt.Sprintf(", when: '%s'", pick(rng, guards...))
	}
	w("name: random\ntitle: Random")
	w("settings:\n  s: {type: bool, default: %v, label: S}", rng.IntN(2) == 0)
	w("types:\n  guess: {x: int, y: {enum: [high, low]}}")
	w("facts:\n  a: {type: int, default: 0}\n  b: {type: string%s}\n  c: {type: list(string), default: [], max: 4}", pick(rng, "", ", for: turn"))
	w("  p: {type: bool, by: person}\n  q: {type: list(string), by: person, default: []}\n  x: {type: int, for: turn, default: 0}\n  y: {enum: [high, low], for: turn, default: low}")
	w("start: %s", pick(rng, "s0", "where it stands"))
	w("limits: {iterations: %d}", 2+rng.IntN(6))
	w("errors: {failures: %d, then: inform_user}", 1+rng.IntN(3))
	w("tools:\n  t1: {in: {bound: a}}\n  t2: {card: ask}")
	calls := rng.IntN(3) == 0
	if calls {
		w("calls: {run: s1}")
	}
	w("states:")
	for i := range n {
		w("  s%d:", i)
		randomState(rng, w, i, n, state, maybe, calls)
	}
	w("cards:\n  ask:\n    title: Well?\n    message: %s", pick(rng, "yes", "words"))
	w("    answers:\n      yes: {label: Yes, set: {p: true}}\n      no: {label: No, drop: [p]}\n      words: {label: Say, fields: {text: string}, append: {q: event.fields.text}%s}", pick(rng, "", ", to: s0"))
	w("commands:\n  back: {label: Back, to: s0, drop: [b, c]}")
	w("effects:")
	w("  - {on: returned, tool: [t1, t3], set: {b: event.result.text}}")
	w("  - {on: returned, tool: t4%s, append: {c: event.result.text}, increment: {a: 1}}", maybe())
	w("  - {on: [refused, failed], increment: {a: 1}}")
	w("  - {on: returned, tool: t3, keep: {q: '# != \"an answer\"'}}")
	if rng.IntN(2) == 0 {
		w("shortcuts:\n  - {prefix: 'RUN:', tool: run, in: {code: event.rest}}")
	}
	w("policies: {duplicates: %v}", rng.IntN(2) == 0)
	w("reply: {a: a, b: b, p: p, q: q, x: x, y: y}")
	return b.String()
}

func randomState(rng *rand.Rand, w func(string, ...any), i, n int, state, maybe func() string, calls bool) {
	kind := rng.IntN(10)
	switch {
	case i == 0 || kind < 6:
		w("    kind: agent\n    prompt: p.md")
		if i > 0 && rng.IntN(3) == 0 {
			w("    requires: [%s]", pick(rng, "b", "len(c) >= 1", "p == true"))
		}
		w("    tools: [t1, t2, t3, t4, out%s%s]", pick(rng, "", ", {name: run"+maybe()+"}"), "")
		w("    go:")
		w("      - {on: %s%s, to: %s}", pick(rng, "returned", "failed", "final", "refused", "model_failed"), maybe(), state())
		w("      - {when: '%s', to: %s}", pick(rng, guards...), state())
		if calls {
			w("      - {on: call, to: [s1]}")
		}
		if rng.IntN(2) == 0 {
			w("      - {on: final, to: s0, rest: true}")
		}
	case kind < 8:
		w("    kind: step\n    run:\n      - {model: {prompt: p.md, output: guess}}\n    out: {x: x, y: y}")
		w("    go:\n      - {on: failed, to: s0}\n      - {when: 'y == \"high\"', to: %s}\n      - {to: s0}", state())
	case kind < 9:
		w("    kind: ask\n    card: ask\n    go:\n      - {to: s0}")
	default:
		w("    kind: final")
	}
}
