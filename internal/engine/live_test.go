package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/event"
)

// TestLive holds what a follower gets that joins while calls stream: everything of those that
// run, in its order, and nothing of those that ended.
func TestLive(t *testing.T) {
	out := func(call, stream, text string) event.Body {
		return event.ToolProgress{Call: call, Tool: "run", Stream: stream, Note: text}
	}
	many := strings.Repeat("ü", maxLive/2)
	for name, c := range map[string]struct {
		streamed []event.Body
		want     []event.Body
	}{
		"text of one call is joined": {
			[]event.Body{event.Token{Call: "m", Text: "one "}, event.Token{Call: "m", Text: "two"}},
			[]event.Body{event.Token{Call: "m", Text: "one two"}},
		},
		"output of two calls and two streams": {
			[]event.Body{out("a", "stdout", "1\n"), out("b", "stdout", "x\n"), out("a", "stdout", "2\n"), out("a", "stderr", "!\n"), out("a", "stdout", "3\n")},
			[]event.Body{out("a", "stdout", "1\n2\n"), out("b", "stdout", "x\n"), out("a", "stderr", "!\n"), out("a", "stdout", "3\n")},
		},
		"the last note": {
			[]event.Body{out("a", "", "1 of 2"), out("a", "", "2 of 2")},
			[]event.Body{out("a", "", "2 of 2")},
		},
		"calls that ended": {
			[]event.Body{event.Thought{Call: "m", Text: "hm"}, event.Token{Call: "m", Text: "so"}, event.ModelReplied{Call: "m"}, out("a", "stdout", "1\n"), out("b", "stdout", "x\n"), event.ToolReturned{Call: "a"}},
			[]event.Body{out("b", "stdout", "x\n")},
		},
		"the end of the turn": {[]event.Body{out("a", "stdout", "1\n"), event.TurnEnded{}}, []event.Body{}},
		"too much: the newest, in whole characters": {
			[]event.Body{out("a", "stdout", many+"é"), out("b", "stdout", "end")},
			[]event.Body{out("a", "stdout", strings.Repeat("ü", (maxLive-2*pieceSize-5)/2)+"é"), out("b", "stdout", "end")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var l live
			for _, body := range c.streamed {
				l.add(body)
				l.end(body)
			}
			if diff := cmp.Diff(c.want, l.bodies()); diff != "" && len(diff) < 4000 {
				t.Error(diff)
			} else if diff != "" {
				t.Errorf("%d bytes are kept, of %d", l.bytes, maxLive)
			}
			sum := 0
			for _, p := range l.pieces {
				sum += pieceSize + len(p.text)
			}
			if sum != l.bytes {
				t.Errorf("%d bytes are counted, %d are kept", l.bytes, sum)
			}
		})
	}
}
