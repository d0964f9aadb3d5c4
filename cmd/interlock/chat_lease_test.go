package main

import (
	"context"
	"io"
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
		nothing := func(context.Context) (bool, error) { return false, nil }
		began := time.Now()
		err := c.waitForLease(t.Context(), func() error {
			if time.Since(began) < c.cfg.Lease {
				return busy
			}
			return nil
		}, nothing)
		if err != nil || !strings.Contains(said.String(), "Waiting") {
			t.Errorf("the message was lost: %v, said %q", err, said.String())
		}
		began = time.Now()
		if err := c.waitForLease(t.Context(), func() error { return busy }, nothing); !fault.Is(err, fault.ThreadBusy) || time.Since(began) > 2*c.cfg.Lease {
			t.Errorf("a thread that stays busy: %v after %s", err, time.Since(began))
		}
		// A turn that this process can finish is finished, and nobody waits.
		said.Reset()
		began = time.Now()
		left := true
		err = c.waitForLease(t.Context(), func() error {
			if left {
				return busy
			}
			return nil
		}, func(context.Context) (bool, error) { left = false; return true, nil })
		if err != nil || said.Len() > 0 || time.Since(began) > 0 {
			t.Errorf("after the dead turn was finished: %v, said %q after %s", err, said.String(), time.Since(began))
		}
	})
}

// Whoever waited for a thread is shown the own turn, and not what others did in it meanwhile.
func TestChatShowsItsOwnTurn(t *testing.T) {
	e := newEvaluation(t, "analyst")
	var out strings.Builder
	c := &chat{app: &app{cfg: e.cfg, out: &out, errw: io.Discard}, s: e.s, machine: "analyst", dataset: "ecommerce"}
	for _, statement := range []string{"SELECT 41 + 1 AS answer FROM orders LIMIT 1", "SELECT 42 + 1 AS answer FROM orders LIMIT 1"} {
		out.Reset()
		c.last = 0 // as it was before the wait
		if err := c.runTurn(t.Context(), c.newInput("SQL: "+statement)); err != nil {
			t.Fatal(err)
		}
	}
	if said := out.String(); !strings.Contains(said, "43") || strings.Contains(said, "42") {
		t.Errorf("the chat shows %s", said)
	}
}
