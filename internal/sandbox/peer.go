package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"interlock/internal/fault"
)

// warmUp bounds the time from start to ready.
const warmUp = time.Minute

// A warmRunner is an interpreter that is warmed up and waits for its one job.
type warmRunner struct {
	out    *bufio.Reader
	submit func(ctx context.Context, job *preparedJob) error // hands the job over
	kill   func()                                            // ends it at once; harmless when repeated
	close  func() error                                      // closes out
	gone   <-chan struct{}                                   // closed when nothing of it is left
	notes  func() string                                     // what it said on its own stderr

	ready header
	fonts []byte

	// awaitWarm returns when the interpreter is warm, where it warms up only once it
	// has its job; nil where it was warm before.
	awaitWarm func(context.Context)
}

// terminate ends the interpreter and closes its output, which nobody reads any
// more.
func (p *warmRunner) terminate() {
	p.kill()
	_ = p.close()
}

// awaitReady waits for the runner's first frame.
func (p *warmRunner) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, warmUp)
	defer cancel()
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	h, payload, err := readFrame(p.out)
	if err == nil && h.Kind != "ready" {
		err = fmt.Errorf("%w: a first frame of kind %q", errFrame, h.Kind)
	}
	if err != nil {
		p.terminate()
		<-p.gone
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if said := p.notes(); said != "" {
			return fmt.Errorf("warming up: %w: %s", err, said)
		}
		return fmt.Errorf("warming up: %w", err)
	}
	p.ready, p.fonts = h, payload
	return nil
}

var errWall = errors.New("the job took longer than allowed")

// runJob gives the runner its job and collects what comes back.
func (p *warmRunner) runJob(ctx context.Context, job *preparedJob, outputBytes int) (*Outcome, error) {
	start := time.Now()
	timed, cancel := p.limitTime(ctx, job.Timeout)
	defer cancel(nil)
	defer p.terminate()
	defer context.AfterFunc(timed, p.kill)()
	c := &collector{job: job}
	err := p.submit(timed, job)
	for err == nil && c.exit == nil {
		var h header
		var payload []byte
		if h, payload, err = readFrame(p.out); err == nil {
			err = c.addFrame(h, payload, outputBytes)
		}
	}
	return c.buildOutcome(p.explainEnd(timed, job, err), time.Since(start))
}

// limitTime starts the job's clock: at once, or when the interpreter is warm.
func (p *warmRunner) limitTime(ctx context.Context, limit time.Duration) (context.Context, context.CancelCauseFunc) {
	timed, cancel := context.WithCancelCause(ctx)
	start := func() {
		timer := time.AfterFunc(limit, func() { cancel(errWall) })
		context.AfterFunc(timed, func() { timer.Stop() })
	}
	if p.awaitWarm == nil {
		start()
		return timed, cancel
	}
	go func() {
		warming, stop := context.WithTimeout(timed, warmUp)
		defer stop()
		p.awaitWarm(warming)
		start()
	}()
	return timed, cancel
}

// explainEnd turns the way in which a conversation broke off into a fault.
func (p *warmRunner) explainEnd(ctx context.Context, job *preparedJob, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), errWall):
		return fault.Wrap(err, fault.PyWallTime, "the code took longer than %v", job.Timeout)
	case ctx.Err() != nil:
		return fault.Wrap(ctx.Err(), fault.Stopped, "the Python job was stopped")
	case errors.Is(err, errFrame):
		return fault.Wrap(err, fault.PyResultError, "what the code handed back cannot be read: %v", err)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Wrap(err, fault.PyDied, "the Python process died")
	}
	return fault.Wrap(err, fault.PyDied, "the conversation with the Python process broke off")
}

// A headBuffer keeps the first bytes of what a process writes to stderr.
type headBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (c *headBuffer) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if room := 4<<10 - len(c.text); room > 0 {
		c.text = append(c.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (c *headBuffer) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.text)
}
