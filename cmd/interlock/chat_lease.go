package main

import (
	"context"
	"fmt"
	"time"

	"interlock/internal/fault"
)

// leasePolled is how often chat looks whether a thread that another process held is free.
const leasePolled = 200 * time.Millisecond

// waitForLease does something with the thread. A process that was killed holds it until its lease ends: the
// message waits for that and is not lost. A thread that is busy for longer stays refused.
func (c *chat) waitForLease(ctx context.Context, do func() error) error {
	err := do()
	if !fault.Is(err, fault.ThreadBusy) {
		return err
	}
	fmt.Fprintf(c.errw, "The thread is held by another process; if that has ended, it is free within %s. Waiting.\n", c.cfg.Lease)
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Lease+5*time.Second)
	defer cancel()
	poll := time.NewTicker(leasePolled)
	defer poll.Stop()
	for fault.Is(err, fault.ThreadBusy) {
		select {
		case <-ctx.Done():
			return err
		case <-poll.C:
			err = do()
		}
	}
	return err
}
