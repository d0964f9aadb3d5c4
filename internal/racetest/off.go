//go:build !race

package racetest

// On says that the race detector watches.
const On = false
