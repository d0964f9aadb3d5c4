package main

import (
	"context"
	"fmt"
	"time"

	"interlock/internal/fault"
)

// leasePolled is how often chat looks whether a thread that another process held is free.
const leasePolled = 200 * time.Millisecond

// waitForLease does something with the thread. If its turn lost its process, finish ends the
// turn first. A live process, or one of another machine, holds the thread until its
// lease ends: the message waits for that and is not lost. A thread that is busy for longer
// stays refused.
func (c *chat) waitForLease(ctx context.Context, do func() error, finish func(context.Context) (bool, error)) error {
	err := do()
	limited, cancel := context.WithTimeout(ctx, c.cfg.Lease+5*time.Second)
	defer cancel()
	poll := time.NewTicker(leasePolled)
	defer poll.Stop()
	for told := false; fault.Is(err, fault.ThreadBusy); {
		finished, failed := finish(ctx)
		switch {
		case failed != nil:
			return failed
		case finished:
			err = do()
			continue
		}
		if !told {
			told = true
			fmt.Fprintf(c.errw, "The thread is held by another process; if that has ended, it is free within %s. Waiting.\n", c.cfg.Lease)
		}
		select {
		case <-limited.Done():
			return err
		case <-poll.C:
			err = do()
		}
	}
	return err
}

// finishDeadTurn continues the turn of the thread if its process died, prints it to its end,
// and reports whether there was one.
func (c *chat) finishDeadTurn(ctx context.Context) (bool, error) {
	resumed, err := c.s.engine.ResumeThread(ctx, c.thread)
	if err != nil || !resumed {
		return false, err
	}
	fmt.Fprintln(c.errw, "The last turn of the thread was interrupted. It goes on.")
	if c.json { // what is printed is the answer to the message
		return true, c.s.engine.Wait(ctx, c.thread)
	}
	row, err := c.s.store.Thread(ctx, c.thread)
	if err != nil {
		return true, err
	}
	err = c.followOwn(ctx, row.Run)
	c.code = exitDone // the message that follows decides
	return true, err
}
