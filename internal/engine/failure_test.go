package engine_test

import (
	"context"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/tool"
)

// A failure with many details is part of the conversation with the model, but its text is
// no stored value. The thread goes on from memory and from a snapshot, and the model reads
// the same of the failure each time.
func TestLongFailuresAreReadAgain(t *testing.T) {
	for name, size := range map[string]int{"beyond an inline value": 10 << 10, "beyond what a resting thread keeps": 100 << 10} {
		t.Run(name, func(t *testing.T) {
			failing := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(context.Context, struct{}) (named, error) {
				return named{}, fault.New(fault.ToolFailed, "nothing was found").With(map[string]any{"tried": strings.Repeat("x", size)})
			})
			var told []string
			model := llm.ScriptFunc(func(q llm.Request) (llm.Reply, error) {
				if len(q.History) == 0 && q.Tag.Number == 1 {
					return llm.Reply{Calls: []llm.Call{{Name: "look", Args: "{}"}}}, nil
				}
				for _, m := range append(q.History, q.Messages...) {
					if m.Role == llm.ToolRole {
						told = append(told, m.Text)
					}
				}
				return llm.Reply{Text: "done"}, nil
			}).Forget()
			r := newRig(t, model, failing, newGate().tool("make", tool.Writes))
			thread := r.open()
			r.send(thread, "go")
			r.wait(thread)
			fork, err := r.eng.Fork(t.Context(), thread, 0, "")
			if err != nil {
				t.Fatal(err)
			}
			r.send(thread, "from memory")
			r.wait(thread)
			r.stop()
			r.start()
			r.send(fork, "from the snapshot")
			r.wait(fork)
			if len(told) != 3 || told[1] != told[0] || told[2] != told[0] || len(told[0]) < size/2 {
				t.Errorf("the model was told of the failure %d times: %.200q", len(told), told)
			}
		})
	}
}
