package fault_test

import (
	"slices"
	"testing"

	"interlock/internal/fault"
)

func TestNearest(t *testing.T) {
	got := fault.Nearest("custmer_id", []string{"amount", "id", "customer_id", "Customer", "custom_id"})
	if !slices.Equal(got[:2], []string{"customer_id", "custom_id"}) {
		t.Errorf("nearest: %v", got)
	}
}

func TestSimilar(t *testing.T) {
	names := []string{"dataset", "data", "limit", "to"}
	for name, want := range map[string]string{"datset": "dataset", "dat": "data", "LIMTI": "limit", "nonsense": "", "tp": "to", "x": "", "": ""} {
		if got := fault.Similar(name, names); got != want {
			t.Errorf("similar to %q: %q, want %q", name, got, want)
		}
	}
	if got := fault.Similar("data", nil); got != "" {
		t.Errorf("similar among none: %q", got)
	}
}
