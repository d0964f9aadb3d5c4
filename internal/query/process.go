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
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"interlock/internal/jail"
)

// errDied means that a worker ended in the middle of a call.
var errDied = errors.New("the worker died")

// yieldTime is how long a worker that was told to stop may take before it is killed.
const yieldTime = 60 * time.Millisecond

// A process is a worker as this program sees it. One caller at a time owns it.
type process struct {
	cmd  *exec.Cmd
	in   *os.File // requests
	out  *os.File // answers
	end  *os.File // cancels
	read *bufio.Reader
	buf  []byte
	dir  string // its own folder, gone with it
	call uint32
	kill func()
	said *lastWords
	dead chan struct{} // closed when it has ended and its folder is gone
}

// A job says what a worker may use beside its own folder.
type job struct {
	read        []string
	write       []string
	memoryBytes uint64
	fileBytes   uint64
	unconfined  bool
}

// startProcess starts a worker with a folder of its own below parent.
func startProcess(parent string, j job) (*process, error) {
	dir, err := os.MkdirTemp(parent, "worker-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for a worker: %w", err)
	}
	p := &process{dir: dir, dead: make(chan struct{})}
	if err := p.start(j); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

func (p *process) start(j job) (err error) {
	var theirs, ours [3]*os.File // requests, answers, cancels
	defer func() {
		closeAll(theirs)
		if err != nil {
			closeAll(ours)
		}
	}()
	for i := range theirs {
		r, w, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("making a pipe: %w", err)
		}
		if theirs[i], ours[i] = r, w; i == 1 {
			theirs[i], ours[i] = w, r
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd, err := command(ctx, j, p.dir, theirs[:])
	if err == nil {
		p.said = &lastWords{}
		cmd.Stderr = p.said
		err = jail.Start(cmd)
	}
	if err != nil {
		cancel()
		return fmt.Errorf("starting a query worker: %w", err)
	}
	p.cmd, p.in, p.out, p.end = cmd, ours[0], ours[1], ours[2]
	p.read = bufio.NewReaderSize(p.out, 256<<10)
	p.kill = sync.OnceFunc(cancel)
	go p.reap()
	return nil
}

func closeAll(files [3]*os.File) {
	for _, f := range files {
		_ = f.Close() // a nil file reports that it is none
	}
}

// reap waits for the process and takes its traces away.
func (p *process) reap() {
	_ = p.cmd.Wait() // how it ended is told to the caller of the call it ended in
	_ = os.RemoveAll(p.dir)
	close(p.dead)
}

// command prepares the confined worker, or a plain one where that was asked for.
func command(ctx context.Context, j job, dir string, pipes []*os.File) (*exec.Cmd, error) {
	env := []string{"TMPDIR=" + dir, "HOME=" + dir, "GOMAXPROCS=2", "TZ=UTC"}
	if j.unconfined {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding this program: %w", err)
		}
		cmd := exec.CommandContext(ctx, self, workerArg)
		cmd.Dir, cmd.Env, cmd.ExtraFiles = dir, env, pipes
		return cmd, nil
	}
	return jail.Command(ctx, jail.Spec{
		Args:        []string{jail.Self, workerArg},
		ReadOnly:    append(engineReads(), j.read...),
		ReadWrite:   append([]string{dir}, j.write...),
		MemoryBytes: j.memoryBytes,
		FileBytes:   j.fileBytes,
		Dir:         dir,
		Env:         env,
		ExtraFiles:  pipes,
	})
}

// engineReads are the files that the engine insists on reading when it starts, to
// learn how much memory the machine gives it.
func engineReads() []string {
	var out []string
	for _, path := range []string{"/proc/self/cgroup", "/sys/fs/cgroup"} {
		if _, err := os.Stat(path); err == nil {
			out = append(out, path)
		}
	}
	return out
}

// stop ends the worker at once and waits until nothing of it is left.
func (p *process) stop() {
	p.kill()
	<-p.dead
	closeAll([3]*os.File{p.in, p.out, p.end})
}

// alive says whether the process has not ended.
func (p *process) alive() bool {
	select {
	case <-p.dead:
		return false
	default:
		return true
	}
}

// file is a path in the worker's own folder.
func (p *process) file(name string) string { return filepath.Join(p.dir, name) }

// ask sends a request and hands its answers to each until the last, whose payload
// it gives. When ctx ends the worker is told to stop; if it does not within
// yieldTime, ask gives up on it. After an error that is not an *engineErr the
// worker must be stopped.
func (p *process) ask(ctx context.Context, kind frameKind, payload []byte, each func(frame) error) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, &engineErr{Kind: "INTERRUPT", Message: err.Error(), Position: -1}
	}
	p.call++
	call := p.call
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		_ = p.out.SetReadDeadline(time.Now().Add(yieldTime))
		_ = p.in.SetWriteDeadline(time.Now().Add(yieldTime))
		_, _ = p.end.Write(binary.LittleEndian.AppendUint32(nil, call))
	})
	answer, err := p.converse(frame{kind, call, payload}, each)
	if !stop() {
		<-told
		_ = p.out.SetReadDeadline(time.Time{})
		_ = p.in.SetWriteDeadline(time.Time{})
	}
	return answer, err
}

func (p *process) askJSON(ctx context.Context, kind frameKind, order any, each func(frame) error) ([]byte, error) {
	payload, err := json.Marshal(order)
	if err != nil {
		return nil, fmt.Errorf("encoding a request: %w", err)
	}
	return p.ask(ctx, kind, payload, each)
}

func (p *process) converse(f frame, each func(frame) error) ([]byte, error) {
	if err := writeFrame(p.in, f); err != nil {
		return nil, fmt.Errorf("%w: %w", errDied, err)
	}
	for {
		var got frame
		var err error
		got, p.buf, err = readFrame(p.read, p.buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, err
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			p.kill()
			<-p.dead
			return nil, fmt.Errorf("%w: %s: %s", errDied, p.cmd.ProcessState, p.said)
		case err != nil:
			return nil, fmt.Errorf("reading from a worker: %w", err)
		case got.call != f.call:
			return nil, fmt.Errorf("a worker answered call %d instead of %d", got.call, f.call)
		}
		switch got.kind {
		case tellDone:
			return got.payload, nil
		case tellFailed:
			var e engineErr
			if err := json.Unmarshal(got.payload, &e); err != nil {
				return nil, fmt.Errorf("reading from a worker: %w", err)
			}
			return nil, &e
		default:
			if each == nil {
				return nil, fmt.Errorf("a worker sent %q where nothing of it was wanted", got.kind)
			}
			if err := each(got); err != nil {
				return nil, err
			}
		}
	}
}

// A lastWords keeps the beginning of what a worker says on its way out, for the operator.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

func (t *lastWords) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[:min(len(p), 4096-len(t.text))]...)
	return len(p), nil
}

func (t *lastWords) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
