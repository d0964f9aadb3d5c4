package toolbox

import (
	"context"

	"interlock/internal/tool"
)

// ExecutePythonIn is what execute_python takes; the machine binds MaxRows and Seconds.
type ExecutePythonIn struct {
	DatasetID  string `json:"dataset_id" jsonschema:"id of the dataset"`
	PythonCode string `json:"python_code" jsonschema:"Python; set result_df"`
	Answer     bool   `json:"answer,omitempty" jsonschema:"true on the one call whose table answers the question"`
	MaxRows    int    `json:"max_rows"`
	Seconds    int    `json:"seconds"`
}

func (b box) executePython() tool.Tool {
	return b.versioned(tool.New(spec("execute_python", tool.Writes, taints, mainArgument("python_code"), pythonTime, answerApart), func(ctx context.Context, in ExecutePythonIn) (PythonOut, error) {
		return b.python(ctx, PythonJob{Dataset: dataset(ctx, in.DatasetID), Code: in.PythonCode, MaxRows: in.MaxRows, Seconds: in.Seconds})
	}))
}
