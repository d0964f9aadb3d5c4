package engine_test

import (
	"errors"
	"testing"

	"interlock/internal/engine/enginetest"
	"interlock/internal/machine"
	"interlock/internal/tool"
)

// The tools of the engine's own transcripts.
var toolSpecs = map[string]tool.Spec{
	"look":     {Effect: tool.Reads, Taints: true, Input: schema(`"where":{"type":"string"}`, "where")},
	"count":    {Effect: tool.Reads, Input: schema(`"what":{"type":"string"},"most":{"type":"integer"}`, "most")},
	"dice":     {Effect: tool.Computes, Volatile: true, Input: schema(``)},
	"estimate": {Effect: tool.Computes, Input: schema(`"question":{"type":"string"}`)},
	"risky":    {Effect: tool.Writes, Input: schema(``)},
	"late":     {Effect: tool.Computes, Input: schema(``)},
	"verify":   {Effect: tool.Computes, Input: schema(`"value":{"type":"integer"}`, "value")},
	"note":     {Effect: tool.Writes, Input: schema(`"value":{"type":"integer"}`, "value")},
	"send":     {Effect: tool.Writes, Reaches: true, Input: schema(`"to":{"type":"string"}`, "to")},
	"python":   {Effect: tool.Computes, Main: "code", Input: schema(`"code":{"type":"string"}`, "code")},
	"pick":     {Effect: tool.Computes, Input: schema(`"name":{"type":"string"}`, "name")},
}

func schema(props string, required ...string) []byte {
	s := `{"type":"object","properties":{` + props + `},"additionalProperties":false`
	for i, r := range required {
		if i == 0 {
			s += `,"required":[`
		} else {
			s += ","
		}
		s += `"` + r + `"`
	}
	if len(required) > 0 {
		s += "]"
	}
	return []byte(s + "}")
}

func TestTranscripts(t *testing.T) {
	enginetest.Play(t, "testdata/*.txtar", toolSpecs, func(string) (*machine.Machine, error) {
		return nil, errors.New("the transcript brings no machine")
	})
}
