//go:build unix

package machine_test

import (
	"syscall"
	"testing"
	"time"

	"interlock/internal/machine"
)

// processorTime is what this process has used, whatever else runs on the machine.
func processorTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestLargeMachineIsQuick(t *testing.T) {
	source := large(5000)
	best := time.Hour
	for range 2 {
		begin := processorTime(t)
		if _, err := machine.Parse(map[string]string{machine.File: source}); err != nil {
			t.Fatalf("%.2000s", err.Error())
		}
		best = min(best, processorTime(t)-begin)
	}
	t.Logf("5,000 states, %d bytes: %v of processor time", len(source), best)
	if best > slow*3*time.Second {
		t.Errorf("took %v of processor time, collector included; about one second is meant", best)
	}
}
