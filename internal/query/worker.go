package query

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// workerArg is the argument that makes this binary a worker. Requests come in on
// descriptor 3, answers go out on descriptor 4; what the engine prints is nobody's.
const workerArg = "interlock-query-worker"

// Main turns this process into the query worker that it was started as, and never
// returns then; in any other process it does nothing. Call it first in main, and
// in TestMain of tests that make an Engine, after jail.Main.
func Main() {
	if len(os.Args) != 2 || os.Args[1] != workerArg {
		return
	}
	signal.Ignore(syscall.SIGXFSZ, syscall.SIGINT, syscall.SIGPIPE)
	w := &server{in: bufio.NewReaderSize(os.NewFile(3, "requests"), 64<<10), out: os.NewFile(4, "answers")}
	if err := w.serve(); err != nil {
		fmt.Fprintln(os.Stderr, "query worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A server is the worker's side: it answers one call at a time. A second goroutine
// reads requests, so that a cancel is seen while a call runs; the process ends when
// the pipe does.
type server struct {
	in  *bufio.Reader
	out *os.File

	reader *reader // after askOpen

	mu     sync.Mutex
	call   uint32
	cancel context.CancelFunc
}

// A request is a call with the context that a cancel ends.
type request struct {
	ctx   context.Context
	frame frame
}

func (s *server) serve() error {
	calls := make(chan request)
	go s.receive(calls)
	for r := range calls {
		if err := s.answer(r.ctx, r.frame); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) receive(calls chan<- request) {
	for {
		f, _, err := readFrame(s.in, nil)
		if err != nil {
			os.Exit(0) // the program that wanted answers is gone
		}
		s.mu.Lock()
		if f.kind == askCancel {
			if s.call == f.call && s.cancel != nil {
				s.cancel()
			}
			s.mu.Unlock()
			continue
		}
		if s.cancel != nil {
			s.cancel() // of the call before, which has been answered
		}
		ctx, cancel := context.WithCancel(context.Background())
		s.call, s.cancel = f.call, cancel
		s.mu.Unlock()
		calls <- request{ctx, f}
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
		s.reader = r
		return nil, err
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
