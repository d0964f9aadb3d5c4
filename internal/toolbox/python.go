package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/tool"
)

// Python runs code in a sandbox.
type Python interface {
	// Run runs one job to its end. The details of its faults are a PythonTrouble.
	Run(ctx context.Context, job PythonJob) (PythonOut, error)
}

// A PythonJob is one piece of code to run. Zero limits are the sandbox's.
type PythonJob struct {
	Dataset string  // its tables are DataFrames; "" for none
	Frames  []Frame // and so are these, of which the newest of a name wins
	Code    string
	MaxRows int
	Seconds int
}

// PythonOut is what a job gave, and the result of execute_python.
type PythonOut struct {
	QueryOut
	Value     json.RawMessage      `json:"value,omitempty"` // where the result is no table
	Stdout    string               `json:"stdout"`
	Stderr    string               `json:"stderr"`
	Artifacts []string             `json:"artifacts"`
	Reads     []string             `json:"reads" jsonschema:"tables and earlier results that the code names"`
	Skipped   []string             `json:"skipped,omitempty" jsonschema:"files that were not kept, and why"`
	Table     []schema.Column      `json:"-"` // the columns with their types; nil without a result
	Stored    []event.ArtifactMade `json:"-"`
}

// Made lists what the code left.
func (p PythonOut) Made() []event.ArtifactMade { return p.Stored }

// PythonTrouble is the details of a job that failed: what it had printed, and where
// in the code an exception came from.
type PythonTrouble struct {
	Type   string        `json:"type,omitempty"`
	Line   int           `json:"line,omitempty"`
	Frames []PythonFrame `json:"frames,omitempty"` // only of the code itself, outermost first
	Stdout string        `json:"stdout"`
	Stderr string        `json:"stderr"`
	Reads  []string      `json:"reads,omitempty"` // tables that the code names
}

// A PythonFrame is one line of the code on the way to its exception.
type PythonFrame struct {
	Line     int    `json:"line"`
	Function string `json:"function,omitempty"`
	Text     string `json:"text,omitempty"`
}

// traceback writes an exception as Python does, with the lines of the code alone.
func (t PythonTrouble) traceback(message string) string {
	var b strings.Builder
	b.WriteString(t.Stderr)
	if len(t.Frames) > 0 {
		b.WriteString("Traceback (most recent call last):\n")
	}
	for _, f := range t.Frames {
		fmt.Fprintf(&b, "  line %d", f.Line)
		if f.Function != "" {
			fmt.Fprintf(&b, ", in %s", f.Function)
		}
		fmt.Fprintf(&b, "\n    %s\n", f.Text)
	}
	b.WriteString(message)
	b.WriteByte('\n')
	return b.String()
}

// pythonTime lets a job end by its own limit and not by that of the call.
func pythonTime(s *tool.Spec) { s.Seconds = 360 }

// python runs a job, where there is a sandbox.
func (b box) python(ctx context.Context, job PythonJob) (PythonOut, error) {
	if b.Python == nil {
		return PythonOut{}, fault.New(fault.FeatureDisabled, "Python is switched off on this server").
			Suggest("Use SQL; the operator can switch Python on, see `interlock doctor`.")
	}
	out, err := b.Python.Run(ctx, job)
	out.varies = pythonVaries(job.Code)
	return out, err
}

// chanceOrClock are words of programs whose results chance, the clock or the process
// decide.
var chanceOrClock = regexp.MustCompile(`\b(?:\w*random\w*|rand(?:int|n|range)?|shuffle|sample|secrets|uuid\w*|now|utcnow|today|perf_counter|getpid)\b|` +
	`\b(?:import|from)\s+(?:[\w., ]*,\s*)?(?:time|datetime)\b|\b(?:id|hash)\s*\(`)

// pythonVaries says whether the same code may give another result. It says so too
// often rather than too seldom: then the code only runs once more.
func pythonVaries(code string) bool { return chanceOrClock.MatchString(code) }
