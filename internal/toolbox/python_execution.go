package toolbox

import (
	"context"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/tool"
)

// PythonExecutionIn is what python_execution takes; the machine binds Seconds.
type PythonExecutionIn struct {
	Code    string `json:"code" jsonschema:"Python; print what the person should read"`
	Seconds int    `json:"seconds"`
}

// PythonExecutionOut is the two channels of a run: stdout is the person's, stderr the model's.
type PythonExecutionOut struct {
	Stdout    string   `json:"stdout"`
	Stderr    string   `json:"stderr"`
	Artifacts []string `json:"artifacts"`
	Reads     []string `json:"reads"` // tables that the code names

	made   []event.ArtifactMade
	varies bool
}

// Varies says that the same code may print something else.
func (o PythonExecutionOut) Varies() bool { return o.varies }

// Made lists what the code left.
func (o PythonExecutionOut) Made() []event.ArtifactMade { return o.made }

// pythonExecution runs code for what it prints. An exception is no failure of the
// tool: it is what the code wrote to stderr.
func (b box) pythonExecution() tool.Tool {
	return b.versioned(tool.New(spec("python_execution", tool.Writes, taints, mainArgument("code"), pythonTime), func(ctx context.Context, in PythonExecutionIn) (PythonExecutionOut, error) {
		out, err := b.python(ctx, PythonJob{Dataset: tool.In(ctx).Dataset, Code: in.Code, Seconds: in.Seconds})
		if err == nil {
			return PythonExecutionOut{Stdout: out.Stdout, Stderr: out.Stderr, Artifacts: out.Artifacts, Reads: out.Reads, made: out.Stored, varies: out.varies}, nil
		}
		trouble, ok := fault.From(err).Details.(PythonTrouble)
		if !ok || !fault.Is(err, fault.PyUserError) {
			return PythonExecutionOut{}, err
		}
		return PythonExecutionOut{Stdout: trouble.Stdout, Stderr: trouble.traceback(fault.From(err).Message), Artifacts: []string{}, Reads: trouble.Reads, varies: pythonVaries(in.Code)}, nil
	}))
}
