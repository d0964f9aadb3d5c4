package document

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock/internal/fault"
	"interlock/internal/jail"
)

// Config bounds what reading a document may cost. The zero value has the defaults.
type Config struct {
	MaxFileBytes int64         // of a file; default 256 MiB
	MaxTextBytes int64         // of its text, the rest is left out with a note; default 32 MiB
	MemoryBytes  uint64        // of the worker's address space; default 2 GiB above its file
	Timeout      time.Duration // of one document; default 2 minutes
}

func (c Config) withDefaults() Config {
	c.MaxFileBytes = cmp.Or(c.MaxFileBytes, 256<<20)
	c.MaxTextBytes = cmp.Or(c.MaxTextBytes, 32<<20)
	c.MemoryBytes = cmp.Or(c.MemoryBytes, 2<<30)
	c.Timeout = cmp.Or(c.Timeout, 2*time.Minute)
	return c
}

// A Reader reads documents, one at a time, in a worker that it starts when it is first used. A worker
// that dies or does not answer in time is replaced for the next document. Readers of different owners
// should be different ones: a document that takes its worker over could change what the next becomes.
type Reader struct {
	cfg Config // fixed at creation

	mu     sync.Mutex
	worker *worker // nil when none runs
}

// NewReader makes a Reader. Close it to end its worker.
func NewReader(c Config) *Reader { return &Reader{cfg: c.withDefaults()} }

// Close ends the worker.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopWorker()
	return nil
}

func (r *Reader) stopWorker() {
	if r.worker != nil {
		r.worker.stop()
		r.worker = nil
	}
}

// ReadFile reads the document at a path. Only regular files are read.
func (r *Reader) ReadFile(ctx context.Context, path string) (*Document, error) {
	kind := KindOf(path)
	if kind == "" {
		return nil, fault.New(fault.DocumentUnreadable, "%s is no kind of document that can be read", path).Suggest("Documents are txt, md, html, pdf, docx and csv files.")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.DocumentUnreadable, "%s cannot be opened: %v", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, fault.Wrap(err, fault.DocumentUnreadable, "%s is not a regular file", path)
	}
	return r.Read(ctx, path, kind, f, info.Size())
}

// Read reads a document of size bytes. name is used in messages only.
func (r *Reader) Read(ctx context.Context, name string, kind Kind, content io.Reader, size int64) (*Document, error) {
	if size > r.cfg.MaxFileBytes {
		return nil, fault.New(fault.TooLarge, "%s has %d MB; documents may have %d", name, size>>20, r.cfg.MaxFileBytes>>20).Suggest("Split the document.")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	if r.worker == nil {
		w, err := startWorker(r.cfg)
		if err != nil {
			return nil, fault.Wrap(err, fault.Unavailable, "documents cannot be read on this machine: %v", err)
		}
		r.worker = w
	}
	a, err := r.worker.read(ctx, request{Kind: kind, Size: size, MaxText: r.cfg.MaxTextBytes}, content)
	if err != nil {
		r.stopWorker()
		return nil, r.workerFault(ctx, name, err)
	}
	switch a.Problem {
	case "":
		return a.Document, nil
	case problemEncrypted:
		return nil, fault.New(fault.DocumentEncrypted, "%s is protected by a password", name)
	case problemNoText:
		if a.Pages == 1 {
			return nil, fault.New(fault.DocumentNoText, "%s has 1 page and no text: it holds a picture of it", name)
		}
		return nil, fault.New(fault.DocumentNoText, "%s has %d pages and no text: it holds pictures of them", name, a.Pages)
	}
	return nil, fault.New(fault.DocumentUnreadable, "%s cannot be read: %s", name, a.Problem)
}

// workerFault says why a worker did not answer.
func (r *Reader) workerFault(ctx context.Context, name string, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fault.Wrap(err, fault.DocumentUnreadable, "%s took longer than %s to read", name, r.cfg.Timeout).Suggest("Split the document, or save it anew in another format.")
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fault.Wrap(err, fault.DocumentUnreadable, "%s cannot be read: it needs more memory or time than a document may, or is damaged", name).Suggest("Split the document, or save it anew in another format.")
}

// A worker is a confined process as this program sees it.
type worker struct {
	cmd    *exec.Cmd
	cancel context.CancelFunc
	in     *os.File
	out    *os.File
	lines  *bufio.Reader
}

func startWorker(c Config) (*worker, error) {
	inTheirs, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, outTheirs, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inTheirs.Close(), in.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd, err := jail.Command(ctx, jail.Spec{
		Args:        []string{jail.Self, workerArg},
		MemoryBytes: c.MemoryBytes + uint64(c.MaxFileBytes),
		FileBytes:   1,
		OpenFiles:   64,
		Dir:         "/",
		Env:         []string{"GOMAXPROCS=2", "TZ=UTC", "GOMEMLIMIT=" + strconv.FormatUint(c.MemoryBytes/2, 10)},
		ExtraFiles:  []*os.File{inTheirs, outTheirs},
	})
	if err == nil {
		err = jail.Start(cmd)
	}
	err = errors.Join(err, inTheirs.Close(), outTheirs.Close())
	if err != nil {
		cancel()
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	return &worker{cmd: cmd, cancel: cancel, in: in, out: out, lines: bufio.NewReaderSize(out, 64<<10)}, nil
}

// stop kills the process and waits for its end.
func (w *worker) stop() {
	w.cancel()
	_ = w.cmd.Wait() // how it ended is known to whoever stops it
	_ = w.in.Close()
	_ = w.out.Close()
}

// read sends one document and waits for the answer. After an error the worker must be stopped.
func (w *worker) read(ctx context.Context, q request, content io.Reader) (answer, error) {
	stop := context.AfterFunc(ctx, func() {
		// Both ends give up at once, whatever the worker does.
		_ = w.in.SetDeadline(time.Now())
		_ = w.out.SetDeadline(time.Now())
	})
	defer stop()
	sent := make(chan error, 1)
	go func() {
		head, err := json.Marshal(q)
		if err == nil {
			_, err = w.in.Write(append(head, '\n'))
		}
		if err == nil {
			_, err = io.CopyN(w.in, content, q.Size)
		}
		sent <- err
	}()
	line, err := readLine(w.lines, 4*q.MaxText+1<<20)
	if err != nil {
		_ = w.in.SetDeadline(time.Now()) // the feeding goroutine must not outlive the call
	}
	if sendErr := <-sent; sendErr != nil && err == nil {
		err = sendErr
	}
	if err != nil {
		return answer{}, err
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return answer{}, err
	}
	if a.Problem == "" && a.Document == nil {
		return answer{}, errors.New("the worker gave no answer")
	}
	a.Problem = strings.ToValidUTF8(a.Problem, "?")
	return a, nil
}

// readLine reads a line of at most most bytes.
func readLine(r *bufio.Reader, most int64) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case int64(len(line)) > most:
			return nil, fmt.Errorf("the worker answered more than %d bytes", most)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		}
		return line, nil
	}
}
