package machines_test

import (
	"sync"
	"testing"

	"interlock/internal/engine/enginetest"
	"interlock/internal/machine"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
	"interlock/machines"
)

// specs declares every built-in tool, for checks and for scripted play.
var specs = sync.OnceValue(func() map[string]tool.Spec {
	out := map[string]tool.Spec{}
	for _, t := range toolbox.Tools(toolbox.Config{}) {
		out[t.Spec().Name] = t.Spec()
	}
	return out
})

func load(name string) (*machine.Machine, error) {
	dir, err := machines.FS(name)
	if err != nil {
		return nil, err
	}
	return machine.Load(dir)
}

// TestShippedMachinesAreProved checks each definition against the arguments and
// results of its tools: no finding is allowed.
func TestShippedMachinesAreProved(t *testing.T) {
	types := machine.ToolTypes{}
	for name, s := range specs() {
		in, required, err := machine.TypeOfSchema(s.Input)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out, always, err := machine.TypeOfSchema(s.Output)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		types[name] = machine.ToolType{In: in, Out: out, Required: required, Always: always}
	}
	for _, name := range machines.Names() {
		m, err := load(name)
		if err != nil {
			t.Errorf("%s does not load:\n%v", name, err)
			continue
		}
		for _, f := range m.Check(types) {
			t.Errorf("%s: %s", name, f)
		}
	}
}

// TestTranscripts plays each machine from start to end with a scripted model and
// scripted tools, and replays every run.
func TestTranscripts(t *testing.T) {
	enginetest.Play(t, "testdata/*.txtar", specs(), load)
}
