package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"

	"interlock/internal/fault"
)

const (
	maxEvent  = 4 << 20
	maxStream = 64 << 20
)

// events reads a stream of server-sent events and yields the data of each. It
// takes what servers send in practice: any line end, comments, no space after
// the colon, plain JSON without `data:`, a last event without an empty line.
// A broken connection is the last error; a clean end is none.
func events(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewReaderSize(io.LimitReader(r, maxStream+1), 32<<10)
		var data []byte
		var plain *braceTracker // of JSON that came without `data:`
		total := 0
		for {
			line, err := readLine(lines)
			total += len(line)
			if err == nil && total > maxStream || len(data)+len(line) > maxEvent {
				err = &attemptError{code: fault.ModelBadOutput, text: "the stream is longer than any reply may be"}
				data, line = nil, nil
			}
			line = bytes.TrimRight(line, "\r\n")
			switch {
			case len(line) == 0:
				if len(data) > 0 && !yield(data, nil) {
					return
				}
				data, plain = nil, nil
			case bytes.HasPrefix(line, []byte("data:")):
				if data != nil {
					data = append(data, '\n')
				}
				data = append(data, bytes.TrimPrefix(line[len("data:"):], []byte(" "))...)
			case plain != nil || line[0] == '{':
				if plain == nil {
					plain = &braceTracker{}
				}
				data = append(append(data, line...), '\n')
				if plain.track(string(line)); plain.closed {
					if !yield(data, nil) {
						return
					}
					data, plain = nil, nil
				}
			}
			if err != nil {
				if len(data) > 0 && !yield(data, nil) {
					return
				}
				if !errors.Is(err, io.EOF) {
					yield(nil, err)
				}
				return
			}
		}
	}
}

// readLine reads up to the next line end, or as much as an event may have.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > maxEvent {
			if errors.Is(err, bufio.ErrBufferFull) {
				err = nil
			}
			return line, err
		}
	}
}
