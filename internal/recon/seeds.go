package recon

import (
	"context"

	"interlock/internal/fault"
)

// errNothingAlike says that the pairs have nothing in common that could be learned.
var errNothingAlike = fault.New(fault.CannotAnswer, "The rows of the pairs have no columns in common that tell them from random pairs.").
	Suggest("Confirm other pairs, or check that the two sources hold the same things.")

// seedPairs gives the pairs from which training starts: the confirmed ones.
func (r *Reconciler) seedPairs(ctx context.Context, l *learnt) (string, error) {
	return "SELECT li, ri FROM " + labelled + " WHERE w = 1", nil
}
