package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"syscall"
	"time"

	"interlock/internal/fault"
)

// maxFiles bounds figures and files together, maxFileName the bytes of a name.
const (
	maxFiles    = 20
	maxFileName = 200
)

// A jobFailure is what went wrong inside, as the runner reports it.
type jobFailure struct {
	Code    fault.Code  `json:"code"`
	Type    string      `json:"type"`
	Message string      `json:"message"`
	Line    int         `json:"line"`
	Frames  []UserFrame `json:"frames"`
}

// A UserError is an exception of the code: the details of a user_error or policy fault.
type UserError struct {
	Type   string      `json:"type,omitempty"`
	Line   int         `json:"line,omitempty"`
	Frames []UserFrame `json:"frames,omitempty"` // only of the code itself, outermost first
}

// A UserFrame is one line of the code on the way to its exception.
type UserFrame struct {
	Line     int    `json:"line"`
	Function string `json:"function,omitempty"`
	Text     string `json:"text,omitempty"`
}

// collector gathers the frames of one job into its outcome.
type collector struct {
	job     *preparedJob
	outcome Outcome
	out     strings.Builder
	errs    strings.Builder
	inner   jobFrames
	started bool
	done    *header
	exit    *header
}

// addFrame takes a frame of the runner's parent process.
func (c *collector) addFrame(h header, payload []byte, outputBytes int) error {
	switch h.Kind {
	case "stdout":
		return c.addOutput(&c.out, c.job.Stdout, payload, outputBytes)
	case "stderr":
		return c.addOutput(&c.errs, c.job.Stderr, payload, outputBytes)
	case "raw":
		return c.inner.addChunk(payload, c.addJobFrame)
	case "ready": // of a runner that was started with its job
		return nil
	case "exit":
		c.exit = &h
		c.outcome.Truncated = c.outcome.Truncated || h.Truncated
		c.outcome.CPU = time.Duration(h.CPUSeconds * float64(time.Second))
		c.outcome.PeakMemory = h.RSS << 10
		return nil
	}
	return fmt.Errorf("%w: a frame of kind %q", errFrame, h.Kind)
}

func (c *collector) addOutput(into *strings.Builder, stream func([]byte), text []byte, limit int) error {
	if into.Len()+len(text) > limit {
		text = text[:max(0, limit-into.Len())]
		c.outcome.Truncated = true
	}
	into.Write(text)
	if stream != nil && len(text) > 0 {
		stream(text)
	}
	return nil
}

// addJobFrame takes a frame of the job's own process, which user code can forge: it
// harms nothing but this job's own result.
func (c *collector) addJobFrame(h header, payload []byte) error {
	if c.done != nil {
		return fmt.Errorf("%w: a frame after the last", errFrame)
	}
	switch h.Kind {
	case "started":
		c.started = true
	case "table":
		if err := checkColumns(h.Columns, h.Rows); err != nil {
			return err
		}
		sent, err := checkRows(payload, len(h.Columns), c.job.Rows)
		if err != nil {
			return fmt.Errorf("%w: %w", errFrame, err)
		}
		c.outcome.Columns, c.outcome.Rows = h.Columns, payload
		c.outcome.RowCount, c.outcome.Sent, c.outcome.Limited = max(h.Rows, sent), sent, h.Rows > sent
	case "value":
		if !json.Valid(payload) {
			return fmt.Errorf("%w: a value that is no JSON", errFrame)
		}
		c.outcome.Value = payload
	case "file":
		if len(c.outcome.Files)+len(c.outcome.Figures) >= maxFiles {
			return fmt.Errorf("%w: more than %d files", errFrame, maxFiles)
		}
		f := File{Name: baseName(h.Name), Type: contentType(h.Name, payload), Data: payload}
		if strings.HasPrefix(f.Name, "figure_") && f.Type == "image/png" {
			c.outcome.Figures = append(c.outcome.Figures, f)
			return nil
		}
		c.outcome.Files = append(c.outcome.Files, f)
	case "skipped":
		if len(c.outcome.Skipped) < 100 {
			c.outcome.Skipped = append(c.outcome.Skipped, Skipped{baseName(h.Name), truncate(h.Reason, maxLabel)})
		}
	case "done":
		c.done = &h
	default:
		return fmt.Errorf("%w: a frame of kind %q", errFrame, h.Kind)
	}
	return nil
}

// buildOutcome returns what the job gave back; with a fault only what was printed
// is kept.
func (c *collector) buildOutcome(err error, elapsed time.Duration) (*Outcome, error) {
	c.outcome.Stdout = strings.ToValidUTF8(c.out.String(), "\uFFFD")
	c.outcome.Stderr = strings.ToValidUTF8(c.errs.String(), "\uFFFD")
	c.outcome.Elapsed = elapsed
	if err == nil {
		err = c.jobFault()
	}
	if err != nil {
		o := c.outcome
		return &Outcome{Stdout: o.Stdout, Stderr: o.Stderr, Truncated: o.Truncated, Elapsed: o.Elapsed, CPU: o.CPU, PeakMemory: o.PeakMemory}, err
	}
	return &c.outcome, nil
}

// jobFault says how the job failed, or nil. What the parent says about the end of
// the process counts more than what the job says.
func (c *collector) jobFault() error {
	switch {
	case c.exit.Flooded:
		return fault.New(fault.PyOutputLimit, "the code printed far more than is kept and was stopped")
	case c.exit.Code == 0 && c.done != nil:
		return c.done.Error.truncated().toFault()
	case !c.started:
		return fault.New(fault.PyUnavailable, "the interpreter ended before the code began (exit %d)", c.exit.Code)
	}
	signal := syscall.Signal(-c.exit.Code)
	limit := float64(c.job.request.CPUSeconds)
	switch {
	case signal == syscall.SIGXCPU, signal == syscall.SIGKILL && c.exit.CPUSeconds >= limit:
		return fault.New(fault.PyCPUTime, "the code used more than %d s of processor time", c.job.request.CPUSeconds)
	case signal == syscall.SIGKILL:
		return fault.New(fault.PyMemory, "the system ended the code, most likely for its memory")
	case c.exit.Code < 0:
		return fault.New(fault.PyDied, "the Python process died of %v", signal)
	case c.exit.Code == 0:
		return fault.New(fault.PyDied, "the Python process left without handing back a result")
	}
	return fault.New(fault.PyDied, "the Python process left with exit code %d", c.exit.Code)
}

func (f *jobFailure) toFault() error {
	if f == nil {
		return nil
	}
	details := UserError{Type: f.Type, Line: f.Line, Frames: f.Frames}
	switch f.Code {
	case fault.PyPolicy:
		return fault.New(fault.PyPolicy, "%s", f.Message).With(details)
	case fault.PyMemory:
		return fault.New(fault.PyMemory, "the code needed more memory than it may use")
	case fault.PyResultError:
		return fault.New(fault.PyResultError, "%s", f.Message)
	}
	if f.Line > 0 {
		return fault.New(fault.PyUserError, "%s in line %d: %s", f.Type, f.Line, f.Message).With(details)
	}
	return fault.New(fault.PyUserError, "%s: %s", f.Type, f.Message).With(details)
}

// baseName makes a plain file name of whatever came.
func baseName(name string) string {
	name = path.Base(path.Clean("/" + strings.ReplaceAll(name, `\`, "/")))
	if name == "/" {
		return "file"
	}
	return truncate(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_")), maxFileName)
}

// textTypes are the kinds of text that a suffix may claim; what is binary is
// judged by its content alone.
var textTypes = map[string]string{
	".csv": "text/csv", ".tsv": "text/tab-separated-values", ".json": "application/json", ".html": "text/html", ".txt": "text/plain", ".md": "text/markdown",
}

func contentType(name string, data []byte) string {
	seen, _, _ := strings.Cut(http.DetectContentType(data), ";")
	suffix := strings.ToLower(path.Ext(name))
	switch {
	case seen == "application/zip" && suffix == ".xlsx":
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	case strings.HasPrefix(seen, "text/"):
		if t, ok := textTypes[suffix]; ok {
			return t
		}
		return "text/plain"
	}
	return seen
}
