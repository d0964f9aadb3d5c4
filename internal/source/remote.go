package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// A Remote is a database that is an engine of its own: whole statements run there, in
// its dialect. It runs decisions of the policy, never a text, in sessions that can only
// read.
type Remote interface {
	Run(ctx context.Context, d sqlpolicy.Decision, limits Limits) (Answer, error)
	Close() error
}

// Limits of a statement in another engine.
type Limits struct {
	Rows    int           // 1,000 by default
	Bytes   int           // of the encoded rows; 8 MB by default
	Timeout time.Duration // 30 s by default
	// To, if not nil, gets the rows as they come, each a line with a JSON object of c0,
	// c1 …; the answer has none then.
	To io.Writer
}

// An Answer is the result of a statement in another engine.
type Answer struct {
	Page
	Limited bool // more rows exist than were read
	Elapsed time.Duration
}

// Connect opens a database as an engine of its own.
func Connect(ctx context.Context, c Config) (Remote, error) {
	c, err := c.prepare()
	if err != nil {
		return nil, err
	}
	connector, err := connectorFor(c)
	if err != nil {
		return nil, err
	}
	return connector.connect(ctx, c)
}

func (l Limits) orDefault() Limits {
	if l.Rows == 0 {
		l.Rows = 1000
	}
	if l.Bytes == 0 {
		l.Bytes = 8 << 20
	}
	if l.Timeout == 0 {
		l.Timeout = 30 * time.Second
	}
	return l
}

// An answer collects rows as JSON up to the limits, or passes them on.
type answer struct {
	Answer
	limits Limits
	since  time.Time
	rows   []byte
	passed int   // bytes
	mixed  []int // columns that became text
	failed error // of whom they are passed on to
}

// keepText makes a column of the answer text from this row on; finish converts the rows
// before.
func (a *answer) keepText(i int) {
	a.Columns[i].Type = schema.Type{Kind: schema.Text}
	a.mixed = append(a.mixed, i)
}

// quoteMixed writes the numbers and booleans of columns that became text as strings.
func (a *answer) quoteMixed(rows []byte) ([]byte, error) {
	var cells [][]json.RawMessage
	if err := json.Unmarshal(rows, &cells); err != nil {
		return nil, fmt.Errorf("reading rows: %w", err)
	}
	for _, row := range cells {
		for _, i := range a.mixed {
			if cell := row[i]; cell[0] != '"' && string(cell) != "null" {
				row[i] = appendString(nil, cell)
			}
		}
	}
	return json.Marshal(cells)
}

// addRow adds a row, whose cells cell appends, and says whether more rows are wanted.
func (a *answer) addRow(cell func(dst []byte, i int) []byte) (more bool) {
	if a.Count >= a.limits.Rows {
		a.Limited = true
		return false
	}
	begin := len(a.rows)
	open, end := "[", "]"
	if a.limits.To != nil {
		open, end = "{", "}\n"
	} else if a.Count > 0 {
		a.rows = append(a.rows, ',')
	}
	a.rows = append(a.rows, open...)
	for i := range a.Columns {
		if i > 0 {
			a.rows = append(a.rows, ',')
		}
		if a.limits.To != nil {
			a.rows = fmt.Appendf(a.rows, `"c%d":`, i)
		}
		at := len(a.rows)
		a.rows = cell(a.rows, i)
		widenDecimal(&a.Columns[i].Type, a.rows[at:])
	}
	a.rows = append(a.rows, end...)
	if a.passed+len(a.rows) > a.limits.Bytes {
		a.rows, a.Limited = a.rows[:begin], true
		return false
	}
	a.Count++
	if a.limits.To != nil {
		a.passed += len(a.rows)
		_, a.failed = a.limits.To.Write(a.rows)
		a.rows = a.rows[:0]
	}
	return a.failed == nil
}

// widenDecimal makes a decimal type without a fixed width wide enough for a number.
func widenDecimal(t *schema.Type, number []byte) {
	if t.Kind != schema.Decimal || t.Fixed {
		return
	}
	whole, part, _ := strings.Cut(strings.Trim(string(number), `"-`), ".")
	if whole == "null" {
		return
	}
	before := max(t.Width-t.Scale, len(whole))
	t.Scale = max(t.Scale, len(part))
	t.Width = before + t.Scale
}

func (a *answer) finish() (Answer, error) {
	for i, c := range a.Columns {
		if c.Type.Kind == schema.Decimal && (c.Type.Width > 38 || c.Type.Width == 0) {
			a.keepText(i) // more digits than a decimal has
		}
	}
	a.Elapsed = time.Since(a.since)
	if a.limits.To == nil {
		a.Rows = append(append([]byte{'['}, a.rows...), ']')
		if len(a.mixed) > 0 {
			var err error
			if a.Rows, err = a.quoteMixed(a.Rows); err != nil {
				return Answer{}, err
			}
		}
	}
	return a.Answer, a.failed
}

// textCell encodes a value that its system gave as text. A value that the type of its
// column would change makes the column text.
func (a *answer) textCell(dst []byte, i int, p []byte) []byte {
	text := string(p)
	kept := true
	switch a.Columns[i].Type.Kind {
	case schema.Bool:
		switch text {
		case "t", "true", "1":
			return append(dst, "true"...)
		case "f", "false", "0":
			return append(dst, "false"...)
		}
		kept = false
	case schema.Int:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
			return appendWhole(dst, n)
		}
		kept = false
	case schema.Float:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return appendFloat(dst, f)
		}
		kept = false
	case schema.Decimal, schema.Uint:
		if numeralForm.MatchString(text) {
			return appendNumber(dst, text)
		}
		kept = false
	case schema.Bytes:
		return appendString(dst, blobText(p))
	case schema.Date:
		kept = keepsDay(text)
	case schema.Time:
		_, kept = parseClock(p)
	case schema.Timestamp, schema.TimestampTZ:
		kept = keepsMoment(text)
	}
	if !kept {
		a.keepText(i)
	}
	return appendString(dst, p)
}

// statementFault turns an error of a statement into a fault: its time limit, or what the
// driver reports.
func (c Config) statementFault(asked, bounded context.Context, err error) error {
	if asked.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		return fault.Wrap(c.Password.scrub(err), fault.QueryTimeout, "the statement at %s took longer than allowed", c.displayName())
	}
	return c.driverFault(asked, err, "querying")
}
