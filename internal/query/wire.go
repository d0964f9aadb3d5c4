package query

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// A frame is one message between this program and a worker:
//
//	kind 1 byte · call 4 bytes · length 4 bytes · payload
//
// A call is one request and its answers; the last answer is done or failed. A call
// is cancelled by its number on a pipe of its own, so that a worker reads requests
// on the goroutine that answers them.
type frame struct {
	kind    frameKind
	call    uint32
	payload []byte
}

type frameKind byte

const (
	// requests
	askOpen   frameKind = 'o' // openOrder
	askTree   frameKind = 't' // the text
	askPlan   frameKind = 'p' // the text
	askRun    frameKind = 'r' // runOrder
	askExport frameKind = 'e' // exportOrder
	askBuild  frameKind = 'b' // buildOrder
	askCreate frameKind = 'c' // createOrder, of a workspace
	askDrop   frameKind = 'u' // names of tables, of a workspace
	// answers
	tellColumns  frameKind = 'h' // []Column
	tellRows     frameKind = 'd' // a part of a JSON array
	tellProgress frameKind = 'g' // progress
	tellDone     frameKind = 'k' // depends on the request
	tellFailed   frameKind = 'x' // engineErr
)

// maxFrame bounds a message; both sides refuse more.
const maxFrame = 64 << 20

const frameHead = 9

func writeFrame(w io.Writer, f frame) error {
	head := make([]byte, frameHead, frameHead+len(f.payload))
	head[0] = byte(f.kind)
	binary.LittleEndian.PutUint32(head[1:], f.call)
	binary.LittleEndian.PutUint32(head[5:], uint32(len(f.payload)))
	_, err := w.Write(append(head, f.payload...))
	return err
}

func writeJSON(w io.Writer, kind frameKind, call uint32, v any) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	return writeFrame(w, frame{kind, call, payload})
}

// readFrame reads a message into buf, which grows as needed and is used again.
func readFrame(r *bufio.Reader, buf []byte) (frame, []byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, buf, err
	}
	n := int(binary.LittleEndian.Uint32(head[5:]))
	if n > maxFrame {
		return frame{}, buf, fmt.Errorf("a message of %d bytes", n)
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := io.ReadFull(r, buf); err != nil {
		return frame{}, buf, err
	}
	return frame{frameKind(head[0]), binary.LittleEndian.Uint32(head[1:]), buf}, buf, nil
}

// openOrder begins the life of a worker that answers queries.
type openOrder struct {
	Path     string
	Files    []string
	Scratch  string
	Threads  int
	MemoryMB int
	SpillMB  int

	Workspace bool // in place of Path and Files: a catalog in memory, and these
	Attached  []attachedTable
}

// runOrder is a statement to run.
type runOrder struct {
	SQL      string
	Args     []string
	MaxRows  int
	MaxBytes int
	MaxCell  int
}

// runReport ends a run.
type runReport struct {
	Rows    int
	Limited bool
	Cut     int
}

// exportOrder writes a result into a file of the worker's folder.
type exportOrder struct {
	SQL      string
	Args     []string
	Format   Format
	File     string
	MaxBytes int64
	wideText bool // integers of 128 bits are text, because one has too many digits
}

type progress struct {
	Table string
	Rows  int64
}
