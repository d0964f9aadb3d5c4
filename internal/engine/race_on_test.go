//go:build race

package engine_test

// raceDetector says that it watches: memory and time are then not the program's own.
const raceDetector = true

// hostileTurns is less under the race detector, which makes each turn ten times
// slower; `make test` plays the whole number without it.
const hostileTurns = 1_000
