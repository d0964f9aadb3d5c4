package toolbox

import (
	"context"
	"encoding/json"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/tool"
)

// Python runs code in a sandbox, with the tables of a dataset as DataFrames.
type Python interface {
	Run(ctx context.Context, job PythonJob) (PythonOut, error)
}

// A PythonJob is one piece of code to run.
type PythonJob struct {
	Dataset string
	Code    string
	MaxRows int
	Seconds int
}

// PythonOut is the result of execute_python.
type PythonOut struct {
	QueryOut
	Value     json.RawMessage      `json:"value,omitempty"` // where the result is no table
	Stdout    string               `json:"stdout"`
	Stderr    string               `json:"stderr"`
	Artifacts []string             `json:"artifacts"`
	Stored    []event.ArtifactMade `json:"-"`
}

// Made lists what the code left.
func (p PythonOut) Made() []event.ArtifactMade { return p.Stored }

// ExecutePythonIn is what execute_python takes; the machine binds MaxRows and Seconds.
type ExecutePythonIn struct {
	DatasetID  string `json:"dataset_id" jsonschema:"id of the dataset"`
	PythonCode string `json:"python_code" jsonschema:"Python; set result_df"`
	MaxRows    int    `json:"max_rows"`
	Seconds    int    `json:"seconds"`
}

func (b box) executePython() tool.Tool {
	return b.versioned(tool.New(spec("execute_python", tool.Writes, taints, mainArgument("python_code")), func(ctx context.Context, in ExecutePythonIn) (PythonOut, error) {
		if b.Python == nil {
			return PythonOut{}, fault.New(fault.FeatureDisabled, "Python is switched off on this server").
				Suggest("Use SQL; the operator can switch Python on, see `interlock doctor`.")
		}
		return b.Python.Run(ctx, PythonJob{Dataset: dataset(ctx, in.DatasetID), Code: in.PythonCode, MaxRows: in.MaxRows, Seconds: in.Seconds})
	}))
}
