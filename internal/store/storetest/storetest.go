// Package storetest is what every store must do: one suite for all of them.
package storetest

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"interlock/internal/event"
	"interlock/internal/store"
)

// An Opener opens the store at a place: a path in a folder of the test's own. The
// same place gives the same store, in this process and in another one, at the same
// time as well. A store that keeps no files derives a name from it.
type Opener func(t *testing.T, place string) store.Store

// Run tests a store.
func Run(t *testing.T, open Opener) {
	tests := []struct {
		name string
		test func(*testing.T, *fixture)
	}{
		{"order", testOrder},
		{"long thread", testLongThread},
		{"early stop of a reader", testEarlyStop},
		{"append while reading", testAppendWhileReading},
		{"conflict", testConflict},
		{"atomicity", testAtomicity},
		{"bad batches", testBadBatches},
		{"concurrent appenders", testConcurrent},
		{"rivals", testRivals},
		{"reopen", testReopen},
		{"closed", testClosed},
		{"cancelled", testCancelled},
		{"blobs", testBlobs},
		{"snapshots", testSnapshots},
		{"unknown things", testUnknown},
		{"every kind of event", testKinds},
		{"hostile strings", testHostile},
		{"any batches", testAnyBatches},
		{"threads", testThreads},
		{"running thread", testRunning},
		{"runs", testRuns},
		{"sayings", testSayings},
		{"leases", testLeases},
		{"fencing", testFencing},
		{"rivals for a lease", testLeaseRivals},
		{"renewing and stopping", testRenewAndStop},
		{"watch", testWatch},
		{"retention", testRetention},
		{"retention of new threads", testRetentionOfNewThreads},
		{"what retention needs", testNeeded},
		{"retention of a parent whose fork stays", testForkThatStays},
		{"retention beside writers", testRetentionRivals},
		{"audit", testAudit},
		{"rivals for the audit log", testAuditRivals},
		{"killed", testKilled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.test(t, &fixture{open: open, place: filepath.Join(t.TempDir(), "store")})
		})
	}
}

// A fixture opens the store of one test, as often as it wants.
type fixture struct {
	open  Opener
	place string
}

// store opens the store and closes it when the test ends.
func (f *fixture) store(t *testing.T) store.Store {
	t.Helper()
	s := f.open(t, f.place)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return s
}

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.UTC)

// batch makes a batch of n small events that continue a thread.
func batch(thread string, after int64, n int) store.Batch {
	b := store.Batch{Thread: thread, After: after}
	for i := range int64(n) {
		seq := after + i + 1
		b.Events = append(b.Events, event.Event{
			Thread: thread, Seq: seq, Time: at(seq),
			Body: event.StepDone{State: fmt.Sprintf("%s/%d", thread, seq)},
		})
	}
	last := after + int64(n)
	b.Head = store.Thread{
		ID: thread, Owner: "ann", Machine: "analyst", Version: "v1", Title: "Sales of " + thread, Dataset: "shop",
		Status: store.Running, State: fmt.Sprintf("state %d", last/8), Run: "run of " + thread, Seq: last, Created: epoch, Updated: at(last),
	}
	return b
}

func at(seq int64) time.Time { return epoch.Add(time.Duration(seq) * time.Second) }

// mustAppend stores a batch.
func mustAppend(t *testing.T, s store.Log, b store.Batch) {
	t.Helper()
	if err := s.Append(t.Context(), b); err != nil {
		t.Fatalf("appending to %s after %d: %v", b.Thread, b.After, err)
	}
}

// events reads a thread to its end.
func events(t *testing.T, s store.Log, thread string, after int64) []event.Event {
	t.Helper()
	var out []event.Event
	for e, err := range s.Events(t.Context(), thread, after) {
		if err != nil {
			t.Fatalf("reading %s after %d: %v", thread, after, err)
		}
		out = append(out, e)
	}
	return out
}
