package engine

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
)

// TestSharedIsLeftWhileMade has users give up at any moment, also while the value is
// being made, and makers that fail: whoever stays gets the value, and nothing is kept.
func TestSharedIsLeftWhileMade(t *testing.T) {
	var s Shared[string]
	var all sync.WaitGroup
	for i := range 2000 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			if i%3 == 0 {
				cancel()
			}
			defer cancel()
			value, release, err := s.Get(ctx, "key", func() (string, error) {
				for range i % 7 {
					runtime.Gosched()
				}
				if i%5 == 0 {
					return "half", errors.New("not made")
				}
				return "made", nil
			})
			switch {
			case err == nil && value != "made":
				t.Errorf("got %q", value)
			case err == nil:
				release()
			case value != "" || release != nil:
				t.Errorf("an error came with %q", value)
			}
		})
	}
	all.Wait()
	if len(s.values) != 0 {
		t.Errorf("%d values are kept", len(s.values))
	}
}
