package machine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"interlock/internal/machine"
)

// TestProofsHold makes random machines, and walks at random through those that the
// check accepts: no state may ever be entered without what it requires.
func TestProofsHold(t *testing.T) {
	const wanted = 150 / slow
	accepted, moves, bounced := 0, 0, 0
	for seed := uint64(0); accepted < wanted && seed < 60_000; seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		source := randomMachine(r)
		m, found := machine.Examine(map[string]string{machine.File: source}, nil)
		if m == nil {
			for _, f := range found.Errors() {
				if f.Number == 11 || f.Number == 56 || f.Number == 57 {
					t.Fatalf("seed %d: the generator is wrong: %v\n%s", seed, f, source)
				}
			}
			continue
		}
		accepted++
		w := &wanderer{m: m, r: r, s: &machine.Scope{Facts: m.Defaults(), Settings: map[string]any{"n": 1.0, "on": r.IntN(2) == 0}, Turn: map[string]any{"text": "q"}, State: map[string]any{}}}
		for range 80 {
			err := w.step()
			if err != nil && strings.Contains(err.Error(), "1000 moves") {
				bounced++ // a circle of guards that it changes itself: bounded when it runs
				break
			}
			if err != nil {
				t.Fatalf("seed %d: %v\nafter %s\n%s", seed, err, strings.Join(w.log, ", "), source)
			}
		}
		moves += w.moves
	}
	t.Logf("%d machines accepted, %d moves, %d bounced", accepted, moves, bounced)
	if accepted < wanted || moves < 10*wanted || bounced > wanted/50 {
		t.Errorf("too little was tried: %d machines, %d moves, %d bounced", accepted, moves, bounced)
	}
}

// randomMachine is a definition that may or may not be right.
func randomMachine(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	anyFact := func() string { return pick("a", "b", "p", "q", "l", "k") }
	atom := func() string {
		return pick("a != nil", "b != nil", `a == "x"`, "p", "q == true", "!p", "!q", "len(l) >= 1", "len(k) >= settings.n", "len(l) > 0", "settings.on", "c", "d != nil", "a == nil", "l != nil", `"x" in k`)
	}
	guard := func() string {
		switch r.IntN(5) {
		case 0:
			return atom() + " && " + atom()
		case 1:
			return atom() + " || " + atom()
		case 2:
			return "!(" + atom() + " || " + atom() + ")"
		}
		return atom()
	}
	when := func() string {
		if r.IntN(2) == 0 {
			return ""
		}
		return ", when: '" + guard() + "'"
	}
	write := func() string {
		switch r.IntN(7) {
		case 0:
			return fmt.Sprintf(", drop: [%s]", anyFact())
		case 1:
			return fmt.Sprintf(", append: {%s: '\"x\"'}", pick("l", "k"))
		case 2:
			return fmt.Sprintf(", keep: {%s: '# != \"x\"'}", pick("l", "k"))
		case 3:
			return fmt.Sprintf(", set: {%s: %s}", pick("a", "b"), pick(`'"x"'`, "event.name", "b", "turn.text", "null"))
		case 4:
			return fmt.Sprintf(", set: {%s: %s}", pick("p", "q"), pick("true", "false", "p", "'a != nil'", "null"))
		case 5:
			return fmt.Sprintf(", set: {%s: %s}", pick("l", "k"), pick("l", `'["x"]'`, "'concat(l, k)'", "'[]'"))
		}
		return ""
	}
	requires := func() string {
		if r.IntN(2) == 0 {
			return ""
		}
		return fmt.Sprintf("    requires: [%s]\n", pick("a", "b", "p == true", "q == true", "len(l) >= 1", "len(k) >= 1", "l", "d", "c == true", "a"))
	}
	var b strings.Builder
	b.WriteString("name: random\nsettings: {n: {type: int, default: 1, min: " + pick("0", "1") + "}, on: {type: bool, default: true}}\nfacts:\n")
	for _, n := range []string{"a", "b"} {
		fmt.Fprintf(&b, "  %s: {type: string%s%s}\n", n, pick("", ", for: turn"), pick("", ", default: x"))
	}
	for _, n := range []string{"p", "q"} {
		fmt.Fprintf(&b, "  %s: {type: bool%s%s}\n", n, pick("", ", for: turn"), pick("", ", default: false", ", default: true"))
	}
	for _, n := range []string{"l", "k"} {
		fmt.Fprintf(&b, "  %s: {type: list(string)%s%s}\n", n, pick("", ", for: turn"), pick("", ", default: []", ", default: [x]", ", max: 2"))
	}
	fmt.Fprintf(&b, "  c: {type: bool, is: '%s'}\n  d: {type: string, is: '%s'}\n", pick("p && q", "a != nil && len(l) >= 1", "p || q"), pick("a", "b ?? a", `p ? a : "y"`))
	n := 3 + r.IntN(3)
	state := func() string { return fmt.Sprintf("s%d", r.IntN(n)) }
	b.WriteString("start: " + pick("s0", "where it stands", fmt.Sprintf("[{when: '%s', to: %s}, {to: s0}]", guard(), state())) + "\nstates:\n")
	for i := range n {
		kind := pick("agent", "agent", "step", "ask")
		if i == 0 {
			kind = "agent"
		}
		fmt.Fprintf(&b, "  s%d:\n    kind: %s\n", i, kind)
		if i > 0 {
			b.WriteString(requires())
		}
		switch kind {
		case "agent":
			b.WriteString("    tools: [t0, t1]\n    go:\n")
			for range 1 + r.IntN(3) {
				fmt.Fprintf(&b, "      - {%s%s, to: %s%s}\n", pick("on: returned, tool: t0", "on: returned, tool: t1", "on: failed", "on: final", "on: [returned, failed]", "on: returned"), when(), state(), write())
			}
			if r.IntN(3) == 0 {
				fmt.Fprintf(&b, "      - {when: '%s', to: %s%s}\n", guard(), state(), write())
			}
		case "step":
			out := pick("a: s", "p: b", "l: l", "b: s")
			fmt.Fprintf(&b, "    run: [{steps: [{tool: u0, out: {%s}, stop: '%s'}, {tool: u1, out: {%s}%s}]}]\n", out, guard(), pick("a: s", "q: b", "k: l"), when())
			fmt.Fprintf(&b, "    go:\n      - {on: failed, to: %s%s}\n", state(), write())
			if r.IntN(2) == 0 {
				fmt.Fprintf(&b, "      - {when: '%s', to: %s%s}\n", guard(), state(), write())
			}
			fmt.Fprintf(&b, "      - {to: %s%s}\n", state(), write())
		case "ask":
			fmt.Fprintf(&b, "    card: card\n    go:\n      - {when: '%s', to: %s%s}\n      - {to: %s%s}\n", guard(), state(), write(), state(), write())
		}
	}
	b.WriteString("effects:\n")
	for range 1 + r.IntN(3) {
		fmt.Fprintf(&b, "  - {on: %s%s%s%s}\n", pick("returned, tool: t0", "returned", "failed", "final", "entered", "done", "answered", "turn"), pick("", "", ", state: ["+state()+"]"), when(), write())
	}
	fmt.Fprintf(&b, "cards:\n  card:\n    answers:\n      one: {label: One%s}\n      two: {label: Two%s}\n", write(), write())
	fmt.Fprintf(&b, "commands:\n  back: {label: Back, to: %s%s}\n", state(), write())
	return b.String()
}

// A wanderer walks through a machine as the engine would, with events at random.
type wanderer struct {
	m     *machine.Machine
	r     *rand.Rand
	s     *machine.Scope
	state string
	moves int
	log   []string
}

func (w *wanderer) step() error {
	st := w.m.State(w.state)
	if st == nil || w.r.IntN(8) == 0 {
		return w.turn()
	}
	if w.r.IntN(12) == 0 {
		cmd := w.m.Commands[0]
		w.log = append(w.log, "command")
		if err := w.took(w.m.Enter(w.s, cmd.To, machine.Signal{Name: machine.OnCommand, Command: cmd.Name}, cmd.When, &cmd.Writes)); err != nil {
			return err
		}
		w.m.NewTurn(w.s)
		return nil
	}
	switch st.Kind {
	case machine.StepK:
		return w.run(st)
	case machine.Ask:
		a := w.m.Cards[st.Card].Answers[w.r.IntN(2)]
		w.log = append(w.log, "answer "+a.Name)
		return w.took(w.m.Enter(w.s, "", machine.Signal{Name: machine.OnAnswered, Card: st.Card, Fields: map[string]any{"answer": a.Name}}, nil, &a.Writes))
	}
	name := []string{machine.OnReturned, machine.OnReturned, machine.OnFailed, machine.OnFinal}[w.r.IntN(4)]
	sig := machine.Signal{Name: name, Fields: map[string]any{"text": "t", "message": "m", "result": map[string]any{}}}
	if name != machine.OnFinal {
		sig.Tool = []string{"t0", "t1"}[w.r.IntN(2)]
	}
	w.log = append(w.log, name+" "+sig.Tool)
	return w.react(sig)
}

// run carries out the list of a step, with its early exit, or lets it fail.
func (w *wanderer) run(st *machine.State) error {
	sig := machine.Signal{Name: machine.OnDone, Fields: map[string]any{"state": st.Name}}
	for _, step := range st.Run[0].Steps {
		if !w.m.Holds(step.When, w.s) {
			continue
		}
		if w.r.IntN(5) == 0 {
			sig.Name = machine.OnFailed
			break
		}
		result := map[string]any{"s": []any{"x", "y"}[w.r.IntN(2)], "b": w.r.IntN(2) == 0, "l": [][]any{{}, {"x"}, {"x", "y", "z"}}[w.r.IntN(3)]}
		w.m.Output(step.Out, result, w.s)
		if step.Stop != nil && w.m.Holds(step.Stop, w.s) {
			break
		}
	}
	w.log = append(w.log, sig.Name)
	return w.react(sig)
}

// react sends a signal, and holds Reacts to what came of it.
func (w *wanderer) react(sig machine.Signal) error {
	expected := w.m.Reacts(w.state, machine.Signal{Name: sig.Name, Tool: sig.Tool})
	r, err := w.m.React(w.s, sig)
	if !expected && (len(r.Acts) > 0 || r.State != w.state) {
		return fmt.Errorf("the machine reacted to %s in %s, which Reacts had denied: %+v", sig.Name, w.state, r)
	}
	return w.took(r, err)
}

func (w *wanderer) turn() error {
	w.log = append(w.log, "turn")
	w.m.RunEffects(w.s, machine.Signal{Name: machine.OnTurn, Fields: map[string]any{"text": "q"}})
	w.m.NewTurn(w.s)
	w.s.Visits = nil
	c, err := w.m.Choose(w.s, w.state)
	if err != nil {
		return err
	}
	return w.took(w.m.Begin(w.s, c, machine.Signal{Name: machine.OnTurn, Fields: map[string]any{"text": "q"}}))
}

func (w *wanderer) took(r machine.Reaction, err error) error {
	if err != nil {
		return err
	}
	if r.State != w.state {
		w.moves++
		w.log = append(w.log, "-> "+r.State)
	}
	w.state = r.State
	if missing := w.m.Missing(w.state, w.s); missing != "" {
		return fmt.Errorf("in state %s without %s", w.state, missing)
	}
	return nil
}
