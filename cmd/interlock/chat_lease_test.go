package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"interlock/internal/fault"
)

// A message waits for the lease of a process that died, and no longer.
func TestChatWaitsForALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		c := &chat{app: &app{errw: &said}}
		c.cfg.Lease = 10 * time.Second
		busy := fault.New(fault.ThreadBusy, "the thread is held")
		began := time.Now()
		err := c.waitForLease(t.Context(), func() error {
			if time.Since(began) < c.cfg.Lease {
				return busy
			}
			return nil
		})
		if err != nil || !strings.Contains(said.String(), "Waiting") {
			t.Errorf("the message was lost: %v, said %q", err, said.String())
		}
		began = time.Now()
		if err := c.waitForLease(t.Context(), func() error { return busy }); !fault.Is(err, fault.ThreadBusy) || time.Since(began) > 2*c.cfg.Lease {
			t.Errorf("a thread that stays busy: %v after %s", err, time.Since(began))
		}
	})
}
