package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// Bounds of a job that no setting widens.
const (
	maxCode   = 256 << 10
	maxTables = 60 // handed over at once
)

// A Job is one piece of code to run. Zero limits are the executor's.
type Job struct {
	Code    string
	Tables  []Table // tables of the dataset and earlier results; later ones win over earlier ones of the same name
	Timeout time.Duration
	Rows    int

	// Stdout and Stderr are called with output as it comes, from one goroutine.
	Stdout, Stderr func([]byte)
}

// A Table is a DataFrame of that name for the code. Exactly one of the others is
// set; a table that the code does not name is neither made nor handed over.
type Table struct {
	Name   string
	Bundle string                                    // file of a column bundle
	Make   func(ctx context.Context) (string, error) // makes one and gives its file, once per data version by the maker's own care
	Result *Result                                   // rows of an earlier step
}

// A Result is a table as typed JSON: an array of arrays, in which integers beyond
// 2^53, inexact decimals, dates and times are text.
type Result struct {
	Columns []schema.Column
	Rows    json.RawMessage
}

// An Outcome is what a job gave back.
type Outcome struct {
	Columns  []schema.Column
	Rows     json.RawMessage // nil without a result
	RowCount int             // of the whole result
	Sent     int             // of Rows
	Limited  bool            // more rows exist than are here
	Value    json.RawMessage // the plain value behind a result that is none of a DataFrame

	Stdout    string
	Stderr    string
	Truncated bool // more was printed than is here

	Figures []File    // open figures, as PNG
	Files   []File    // what the code wrote to its folder
	Skipped []Skipped // what it wrote and was not kept

	Elapsed    time.Duration
	CPU        time.Duration
	PeakMemory int64 // bytes
}

// A File is something that a job made. Its name is a plain base name; its type is
// worked out from its content.
type File struct {
	Name string
	Type string
	Data []byte
}

// A Skipped file and the reason why it was not kept.
type Skipped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// request is a job as the runner reads it.
type request struct {
	Code       string                 `json:"code"`
	Tables     map[string]tableSource `json:"tables"`
	Rows       int                    `json:"rows"`
	CPUSeconds int                    `json:"cpu_seconds"`
	Allow      []string               `json:"allow"`
}

// A tableSource is where the runner finds a table: a descriptor that came along, or
// a path inside.
type tableSource struct {
	FD   *int   `json:"fd,omitempty"`
	Path string `json:"path,omitempty"`
}

// An openTable is a table that was opened for a job.
type openTable struct {
	name string
	file *os.File
}

// A preparedJob is a checked job with its tables opened.
type preparedJob struct {
	Job
	request request
	tables  []openTable
}

func (p *preparedJob) close() {
	for _, t := range p.tables {
		t.file.Close()
	}
}

// prepareJob checks a job and opens the tables that its code names.
func prepareJob(ctx context.Context, c Config, job Job) (_ *preparedJob, err error) {
	switch {
	case strings.TrimSpace(job.Code) == "":
		return nil, fault.New(fault.EmptyPayload, "there is no Python code to run")
	case len(job.Code) > maxCode:
		return nil, fault.New(fault.TooLarge, "the code has %d bytes, more than %d", len(job.Code), maxCode)
	case !utf8.ValidString(job.Code) || strings.ContainsRune(job.Code, 0):
		return nil, fault.New(fault.PyPolicy, "the code is no UTF-8 text or contains a NUL")
	}
	if job.Timeout <= 0 || job.Timeout > c.Timeout {
		job.Timeout = c.Timeout
	}
	if job.Rows <= 0 || job.Rows > c.Rows {
		job.Rows = c.Rows
	}
	p := &preparedJob{Job: job, request: request{
		Code: job.Code, Tables: map[string]tableSource{}, Rows: job.Rows, CPUSeconds: cpuSeconds(job.Timeout), Allow: append([]string{}, c.AllowImports...),
	}}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	named := map[string]Table{}
	for _, t := range job.Tables {
		if strings.Contains(job.Code, t.Name) && t.Name != "" {
			named[t.Name] = t
		}
	}
	if len(named) > maxTables {
		return nil, fault.New(fault.TooLarge, "the code names %d tables, more than %d", len(named), maxTables)
	}
	for name, t := range named {
		file, err := t.open(ctx, c.Dir)
		if err != nil {
			return nil, fmt.Errorf("handing over table %s: %w", name, err)
		}
		p.tables = append(p.tables, openTable{name, file})
	}
	return p, nil
}

// cpuSeconds stays a second below the wall clock, so that a busy loop is told
// apart from one that waits.
func cpuSeconds(wall time.Duration) int {
	return max(1, int((wall+time.Second-1)/time.Second)-1)
}

func (t Table) open(ctx context.Context, dir string) (*os.File, error) {
	path := t.Bundle
	switch {
	case t.Result != nil:
		return t.Result.writeUnnamed(dir)
	case t.Make != nil:
		var err error
		if path, err = t.Make(ctx); err != nil {
			return nil, err
		}
	}
	if path == "" {
		return nil, errors.New("it has neither bundle, maker nor result")
	}
	return os.Open(path)
}
