package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"interlock/internal/schema"
)

// Bounds of what a runner may send. All of it is hostile from the moment the job runs.
const (
	maxHeader  = 1 << 20
	maxPayload = 33 << 20
	maxTotal   = 128 << 20
)

var errFrame = errors.New("the runner broke its protocol")

// header is the head of any frame; each kind uses some of the fields.
type header struct {
	Kind string `json:"kind"`
	Len  int    `json:"len"`

	// ready
	WarmMS   float64           `json:"warm_ms"`
	Versions map[string]string `json:"versions"`
	Fonts    string            `json:"fonts"`
	Filtered bool              `json:"filtered"`
	// table
	Columns []schema.Column `json:"columns"`
	Rows    int             `json:"rows"`
	Sent    int             `json:"sent"`
	// file, skipped
	Name   string `json:"name"`
	Reason string `json:"reason"`
	// done
	Error *jobFailure `json:"error"`
	// exit
	Code       int     `json:"code"`
	Flooded    bool    `json:"flooded"`
	Truncated  bool    `json:"truncated"`
	RSS        int64   `json:"rss_kb"`
	CPUSeconds float64 `json:"cpu_seconds"`
}

// readFrame reads one frame: a 4-byte big-endian length, a JSON header of that
// length, and as many bytes as the header says.
func readFrame(r io.Reader) (header, []byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return header{}, nil, err
	}
	n, err := headerSize(size[:])
	if err != nil {
		return header{}, nil, err
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(r, raw); err != nil {
		return header{}, nil, unexpectedEOF(err)
	}
	h, err := parseHeader(raw)
	if err != nil {
		return header{}, nil, err
	}
	payload := make([]byte, h.Len)
	if _, err := io.ReadFull(r, payload); err != nil {
		return header{}, nil, unexpectedEOF(err)
	}
	return h, payload, nil
}

func headerSize(size []byte) (int, error) {
	n := binary.BigEndian.Uint32(size)
	if n > maxHeader {
		return 0, fmt.Errorf("%w: a header of %d bytes", errFrame, n)
	}
	return int(n), nil
}

func parseHeader(raw []byte) (header, error) {
	var h header
	if err := json.Unmarshal(raw, &h); err != nil {
		return header{}, fmt.Errorf("%w: %w", errFrame, err)
	}
	if h.Len < 0 || h.Len > maxPayload {
		return header{}, fmt.Errorf("%w: a payload of %d bytes", errFrame, h.Len)
	}
	return h, nil
}

// unexpectedEOF turns the end of the stream inside a frame into an error.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// encode writes a request as the runner reads it: length and JSON.
func (r request) encode() ([]byte, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...), nil
}

// jobFrames cuts the frames of the job itself out of the chunks in which they are
// carried, which end anywhere.
type jobFrames struct {
	buffer []byte
	total  int
	head   *header // parsed, its payload not yet complete
}

// addChunk takes a chunk and yields each frame that is complete with it.
func (in *jobFrames) addChunk(chunk []byte, each func(header, []byte) error) error {
	in.total += len(chunk)
	if in.total > maxTotal {
		return fmt.Errorf("%w: more than %d bytes handed back", errFrame, maxTotal)
	}
	in.buffer = append(in.buffer, chunk...)
	for {
		if in.head == nil {
			if len(in.buffer) < 4 {
				return nil
			}
			n, err := headerSize(in.buffer)
			if err != nil || len(in.buffer) < 4+n {
				return err
			}
			h, err := parseHeader(in.buffer[4 : 4+n])
			if err != nil {
				return err
			}
			in.head, in.buffer = &h, in.buffer[4+n:]
		}
		n := in.head.Len
		if len(in.buffer) < n {
			return nil
		}
		if err := each(*in.head, in.buffer[:n:n]); err != nil {
			return err
		}
		in.head, in.buffer = nil, in.buffer[n:]
	}
}
