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
