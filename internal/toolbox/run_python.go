package toolbox

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/tool"
)

// Rows of a result of run_python: all of them are kept, some are shown.
const (
	keptRows  = 10_000_000
	shownRows = 1000
)

// RunPythonIn is what run_python takes; the machine binds Frames and Seconds.
type RunPythonIn struct {
	Code    string  `json:"code" jsonschema:"Python; fetched results are DataFrames of their names; set result_df"`
	Name    string  `json:"name,omitempty" jsonschema:"what result_df holds, in a word or two; later steps use it by this name"`
	Answer  bool    `json:"answer,omitempty" jsonschema:"true on the one call whose table answers the question"`
	Timeout int     `json:"timeout,omitempty" jsonschema:"seconds"`
	Frames  []Frame `json:"frames,omitempty"`
	Seconds int     `json:"seconds"`
}

// RunPythonOut is what the code gave; its result is a frame for later steps.
type RunPythonOut struct {
	Name        string          `json:"name,omitempty"`
	ResultID    string          `json:"result_id,omitempty"`
	Columns     []string        `json:"columns,omitempty"`
	ColumnTypes []string        `json:"column_types,omitempty"`
	Rows        json.RawMessage `json:"rows,omitempty"`
	RowCount    int             `json:"row_count,omitempty"` // of the frame
	Limited     bool            `json:"limited,omitempty"`   // Rows are not all of them
	Note        string          `json:"note,omitempty"`
	Stdout      string          `json:"stdout"`
	Stderr      string          `json:"stderr"`
	Artifacts   []string        `json:"artifacts,omitempty"`
	Reads       []string        `json:"reads"` // tables and earlier results that the code names

	made   []event.ArtifactMade
	varies bool
}

// Varies says that the same code may give another result.
func (o RunPythonOut) Varies() bool { return o.varies }

// Made lists what the code left, its result included.
func (o RunPythonOut) Made() []event.ArtifactMade { return o.made }

func (b box) runPython() tool.Tool {
	return tool.Versioned(tool.New(spec("run_python", tool.Writes, taints, mainArgument("code"), pythonTime, codeApart), func(ctx context.Context, in RunPythonIn) (RunPythonOut, error) {
		job := PythonJob{Dataset: tool.In(ctx).Dataset, Frames: in.Frames, Code: in.Code, MaxRows: keptRows, Seconds: in.Seconds}
		if in.Timeout > 0 {
			job.Seconds = min(in.Timeout, in.Seconds)
		}
		p, err := b.python(ctx, job)
		if err != nil {
			return RunPythonOut{}, err
		}
		out := RunPythonOut{Stdout: p.Stdout, Stderr: p.Stderr, Artifacts: p.Artifacts, Reads: p.Reads, made: p.Stored, varies: p.varies}
		if len(p.Table) == 0 {
			return out, nil
		}
		return b.keepPython(ctx, in, p, out)
	}), b.codeVersion)
}

// codeApart leaves out the earlier results, which are a part of the version of the call, and
// the name of the result: under another name it is the same result.
func codeApart(s *tool.Spec) { s.IgnoreInIdentity = []string{"frames", "name"} }

// reachesAll finds code that can reach results without their names.
var reachesAll = regexp.MustCompile(`\b(?:tables|globals|locals|vars|eval|exec|getattr)\b`)

// codeVersion is the version of the dataset, and of the earlier results that the code
// names: other results of the thread do not make another call of it.
func (b box) codeVersion(ctx context.Context, args json.RawMessage) string {
	var in RunPythonIn
	if json.Unmarshal(args, &in) != nil {
		return ""
	}
	version := b.Data.Version(ctx, tool.In(ctx).Dataset)
	if version == "" {
		return ""
	}
	named := map[string]bool{}
	for word := range strings.FieldsFuncSeq(in.Code, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		named[word] = true
	}
	all := reachesAll.MatchString(in.Code)
	for i, f := range in.Frames {
		newer := slices.ContainsFunc(in.Frames[i+1:], func(o Frame) bool { return o.Name == f.Name })
		if !newer && (all || named[f.Name]) {
			version += "+" + f.ResultID
		}
	}
	return version
}

// keepPython makes a frame of the code's result.
func (b box) keepPython(ctx context.Context, in RunPythonIn, p PythonOut, out RunPythonOut) (RunPythonOut, error) {
	if b.Results == nil {
		return out, errNoResults("run_python")
	}
	if p.Limited {
		return out, fault.New(fault.TooLarge, "The result has %d rows, more than the %d that are kept.", p.TotalRows, p.RowCount).
			Suggest("Aggregate, or take the rows that matter.")
	}
	r := Result{Name: computedName(in.Name, in.Frames), Producer: "python", Dataset: tool.In(ctx).Dataset, Source: in.Code, Columns: p.Table, Rows: p.Rows}
	kept, err := b.keepResult(ctx, r, shownRows)
	if err != nil {
		return out, err
	}
	for _, f := range in.Frames { // the same rows are there already
		if f.ResultID == kept.id && f.Dataset == "" {
			r.Name = f.Name
		}
	}
	out.Name, out.ResultID, out.Columns, out.ColumnTypes, out.RowCount = r.Name, kept.id, p.Columns, p.ColumnTypes, p.RowCount
	out.Rows, out.Limited, out.Note = kept.first, kept.note != "", kept.note
	out.made = append(out.made, kept.made)
	return out, nil
}
