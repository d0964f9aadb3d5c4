package catalog

import "context"

// A flight is an import that several callers may wait for. It is ended when the
// last of them has gone.
type flight struct {
	done    chan struct{}
	result  manifest
	err     error
	waiting int
	cancel  context.CancelFunc
}

// once runs f for a key at most once at a time; who comes later waits for the same run.
func (c *Catalog) once(ctx context.Context, key string, f func(context.Context) (manifest, error)) (manifest, error) {
	c.mu.Lock()
	fl := c.flights[key]
	if fl == nil {
		run, cancel := context.WithCancel(context.WithoutCancel(ctx))
		fl = &flight{done: make(chan struct{}), cancel: cancel}
		c.flights[key] = fl
		go func() {
			fl.result, fl.err = f(run)
			c.mu.Lock()
			if c.flights[key] == fl {
				delete(c.flights, key)
			}
			c.mu.Unlock()
			cancel()
			close(fl.done)
		}()
	}
	fl.waiting++
	c.mu.Unlock()
	select {
	case <-fl.done:
		return fl.result, fl.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if fl.waiting--; fl.waiting == 0 {
		fl.cancel()
		if c.flights[key] == fl {
			delete(c.flights, key) // whoever comes now begins anew
		}
	}
	return manifest{}, context.Cause(ctx)
}
