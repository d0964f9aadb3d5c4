package sandbox

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakePeer is a runner that does nothing but live and die.
func fakePeer() *warmRunner {
	gone := make(chan struct{})
	return &warmRunner{gone: gone, kill: sync.OnceFunc(func() { close(gone) }), close: func() error { return nil }}
}

// fakeStarts counts the runners that a pool starts, and fails the next few.
type fakeStarts struct {
	mu       sync.Mutex
	started  int
	failures int
}

func (f *fakeStarts) start(context.Context) (*warmRunner, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failures > 0 {
		f.failures--
		return nil, errors.New("no")
	}
	f.started++
	return fakePeer(), nil
}

func (p *pool) warm() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

func TestPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts fakeStarts
		first := fakePeer()
		p := newPool(t.Context(), Config{Pool: 2, Log: slog.New(slog.DiscardHandler)}, starts.start, first)
		defer p.close()
		synctest.Wait()
		if p.warm() != 1 || starts.started != 0 {
			t.Fatalf("%d warm, %d started, and nobody has run anything", p.warm(), starts.started)
		}
		if r, err := p.take(t.Context()); err != nil || r != first {
			t.Fatalf("the first was not handed out: %v", err)
		}
		synctest.Wait()
		if p.warm() != 2 {
			t.Fatalf("%d warm once one was taken", p.warm())
		}
		dead, _ := p.take(t.Context())
		p.refill() // as after its job
		synctest.Wait()
		if p.warm() != 2 {
			t.Fatalf("%d warm after a refill", p.warm())
		}
		dead.kill()

		// A runner that died while it waited is not handed out.
		p.mu.Lock()
		p.idle[0].kill()
		lost := p.idle[0]
		p.mu.Unlock()
		if r, err := p.take(t.Context()); err != nil || r == lost {
			t.Fatalf("a dead runner was handed out: %v", err)
		}

		// A start that fails is tried again.
		synctest.Wait()
		starts.failures = 3
		for range 2 {
			if _, err := p.take(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if p.warm() != 2 {
			t.Fatalf("%d warm after failures", p.warm())
		}

		// Nobody asks for long: the pool lets its runners go, and takes up again.
		time.Sleep(3 * idleTime)
		synctest.Wait()
		if p.warm() != 0 {
			t.Fatalf("%d warm after a long rest", p.warm())
		}
		if _, err := p.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if p.warm() != 2 {
			t.Fatalf("%d warm after the rest", p.warm())
		}
	})
}

func TestPoolCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts fakeStarts
		p := newPool(t.Context(), Config{Pool: 3, Log: slog.New(slog.DiscardHandler)}, starts.start, fakePeer())
		busy, err := p.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.close()
		select {
		case <-busy.gone:
		default:
			t.Error("a busy runner outlived the pool")
		}
		if _, err := p.take(t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("a closed pool gave %v", err)
		}
	})
}
