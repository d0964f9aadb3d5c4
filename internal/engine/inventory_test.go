package engine_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/tool"
)

// files is the result of a tool that made artifacts.
type files struct {
	Name string `json:"name"`
	made []event.ArtifactMade
}

func (f files) Made() []event.ArtifactMade { return f.made }

// The list of artifacts stands in every request to the model: in the turn that makes them, in
// the next one, after a restart and in a fork; with a thousand artifacts it stays small.
func TestInventoryInEveryCall(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	look := tool.New(tool.Spec{Name: "look", Effect: tool.Writes}, func(_ context.Context, in struct {
		Files int `json:"files"`
	},
	) (files, error) {
		f := files{Name: "x"}
		for i := range in.Files {
			f.made = append(f.made, event.ArtifactMade{
				ID: fmt.Sprintf("art_%d_%04d", in.Files, i), Name: "f.csv", Type: "csv", Producer: "sql", LogicalKey: "key", Version: 1, CreatedAt: at,
			})
		}
		return f, nil
	})
	model := llm.Script(llm.Say("nothing yet"), llm.Ask("look", `{"files":1}`), llm.Say("made"), llm.Say("second"), llm.Say("after the restart"), llm.Say("in the fork"),
		llm.Ask("look", `{"files":1000}`), llm.Say("many"))
	r := newRig(t, model, look, newGate().tool("make", tool.Writes))
	m, err := machine.Parse(map[string]string{
		machine.File: strings.Replace(lifeMachine, "policies: {", "policies: {inventory: true, ", 1), "work.md": "Work.",
	})
	if err != nil {
		t.Fatal(err)
	}
	r.m = m
	thread := r.open()
	ask := func(thread, text string) {
		t.Helper()
		r.send(thread, text)
		r.wait(thread)
	}
	ask(thread, "hello")
	ask(thread, "make one")
	ask(thread, "again")
	r.stop()
	r.start()
	ask(thread, "after a restart")
	fork, err := r.eng.Fork(t.Context(), thread, 0, "ann")
	if err != nil {
		t.Fatal(err)
	}
	ask(fork, "in a fork")
	ask(thread, "make many")

	one := regexp.MustCompile(`artifact_id=art_1_0000 name="f.csv" type=csv created_at=2026-01-01T00:00:00Z source_call_id=r_\w+ producer=sql logical_key=key`)
	requests := model.Requests()
	if len(requests) != 8 {
		t.Fatalf("%d requests", len(requests))
	}
	for i, request := range requests {
		exists := i >= 2 && i < 7
		if got := one.MatchString(request.System); got != exists {
			t.Errorf("request %d lists the artifact: %t, want %t\n%s", i, got, exists, request.System)
		}
		if exists && !strings.Contains(request.System, "do not make one of these again") {
			t.Errorf("request %d has no rule to reuse", i)
		}
	}
	many := requests[7].System
	if !strings.Contains(many, "art_1000_0999") || !strings.Contains(many, " older") || len(many) > 12_000 || strings.Count(many, "artifact_id=") != 30 {
		t.Errorf("with 1,000 artifacts the prompt has %d bytes and lists %d", len(many), strings.Count(many, "artifact_id="))
	}
}
