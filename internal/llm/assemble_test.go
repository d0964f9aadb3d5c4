package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/fault"
)

// Pieces of the tables below.
func at(i int, id, name, args string) piece { return piece{index: i, id: id, name: name, args: args} }

func by(id, name, args string) piece { return piece{index: noIndex, id: id, name: name, args: args} }

func final(id, name, args string) piece {
	return piece{index: noIndex, id: id, name: name, args: args, final: true}
}

func TestAssemble(t *testing.T) {
	for name, tt := range map[string]struct {
		pieces []piece
		want   []Call
	}{
		"as it should be": {
			[]piece{at(0, "a", "f", ""), at(0, "", "", `{"x"`), at(0, "", "", `:1}`)},
			[]Call{{"a", "f", `{"x":1}`}},
		},
		"interleaved": {
			[]piece{at(0, "a", "f", ""), at(1, "b", "g", ""), at(0, "", "", `{"x"`), at(1, "", "", `{"y":`), at(0, "", "", `:1}`), at(1, "", "", `2}`)},
			[]Call{{"a", "f", `{"x":1}`}, {"b", "g", `{"y":2}`}},
		},
		"interleaved by id only": {
			[]piece{by("a", "f", ""), by("b", "g", ""), by("a", "", `{"x"`), by("b", "", `{"y":`), by("a", "", `:1}`), by("b", "", `2}`)},
			[]Call{{"a", "f", `{"x":1}`}, {"b", "g", `{"y":2}`}},
		},
		"ids differ between start, delta and done": {
			[]piece{at(0, "a", "f", ""), at(0, "item_1", "", `{"x":1}`), final("fc_9", "f", `{"x":1}`)},
			[]Call{{"a", "f", `{"x":1}`}},
		},
		"ids differ and no index": {
			[]piece{by("a", "f", ""), by("b", "", `{"x":1}`), final("c", "f", `{"x":1}`)},
			[]Call{{"a", "f", `{"x":1}`}},
		},
		"no ids": {
			[]piece{at(0, "", "f", `{"x":1}`), at(1, "", "f", `{"x":2}`)},
			[]Call{{"call_s_1", "f", `{"x":1}`}, {"call_s_2", "f", `{"x":2}`}},
		},
		"neither ids nor indexes": {
			[]piece{by("", "f", `{"x"`), by("", "", `:1}`), by("", "g", `{}`)},
			[]Call{{"call_s_1", "f", `{"x":1}`}, {"call_s_2", "g", `{}`}},
		},
		"id comes late": {
			[]piece{at(0, "", "f", `{`), at(0, "a", "", `}`)},
			[]Call{{"a", "f", `{}`}},
		},
		"index comes late": {
			[]piece{by("a", "f", ""), at(0, "", "", `{"x":1}`)},
			[]Call{{"a", "f", `{"x":1}`}},
		},
		"name comes late": {
			[]piece{at(0, "a", "", `{"x"`), at(0, "", "f", `:1}`)},
			[]Call{{"a", "f", `{"x":1}`}},
		},
		"all calls have the same index": {
			[]piece{at(0, "a", "f", `{"x":1}`), at(0, "b", "f", `{"x":2}`), at(0, "c", "g", `{}`)},
			[]Call{{"a", "f", `{"x":1}`}, {"b", "f", `{"x":2}`}, {"c", "g", `{}`}},
		},
		"all calls have the same index and no ids": {
			[]piece{at(0, "", "f", `{"x":1}`), at(0, "", "f", `{"x":2}`)},
			[]Call{{"call_s_1", "f", `{"x":1}`}, {"call_s_2", "f", `{"x":2}`}},
		},
		"all calls have the same id": {
			[]piece{at(0, "a", "f", `{"x":1}`), at(1, "a", "g", `{"y":2}`)},
			[]Call{{"a", "f", `{"x":1}`}, {"a_2", "g", `{"y":2}`}},
		},
		"the same id and no index": {
			[]piece{by("a", "f", `{"x":1}`), by("a", "g", `{"y":2}`)},
			[]Call{{"a", "f", `{"x":1}`}, {"a_2", "g", `{"y":2}`}},
		},
		"a made id is taken": {
			[]piece{at(0, "call_s_2", "f", `{}`), at(1, "", "g", `{}`)},
			[]Call{{"call_s_2", "f", `{}`}, {"call_s_2_2", "g", `{}`}},
		},
		"id and name in every piece": {
			[]piece{at(0, "a", "f", `{"x"`), at(0, "a", "f", `:1`), at(0, "a", "f", `}`)},
			[]Call{{"a", "f", `{"x":1}`}},
		},
		"name in every piece, no id, no index": {
			[]piece{by("", "f", `{"x"`), by("", "f", `:1`), by("", "f", `}`)},
			[]Call{{"call_s_1", "f", `{"x":1}`}},
		},
		"repeated in the final message": {
			[]piece{at(0, "a", "f", `{"x":1}`), at(1, "b", "f", `{"x":2}`), final("a", "f", `{"x":1}`), final("b", "f", `{"x":2}`)},
			[]Call{{"a", "f", `{"x":1}`}, {"b", "f", `{"x":2}`}},
		},
		"repeated without ids, in another order": {
			[]piece{at(0, "a", "f", `{"x":1}`), at(1, "b", "f", `{"x":2}`), final("", "f", `{"x": 2}`), final("", "f", `{"x": 1}`)},
			[]Call{{"a", "f", `{"x":1}`}, {"b", "f", `{"x":2}`}},
		},
		"arguments only at the end": {
			[]piece{at(0, "a", "f", ""), at(1, "b", "g", ""), final("a", "f", `{"x":1}`), final("b", "g", `{"y":2}`)},
			[]Call{{"a", "f", `{"x":1}`}, {"b", "g", `{"y":2}`}},
		},
		"only in the final message": {
			[]piece{final("a", "f", `{"x":1}`), final("b", "f", `{"x":1}`)},
			[]Call{{"a", "f", `{"x":1}`}, {"b", "f", `{"x":1}`}},
		},
		"whole arguments after broken ones": {
			[]piece{at(0, "a", "f", `{"x"`), at(0, "a", "", `{"x":1}`)},
			[]Call{{"a", "f", `{"x":1}`}},
		},
		"each piece repeats what came before": {
			[]piece{at(0, "a", "f", `{"x"`), at(0, "a", "", `{"x":`), at(0, "a", "", `{"x":1}`)},
			[]Call{{"a", "f", `{"x":1}`}},
		},
		"name and arguments under different indexes": {
			[]piece{at(0, "a", "f", ""), at(1, "", "", `{"x":1}`)},
			[]Call{{"a", "f", `{"x":1}`}},
		},
		"an empty piece at the end": {
			[]piece{at(0, "a", "f", `{"x":1}`), at(1, "", "", ``), at(2, "b", "", "")},
			[]Call{{"a", "f", `{"x":1}`}},
		},
		"no arguments":        {[]piece{at(0, "a", "f", "")}, []Call{{"a", "f", `{}`}}},
		"null arguments":      {[]piece{at(0, "a", "f", "null")}, []Call{{"a", "f", `{}`}}},
		"arguments no JSON":   {[]piece{at(0, "a", "f", "SELECT"), at(0, "", "", " 1")}, []Call{{"a", "f", `SELECT 1`}}},
		"one nameless of two": {[]piece{at(0, "a", "", `{"x":1}`), at(1, "b", "g", `{}`)}, []Call{{"b", "g", `{}`}}},
		"nothing":             {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var a assembly
			for _, p := range tt.pieces {
				a.addPiece(p)
			}
			got, err := a.buildCalls("s")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAssembleUnusable(t *testing.T) {
	for name, add := range map[string]func(*assembly){
		"nameless": func(a *assembly) { a.addPiece(at(0, "a", "", `{"x":1}`)) },
		"too many calls": func(a *assembly) {
			for i := range maxCalls + 1 {
				a.addPiece(at(i, "", "f", "{}"))
			}
		},
		"too long": func(a *assembly) {
			for range 9 {
				a.addPiece(at(0, "", "f", strings.Repeat("x", 1<<20)))
			}
		},
		"too much text": func(a *assembly) {
			for range 9 {
				a.appendText(strings.Repeat("x", 1<<20))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var a assembly
			add(&a)
			_, err := a.buildCalls("s")
			if err == nil {
				t.Fatal("want an error")
			}
			if f := (&endpoint{}).fault(err); f.Code != fault.ModelBadOutput {
				t.Errorf("code %s, want model_bad_output", f.Code)
			}
		})
	}
}

func TestSayWhole(t *testing.T) {
	var a assembly
	a.appendText("Hello")
	if rest := a.appendWholeText("Hello, world"); rest != ", world" {
		t.Errorf("rest %q", rest)
	}
	if rest := a.appendWholeText("something else"); rest != "" {
		t.Errorf("rest %q, want none: the streamed text stands", rest)
	}
	if got := a.text.String(); got != "Hello, world" {
		t.Errorf("text %q", got)
	}
}

// FuzzAssemble reads pieces from lines "index|id|name|args|f" and checks what
// holds of every reply.
func FuzzAssemble(f *testing.F) {
	f.Add("0|a|f|{\"x\"|\n0||||:1}|\n1|b|g|{}|")
	f.Add("|a|f||\n|b||{\"x\":1}|\n|c|f|{\"x\":1}|f")
	f.Add("0|a|f|{}|\n0|a|g|{}|\n0||f|{}|\n|||{|\n2|call_s_1|f||f")
	f.Fuzz(func(t *testing.T, script string) {
		var a assembly
		names := map[string]bool{}
		for line := range strings.Lines(script) {
			part := strings.Split(strings.TrimSuffix(line, "\n"), "|")
			for len(part) < 5 {
				part = append(part, "")
			}
			p := piece{index: noIndex, id: part[1], name: part[2], args: part[3], final: part[4] == "f"}
			if _, err := fmt.Sscanf(part[0], "%d", &p.index); err != nil || p.index < 0 {
				p.index = noIndex
			}
			names[p.name] = true
			a.addPiece(p)
		}
		calls, err := a.buildCalls("s")
		if err != nil {
			if len(calls) > 0 {
				t.Error("calls beside an error")
			}
			return
		}
		seen := map[string]bool{}
		for _, c := range calls {
			switch {
			case c.ID == "" || seen[c.ID]:
				t.Errorf("id %q is empty or not unique in %v", c.ID, calls)
			case c.Name == "" || !names[c.Name]:
				t.Errorf("name %q was never sent", c.Name)
			case c.Args == "":
				t.Error("empty arguments")
			case strings.HasPrefix(c.Args, "{") && strings.HasSuffix(c.Args, "}") && !json.Valid([]byte(c.Args)) && !strings.Contains(script, "}"):
				t.Errorf("made-up arguments %q", c.Args)
			}
			seen[c.ID] = true
		}
	})
}
