package nlq

import (
	"math"
	"testing"
)

// A value without bound has no thousands.
func TestInfiniteCells(t *testing.T) {
	for _, v := range []any{math.Inf(1), "Infinity", "inf", math.Inf(-1)} {
		if got := formatMeasure(v); got != map[bool]string{true: "+Inf", false: "-Inf"}[v == math.Inf(1)] && got != v {
			t.Errorf("%v is written %q", v, got)
		}
	}
}
