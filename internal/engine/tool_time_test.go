package engine_test

import (
	"context"
	"errors"
	"testing"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/tool"
)

// A plain error of a tool whose time limit has passed is the trace of that limit, such as
// a connection that was closed because of it: the call is reported as tool_timeout, and
// asking for less may help. Before the limit a plain error is tool_failed. A fault says
// itself what it is, early or late.
func TestPlainErrorAfterTheTimeLimit(t *testing.T) {
	closed := errors.New("connection closed")
	for name, tt := range map[string]struct {
		late bool
		err  error
		want fault.Code
	}{
		"plain, before the limit": {false, closed, fault.ToolFailed},
		"plain, after the limit":  {true, closed, fault.ToolTimeout},
		"fault, after the limit":  {true, fault.New(fault.SQLError, "no such column"), fault.SQLError},
	} {
		t.Run(name, func(t *testing.T) {
			spec := tool.Spec{Name: "look", Effect: tool.Reads}
			if tt.late {
				spec.Seconds = 1
			}
			look := tool.New(spec, func(ctx context.Context, _ struct{}) (named, error) {
				if tt.late {
					<-ctx.Done()
				}
				return named{}, tt.err
			})
			r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Say("done")), look, quick("make"))
			thread := r.open()
			r.send(thread, "go")
			r.wait(thread)
			var codes []fault.Code
			for _, e := range r.log(thread) {
				if f, ok := e.Body.(event.ToolFailed); ok {
					codes = append(codes, f.Code)
				}
			}
			if len(codes) != 1 || codes[0] != tt.want {
				t.Errorf("the call failed with %v, want %s", codes, tt.want)
			}
		})
	}
}
