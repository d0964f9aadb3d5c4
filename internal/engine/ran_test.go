package engine_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"interlock/internal/capsule"
	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/tool"
)

// counted is a result whose rows come from a statement.
type counted struct {
	Name string     `json:"name"`
	ran  *event.Ran // no part of the result
}

func (c counted) Ran() *event.Ran { return c.ran }

// The statement that ran and its limit are fields of the event, also of a call that is
// answered with an earlier result, and a replay gives the same.
func TestStatementIsAFieldOfTheEvent(t *testing.T) {
	ran := event.Ran{Dataset: "shop", Version: "v1", SQL: "SELECT 1", MaxRows: 50}
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Reads}, func(context.Context, struct{}) (counted, error) {
		return counted{"one", &ran}, nil
	})
	r := newRig(t, llm.Script(llm.Ask("look", "{}"), llm.Ask("look", "{}"), llm.Say("done")), look, newGate().tool("make", tool.Writes))
	var err error
	yaml := strings.Replace(lifeMachine, "duplicates: false", "duplicates: true", 1)
	if r.m, err = machine.Parse(map[string]string{"machine.yaml": yaml, "work.md": "Look."}); err != nil {
		t.Fatal(err)
	}
	thread := r.open()
	run := r.send(thread, "go")
	r.wait(thread)
	var results, duplicates int
	for _, e := range r.log(thread) {
		b, ok := e.Body.(event.ToolReturned)
		if !ok {
			continue
		}
		results++
		if b.Duplicate != "" {
			duplicates++
		}
		if !reflect.DeepEqual(b.Ran, &ran) || string(b.Result.JSON) != `{"name":"one"}` {
			t.Errorf("call %s ran %+v and gave %s", b.Call, b.Ran, b.Result.JSON)
		}
	}
	if results != 2 || duplicates != 1 {
		t.Errorf("%d results, %d of them earlier ones", results, duplicates)
	}
	c, err := capsule.Build(t.Context(), r.store, run)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range c.Tools {
		if !reflect.DeepEqual(call.Ran, &ran) {
			t.Errorf("the capsule says that %s ran %+v", call.Call, call.Ran)
		}
	}
	rep, err := capsule.ReplayRun(t.Context(), r.store, r.tools, run)
	if err != nil || !rep.Same {
		t.Errorf("replay %+v, %v", rep, err)
	}
}
