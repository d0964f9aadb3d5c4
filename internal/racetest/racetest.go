// Package racetest keeps tests that only compute, or that measure memory and time, away from the race
// detector, which makes loops five to ten times slower.
package racetest

import "testing"

// Skip leaves a test to the command of `make test` that runs without the race detector. The Makefile
// names such tests in UNRACED and their packages in UNRACED_IN; internal.TestUnracedTestsRun holds it to that.
func Skip(t testing.TB, why string) {
	t.Helper()
	if On {
		t.Skip(why + " (runs without -race)")
	}
}
