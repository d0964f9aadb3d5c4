//go:build !race

package retrieve

// RaceDetector says that it watches.
const RaceDetector = false
