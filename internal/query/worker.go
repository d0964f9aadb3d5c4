package query

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// workerArg is the argument that makes this binary a worker. Requests come in on
// descriptor 3, answers go out on descriptor 4, and the number of a call to be
// cancelled comes in on descriptor 5; what the engine prints is nobody's.
const workerArg = "interlock-query-worker"

// Main turns this process into the query worker that it was started as, and never
// returns then; in any other process it does nothing. Call it first in main, and
// in TestMain of tests that make an Engine, after jail.Main.
func Main() {
	if len(os.Args) != 2 || os.Args[1] != workerArg {
		return
	}
	signal.Ignore(syscall.SIGXFSZ, syscall.SIGINT, syscall.SIGPIPE)
	s := &server{in: bufio.NewReaderSize(os.NewFile(3, "requests"), 64<<10), out: os.NewFile(4, "answers")}
	go s.watch(os.NewFile(5, "cancels"))
	if err := s.serve(); err != nil {
		fmt.Fprintln(os.Stderr, "query worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A server is the worker's side: it answers one call at a time, on the goroutine
// that reads it. A second goroutine waits for cancels; it also ends the process
// when the program that wanted answers is gone.
type server struct {
	in  *bufio.Reader
	out *os.File

	reader *reader // after askOpen

	mu       sync.Mutex
	call     uint32
	cancel   context.CancelFunc
	tooEarly uint32 // the call that was cancelled before it was read
}

func (s *server) serve() error {
	var buf []byte
	for {
		var f frame
		var err error
		if f, buf, err = readFrame(s.in, buf); err != nil {
			return nil // the pipe is closed: nobody wants more
		}
		ctx, cancel := context.WithCancel(context.Background())
		s.mu.Lock()
		s.call, s.cancel = f.call, cancel
		if s.tooEarly == f.call {
			cancel()
		}
		s.mu.Unlock()
		err = s.answer(ctx, f)
		cancel()
		if err != nil {
			return err
		}
	}
}

// watch cancels calls by their numbers.
func (s *server) watch(cancels io.Reader) {
	for {
		var number [4]byte
		if _, err := io.ReadFull(cancels, number[:]); err != nil {
			os.Exit(0)
		}
		call := binary.LittleEndian.Uint32(number[:])
		s.mu.Lock()
		if s.call == call {
			s.cancel()
		} else {
			s.tooEarly = call
		}
		s.mu.Unlock()
	}
}

// answer handles one call. What fails in the engine is told; an error ends the worker.
func (s *server) answer(ctx context.Context, f frame) error {
	done, err := s.handle(ctx, f)
	if err != nil {
		return s.fail(f.call, err)
	}
	return writeFrame(s.out, frame{tellDone, f.call, done})
}

func (s *server) fail(call uint32, err error) error {
	e, ok := errors.AsType[*engineErr](err)
	if !ok {
		kind := "Worker"
		if errors.Is(err, context.Canceled) {
			kind = "INTERRUPT"
		}
		e = &engineErr{Kind: kind, Message: err.Error(), Position: -1}
	}
	return writeJSON(s.out, tellFailed, call, e)
}

func (s *server) handle(ctx context.Context, f frame) ([]byte, error) {
	switch f.kind {
	case askOpen:
		var o openOrder
		if err := json.Unmarshal(f.payload, &o); err != nil {
			return nil, err
		}
		r, err := newReader(o)
		if s.reader = r; err != nil {
			return nil, err
		}
		return r.inputs(ctx)
	case askBuild:
		var o buildOrder
		if err := json.Unmarshal(f.payload, &o); err != nil {
			return nil, err
		}
		return build(ctx, o, func(table string, rows int64) {
			_ = writeJSON(s.out, tellProgress, f.call, progress{table, rows})
		})
	}
	if s.reader == nil {
		return nil, errors.New("no database is open")
	}
	return s.reader.handle(ctx, f, s.out)
}
