//go:build !race

package engine_test

const raceDetector = false

// hostileTurns is how many turns the hostile models play.
const hostileTurns = 100_000
